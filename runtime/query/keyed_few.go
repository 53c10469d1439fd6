package query

import (
	"context"

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
	if d.plus, err = r.loaded(ctx, 0, func(put func(row []byte) error) error { return memory.EachRow(d.added, put) }); err != nil {
		return err
	}
	if d.minus = ""; len(d.removed) > 0 {
		d.minus, err = r.loaded(ctx, 0, func(put func(row []byte) error) error { return memory.EachRow(d.removed, put) })
	}
	return err
}
