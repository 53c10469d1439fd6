package looking

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/weight"
)

// Weigh says how many rows and groups of what the runtime holds it takes to follow the carries of edited queries, each given
// by what it reads whole. Rows that an operator holds are counted in a sample where they are many. What the runtime does
// not have is left out. It may be called at any time.
func (l *Looker) Weigh(_ context.Context, all map[addr.Resource][]evolve.Need) (map[addr.Resource]int64, error) {
	view := l.store.View()
	defer view.Close()
	c, err := catalog.Read(l.store, view)
	if err != nil {
		return nil, err
	}
	views := map[string]*catalog.Record{}
	for a, r := range c.Records {
		if r.Holds() {
			views[strings.ToLower(a.Relation())] = r
		}
	}
	out := map[addr.Resource]int64{}
	for a, needs := range all {
		r := c.Records[a]
		if r == nil || r.Live == nil {
			continue
		}
		for _, n := range needs {
			of := r
			if n.View != "" {
				if of = views[n.View]; of == nil {
					continue
				}
			}
			rows := int64(0)
			if n.View != "" || n.Operator == query.ResultID {
				counters, failed := job.ReadCounters(view, of.Live.ID)
				rows, err = counters.Inserted-counters.Deleted, failed
			} else if table, ok := r.Live.Tables[n.Operator]; ok {
				rows, err = weight.Rows(view.Table(table), n)
			}
			if err != nil {
				return nil, fmt.Errorf("weighing what %s holds: %w", a, err)
			}
			out[a] += rows
		}
	}
	return out, nil
}
