// Package groups brings the groups of aggregates up to date: it merges partials of an epoch's rows with what is remembered of the same groups.
package groups

import (
	"bytes"
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
	m, inBytes := newMerger(u.Aggregate.Partials, u.Aggregate.PartialTypes)
	old, err := u.read(ctx, &r, inBytes)
	if err != nil {
		return Brought{}, r, err
	}
	if !found(old) && !(u.Aggregate.Retracts && u.Deleted) {
		now, err := Canonical(ctx, u.Set, u.Aggregate, u.Now)
		return New(now, len(r.Keys)), r, err
	}
	if inBytes {
		if moved, ok := u.moved(m, r, old); ok {
			b, err := moved.brought(ctx, u)
			return b, moved.Remember, err
		}
		if old, err = u.read(ctx, &r, false); err != nil {
			return Brought{}, r, err
		}
	}
	return u.inSQL(ctx, old)
}

// read encodes the groups and reads what is remembered of them: in the order in which the store finds them fastest, or that of the table.
func (u Update) read(ctx context.Context, r *memory.Remember, fast bool) (old [][]byte, err error) {
	if r.Keys, r.Values, err = Encode(ctx, u.Set, u.Aggregate, u.Now); err != nil {
		return nil, err
	}
	if fast {
		memory.InOrder(r.Keys, r.Values)
	}
	if old, err = u.Memory.Get(r.Keys); err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	return old, nil
}

func found(values [][]byte) bool {
	return slices.ContainsFunc(values, func(v []byte) bool { return v != nil })
}

// moved are the groups whose partials are not as they were.
type moved struct {
	memory.Remember          // nil values: groups that are no more
	shown           [][]byte // their partials
	old             [][]byte // what was remembered
}

// moved merges group by group. ok is false where SQL is to merge all.
func (u Update) moved(m merger, r memory.Remember, old [][]byte) (out moved, ok bool) {
	a, size := u.Aggregate, 0
	for _, v := range r.Values {
		size += len(v)
	}
	buf := make([]byte, 0, size+size/4)
	out.Operator = a.ID
	for i, value := range r.Values {
		if old[i] != nil {
			from := len(buf)
			if buf, ok = m.merge(buf, old[i], value); !ok {
				return out, false
			}
			value = buf[from:len(buf):len(buf)]
			if bytes.Equal(value, old[i]) {
				continue
			}
		}
		kept := value
		if a.Retracts && !a.Scalar() && m.integer(value, a.Counter) == 0 {
			if kept = nil; old[i] == nil {
				continue
			}
		}
		out.Keys, out.Values = append(out.Keys, r.Keys[i]), append(out.Values, kept)
		out.shown, out.old = append(out.shown, value), append(out.old, old[i])
	}
	return out, true
}

// brought makes the table of the groups that moved: groups, partials, whether there were some before, and these.
func (m moved) brought(ctx context.Context, u Update) (Brought, error) {
	a := u.Aggregate
	if u.Unread && tells(a) {
		counts := batch.Counts{Inserted: int64(len(m.Keys))}
		for _, v := range m.old {
			if v != nil {
				counts.Deleted++
			}
		}
		return Brought{counts: counts}, nil
	}
	c, before := columns(a), make([]string, len(a.PartialTypes))
	for i := range before {
		before[i] = fmt.Sprintf("o%d", i)
	}
	l, err := u.Set.Loader(append(append(c.Names, "had"), before...), append(append(c.Types, "BOOLEAN"), a.PartialTypes...))
	if err != nil {
		return Brought{}, err
	}
	defer l.Release()
	nulls := make([]byte, 2+len(before)) // false, then NULLs, as the row format has it
	nulls[0] = 1
	for i, key := range m.Keys {
		if old := m.old[i]; old != nil {
			err = l.Append(ctx, key, m.shown[i], []byte{1, 1}, old)
		} else {
			err = l.Append(ctx, key, m.shown[i], nulls)
		}
		if err != nil {
			return Brought{}, err
		}
	}
	merged, err := l.Table(ctx)
	return Brought{table: merged, counts: uncounted()}, err
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
	if r.Keys, r.Values, err = Encode(ctx, u.Set, a, merged); err != nil {
		return Brought{}, r, err
	}
	if a.Retracts && !a.Scalar() {
		i := 0
		err = u.Set.Integers(ctx, merged, partial.Name(a.Counter), len(a.GroupTypes)+a.Counter, func(n int64) {
			if n == 0 {
				r.Values[i] = nil
			}
			i++
		})
	}
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
func Encode(ctx context.Context, s *table.Set, a compile.Aggregate, from string) (keys, values [][]byte, err error) {
	if a.Scalar() && len(a.PartialTypes) == 0 {
		return [][]byte{{}}, [][]byte{{}}, nil
	}
	return s.Encode(ctx, from, columns(a))
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
