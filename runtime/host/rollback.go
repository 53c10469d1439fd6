package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// rollbackWindow is the longest time that one of the relations being replaced, or of those that replace them, asks for.
func (b *builder) rollbackWindow() (longest time.Duration, err error) {
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if b.building(a) == nil || r.Live == nil {
			continue
		}
		for _, g := range []*catalog.Generation{r.Live, r.Building} {
			w, err := g.Wanted()
			if err != nil {
				return 0, fmt.Errorf("reading %s: %w", a, err)
			}
			if w.RollbackWindow == "" {
				continue
			}
			d, err := schema.ParseDuration(w.RollbackWindow)
			if err != nil {
				return 0, fmt.Errorf("reading the rollback window of %s: %w", a, err)
			}
			longest = max(longest, time.Duration(d))
		}
	}
	return longest, nil
}

// leave drops a generation that was replaced, or keeps it for a rollback with how far it has read.
func (b *builder) leave(e *catalog.Edit, former *catalog.Generation, r *catalog.Record) error {
	if former == nil {
		return nil
	}
	if b.window == 0 || former.Passing {
		return e.Drop(former)
	}
	former, err := e.Apart(former)
	if err != nil {
		return err
	}
	if b.cutID == "" {
		b.cutID = uuid.NewString()
	}
	f := catalog.Former{Generation: former, CutOver: b.cutID, Until: b.host.opts.Now().UTC().Add(b.window), Done: map[string]int64{}}
	for _, a := range b.pipeline.Members {
		g := b.workshop.record(a).Live
		if a.Block != addr.Source || g == nil {
			continue
		}
		state, err := job.ReadSourceState(e.View, g.ID)
		if err != nil {
			return fmt.Errorf("reading the position of %s: %w", a, err)
		}
		f.Done[g.ID] = state.Position
	}
	r.Former = append(slices.Clone(r.Former), f)
	return nil
}

// collect drops kept generations whose time is over.
func (h *Host) collect() error {
	e := h.catalog.Edit()
	defer e.Close()
	now := h.opts.Now()
	for _, r := range h.catalog.Sorted() {
		next := *r
		next.Former = nil
		var over []*catalog.Generation
		for _, f := range r.Former {
			if now.Before(f.Until) {
				next.Former = append(next.Former, f)
			} else {
				over = append(over, f.Generation)
			}
		}
		if len(over) == 0 {
			continue
		}
		for _, g := range over {
			if err := e.Drop(g); err != nil {
				return fmt.Errorf("dropping a former generation of %s: %w", r.Addr, err)
			}
		}
		e.Save(&next)
	}
	if e.Saved() == 0 {
		return nil
	}
	return e.Commit()
}

// Rollback goes back to the generation that a resource had before the one that serves, and to what the same cut-over has
// replaced with it. Kept generations catch up on what was read since, and what reads them receives the difference; where that is not
// possible, the former definition is computed anew. Before anything is computed decided is told the resources that will serve
// again, as they were put; its error ends the rollback. After an error the next Rollback or Backfill goes on. That there is nothing
// to go back to is a *connector.UserError.
func (h *Host) Rollback(ctx context.Context, a addr.Resource, decided func([]Resource) error, report func(Progress)) (Summary, error) {
	h.busy.Lock()
	defer h.busy.Unlock()
	if err := h.collect(); err != nil {
		return Summary{}, err
	}
	n, all, err := h.regroup(ctx)
	if err != nil {
		return Summary{}, err
	}
	r := h.catalog.Records[a]
	if r == nil || r.Building == nil || !r.Building.Restored {
		if err := h.restorable(a, all); err != nil {
			return Summary{}, err
		}
		if err := h.restore(ctx, n, r); err != nil {
			return Summary{}, fmt.Errorf("rolling back %s: %w", a, err)
		}
	}
	var restored []Resource
	for _, r := range h.catalog.Sorted() {
		if g := r.Building; g != nil && g.Restored {
			restored = append(restored, Resource{Addr: r.Addr, Value: g.Value, Relation: g.Relation, Generation: g.Number, Recorded: g.Recorded})
		}
	}
	if err := decided(restored); err != nil {
		return Summary{}, err
	}
	return h.backfill(ctx, report)
}

