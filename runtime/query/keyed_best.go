package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
)

// best brings the first rows of each key up to date. Rows only come, so that those shown so far stand for all before them.
func (r *keyedRun) best(ctx context.Context, relation string, c *change, keys memory.Keys) error {
	was, shelves, err := r.heldRows(ctx, holding{rows: r.shown(), types: r.k.OutputTypes, keys: keys})
	if err != nil {
		return err
	}
	after := fmt.Sprintf("(SELECT %s FROM %s)", strings.Join(compile.Numbered("c", len(r.k.InputTypes[0])), ", "), was)
	if d := r.deltas[0]; d != nil {
		after = fmt.Sprintf("(FROM %s UNION ALL FROM %s)", after, r.rowsOnly(0, d.plus))
		if err := r.rememberRows(ctx, relation, d); err != nil {
			return err
		}
	}
	now, err := r.fill(r.k.Body, after)
	if err != nil {
		return err
	}
	return r.swap(ctx, relation, c, shown{now: now, was: was, keys: keys.Strings(), shelves: shelves})
}

// candidates makes a table of new rows, and finds those that are among the first of themselves: no others can be among the first of all.
func (r *keyedRun) candidates(ctx context.Context, plus string) (rows, few string, err error) {
	list := make([]string, len(r.k.InputTypes[0]))
	for j, t := range r.k.InputTypes[0] {
		list[j] = fmt.Sprintf("CAST(c%d AS %s) AS c%d", j, t, j)
	}
	if rows, err = r.Make(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+plus); err != nil {
		return "", "", err
	}
	if r.Kept(rows) {
		few, err = r.Choose(ctx, rows, func(numbered string) (string, error) { return r.fill(r.k.Body, numbered) })
		return rows, few, err
	}
	first, err := r.fill(r.k.Body, rows)
	return rows, fmt.Sprintf("(SELECT %s FROM (%s))", strings.Join(compile.Numbered("c", len(list)), ", "), first), err
}

// rememberRows keeps an input's new rows in order: nothing reads them until the query is edited.
func (r *keyedRun) rememberRows(ctx context.Context, relation string, d *keyedDelta) error {
	blocks, err := r.RowBlocks(ctx, d.rows, compile.Numbered("c", len(r.k.InputTypes[0])), r.k.InputTypes[0])
	if err == nil {
		r.remember(relation, Remember{Operator: r.k.ID, Blocks: blocks})
	}
	return err
}

func (r *keyedRun) shown() memory.Multimap { return memory.Multimap{Mem: r.mem, Prefix: shownPrefix} }
