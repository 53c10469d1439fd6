package table

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/duck"
)

// Choosing asks for those rows of a table that is Kept which a query gives of it.
type Choosing struct {
	Table string
	// From makes the query of what stands after FROM to read the table, with duck.RowNumber as a further column, by which the query's rows are told.
	From func(numbered string) (string, error)
	// Columns of the table that is made. Where they are one more than those of Table, the last is a BIGINT without NULLs that the query gives.
	Names, Types []string
}

// Choose makes a table of the rows that are chosen, in the order in which the table has them.
func (s *Set) Choose(ctx context.Context, c Choosing) (string, error) {
	from := s.kept[c.Table]
	sql, err := c.From(from.Numbered())
	if err != nil {
		return "", err
	}
	list, further := []string{duck.RowNumber}, len(c.Names) > len(from.Schema().Fields())
	if further {
		list = append(list, c.Names[len(c.Names)-1])
	}
	s.slot++
	k := duck.Keeping{Slot: s.slot, SQL: "SELECT " + strings.Join(list, ", ") + " FROM (" + sql + ")", Most: math.MaxInt64}
	if !s.Small {
		k.Columns = "BIGINT"
		if further {
			k.Columns = "BIGINT, BIGINT"
		}
	}
	found, err := s.Conn.Keep(ctx, k)
	if err != nil {
		return "", err
	}
	type chosen struct{ row, last int64 }
	all, at := make([]chosen, 0, found.Rows()), 0
	found.Integers(0, func(n int64) { all = append(all, chosen{row: n}) })
	if further {
		found.Integers(1, func(n int64) { all[at].last = n; at++ })
	}
	slices.SortFunc(all, func(a, b chosen) int { return cmp.Compare(a.row, b.row) })
	rows, last := make([]int, len(all)), make([]int64, len(all))
	for i, c := range all {
		rows[i], last[i] = int(c.row), c.last
	}
	if !further {
		return s.Pick(c.Table, rows), nil
	}
	s.slot++
	t, err := s.Conn.PickBeside(s.slot, from, rows, nulls(c.Names, c.Types), last)
	if err != nil {
		return "", err
	}
	s.kept[t.Name()] = t
	return t.Name(), nil
}

// nulls is a query that gives columns of the given names and types.
func nulls(names, types []string) string {
	casts := make([]string, len(names))
	for i, n := range names {
		casts[i] = "CAST(NULL AS " + types[i] + ") AS " + n
	}
	return "SELECT " + strings.Join(casts, ", ")
}
