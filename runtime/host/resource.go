package host

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// Resource is one applied resource, as the host is given it.
type Resource = catalog.Resource

// Relation is what SQL sees of a source, stream or view.
type Relation = catalog.Relation

// Put creates or changes a resource. What it reads must have been put before. A relation
// or sink of a new generation is only registered: Backfill computes it while the
// former one serves. The number tells: a resource of the live generation takes effect in place, whatever it says. Putting
// the same again has no further effect.
func (h *Host) Put(ctx context.Context, r Resource) error {
	h.busy.Enter()
	defer h.busy.Unlock()
	if !h.open.Knows(r.Addr.Kind()) {
		return fmt.Errorf("putting %s: this version has no kind %s", r.Addr, r.Addr.Kind())
	}
	next := &catalog.Record{Addr: r.Addr, Life: uuid.NewString()}
	if had, ok := h.catalog.Records[r.Addr]; ok {
		*next = *had
	}
	now, err := sinceNow(r)
	if next.Live != nil && (now || next.Live.Number == r.Generation) || next.Building != nil {
		h.busy.Stop(next.Pipeline)
	}
	e := h.catalog.Edit()
	defer e.Close()
	switch {
	case err != nil:
	case !catalog.Carries(r.Addr):
		next.Live = &catalog.Generation{Number: r.Generation, Value: r.Value}
	case next.Live != nil && next.Live.Number == r.Generation:
		if next.Live, err = h.inPlace(e, next, r); err == nil {
			err = supersede(e, next, nil)
		}
	case next.Building != nil && next.Building.Number == r.Generation && sameValue(next.Building, r):
		return nil
	case now:
		if err = h.drain(ctx, next.Pipeline); err == nil {
			err = beginNow(e, next, r)
		}
	default:
		err = supersede(e, next, e.Fresh(r))
	}
	if err != nil {
		return fmt.Errorf("putting %s: %w", r.Addr, err)
	}
	e.Save(next)
	if err := e.Commit(); err != nil {
		return fmt.Errorf("putting %s: %w", r.Addr, err)
	}
	return nil
}

// sinceNow reports whether a resource is a sink that is never given rows from before.
func sinceNow(r Resource) (bool, error) {
	if r.Addr.Block != addr.Sink {
		return false, nil
	}
	return (&catalog.Generation{Value: r.Value}).SinceNow()
}

// beginNow has a sink serve at once, with the rows that come from the next epoch on.
func beginNow(e *catalog.Edit, record *catalog.Record, r Resource) error {
	if err := e.Drop(record.Live); err != nil {
		return err
	}
	record.Live = e.Fresh(r)
	return supersede(e, record, nil)
}

func sameValue(g *catalog.Generation, r Resource) bool {
	return bytes.Equal(g.Value, r.Value) && catalog.SameRelation(g.Relation, r.Relation)
}

// supersede sets what is being built; what was being built before is dropped, its undelivered output too.
func supersede(e *catalog.Edit, r *catalog.Record, building *catalog.Generation) error {
	former := r.Building
	r.Building = building
	if building != nil && r.Addr.Block == addr.Sink {
		building.Replace = r.Live != nil || (former != nil && (former.Touched || former.Replace))
	}
	if former == nil {
		return nil
	}
	if err := job.DropParcels(e.View, e.Batch, former.ID); err != nil {
		return err
	}
	return e.Drop(former)
}

// last reports whether a record is the only one left of its pipeline.
func (h *Host) last(r *catalog.Record) bool {
	for a, other := range h.catalog.Records {
		if a != r.Addr && other.Pipeline == r.Pipeline {
			return false
		}
	}
	return r.Pipeline != ""
}

// Delete forgets a resource and drops what it remembers. Output that is decided but not delivered is delivered
// first; what a sink has delivered stays. Deleting what is not there is no error.
func (h *Host) Delete(ctx context.Context, a addr.Resource) error {
	h.busy.Enter()
	defer h.busy.Unlock()
	r, ok := h.catalog.Records[a]
	if !ok {
		return nil
	}
	h.busy.Stop(r.Pipeline)
	if r.Pipeline != "" && a.Block == addr.Sink {
		if err := h.drain(ctx, r.Pipeline); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	e := h.catalog.Edit()
	defer e.Close()
	for _, g := range r.Generations() {
		if err := e.Drop(g); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	e.Remove(a)
	if h.last(r) {
		job.ForgetPipeline(e.Batch, r.Pipeline)
		e.Batch.DeleteMeta(job.BuildKey(r.Pipeline))
	}
	if err := e.Commit(); err != nil {
		return fmt.Errorf("deleting %s: %w", a, err)
	}
	if a.Block != addr.Sink {
		return nil
	}
	for _, g := range r.Generations() {
		if err := os.RemoveAll(h.open.Spool(g.ID)); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	return nil
}
