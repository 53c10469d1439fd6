package query

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/sides"
	"github.com/streamform/streamform/runtime/query/table"
)

// initKey marks in an operator's memory that it was computed once: an aggregate over nothing has a row.
const initKey = "\xff"

// keyedDelta is the change of one input of a keyed operator.
type keyedDelta struct {
	rows           string // table of all new rows, where plus has what an operator gives over them: see newest
	plus, minus    string // tables of c0, …, perhaps behind k0, …; minus is empty when nothing was taken back
	added, removed map[string][][]byte
	run            *memory.Rows // many rows that are only added, in the place of added
}

func (d *keyedDelta) keys() memory.Keys {
	switch {
	case d == nil:
		return memory.Keys{}
	case d.run != nil:
		return d.run.Keys()
	}
	var out []string
	for k := range d.added {
		out = append(out, k)
	}
	for k := range d.removed {
		out = append(out, k)
	}
	return memory.KeysOf(out)
}

// manyRows is the default of EngineOptions.Many.
const manyRows = 8192

// keyedRun is one keyed operator in one epoch.
type keyedRun struct {
	*epoch
	k      compile.Keyed
	mem    Memory
	deltas []*keyedDelta // nil: the input did not change
	before string        // the body over the rows as they were, where it is not that of now
}

// keyed brings a keyed operator's output up to date for the keys its inputs touch.
func (ep *epoch) keyed(ctx context.Context, s Step, k compile.Keyed, inputs map[string]*change) (*change, error) {
	run := &keyedRun{epoch: ep, k: k, mem: s.Memory(k.ID)}
	wait, lenient, err := sides.Read(run.mem, k.Keyed)
	if err != nil {
		return nil, err
	}
	run.k.Keyed = lenient
	moved := false
	for i := range k.Inputs {
		d, err := run.delta(ctx, i, inputs)
		if err != nil {
			return nil, err
		}
		moved = moved || d != nil
		run.deltas = append(run.deltas, d)
	}
	fresh, err := run.fresh()
	if err != nil {
		return nil, err
	}
	if !moved && !fresh {
		return &change{columns: k.OutputColumns(), inserted: emptyRows(k.OutputColumns())}, nil
	}
	if err := run.met(ctx, s.Relation, wait); err != nil {
		return nil, err
	}
	c := &change{columns: k.OutputColumns(), counts: batch.Counts{Inserted: -1}, appendOnly: !k.Retracts()}
	first, err := run.isFirst()
	if err != nil {
		return nil, err
	}
	if first {
		err = run.first(ctx, s, c)
	} else if k.Bilinear && run.before == "" {
		err = run.product(ctx, s, c)
	} else {
		err = run.recompute(ctx, s, c)
	}
	if fresh && err == nil {
		ep.remember(s.Relation, Remember{Operator: k.ID, Keys: [][]byte{[]byte(initKey)}, Values: [][]byte{{1}}})
	}
	return c, err
}

// fresh reports whether an operator that has a row over nothing was never computed.
func (r *keyedRun) fresh() (bool, error) {
	if r.k.Kind != "aggregate" || !r.k.Global() {
		return false, nil
	}
	v, err := memory.Get(r.mem, [][]byte{[]byte(initKey)})
	if err != nil {
		return false, fmt.Errorf("reading keyed data: %w", err)
	}
	return v[0] == nil, nil
}

// delta computes the change of one input, with its keys.
func (r *keyedRun) delta(ctx context.Context, i int, inputs map[string]*change) (*keyedDelta, error) {
	in := r.k.Inputs[i]
	leaves := logical.Leaves(in.SQL)
	if quiet(leaves, inputs) {
		return nil, nil
	}
	plus, err := side(in.SQL, inputs, func(c *change) string { return c.inserted })
	if err != nil {
		return nil, err
	}
	if r.k.Best {
		return r.newest(ctx, plus)
	}
	d := &keyedDelta{}
	made, run, err := r.sideRows(ctx, i, plus)
	if err != nil {
		return nil, err
	}
	d.plus = made
	deleted := anyDeleted(leaves, inputs)
	if !deleted && run.Len() >= r.options.Many {
		d.run = run
		return d, nil
	}
	d.added = run.Grouped()
	if deleted {
		minus, err := side(in.SQL, inputs, deletedRows)
		if err != nil {
			return nil, err
		}
		if d.minus, run, err = r.sideRows(ctx, i, minus); err != nil {
			return nil, err
		}
		d.removed = run.Grouped()
	}
	if len(d.removed) == 0 {
		d.minus = ""
	}
	// Rows that cancel out stay in both tables, where what they are joined with cancels out as well. First rows are looked for in the added ones alone.
	some := memory.Cancel(d.added, d.removed)
	if len(d.added) == 0 && len(d.removed) == 0 {
		return nil, nil
	}
	if some && r.k.First != nil {
		err = r.netRows(ctx, d)
	}
	return d, err
}

// sideRows makes a table of keys and rows, and encodes it.
func (r *keyedRun) sideRows(ctx context.Context, i int, from string) (string, *memory.Rows, error) {
	return r.keyedRows(ctx, r.k.Inputs[i].Keys, r.k.InputTypes[i], from)
}

