package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/tally"
	"github.com/streamform/streamform/runtime/job"
)

// Progress tells how far a backfill has come.
type Progress = tally.Progress

// Summary is what a backfill did in the pipelines it concerned.
type Summary = tally.Summary

// Work is what a new generation was really computed from.
type Work = tally.Work

// Backfill computes what is being built, cuts over, and then reads what the sources of the pipelines concerned
// have not been read for, once. Pipelines in which nothing is built are left alone. Reports come one at a time,
// at least one for each epoch.
//
// Pipelines that are kept running go on meanwhile: see ahead. It can be stopped or killed at any point: the live generations go on serving,
// and the next Backfill resumes what was being built, or starts it over when other generations are to be built by
// then. A pipeline's failure does not stop the others; the error then joins one error for
// each pipeline that failed, *job.Failure where the same input would fail again.
func (h *Host) Backfill(ctx context.Context, report func(Progress)) (Summary, error) {
	h.busy.Enter()
	defer h.busy.Unlock()
	return h.backfill(ctx, report)
}

func (h *Host) backfill(ctx context.Context, report func(Progress)) (Summary, error) {
	if err := h.collect(); err != nil {
		return Summary{}, err
	}
	n, all, err := h.regroup(ctx)
	if err != nil {
		return Summary{}, err
	}
	h.serve(n, all, len(all)) // what the changes before have stopped
	t := tally.New(tally.Options{Store: h.store, Catalog: h.catalog, Now: h.opts.Now, Report: report})
	var failures []error
	concerned := map[string]bool{}
	for i, p := range all {
		if !h.isBuilding(p) {
			continue
		}
		for _, a := range p.Members {
			concerned[a.String()] = true
		}
		if err := h.inRounds(ctx, n, p, t); err != nil {
			failures = append(failures, fmt.Errorf("building %s: %w", p.Name, err))
		}
		if slices.ContainsFunc(all[i+1:], h.isBuilding) {
			h.serve(n, all[i:i+1], len(all))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() == nil {
		failures = append(failures, h.finish(ctx, concerned, t)...)
	}
	summary, err := t.Summary()
	return summary, errors.Join(append(failures, err, ctx.Err())...)
}

// inRounds builds what is to be built of a pipeline.
func (h *Host) inRounds(ctx context.Context, n *catalog.Network, p *catalog.Pipeline, t *tally.Tally) error {
	for h.isBuilding(p) {
		if err := h.propagate(ctx, n, p); err != nil {
			return err
		}
		if err := t.Begin(p); err != nil {
			return err
		}
		if err := h.ahead(ctx, n, p, t); err != nil {
			return err
		}
		h.busy.Stop(p.ID)
		if err := h.build(ctx, n, p, t); err != nil {
			return err
		}
		if h.isBuilding(p) {
			h.serve(n, []*catalog.Pipeline{p}, 1)
		}
	}
	return nil
}

func (h *Host) isBuilding(p *catalog.Pipeline) bool {
	for _, a := range p.Members {
		if h.catalog.Records[a].Building != nil {
			return true
		}
	}
	return false
}

// finish reads everything unread in the pipelines that were built, or whose last backfill was cut short. Nothing is read for those whose
// trigger is paused, but what has rows over no input gets them.
func (h *Host) finish(ctx context.Context, concerned map[string]bool, t *tally.Tally) []error {
	n, all, err := h.regroup(ctx)
	if err != nil {
		return []error{err}
	}
	var failures []error
	for _, p := range all {
		unfinished, err := h.underWay(p)
		if err != nil {
			return append(failures, err)
		}
		_, runs := h.busy.Running(p.ID)
		unfinished = unfinished && !runs
		for _, a := range p.Members {
			unfinished = unfinished || concerned[a.String()]
		}
		if !unfinished || h.isBuilding(p) {
			continue
		}
		if err = t.Begin(p); err == nil {
			h.busy.Stop(p.ID)
			err = h.catchUp(ctx, n, p, t)
			h.serve(n, []*catalog.Pipeline{p}, len(all))
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("reading for %s: %w", p.Name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failures
}

// underWay reports whether something of a pipeline was begun and not ended: reading, or delivering what is decided.
func (h *Host) underWay(p *catalog.Pipeline) (bool, error) {
	pending, err := job.OutboxSinks(h.store, p.ID)
	if err != nil || len(pending) > 0 {
		return true, err
	}
	view := h.store.View()
	defer view.Close()
	return job.UnderWay(view, p.ID)
}

// catchUp runs a pipeline up to all that its sources hold now.
func (h *Host) catchUp(ctx context.Context, n *catalog.Network, p *catalog.Pipeline, t *tally.Tally) (err error) {
	w := h.workshop(n, p)
	defer func() { err = errors.Join(err, w.close()) }()
	report := t.Epoch
	if h.busy.Keeps() {
		report = func(p job.Progress) {
			t.Epoch(p)
			h.live.options.Report(p)
		}
	}
	j, err := w.job(ctx, job.Options{Attempts: attempts, Report: report})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Flush()) }()
	if p.Trigger.Paused {
		return j.Begin(ctx)
	}
	resumed, err := j.AvailableNow(ctx)
	if err == nil && resumed {
		_, err = j.AvailableNow(ctx)
	}
	var failed *job.Failure
	if errors.As(err, &failed) {
		return errors.Join(err, j.Begin(ctx))
	}
	return err
}