// restorable says why a resource cannot be rolled back.
func (h *Host) restorable(a addr.Resource, all []*catalog.Pipeline) error {
	r := h.catalog.Records[a]
	switch {
	case r == nil:
		return &connector.UserError{Summary: "Nothing to roll back", Detail: fmt.Sprintf("The runtime has no %s.", a)}
	case len(r.Former) == 0:
		return &connector.UserError{Summary: "Nothing to roll back to", Detail: fmt.Sprintf(
			"No former generation of %s is kept. One is kept when it is replaced, for as long as the relation's rollback_window says; the default is not to keep any.", a)}
	}
	for _, p := range all {
		if slices.Contains(p.Members, a) && h.isBuilding(p) {
			return underBuild(a)
		}
	}
	return nil
}

func underBuild(a address) error {
	return &connector.UserError{Summary: "A rebuild is under way", Detail: fmt.Sprintf(
		"What %s belongs to is being built. Let \"streamform apply\" finish it first, or take the edit back and apply.", a)}
}

// restore puts what a cut-over has replaced beside what serves.
func (h *Host) restore(ctx context.Context, n *catalog.Network, first *catalog.Record) error {
	e := h.catalog.Edit()
	defer e.Close()
	latest := first.Former[len(first.Former)-1]
	for _, r := range h.catalog.Sorted() {
		if len(r.Former) == 0 {
			continue
		}
		f := r.Former[len(r.Former)-1]
		if f.CutOver != latest.CutOver {
			continue
		}
		next, g := *r, *f.Generation
		next.Former = slices.Clone(r.Former[:len(r.Former)-1])
		if isSink(r.Addr) { // what it delivers to holds other rows by now
			if err := e.Drop(&g); err != nil {
				return err
			}
			g = *e.Fresh(Resource{Addr: r.Addr, Value: g.Value, Generation: g.Number, Recorded: g.Recorded})
			g.Replace = true
		}
		g.Restored, g.Touched = true, true
		next.Building = &g
		e.Save(&next)
	}
	if err := e.Commit(); err != nil {
		return err
	}
	return h.goOn(ctx, n, h.catalog.Records[first.Addr].Pipeline, latest.Done)
}

// goOn records that kept generations have read up to where they were replaced, if what they read since is all they lack.
func (h *Host) goOn(ctx context.Context, n *catalog.Network, pipeline string, done map[string]int64) error {
	all, err := n.Pipelines()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(p *catalog.Pipeline) bool { return p.ID == pipeline })
	if i < 0 {
		return nil
	}
	b := &builder{workshop: h.workshop(n, all[i])}
	defer func() { _ = b.close() }()
	if b.round, err = newRound(n, all[i], b.workshop.record); err != nil {
		return err
	}
	b.findNeeded()
	if len(b.held) > 0 {
		return nil // nobody knows what these were when the generation was replaced
	}
	e := h.catalog.Edit()
	defer e.Close()
	b.record = buildRecord{Build: catalog.Build{Done: done, Generations: b.generations(e)}, Begun: true, Scratch: map[address]*catalog.Generation{}}
	for _, a := range b.again {
		r := b.workshop.record(a)
		_, known := done[r.Newest().ID]
		switch {
		case b.building(a) != nil:
		case a.Block == addr.Source && !known:
			return nil // another generation of the source
		case a.Block != addr.Source:
			relation, err := b.relation(ctx, a, b.newest)
			if err != nil {
				return err
			}
			if holds(relation) {
				return nil
			}
			b.record.Scratch[a] = e.Fresh(Resource{Addr: a, Generation: r.Live.Number})
		}
	}
	if b.record.Epoch, err = job.Epoch(e.View, pipeline); err != nil {
		return err
	}
	if err := b.write(e.Batch, nil); err != nil {
		return err
	}
	return e.Commit()
}