// keyedRows makes a table of rows, c0 and so on, behind their keys where these are not among the columns, and encodes it. A table that is
// held as vectors already has the columns as they are to be.
func (r *keyedRun) keyedRows(ctx context.Context, keyExprs, types []string, from string) (made string, rows *memory.Rows, err error) {
	c := table.Columns{Names: compile.Numbered("c", len(types)), Types: types, Keys: r.k.KeyColumns(keyExprs, types)}
	var list []string
	for j, n := range c.Names {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", n, types[j], n))
	}
	if len(c.Keys) < len(keyExprs) {
		keys := make([]string, len(keyExprs))
		for j, key := range keyExprs {
			keys[j] = fmt.Sprintf("CAST(%s AS %s) AS k%d", key, r.k.KeyTypes[j], j)
		}
		list = append(keys, list...)
		c = table.Columns{Names: append(compile.Numbered("k", len(keys)), c.Names...), Types: append(slices.Clone(r.k.KeyTypes), types...), Key: len(keys)}
	}
	if made = from; c.Key > 0 || !r.Kept(from) {
		if made, err = r.Make(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+from); err != nil {
			return "", nil, err
		}
	}
	rows, err = r.Encoded(ctx, made, c)
	return made, rows, err
}

func (r *keyedRun) shelves(i int) memory.Multimap {
	return memory.Multimap{Mem: r.mem, Prefix: byte(i)}
}

// old makes a table of the rows an input held for the keys. It tells them by key, too, unless there are many.
func (r *keyedRun) old(ctx context.Context, i int, keys memory.Keys) (string, map[string]*memory.Shelf, error) {
	return r.heldRows(ctx, holding{rows: r.shelves(i), types: r.k.InputTypes[i], keys: keys, many: keys.Len() >= r.options.Many})
}

// holding asks for rows that are remembered of some keys.
type holding struct {
	rows  memory.Multimap
	types []string
	keys  memory.Keys
	many  bool // the rows are not told by key
}

func (r *keyedRun) heldRows(ctx context.Context, h holding) (string, map[string]*memory.Shelf, error) {
	var shelves map[string]*memory.Shelf
	held, err := r.Filled(ctx, compile.Numbered("c", len(h.types)), h.types, func(puts func(parts ...[]byte) error) (err error) {
		put := func(row []byte) error { return puts(row) }
		if h.many {
			return h.rows.Each(h.keys, put)
		}
		if shelves, err = h.rows.LoadKeys(h.keys); err != nil {
			return err
		}
		return h.keys.Each(func(key []byte) error {
			if s := shelves[string(key)]; s != nil {
				return s.Rows(put)
			}
			return nil
		})
	})
	return held, shelves, err
}

// loaded makes a table of rows of input i, which fill puts.
func (r *keyedRun) loaded(ctx context.Context, i int, fill func(put func(row []byte) error) error) (string, error) {
	return r.Filled(ctx, compile.Numbered("c", len(r.k.InputTypes[i])), r.k.InputTypes[i], func(put func(parts ...[]byte) error) error {
		return fill(func(row []byte) error { return put(row) })
	})
}

// rememberInput writes an input's new rows.
func (r *keyedRun) rememberInput(relation string, i int, loaded map[string]*memory.Shelf) error {
	d := r.deltas[i]
	if d == nil {
		return nil
	}
	m, err := r.shelves(i).Change(memory.Change{Added: d.added, Removed: d.removed, Loaded: loaded, Run: d.run})
	if err != nil {
		return err
	}
	m.Operator = r.k.ID
	r.remember(relation, m)
	return nil
}

// atMostOne fails where a scalar subquery gives more than one row, as the query itself would.
func (r *keyedRun) atMostOne(ctx context.Context, relation string, after []string) error {
	if r.k.AtMostOne == "" {
		return nil
	}
	sql, err := r.k.Fill(r.k.AtMostOne, after...)
	if err != nil {
		return err
	}
	found, err := r.Conn.Text(ctx, sql)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return &DataError{Relation: relation, Summary: "A scalar subquery gives more than one row", Detail: "Aggregate in the subquery, or join with it."}
	}
	return nil
}

