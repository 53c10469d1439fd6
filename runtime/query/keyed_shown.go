package query

import (
	"context"
	"fmt"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/groups"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/seed"
)

// shownPrefix begins the entries of the rows an operator has given, behind those of its inputs.
const shownPrefix = seed.Shown

// exchange brings the output of an operator whose result may depend on the order of its rows up to date. What it gave for
// the touched keys is remembered, not computed again: another order would give other last digits, or another of two equal rows.
func (r *keyedRun) exchange(ctx context.Context, relation string, c *change, keys memory.Keys, now string) error {
	was, shelves, err := r.heldRows(ctx, holding{rows: r.shown(), types: r.k.OutputTypes, keys: keys})
	if err != nil {
		return err
	}
	return r.swap(ctx, relation, c, shown{now: now, was: was, keys: keys.Strings(), shelves: shelves})
}

// shown is what an operator gives for the touched keys, and what it gave.
type shown struct {
	now     string // SQL
	was     string // table, in the order of the keys
	keys    []string
	shelves map[string]*memory.Shelf
	// Rows of keys of which nothing was given, beside now: how to read them, and what is encoded of them.
	others    string // after FROM
	otherRows *memory.Rows
}

// swap remembers what is given now in the place of what was.
func (r *keyedRun) swap(ctx context.Context, relation string, c *change, s shown) error {
	now, err := r.output(ctx, s.now)
	if err != nil {
		return err
	}
	table, rows, err := r.keyedRows(ctx, r.k.ShownKeys(), r.k.OutputTypes, now)
	if err != nil {
		return err
	}
	shown := memory.Change{Removed: make(map[string][][]byte, len(s.shelves))}
	for k, s := range s.shelves {
		if err := s.Rows(func(row []byte) error { shown.Removed[k] = append(shown.Removed[k], row); return nil }); err != nil {
			return err
		}
	}
	gained, lost := memory.Differing(rows, s.keys, shown.Removed)
	shown.Added, shown.Run = rows.Split(shown.Removed, r.options.Many, s.otherRows)
	memory.DropUnchanged(shown.Added, shown.Removed)
	m, err := r.shown().Change(shown)
	if err != nil {
		return err
	}
	m.Operator = r.k.ID
	r.remember(relation, m)
	if !r.Kept(table) || !r.Kept(s.was) {
		c.inserted = s.beside(r.k.Rows(table))
		return r.consolidate(ctx, c, s.was)
	}
	c.inserted, c.stored = s.beside(r.k.Rows(r.Pick(table, gained))), true
	c.counts = batch.Counts{Inserted: int64(len(gained)) + int64(s.otherRows.Len()), Deleted: int64(len(lost))}
	if len(lost) > 0 {
		c.deleted = r.Pick(s.was, lost)
	}
	return nil
}

// beside adds the rows of keys of which nothing was given.
func (s shown) beside(rows string) string {
	if s.otherRows.Len() == 0 {
		return rows
	}
	return "(FROM " + rows + " UNION ALL FROM " + s.others + ")"
}

// remembered reads the output of an operator whose memory holds it.
func (e *Engine) remembered(ctx context.Context, o compile.Stateful, mem Memory) (string, error) {
	if a, ok := o.(compile.Aggregate); ok {
		return groups.Held(ctx, e.Set, a, mem)
	}
	k := o.(compile.Keyed)
	return e.Filled(ctx, compile.Numbered("c", len(k.OutputTypes)), k.OutputTypes, func(put func(parts ...[]byte) error) error {
		if err := (memory.Multimap{Mem: mem, Prefix: shownPrefix}).All(func(row []byte) error { return put(row) }); err != nil {
			return fmt.Errorf("reading keyed data: %w", err)
		}
		return nil
	})
}
