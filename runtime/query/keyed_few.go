package query

import (
	"context"
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/firsts"
	"github.com/streamform/streamform/runtime/query/memory"
)

// few brings the first rows of each key up to date where rows are taken back, too. What is remembered of the input is read only of keys
// that lose so many of the rows shown that others follow.
func (r *keyedRun) few(ctx context.Context, relation string, c *change, keys memory.Keys) error {
	was, shelves, err := r.heldRows(ctx, holding{rows: r.shown(), types: r.k.OutputTypes, keys: keys})
	if err != nil {
		return err
	}
	first := firsts.Rows{Set: r.Set, Keyed: r.k, Was: was, Plus: r.k.InputRows(0, r.deltas[0].plus), Minus: r.deltas[0].minus}
	rows, short, err := first.Candidates(ctx)
	if err != nil {
		return err
	}
	if short.Len() > 0 {
		held, _, err := r.heldRows(ctx, holding{rows: r.shelves(0), types: r.k.InputTypes[0], keys: short, many: true})
		if err != nil {
			return err
		}
		rows = first.Completed(rows, r.after(0, held, r.deltas[0]))
	}
	if err := r.rememberInput(relation, 0, nil); err != nil {
		return err
	}
	now, err := r.k.Fill(r.k.Body, rows)
	if err != nil {
		return err
	}
	return r.swap(ctx, relation, c, shown{now: now, was: was, keys: keys.Strings(), shelves: shelves})
}

// netRows makes the tables of a change anew, without the rows that cancel out: their keys may be untouched, and nothing is read of such a key.
func (r *keyedRun) netRows(ctx context.Context, d *keyedDelta) (err error) {
	if d.plus, err = r.tableOf(ctx, d.added); err != nil {
		return err
	}
	if d.minus = ""; len(d.removed) > 0 {
		d.minus, err = r.tableOf(ctx, d.removed)
	}
	return err
}

// tableOf makes a table of rows of the first input, in the order of their keys.
func (r *keyedRun) tableOf(ctx context.Context, rows map[string][][]byte) (string, error) {
	types := r.k.InputTypes[0]
	l, err := r.Loader(compile.Numbered("c", len(types)), types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	err = memory.KeysOf(slices.Collect(maps.Keys(rows))).Each(func(key []byte) error {
		for _, row := range rows[string(key)] {
			if err := l.Append(ctx, row); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return l.Table(ctx)
}
