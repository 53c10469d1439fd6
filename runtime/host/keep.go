package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/serving"
	"github.com/streamform/streamform/runtime/job"
)

// Changing makes the calls until end is called one change: while pipelines are kept running, those that a call has stopped stay so until
// Backfill or end, instead of being started after every call.
func (h *Host) Changing() (end func()) { return h.busy.Group() }

// keep keeps all pipelines running, as what was applied has them at any time.
func (h *Host) keep(ctx context.Context, r *runner) error {
	r.ctx = ctx
	var failure error
	first := true
	err := h.busy.Keep(ctx, func(pipeline string, err error) { r.tell(func() { h.opts.Stopped(pipeline, err) }) }, func() {
		h.live = r
		if failure = h.serveAll(ctx); failure != nil && !first {
			r.tell(func() { h.opts.Stopped("that was changed", failure) })
		}
		first = false
	})
	h.busy.Enter()
	h.live = nil
	h.busy.Unlock()
	return errors.Join(failure, err)
}

func (h *Host) serveAll(ctx context.Context) error {
	if !h.busy.Keeps() {
		return nil
	}
	if err := h.collect(); err != nil {
		return err
	}
	n, all, err := h.regroup(ctx)
	if err != nil {
		return err
	}
	h.serve(n, all, len(all))
	return nil
}

// serve starts what is to run and does not, where pipelines are kept running: so many at the same time.
func (h *Host) serve(n *catalog.Network, all []*catalog.Pipeline, together int) {
	for _, p := range all {
		if !h.busy.Keeps() {
			return
		}
		shape, err := h.shape(p)
		of := serving.Pipeline{ID: p.ID, Name: p.Name, Shape: shape}
		h.busy.Start(of, together > 1, func() (serving.Pipeline, error) {
			if err != nil {
				return of, err
			}
			w := h.workshop(n, p)
			w.together = together
			j, err := w.job(h.live.ctx, h.live.options)
			if err != nil {
				return of, errors.Join(fmt.Errorf("starting %s: %w", p.Name, err), w.close())
			}
			of.Sequence = j.Sequence
			of.Follow = func(ctx context.Context) error { return errors.Join(j.Follow(ctx), w.close()) }
			return of, nil
		})
	}
}

// shape says what a pipeline that runs is made of: the generations that serve, and its trigger.
func (h *Host) shape(p *catalog.Pipeline) (string, error) {
	type part struct {
		Addr       address
		ID         string
		Number     int64
		Value      json.RawMessage
		Relation   *catalog.Relation
		Boundaries []catalog.Boundary
	}
	of := struct {
		ID      string
		Trigger job.Trigger
		Parts   []part
	}{ID: p.ID, Trigger: p.Trigger}
	for _, a := range p.Members {
		if g := h.catalog.Records[a].Live; g != nil {
			of.Parts = append(of.Parts, part{a, g.ID, g.Number, g.Value, g.Relation, g.Boundaries})
		}
	}
	text, err := json.Marshal(of)
	if err != nil {
		return "", fmt.Errorf("writing what %s is made of: %w", p.Name, err)
	}
	return string(text), nil
}
