package query

import (
	"context"
	"encoding/binary"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/table"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// aggregate brings an aggregate's groups up to date: partials of the epoch's rows,
// merged with what is remembered of the same groups.
func (ep *epoch) aggregate(ctx context.Context, s Step, a compile.Aggregate, inputs map[string]*change) (*change, error) {
	mem := s.Memory(a.ID)
	leaves := logical.Leaves(a.Input)
	if quiet(leaves, inputs) {
		fresh := false
		if a.Scalar() {
			old, err := mem.Get([][]byte{{}})
			if err != nil {
				return nil, fmt.Errorf("reading keyed data: %w", err)
			}
			fresh = old[0] == nil
		}
		if !fresh {
			return &change{columns: a.OutputColumns(), inserted: emptyRows(a.OutputColumns())}, nil
		}
	}
	deleted := anyDeleted(leaves, inputs)
	sql, err := partials(a, inputs, deleted)
	if err != nil {
		return nil, err
	}
	now, err := ep.Make(ctx, sql)
	if err != nil {
		return nil, err
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
		return typed(a, plus), nil
	}
	minus, err := side(a.Input, inputs, deletedRows)
	if err != nil {
		return "", err
	}
	negated, sums := a.GroupNames(), a.GroupNames()
	for i, p := range a.PartialNames() {
		negated = append(negated, "- "+p+" AS "+p)
		sums = append(sums, fmt.Sprintf("CAST(sum(%s) AS %s) AS %s", p, a.PartialTypes[i], p))
	}
	sql := fmt.Sprintf("SELECT %s FROM (%s UNION ALL SELECT %s FROM (%s))", strings.Join(sums, ", "),
		typed(a, plus), strings.Join(negated, ", "), typed(a, minus))
	if !a.Scalar() {
		sql += " GROUP BY ALL"
	}
	return sql, nil
}

// typed computes the partials and gives every column the type it is remembered with.
func typed(a compile.Aggregate, input string) string {
	var list []string
	for i, g := range a.GroupNames() {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", g, a.GroupTypes[i], g))
	}
	for i, p := range a.PartialNames() {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", p, a.PartialTypes[i], p))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + compile.PartialSQL(a.Aggregate, input) + ")"
}

// groups are the partials of an epoch's change.
type groups struct {
	mem     Memory
	now     string // table
	deleted bool   // rows were taken back
}

// merge combines the epoch's partials with the remembered ones and returns the groups' change.
func (ep *epoch) merge(ctx context.Context, relation string, a compile.Aggregate, g groups) (*change, error) {
	mem, now := g.mem, g.now
	keys, values, err := ep.encodeGroups(ctx, a, now)
	if err != nil {
		return nil, err
	}
	old, err := mem.Get(keys)
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	if !found(old) && !(a.Retracts && g.deleted) {
		ep.remember(relation, Remember{Operator: a.ID, Keys: keys, Values: values})
		return fresh(a, now, len(keys)), nil
	}
	before, err := ep.loadOld(ctx, a, old)
	if err != nil {
		return nil, err
	}
	merged, err := ep.Make(ctx, mergeSQL(a, now, before))
	if err != nil {
		return nil, err
	}
	if err := ep.rememberMerged(ctx, relation, a, merged); err != nil {
		return nil, err
	}
	return corrected(a, merged), nil
}

func found(values [][]byte) bool {
	for _, v := range values {
		if v != nil {
			return true
		}
	}
	return false
}

// mergeSQL joins the epoch's partials p with the remembered ones o by the row's number.
func mergeSQL(a compile.Aggregate, now, before string) string {
	list := []string{}
	for _, g := range a.GroupNames() {
		list = append(list, "n."+g)
	}
	for i, p := range a.PartialNames() {
		merge := strings.NewReplacer("$o", "o."+p, "$n", "n."+p).Replace(a.Partials[i].Merge)
		list = append(list, fmt.Sprintf("CASE WHEN o.i IS NULL THEN n.%[1]s ELSE CAST(%[2]s AS %[3]s) END AS %[1]s", p, merge, a.PartialTypes[i]))
	}
	list = append(list, "o.i IS NOT NULL AS had")
	for i, p := range a.PartialNames() {
		list = append(list, fmt.Sprintf("o.%s AS o%d", p, i))
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT row_number() OVER () - 1 AS i, * FROM %s) n LEFT JOIN %s o ON n.i = o.i", strings.Join(list, ", "), now, before)
}

// fresh is the change of n groups that nothing was remembered of.
func fresh(a compile.Aggregate, now string, n int) *change {
	list := strings.Join(compile.OutputList(a.Aggregate), ", ")
	return &change{columns: a.OutputColumns(), inserted: "(SELECT " + list + " FROM " + now + ")", appendOnly: a.AppendOnly,
		counts: batch.Counts{Inserted: int64(n)}}
}

// corrected is the change of merged groups: the new row of each that differs, and the row it had.
func corrected(a compile.Aggregate, merged string) *change {
	list := strings.Join(compile.OutputList(a.Aggregate), ", ")
	alive := merged
	if a.Retracts && !a.Scalar() {
		alive = fmt.Sprintf("(SELECT * FROM %s WHERE p%d <> 0)", merged, a.Counter)
	}
	differs := []string{"NOT had"}
	for i := range a.PartialTypes {
		differs = append(differs, fmt.Sprintf("p%d IS DISTINCT FROM o%d", i, i))
	}
	condition := strings.Join(differs, " OR ")
	inserted := fmt.Sprintf("(SELECT %s FROM %s WHERE %s)", list, alive, condition)
	if a.AppendOnly {
		return &change{columns: a.OutputColumns(), inserted: inserted, appendOnly: true, counts: batch.Counts{Inserted: -1}}
	}
	was := a.GroupNames()
	for i, p := range a.PartialNames() {
		was = append(was, fmt.Sprintf("o%d AS %s", i, p))
	}
	deleted := fmt.Sprintf("(SELECT %s FROM (SELECT %s FROM %s WHERE had AND (%s)))", list, strings.Join(was, ", "), merged,
		strings.Join(append(differs[1:], "false"), " OR "))
	return &change{columns: a.OutputColumns(), inserted: inserted, deleted: deleted, counts: batch.Counts{Inserted: -1, Deleted: -1}}
}

// loadOld makes a table of remembered partials, each with the number of the row it belongs to.
func (ep *epoch) loadOld(ctx context.Context, a compile.Aggregate, old [][]byte) (string, error) {
	l, err := ep.Loader(append([]string{"i"}, a.PartialNames()...), append([]string{"BIGINT"}, a.PartialTypes...))
	if err != nil {
		return "", err
	}
	defer l.Release()
	for i, v := range old {
		if v == nil {
			continue
		}
		if err := l.Append(ctx, rowNumber(i), v); err != nil {
			return "", err
		}
	}
	return l.Table(ctx)
}

// rowNumber encodes a row's number as the row format does a BIGINT.
func rowNumber(i int) []byte {
	return binary.LittleEndian.AppendUint64([]byte{1}, uint64(i))
}

func (ep *epoch) remember(relation string, r Remember) {
	if len(r.Keys) > 0 || len(r.Blocks) > 0 {
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
