// Package seed reads what the operators of an old program remember as rows of a new one.
package seed

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
)

// Source is where old keyed data is read: the memory of one operator, into the tables of an epoch.
type Source struct {
	Set    *table.Set
	Memory memory.Memory
	Count  func(ctx context.Context, operator, rows string) error // is told what stands after FROM to read all that an operator held
}

// Rows is what stands after FROM to read rows that an old operator holds, as columns c0, c1, ….
func (s Source) Rows(ctx context.Context, r evolve.Rows) (string, error) {
	held, err := s.held(ctx, r)
	if err != nil {
		return "", fmt.Errorf("reading the rows that %s held: %w", r.Operator, err)
	}
	if err := s.Count(ctx, r.Operator, held); err != nil {
		return "", err
	}
	list := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		list[i] = fmt.Sprintf("%s AS c%d", c, i)
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + held + where(r.Where) + ")", nil
}

func where(condition string) string {
	if condition == "" {
		return ""
	}
	return " WHERE " + condition
}

// held makes a table of all rows.
func (s Source) held(ctx context.Context, r evolve.Rows) (string, error) {
	names := compile.Numbered("c", len(r.Types))
	if r.Store == evolve.InOrder {
		return s.Set.LoadBlocks(ctx, names, r.Types, s.Memory.Blocks)
	}
	if r.Store != evolve.ByKey {
		return s.Set.LoadCounted(ctx, names, r.Types, s.Memory)
	}
	return s.Set.Filled(ctx, names, r.Types, func(put func(parts ...[]byte) error) error {
		return memory.Multimap{Mem: s.Memory, Prefix: byte(r.Input)}.All(func(row []byte) error { return put(row) })
	})
}

// Partials is SQL for the groups g0, g1, … and partials p0, p1, … of a new aggregate, of which old ones follow.
func (s Source) Partials(ctx context.Context, p evolve.Partials, a compile.Aggregate) (string, error) {
	names := append(compile.Numbered("g", len(p.GroupTypes)), compile.Numbered("p", len(p.PartialTypes))...)
	types := append(append([]string{}, p.GroupTypes...), p.PartialTypes...)
	held, err := s.Set.Filled(ctx, names, types, func(put func(parts ...[]byte) error) error {
		return s.Memory.Scan(func(key, value []byte) error { return put(key, value) })
	})
	if err != nil {
		return "", fmt.Errorf("reading the partials that %s held: %w", p.Operator, err)
	}
	if err := s.Count(ctx, p.Operator, held); err != nil {
		return "", err
	}
	var list []string
	for i, g := range p.Groups {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS g%d", g, a.GroupTypes[i], i))
	}
	for i, e := range p.Partials {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS p%d", e, a.PartialTypes[i], i))
	}
	sql := strings.Join(list, ", ") + " FROM " + held + where(p.Where)
	switch {
	case p.Merge && len(p.Partials) == 0:
		return "SELECT DISTINCT " + sql, nil
	case p.Merge && len(p.Groups) > 0:
		return "SELECT " + sql + " GROUP BY ALL", nil
	}
	return "SELECT " + sql, nil
}
