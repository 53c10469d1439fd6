package query

import (
	"context"
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/table"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// aggregate brings an aggregate's groups up to date: partials of the epoch's rows,
// merged with what is remembered of the same groups.
func (ep *epoch) aggregate(ctx context.Context, s Step, a compile.Aggregate, inputs map[string]*change) (brought, error) {
	mem := s.Memory(a.ID)
	leaves := logical.Leaves(a.Input)
	if quiet(leaves, inputs) {
		fresh := false
		if a.Scalar() {
			old, err := mem.Get([][]byte{{}})
			if err != nil {
				return brought{}, fmt.Errorf("reading keyed data: %w", err)
			}
			fresh = old[0] == nil
		}
		if !fresh {
			return brought{}, nil
		}
	}
	deleted := anyDeleted(leaves, inputs)
	sql, err := partials(a, inputs, deleted)
	if err != nil {
		return brought{}, err
	}
	now, err := ep.Make(ctx, sql)
	if err != nil {
		return brought{}, err
	}
	return ep.merge(ctx, s.Relation, a, groups{mem: mem, now: now, deleted: deleted})
}

// partials is SQL for the groups and partials of the epoch's change. With rows taken back, their partials are subtracted.
func partials(a compile.Aggregate, inputs map[string]*change, deleted bool) (string, error) {
	plus, err := side(a.Input, inputs, func(in *change) string { return in.inserted })
	if err != nil {
		return "", err
	}
	if !deleted {
		return a.TypedPartials(plus), nil
	}
	minus, err := side(a.Input, inputs, deletedRows)
	if err != nil {
		return "", err
	}
	return a.NetPartials(plus, minus), nil
}

// groups are the partials of an epoch's change.
type groups struct {
	mem     Memory
	now     string // table
	deleted bool   // rows were taken back
}

// brought are groups brought up to date in an epoch; the zero value: nothing moved.
type brought struct {
	table string // of groups and partials
	count int    // of new groups; -1: there were some before, and the table has what they were
}

// change is what an aggregate over the groups gives.
func (b brought) change(a compile.Aggregate) *change {
	switch {
	case b.table == "":
		return &change{columns: a.OutputColumns(), inserted: emptyRows(a.OutputColumns())}
	case b.count >= 0:
		return fresh(a, b.table, b.count)
	}
	return corrected(a, b.table)
}

// merge combines the epoch's partials with the remembered ones.
func (ep *epoch) merge(ctx context.Context, relation string, a compile.Aggregate, g groups) (brought, error) {
	mem, now := g.mem, g.now
	keys, values, err := ep.encodeGroups(ctx, a, now)
	if err == nil {
		now, err = ep.canonical(ctx, a, now)
	}
	if err != nil {
		return brought{}, err
	}
	old, err := mem.Get(keys)
	if err != nil {
		return brought{}, fmt.Errorf("reading keyed data: %w", err)
	}
	if !found(old) && !(a.Retracts && g.deleted) {
		ep.remember(relation, Remember{Operator: a.ID, Keys: keys, Values: values})
		return brought{table: now, count: len(keys)}, nil
	}
	before, err := ep.loadOld(ctx, a, old)
	if err != nil {
		return brought{}, err
	}
	merged, err := ep.Make(ctx, a.MergedPartials(now, before))
	if err != nil {
		return brought{}, err
	}
	return brought{table: merged, count: -1}, ep.rememberMerged(ctx, relation, a, merged)
}

func found(values [][]byte) bool {
	for _, v := range values {
		if v != nil {
			return true
		}
	}
	return false
}

// fresh is the change of n groups that nothing was remembered of.
func fresh(a compile.Aggregate, now string, n int) *change {
	list := strings.Join(compile.OutputList(a.Aggregate), ", ")
	return &change{columns: a.OutputColumns(), inserted: "(SELECT " + list + " FROM " + now + ")", appendOnly: a.AppendOnly,
		counts: batch.Counts{Inserted: int64(n)}}
}

// corrected is the change of merged groups: the new row of each that differs, and the row it had.
func corrected(a compile.Aggregate, merged string) *change {
	inserted, deleted := a.Differing(merged)
	c := &change{columns: a.OutputColumns(), inserted: inserted, deleted: deleted, counts: batch.Counts{Inserted: -1, Deleted: -1}}
	if a.AppendOnly {
		c.deleted, c.appendOnly, c.counts.Deleted = "", true, 0
	}
	return c
}

// loadOld makes a table of remembered partials, in their order, behind a column i that is NULL where there are none.
func (ep *epoch) loadOld(ctx context.Context, a compile.Aggregate, old [][]byte) (string, error) {
	l, err := ep.Loader(append([]string{"i"}, a.PartialNames()...), append([]string{"BOOLEAN"}, a.PartialTypes...))
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

func (ep *epoch) remember(relation string, r Remember) {
	if len(r.Keys)+len(r.Blocks)+len(r.Pieces) > 0 {
		ep.result.Remember[relation] = append(ep.result.Remember[relation], r)
	}
}

// encodeGroups encodes a table that begins with groups and partials as keys and values, in row order.
func (ep *epoch) encodeGroups(ctx context.Context, a compile.Aggregate, from string) (keys, values [][]byte, err error) {
	if a.Scalar() && len(a.PartialTypes) == 0 {
		return [][]byte{{}}, [][]byte{{}}, nil
	}
	return ep.Encode(ctx, from, groupColumns(a))
}

// canonical shows groups as they are remembered, so that what is taken back is what was given.
func (ep *epoch) canonical(ctx context.Context, a compile.Aggregate, now string) (string, error) {
	if !slices.ContainsFunc(a.GroupTypes, bound.Alike) {
		return now, nil
	}
	return ep.Canonical(ctx, now, groupColumns(a))
}

func groupColumns(a compile.Aggregate) table.Columns {
	return table.Columns{Names: append(a.GroupNames(), a.PartialNames()...), Types: append(slices.Clone(a.GroupTypes), a.PartialTypes...), Key: len(a.GroupTypes)}
}

// rememberMerged remembers merged groups; one without rows is forgotten.
func (ep *epoch) rememberMerged(ctx context.Context, relation string, a compile.Aggregate, merged string) error {
	keys, values, err := ep.encodeGroups(ctx, a, merged)
	if err != nil {
		return err
	}
	if a.Retracts && !a.Scalar() {
		i := 0
		err := ep.Integers(ctx, merged, fmt.Sprintf("p%d", a.Counter), len(a.GroupTypes)+a.Counter, func(n int64) {
			if n == 0 {
				values[i] = nil
			}
			i++
		})
		if err != nil {
			return err
		}
	}
	ep.remember(relation, Remember{Operator: a.ID, Keys: keys, Values: values})
	return nil
}

// rowsOf reads an aggregate's output from its memory.
func (e *Engine) rowsOf(ctx context.Context, a compile.Aggregate, mem Memory) (string, error) {
	c := groupColumns(a)
	l, err := e.Loader(c.Names, c.Types)
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
