package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
)

// newest is the change of the input of an operator that shows the first rows of each key. Its plus and run are what the operator gives over the new
// rows alone: no others of them can be among the first of all.
func (r *keyedRun) newest(ctx context.Context, plus string) (*keyedDelta, error) {
	types := r.k.InputTypes[0]
	list := make([]string, len(types))
	for j, t := range types {
		list[j] = fmt.Sprintf("CAST(c%d AS %s) AS c%d", j, t, j)
	}
	rows, err := r.Make(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+plus)
	if err != nil {
		return nil, err
	}
	d := &keyedDelta{rows: rows}
	body := func(rows string) (string, error) {
		if !r.Small {
			rows = r.k.Leading(rows)
		}
		return r.k.Fill(r.k.Body, rows)
	}
	if r.Kept(rows) {
		d.plus, err = r.Choose(ctx, table.Choosing{Table: rows, From: body, Names: compile.Numbered("c", len(r.k.OutputTypes)), Types: r.k.OutputTypes})
	} else if body, failed := body(rows); failed == nil {
		d.plus, err = r.Make(ctx, r.k.Typed(body))
	}
	if err != nil {
		return nil, err
	}
	if d.plus, d.run, err = r.keyedRows(ctx, r.k.Inputs[0].Keys, r.k.OutputTypes, d.plus); err != nil || d.run.Len() == 0 {
		return nil, err
	}
	return d, nil
}

// best brings the first rows of each key up to date. Rows only come, so that those shown so far stand for all before them, and where none were
// shown the first of the new rows are those of all.
func (r *keyedRun) best(ctx context.Context, relation string, c *change, keys memory.Keys) error {
	d := r.deltas[0]
	if err := r.rememberRows(ctx, relation, d); err != nil {
		return err
	}
	was, shelves, err := r.heldRows(ctx, holding{rows: r.shown(), types: r.k.OutputTypes, keys: keys})
	if err != nil {
		return err
	}
	if len(shelves) == 0 {
		return r.showFirst(relation, c, d.plus, d.run)
	}
	known := func(key []byte) bool { return shelves[string(key)] != nil }
	s := shown{was: was, keys: keys.Only(known).Strings(), shelves: shelves}
	plus := d.plus
	if r.Kept(d.plus) {
		met, others := d.run.Divide(known)
		plus, s.others, s.otherRows = r.Pick(d.plus, met), r.k.Rows(r.Pick(d.plus, others)), d.run.Only(others)
	}
	list := strings.Join(compile.Numbered("c", len(r.k.InputTypes[0])), ", ")
	if s.now, err = r.k.Fill(r.k.Body, fmt.Sprintf("(SELECT %[1]s FROM %[2]s UNION ALL SELECT %[1]s FROM %[3]s)", list, was, plus)); err != nil {
		return err
	}
	return r.swap(ctx, relation, c, s)
}

// showFirst gives rows of keys of which nothing was given before, and remembers them: a table, and what is encoded of it.
func (r *keyedRun) showFirst(relation string, c *change, made string, rows *memory.Rows) error {
	change := memory.Change{Run: rows}
	if rows.Len() < r.options.Many {
		change = memory.Change{Added: rows.Grouped()}
		change.Loaded = memory.NoShelves(change.Added)
	}
	m, err := r.shown().Change(change)
	if err != nil {
		return err
	}
	m.Operator = r.k.ID
	r.remember(relation, m)
	c.inserted, c.stored, c.counts = r.k.Rows(made), true, batch.Counts{Inserted: int64(rows.Len())}
	return nil
}

// rememberRows keeps an input's new rows in order: nothing reads them until the query is edited.
func (r *keyedRun) rememberRows(ctx context.Context, relation string, d *keyedDelta) error {
	if !r.k.KeepsInput {
		return nil
	}
	blocks, err := r.RowBlocks(ctx, d.rows, compile.Numbered("c", len(r.k.InputTypes[0])), r.k.InputTypes[0])
	if err == nil {
		r.remember(relation, Remember{Operator: r.k.ID, Blocks: blocks})
	}
	return err
}

func (r *keyedRun) shown() memory.Multimap { return memory.Multimap{Mem: r.mem, Prefix: shownPrefix} }
