package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/job"
)

// Resource is one applied resource, as the host is given it.
type Resource struct {
	Addr  addr.Resource   `json:"address"`
	Value json.RawMessage `json:"value"` // complete value by the kind's type
	// Relation is set for sources, streams and views.
	Relation *Relation `json:"relation,omitempty"`
	// Generation is the one that the value belongs to. A generation that the host does not have yet is built
	// beside the live one; the live one's number replaces its value in place.
	Generation int64 `json:"generation"`
}

// Relation is what SQL sees of a source, stream or view.
type Relation struct {
	Columns    batch.Schema            `json:"columns"`         // a source's metadata columns included
	Sides      map[string]batch.Schema `json:"sides,omitempty"` // sources: columns of side relations by name ("malformed")
	AppendOnly bool                    `json:"append_only"`
	Key        []string                `json:"key,omitempty"`
	Reads      []string                `json:"reads,omitempty"` // relation names its SQL reads, purchases.malformed for a side relation
	Identity   string                  `json:"identity,omitempty"`
}

// Put creates or changes a resource. What it reads must have been put before. A relation
// or sink of a new generation is only registered: Backfill computes it while the
// former one serves. Putting the same again has no further effect.
func (h *Host) Put(_ context.Context, r Resource) error {
	h.busy.Lock()
	defer h.busy.Unlock()
	if _, ok := h.definitions[r.Addr.Kind()]; !ok {
		return fmt.Errorf("putting %s: this version has no kind %s", r.Addr, r.Addr.Kind())
	}
	e := h.catalog.edit()
	defer e.close()
	next := &record{Addr: r.Addr, Life: uuid.NewString()}
	if had, ok := h.catalog.records[r.Addr]; ok {
		*next = *had
	}
	var err error
	switch {
	case !carries(r.Addr):
		next.Live = &generation{Number: r.Generation, Value: r.Value}
	case next.Live != nil && next.Live.Number == r.Generation && meansSame(next.Live, r):
		live := *next.Live
		live.Value, live.Relation = r.Value, r.Relation
		next.Live = &live
		err = e.supersede(next, nil)
	case next.Building != nil && next.Building.Number == r.Generation && sameValue(next.Building, r):
		return nil
	default:
		err = e.supersede(next, e.fresh(r))
	}
	if err != nil {
		return fmt.Errorf("putting %s: %w", r.Addr, err)
	}
	e.save(next)
	if err := e.commit(); err != nil {
		return fmt.Errorf("putting %s: %w", r.Addr, err)
	}
	return nil
}

// carries reports whether rows flow through a resource.
func carries(a addr.Resource) bool { return a.Block.IsRelation() || a.Block == addr.Sink }

// meansSame reports whether what a generation remembers fits a resource: its query has not changed. Of
// sources and sinks the generation's number tells.
func meansSame(g *generation, r Resource) bool {
	return r.Addr.Block == addr.Source || g.Relation == nil || r.Relation == nil || g.Relation.Identity == r.Relation.Identity
}

func sameValue(g *generation, r Resource) bool {
	return bytes.Equal(g.Value, r.Value) && sameRelation(g.Relation, r.Relation)
}

// supersede sets what is being built; what was being built before is dropped, its undelivered output too.
func (e *edit) supersede(r *record, building *generation) error {
	former := r.Building
	r.Building = building
	if building != nil && r.Addr.Block == addr.Sink {
		building.Replace = r.Live != nil || (former != nil && (former.Touched || former.Replace))
	}
	if former == nil {
		return nil
	}
	if err := job.DropParcels(e.view, e.batch, former.ID); err != nil {
		return err
	}
	return e.drop(former)
}

// last reports whether a record is the only one left of its pipeline.
func (e *edit) last(r *record) bool {
	for a, other := range e.catalog.records {
		if a != r.Addr && other.Pipeline == r.Pipeline {
			return false
		}
	}
	return r.Pipeline != ""
}

// Delete forgets a resource and drops what it remembers. Output that is decided but not delivered is delivered
// first; what a sink has delivered stays. Deleting what is not there is no error.
func (h *Host) Delete(ctx context.Context, a addr.Resource) error {
	h.busy.Lock()
	defer h.busy.Unlock()
	r, ok := h.catalog.records[a]
	if !ok {
		return nil
	}
	if r.Pipeline != "" && a.Block == addr.Sink {
		if err := h.drain(ctx, r.Pipeline); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	e := h.catalog.edit()
	defer e.close()
	for _, g := range []*generation{r.Live, r.Building} {
		if err := e.drop(g); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	e.remove(a)
	if e.last(r) {
		job.ForgetPipeline(e.batch, r.Pipeline)
		e.batch.DeleteMeta("build/" + r.Pipeline)
	}
	if err := e.commit(); err != nil {
		return fmt.Errorf("deleting %s: %w", a, err)
	}
	if a.Block != addr.Sink {
		return nil
	}
	for _, g := range []*generation{r.Live, r.Building} {
		if g == nil {
			continue
		}
		if err := os.RemoveAll(h.spool(g.ID)); err != nil {
			return fmt.Errorf("deleting %s: %w", a, err)
		}
	}
	return nil
}
