package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
)

// best brings the first rows of each key up to date. Rows only come, so that those shown so far stand for all before them.
func (r *keyedRun) best(ctx context.Context, relation string, c *change, keys []string) error {
	was, shelves, err := r.heldRows(ctx, r.shown(), r.k.OutputTypes, keys)
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
	return r.swap(ctx, relation, c, shown{now: now, was: was, shelves: shelves})
}

// rememberRows keeps an input's new rows in order: nothing reads them until the query is edited.
func (r *keyedRun) rememberRows(ctx context.Context, relation string, d *keyedDelta) error {
	blocks, err := r.Blocks(ctx, "FROM "+r.rowsOnly(0, d.plus))
	if err == nil {
		r.remember(relation, Remember{Operator: r.k.ID, Blocks: blocks})
	}
	return err
}

func (r *keyedRun) shown() memory.Multimap { return memory.Multimap{Mem: r.mem, Prefix: shownPrefix} }
