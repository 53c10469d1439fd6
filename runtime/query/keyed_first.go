package query

import (
	"context"
	"fmt"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
)

// isFirst reports whether a large epoch is the first that an operator sees: nothing is remembered, and all rows are new. A
// small one costs little more when it is treated like any other.
func (r *keyedRun) isFirst() (bool, error) {
	if r.Small {
		return false, nil
	}
	for _, d := range r.deltas {
		if d != nil && d.minus != "" {
			return false, nil
		}
	}
	empty, err := memory.Empty(r.mem)
	if err != nil {
		return false, fmt.Errorf("reading keyed data: %w", err)
	}
	return empty, nil
}

// first computes the operator over its first rows: there is nothing to read, and no difference to find.
func (r *keyedRun) first(ctx context.Context, s Step, c *change) error {
	if r.k.Best {
		if err := r.rememberRows(ctx, s.Relation, r.deltas[0]); err != nil {
			return err
		}
		return r.showFirst(s.Relation, c, r.deltas[0].plus, r.deltas[0].run)
	}
	tables := make([]string, len(r.deltas))
	for i, d := range r.deltas {
		if d == nil {
			tables[i] = emptyRows(compile.Positional(r.k.InputTypes[i]))
			continue
		}
		tables[i] = r.k.InputRows(i, d.plus)
		if err := r.rememberInput(s.Relation, i, memory.NoShelves(d.added)); err != nil {
			return err
		}
	}
	if err := r.atMostOne(ctx, s.Relation, tables); err != nil {
		return err
	}
	now, err := r.k.Fill(r.k.Body, tables...)
	if err != nil {
		return err
	}
	if c.inserted, err = r.output(ctx, now); err != nil {
		return err
	}
	if !r.k.Unstable {
		return r.onceMade(ctx, s, c)
	}
	made, rows, err := r.keyedRows(ctx, r.k.ShownKeys(), r.k.OutputTypes, c.inserted)
	if err != nil {
		return err
	}
	return r.showFirst(s.Relation, c, made, rows)
}
