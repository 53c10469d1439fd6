package host

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// read says how far the sources of a pipeline have been read: by source ID, the last ordinal.
func (h *Host) read(e *catalog.Edit, pipeline string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, r := range h.catalog.Records {
		if r.Pipeline != pipeline || r.Addr.Block != addr.Source || r.Live == nil {
			continue
		}
		state, err := job.ReadSourceState(e.View, r.Live.ID)
		if err != nil {
			return nil, err
		}
		out[r.Live.ID] = state.Position
	}
	return out, nil
}

// former lists the stretches of input that streams, which are computed again, have read by queries they had before: oldest first.
func (b *builder) former(ctx context.Context, now []job.Relation) ([]job.Stretch, error) {
	type kept struct {
		at       address
		boundary catalog.Boundary
	}
	var all []kept
	for _, a := range b.again {
		if r := b.workshop.record(a); a.Block == addr.Stream && b.building(a) == nil && r.Live != nil {
			for _, boundary := range r.Live.Boundaries {
				all = append(all, kept{a, boundary})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y kept) int { return cmp.Compare(x.boundary.Epoch, y.boundary.Epoch) })
	out := make([]job.Stretch, len(all))
	relations := slices.Clone(now)
	for i, k := range slices.Backward(all) {
		program, err := b.host.open.Former(ctx, b.network, k.at, k.boundary)
		if err != nil {
			return nil, err
		}
		if program != nil {
			relations = slices.Clone(relations)
			at := slices.IndexFunc(relations, func(r job.Relation) bool { return r.Addr == k.at })
			relations[at].Program = program
		}
		out[i] = job.Stretch{Ends: maps.Clone(k.boundary.Read), Relations: relations}
	}
	return out, nil
}