// recompute runs the operator over the touched keys' rows as they were and as they are.
func (r *keyedRun) recompute(ctx context.Context, s Step, c *change) error {
	relation := s.Relation
	var keys memory.Keys
	for _, d := range r.deltas {
		keys = keys.Join(d.keys())
	}
	if r.k.Global() {
		keys = memory.KeysOf([]string{""})
	}
	if r.k.Best {
		return r.best(ctx, relation, c, keys)
	}
	if r.k.First != nil {
		return r.few(ctx, relation, c, keys)
	}
	before, after, stays := make([]string, len(r.deltas)), make([]string, len(r.deltas)), true
	for i, d := range r.deltas {
		held := r.mattering(i, keys)
		table, shelves, err := r.old(ctx, i, held)
		if err != nil {
			return err
		}
		stays = stays && (i+1 != r.k.Singly || held.Len() > 0)
		before[i], after[i] = table, r.after(i, table, d)
		if err := r.rememberInput(relation, i, shelves); err != nil {
			return err
		}
	}
	if err := r.atMostOne(ctx, relation, after); err != nil {
		return err
	}
	now, err := r.k.Fill(r.k.Body, after...)
	if err != nil {
		return err
	}
	if r.k.Unstable {
		return r.exchange(ctx, relation, c, keys, now)
	}
	if r.before != "" && r.k.Bilinear {
		c.inserted = "(" + r.k.Typed(now) + ")"
		return r.materialize(ctx, c)
	}
	if !stays {
		c.inserted = "(" + r.k.Typed(now) + ")"
		return r.onceMade(ctx, s, c)
	}
	was, err := r.k.Fill(cmp.Or(r.before, r.k.Body), before...)
	if err != nil {
		return err
	}
	fresh, err := r.fresh()
	if err != nil {
		return err
	}
	if fresh {
		was = "SELECT * FROM " + emptyRows(r.k.OutputColumns())
	}
	if c.inserted, err = r.output(ctx, now); err != nil {
		return err
	}
	if was, err = r.output(ctx, was); err != nil {
		return err
	}
	return r.consolidate(ctx, c, was)
}

// mattering are the keys of whose held rows of an input the change can depend. Rows that each give their own do so while the other input stays
// as it is, and no row is taken back.
func (r *keyedRun) mattering(i int, touched memory.Keys) memory.Keys {
	if i+1 != r.k.Singly || r.before != "" {
		return touched
	}
	var keys memory.Keys
	if d := r.deltas[i]; d != nil {
		keys = memory.KeysOf(slices.Collect(maps.Keys(d.removed)))
	}
	return keys.Join(r.deltas[1-i].keys())
}

// output is what stands after FROM to read an operator's output. Where equal values may not be the same, one that gives a row
// for many has its key's values in the form of keys, so that they do not depend on which of them came first.
func (r *keyedRun) output(ctx context.Context, sql string) (string, error) {
	from := "(" + r.k.Typed(sql) + ")"
	if n := r.k.Alike(); n > 0 {
		return r.Canonical(ctx, from, table.Columns{Names: compile.Numbered("c", len(r.k.OutputTypes)), Types: r.k.OutputTypes, Key: n})
	}
	return from, nil
}

// after is an input's rows once its change is made.
func (r *keyedRun) after(i int, before string, d *keyedDelta) string {
	if d == nil {
		return before
	}
	if d.minus == "" {
		return fmt.Sprintf("(FROM %s UNION ALL FROM %s)", before, r.k.InputRows(i, d.plus))
	}
	return table.Without(fmt.Sprintf("(FROM %s UNION ALL FROM %s)", before, r.k.InputRows(i, d.plus)), r.k.InputRows(i, d.minus),
		compile.Numbered("c", len(r.k.InputTypes[i])), r.k.InputTypes[i])
}

// product is the change of an inner join: what one side gained or lost, joined with the other side: as it is
// now for the left side's change, as it was for the right side's.
func (r *keyedRun) product(ctx context.Context, s Step, c *change) error {
	left, right := r.deltas[0], r.deltas[1]
	var plus, minus []string
	shelves := [2]map[string]*memory.Shelf{}
	if left != nil {
		table, held, err := r.old(ctx, 1, r.keysOf(left))
		if err != nil {
			return err
		}
		shelves[1] = held
		if err := r.term(&plus, &minus, 0, left, r.after(1, table, right)); err != nil {
			return err
		}
	}
	if right != nil {
		table, held, err := r.old(ctx, 0, r.keysOf(right))
		if err != nil {
			return err
		}
		shelves[0] = held
		if err := r.term(&plus, &minus, 1, right, table); err != nil {
			return err
		}
	}
	for i := range r.deltas {
		if err := r.rememberInput(s.Relation, i, shelves[i]); err != nil {
			return err
		}
	}
	c.inserted = "(" + r.k.Typed(strings.Join(plus, " UNION ALL ")) + ")"
	if len(minus) == 0 {
		return r.onceMade(ctx, s, c)
	}
	return r.consolidate(ctx, c, "("+r.k.Typed(strings.Join(minus, " UNION ALL "))+")")
}

// onceMade makes sure that new rows are computed once. Those of a large epoch are left to the statement that reads them, if it is one.
func (r *keyedRun) onceMade(ctx context.Context, s Step, c *change) error {
	if r.Small || s.Program.Readers(r.k.ID) > 1 {
		return r.materialize(ctx, c)
	}
	return nil
}

func (r *keyedRun) keysOf(d *keyedDelta) memory.Keys {
	if r.k.Global() {
		return memory.KeysOf([]string{""})
	}
	return d.keys()
}

// term joins one side's change with the other side's rows.
func (r *keyedRun) term(plus, minus *[]string, i int, d *keyedDelta, other string) error {
	for table, out := range map[string]*[]string{d.plus: plus, d.minus: minus} {
		if table == "" {
			continue
		}
		sql, err := r.k.Term(i, table, other)
		if err != nil {
			return err
		}
		*out = append(*out, sql)
	}
	return nil
}
