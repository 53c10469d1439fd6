package host

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// Backfill computes what is being built, cuts over, and then reads what the sources of the pipelines concerned
// have not been read for, once. Pipelines in which nothing is built are left alone. Reports come one at a time,
// at least one for each epoch.
//
// It can be stopped or killed at any point: the live generations go on serving,
// and the next Backfill resumes what was being built, or starts it over when other generations are to be built by
// then. A pipeline's failure does not stop the others; the error then joins one error for
// each pipeline that failed, *job.Failure where the same input would fail again.
func (h *Host) Backfill(ctx context.Context, report func(Progress)) (Summary, error) {
	h.busy.Lock()
	defer h.busy.Unlock()
	n, all, err := h.regroup(ctx)
	if err != nil {
		return Summary{}, err
	}
	t := h.tally(report)
	var failures []error
	concerned := map[string]bool{}
	for _, p := range all {
		if !h.isBuilding(p) {
			continue
		}
		for _, a := range p.Members {
			concerned[a.String()] = true
		}
		if err := h.propagate(n, p); err != nil {
			failures = append(failures, err)
			continue
		}
		err := t.begin(p)
		if err == nil {
			err = h.build(ctx, n, p, t)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("building %s: %w", p.Name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() == nil {
		failures = append(failures, h.finish(ctx, concerned, t)...)
	}
	summary, err := t.summary()
	return summary, errors.Join(append(failures, err, ctx.Err())...)
}

func (h *Host) isBuilding(p *catalog.Pipeline) bool {
	for _, a := range p.Members {
		if h.catalog.Records[a].Building != nil {
			return true
		}
	}
	return false
}

// finish reads everything unread in the pipelines that were built, or whose last backfill was cut short.
func (h *Host) finish(ctx context.Context, concerned map[string]bool, t *tally) []error {
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
		for _, a := range p.Members {
			unfinished = unfinished || concerned[a.String()]
		}
		if !unfinished || h.isBuilding(p) || p.Trigger.Paused {
			continue
		}
		if err = t.begin(p); err == nil {
			err = h.catchUp(ctx, n, p, t)
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

func (h *Host) underWay(p *catalog.Pipeline) (bool, error) {
	view := h.store.View()
	defer view.Close()
	return job.UnderWay(view, p.ID)
}

// catchUp runs a pipeline up to all that its sources hold now.
func (h *Host) catchUp(ctx context.Context, n *catalog.Network, p *catalog.Pipeline, t *tally) (err error) {
	w := h.workshop(n, p)
	defer func() { err = errors.Join(err, w.close()) }()
	j, err := w.job(ctx, job.Options{Attempts: attempts, Report: t.epoch})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Flush()) }()
	resumed, err := j.AvailableNow(ctx)
	if err == nil && resumed {
		_, err = j.AvailableNow(ctx)
	}
	return err
}

// propagate puts a new generation beside everything live that reads what is being built.
func (h *Host) propagate(n *catalog.Network, p *catalog.Pipeline) error {
	e := h.catalog.Edit()
	defer e.Close()
	building := map[string]bool{}
	for _, a := range p.Members {
		r := h.catalog.Records[a]
		if r.Building != nil {
			building[a.String()] = true
			continue
		}
		if !slices.ContainsFunc(n.Inputs[a], func(in address) bool { return building[in.String()] }) {
			continue
		}
		building[a.String()] = true
		next := *r
		next.Building = e.Fresh(Resource{Addr: a, Value: r.Live.Value, Relation: r.Live.Relation, Generation: r.Live.Number})
		next.Building.Replace = isSink(a)
		e.Save(&next)
	}
	if e.Saved() == 0 {
		return nil
	}
	return e.Commit()
}
