package host

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query/weight"
)

// Remembered is what the serving generation of a stream or view holds.
type Remembered struct {
	Identity  string          // of its query
	Rows      int64           // of a view as it stands; rows a stream emitted since its generation began
	Operators map[string]Size // by the operator's ID; one that remembers nothing is absent
}

// Size is how much one operator remembers.
type Size struct {
	Keys  int64
	Bytes int64 // of keys and values, before compression
	// Shared are the other relations that have the same keyed data: it is there once.
	Shared []addr.Resource
}

// Remembered looks at the store, as of the last commit.
func (h *Host) Remembered() (map[addr.Resource]Remembered, error) {
	view := h.store.View()
	defer view.Close()
	c, err := catalog.Read(h.store, view)
	if err != nil {
		return nil, err
	}
	out := map[addr.Resource]Remembered{}
	for a, r := range c.Records {
		if a.Block != addr.Stream && a.Block != addr.View || r.Live == nil {
			continue
		}
		sums, err := job.ReadCounters(view, r.Live.ID)
		if err != nil {
			return nil, fmt.Errorf("reading sums of %s: %w", a, err)
		}
		m := Remembered{Rows: sums.Inserted - sums.Deleted, Operators: map[string]Size{}}
		if r.Live.Relation != nil {
			m.Identity = r.Live.Relation.Identity
		}
		for operator, id := range r.Live.Tables {
			table := view.Table(id)
			rows, bytes, err := weight.InRuns(table)
			if err != nil {
				return nil, fmt.Errorf("reading what %s remembers: %w", a, err)
			}
			if n := table.Len(); n > 0 {
				m.Operators[operator] = Size{Keys: n + rows, Bytes: table.Size() + bytes}
			}
		}
		out[a] = m
	}
	shared(c, out)
	return out, nil
}

// shared notes who has keyed data together.
func shared(c *catalog.Catalog, of map[addr.Resource]Remembered) {
	holders := map[uint64][]addr.Resource{}
	for _, r := range c.Sorted() {
		if r.Live != nil {
			for _, id := range r.Live.Tables {
				holders[id] = append(holders[id], r.Addr)
			}
		}
	}
	for a, m := range of {
		for operator, size := range m.Operators {
			size.Shared = slices.DeleteFunc(slices.Compact(slices.Clone(holders[c.Records[a].Live.Tables[operator]])), func(o addr.Resource) bool { return o == a })
			m.Operators[operator] = size
		}
	}
}
