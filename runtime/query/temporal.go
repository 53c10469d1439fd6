package query

import (
	"context"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/timed"
)

// temporal brings a filter by the time up to date.
func (ep *epoch) temporal(ctx context.Context, s Step, t compile.Temporal, inputs map[string]*change) (*change, error) {
	r, err := timed.Open(ep.Set, t, s.Memory(t.ID), ep.work.Now)
	if err != nil {
		return nil, err
	}
	c := &change{columns: t.OutputColumns(), inserted: emptyRows(t.OutputColumns())}
	leaves := logical.Leaves(t.Input.SQL)
	if quiet(leaves, inputs) && r.Quiet() {
		ep.due(s.Relation, r.Due())
		return c, nil
	}
	plus, minus := "", ""
	if !quiet(leaves, inputs) {
		if plus, err = side(t.Input.SQL, inputs, func(in *change) string { return in.inserted }); err != nil {
			return nil, err
		}
	}
	if anyDeleted(leaves, inputs) {
		if minus, err = side(t.Input.SQL, inputs, deletedRows); err != nil {
			return nil, err
		}
	}
	parts, err := r.Run(ctx, plus, minus)
	if err != nil {
		return nil, err
	}
	ep.due(s.Relation, r.Due())
	keys, values := r.Remember()
	ep.remember(s.Relation, Remember{Operator: t.ID, Keys: keys, Values: values})
	if len(parts.Inserted) > 0 {
		c.inserted = together(parts.Inserted)
	}
	c.counts = batch.Counts{Inserted: -1}
	if len(parts.Deleted) == 0 {
		return c, ep.materialize(ctx, c)
	}
	return c, ep.consolidate(ctx, c, together(parts.Deleted))
}

func together(parts []string) string { return "(FROM " + strings.Join(parts, " UNION ALL FROM ") + ")" }

// due notes when a relation's rows change next by the clock alone.
func (ep *epoch) due(relation string, at int64) {
	if had, ok := ep.result.Due[relation]; !ok || at < had {
		ep.result.Due[relation] = at
	}
}
