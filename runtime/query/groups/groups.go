// Package groups brings the groups of aggregates up to date: it merges partials of an epoch's rows with what is remembered of the same groups.
package groups

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/partial"
	"github.com/streamform/streamform/runtime/query/table"
)

// Update is how an epoch changes the groups of an aggregate.
type Update struct {
	Set       *table.Set
	Aggregate compile.Aggregate
	Memory    memory.Memory
	Now       string // table of groups and partials of the epoch's rows, less those of rows that were taken back
	Deleted   bool   // rows were taken back
	Unread    bool   // nobody reads the rows that the groups give: how many there are is enough
}

// Brought are groups brought up to date in an epoch; the zero value: nothing moved.
type Brought struct {
	table  string       // of groups and partials; empty: the rows of the groups are not made
	counts batch.Counts // of the rows; -1: not counted yet, and the table has what the groups were
}

// Rows are the rows that an aggregate over the groups gives and takes back, usable after FROM. taken is empty where there are none to take back.
func (b Brought) Rows(a compile.Aggregate) (given, taken string, counts batch.Counts) {
	if b.table == "" {
		return "", "", b.counts
	}
	if b.counts.Inserted >= 0 {
		return "(SELECT " + strings.Join(compile.OutputList(a.Aggregate), ", ") + " FROM " + b.table + ")", "", b.counts
	}
	given, taken = a.Differing(b.table)
	if a.AppendOnly {
		return given, "", batch.Counts{Inserted: -1}
	}
	return given, taken, b.counts
}

// New are n groups that nothing was remembered of, in a table with their partials.
func New(table string, n int) Brought {
	return Brought{table: table, counts: batch.Counts{Inserted: int64(n)}}
}

// Merge brings the groups up to date, and says what is to be remembered of them.
func (u Update) Merge(ctx context.Context) (Brought, memory.Remember, error) {
	r := memory.Remember{Operator: u.Aggregate.ID}
	now, err := Encode(ctx, u.Set, u.Aggregate, u.Now)
	if err != nil {
		return Brought{}, r, err
	}
	if m, ok := newMerger(u.Aggregate.Partials, u.Aggregate.PartialTypes); ok {
		now.InOrder()
		g, ok, err := u.inBytes(m, now)
		switch {
		case err != nil:
			return Brought{}, r, err
		case ok && g.none():
			return u.first(ctx, now)
		case ok:
			b, err := g.brought(ctx)
			r.Changes = g.changes
			u.Set.Free(now)
			return b, r, err
		}
		if now, err = Encode(ctx, u.Set, u.Aggregate, u.Now); err != nil { // in the order of the table once more
			return Brought{}, r, err
		}
	}
	old := make([][]byte, now.Len())
	for i := range old {
		old[i] = now.Key(i)
	}
	if old, err = memory.Get(u.Memory, old); err != nil {
		return Brought{}, r, fmt.Errorf("reading keyed data: %w", err)
	}
	if !slices.ContainsFunc(old, func(v []byte) bool { return v != nil }) && !u.taken() {
		return u.first(ctx, now)
	}
	return u.inSQL(ctx, old)
}

// first are groups of which nothing was remembered.
func (u Update) first(ctx context.Context, now *memory.Rows) (Brought, memory.Remember, error) {
	table, err := Canonical(ctx, u.Set, u.Aggregate, u.Now)
	return New(table, now.Len()), memory.Remember{Operator: u.Aggregate.ID, Changes: memory.Set(now, memory.Absent)}, err
}

func uncounted() batch.Counts { return batch.Counts{Inserted: -1, Deleted: -1} }

// tells reports that the rows of groups differ wherever their partials do: there are no others, or the rows show how many rows a group has.
func tells(a compile.Aggregate) bool {
	if a.Retracts {
		return false
	}
	for i, p := range a.Partials {
		if p.Of != nil && p.Of.Name == "count_star" && p.Of.Filter == nil && slices.Contains(a.Finals, "CAST("+partial.Name(i)+" AS BIGINT)") {
			return true
		}
	}
	return a.AppendOnly
}

// inSQL merges all groups by a statement.
func (u Update) inSQL(ctx context.Context, old [][]byte) (Brought, memory.Remember, error) {
	a := u.Aggregate
	r := memory.Remember{Operator: a.ID}
	now, err := Canonical(ctx, u.Set, a, u.Now)
	if err != nil {
		return Brought{}, r, err
	}
	before, err := u.before(ctx, old)
	if err != nil {
		return Brought{}, r, err
	}
	merged, err := u.Set.Make(ctx, a.MergedPartials(now, before))
	if err != nil {
		return Brought{}, r, err
	}
	rows, err := Encode(ctx, u.Set, a, merged)
	if err != nil {
		return Brought{}, r, err
	}
	if !a.Retracts || a.Scalar() {
		r.Changes = memory.Set(rows, memory.Unknown)
		return Brought{table: merged, counts: uncounted()}, r, nil
	}
	i := 0
	err = u.Set.Integers(ctx, merged, partial.Name(a.Counter), len(a.GroupTypes)+a.Counter, func(n int64) {
		value := rows.Row(i)
		if n == 0 {
			value = nil
		}
		r.Changes.Put(rows.Key(i), value, memory.Unknown)
		i++
	})
	return Brought{table: merged, counts: uncounted()}, r, err
}

// before makes a table of remembered partials, in their order, behind a column i that is NULL where there are none.
func (u Update) before(ctx context.Context, old [][]byte) (string, error) {
	l, err := u.Set.Loader(append([]string{"i"}, u.Aggregate.PartialNames()...), append([]string{"BOOLEAN"}, u.Aggregate.PartialTypes...))
	if err != nil {
		return "", err
	}
	defer l.Release()
	there := []byte{1, 1} // true, as the row format has it
	for _, v := range old {
		if v == nil {
			err = l.AppendNulls(ctx)
		} else {
			err = l.Append(ctx, there, v)
		}
		if err != nil {
			return "", err
		}
	}
	return l.Table(ctx)
}

// Encode encodes a table that begins with groups and partials as keys and values, in row order.
func Encode(ctx context.Context, s *table.Set, a compile.Aggregate, from string) (*memory.Rows, error) {
	if a.Scalar() && len(a.PartialTypes) == 0 {
		one := &memory.Rows{}
		one.Put(nil, nil)
		return one, nil
	}
	return s.Encoded(ctx, from, columns(a))
}

// Canonical shows groups as they are remembered, so that what is taken back is what was given.
func Canonical(ctx context.Context, s *table.Set, a compile.Aggregate, now string) (string, error) {
	if !slices.ContainsFunc(a.GroupTypes, bound.Alike) {
		return now, nil
	}
	return s.Canonical(ctx, now, columns(a))
}

func columns(a compile.Aggregate) table.Columns {
	return table.Columns{Names: append(a.GroupNames(), a.PartialNames()...), Types: append(slices.Clone(a.GroupTypes), a.PartialTypes...), Key: len(a.GroupTypes)}
}

// Held makes a table of the rows that an aggregate gives, from what is remembered of all its groups.
func Held(ctx context.Context, s *table.Set, a compile.Aggregate, mem memory.Memory) (string, error) {
	c := columns(a)
	l, err := s.Loader(c.Names, c.Types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	if err := mem.Scan(func(key, value []byte) error { return l.Append(ctx, key, value) }); err != nil {
		return "", fmt.Errorf("reading keyed data: %w", err)
	}
	held, err := l.Table(ctx)
	return "(SELECT " + strings.Join(compile.OutputList(a.Aggregate), ", ") + " FROM " + held + ")", err
}
