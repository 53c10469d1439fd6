package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// inPlace is the live generation of a record with what a resource says now. Where that changes the rows it gives from now
// on, a boundary is recorded, and of its keyed data only what the resource's carry keeps stays.
func (h *Host) inPlace(e *catalog.Edit, r *catalog.Record, now Resource) (*catalog.Generation, error) {
	live := *r.Live
	live.Value, live.Relation, live.Recorded = now.Value, now.Relation, now.Recorded
	was, is := meaning(now.Addr, r.Live.Value, r.Live.Relation), meaning(now.Addr, now.Value, now.Relation)
	if !now.Keep || was == is {
		return &live, nil
	}
	epoch, err := job.Epoch(e.View, r.Pipeline)
	if err != nil {
		return nil, fmt.Errorf("reading the epoch: %w", err)
	}
	b := catalog.Boundary{Epoch: epoch, At: h.opts.Now().UTC(), Was: was, Is: is, Value: r.Live.Value, Relation: r.Live.Relation}
	if b.Read, err = e.Positions(r.Pipeline); err != nil {
		return nil, fmt.Errorf("reading the positions: %w", err)
	}
	live.Boundaries = append(slices.Clone(live.Boundaries), b)
	if now.Addr.Block == addr.Source {
		return &live, nil
	}
	if live.Tables, err = keptTables(r.Live.Tables, now.Carry); err != nil {
		return nil, err
	}
	e.Leave(r.Live.Tables)
	return &live, nil
}

// meaning is a digest of what decides the rows of a resource.
func meaning(a addr.Resource, value json.RawMessage, r *catalog.Relation) string {
	text := []byte(value)
	if a.Block != addr.Source && r != nil {
		text = []byte(r.Identity)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Move gives resources other addresses, all at once. Generations, keyed data, positions, undelivered output and the names under
// which sinks deliver stay. A stream may become a view: it then serves until the view, which must be put next, was computed. A move that was made already has no further effect. What names a resource by its former address
// must be put again before the next Backfill or Run.
func (h *Host) Move(_ context.Context, moves map[addr.Resource]addr.Resource) error {
	h.busy.Enter()
	defer h.busy.Unlock()
	for from := range moves {
		if r, ok := h.catalog.Records[from]; ok {
			h.busy.Stop(r.Pipeline)
		}
	}
	e := h.catalog.Edit()
	defer e.Close()
	var moved []*catalog.Record
	for from, to := range moves {
		r, ok := h.catalog.Records[from]
		_, gone := moves[to]
		switch _, taken := h.catalog.Records[to]; {
		case !ok:
			continue
		case from.Kind() != to.Kind() && !becomesView(from, to):
			return fmt.Errorf("moving %s to %s: they are of different kinds", from, to)
		case taken && !gone:
			return fmt.Errorf("moving %s to %s: the runtime has both", from, to)
		}
		next := *r
		next.Addr = to
		if r.Origin == nil {
			origin := from
			next.Origin = &origin
		}
		if becomesView(from, to) {
			if err := pass(e, &next); err != nil {
				return fmt.Errorf("moving %s to %s: %w", from, to, err)
			}
		}
		e.Remove(from)
		moved = append(moved, &next)
	}
	if len(moved) == 0 {
		return nil
	}
	for _, r := range moved {
		e.Save(r)
	}
	if err := e.Commit(); err != nil {
		return fmt.Errorf("moving resources: %w", err)
	}
	return nil
}

func becomesView(from, to addr.Resource) bool {
	return from.Block == addr.Stream && to.Block == addr.View
}

// pass has a stream's generation serve under the address of a view. There is no way back to what it was before.
func pass(e *catalog.Edit, r *catalog.Record) error {
	for _, f := range r.Former {
		if err := e.Drop(f.Generation); err != nil {
			return err
		}
	}
	r.Former = nil
	if r.Live != nil {
		live := *r.Live
		live.Passing = true
		r.Live = &live
	}
	return nil
}
