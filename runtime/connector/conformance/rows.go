package conformance

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// columns of the rows that sinks are tested with.
func columns(flat bool) batch.Schema {
	all := batch.Schema{
		{Name: "id", Type: "BIGINT"}, {Name: "Größe", Type: "VARCHAR"}, {Name: "amount", Type: "DECIMAL(10,2)"},
		{Name: "total", Type: "HUGEINT"}, {Name: "at", Type: "TIMESTAMP"}, {Name: "ratio", Type: "DOUBLE"}, {Name: "day", Type: "DATE"}, {Name: "select", Type: "BOOLEAN"},
		{Name: "tags", Type: "VARCHAR[]"}, {Name: "place", Type: `STRUCT(x INTEGER, "Where" VARCHAR)`},
	}
	if flat {
		return all[:8]
	}
	return all
}

// row is one row as an SQL tuple. Equal arguments give equal rows; a quarter of the values of each column are NULL.
func row(id, n int) string {
	values := []string{
		fmt.Sprint(id), []string{"NULL", "''", "'it''s'", "'größe, \"x\"\n2'"}[n%4], maybe(n, 3, fmt.Sprintf("%d.%02d", n, n%100)),
		maybe(n, 5, fmt.Sprintf("123456789012345678901234567%03d", n%1000)),
		maybe(n, 6, fmt.Sprintf("TIMESTAMP '2024-02-29 23:59:59.%06d'", n)),
		maybe(n, 7, fmt.Sprintf("%d.1e-3", n)), maybe(n, 4, "DATE '1969-12-31'"), []string{"true", "false", "NULL"}[n%3],
		[]string{"NULL", "[]", "['a', NULL]", "['b']"}[n%4],
		[]string{"NULL", "{'x': NULL, 'Where': 'q'}", "{'x': 7, 'Where': NULL}"}[n%3],
	}
	return "(" + strings.Join(values, ", ") + ")"
}

func maybe(n, every int, value string) string {
	if n%every == 0 {
		return "NULL"
	}
	return value
}

// valuesOf is a query for rows.
func valuesOf(columns batch.Schema, rows []string) string {
	where := ""
	if len(rows) == 0 {
		rows, where = []string{row(0, 0)}, " WHERE false"
	}
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("CAST(col%d AS %s) AS %s", i, c.Type, identifier(c.Name))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (VALUES " + strings.Join(rows, ", ") + ")" + where
}

// castAll gives a relation exactly the columns.
func castAll(columns batch.Schema, relation string) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", identifier(c.Name), c.Type, identifier(c.Name))
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM " + relation
}

// texts makes rows of text printable.
func texts(rows [][]*string) []string {
	var out []string
	for _, r := range rows {
		cells := make([]string, len(r))
		for i, c := range r {
			cells[i] = "NULL"
			if c != nil {
				cells[i] = *c
			}
		}
		out = append(out, strings.Join(cells, " | "))
	}
	return out
}

// bag counts rows.
type bag map[string]int

func (b bag) plus(rows []string) bag {
	out := maps.Clone(b)
	for _, r := range rows {
		out[r]++
	}
	return out
}

func (b bag) minus(rows []string) bag {
	out := maps.Clone(b)
	for _, r := range rows {
		if out[r]--; out[r] == 0 {
			delete(out, r)
		}
	}
	return out
}

// rows lists every row as often as it is there, in a fixed order.
func (b bag) rows() []string {
	var out []string
	for _, r := range slices.Sorted(maps.Keys(b)) {
		for range b[r] {
			out = append(out, r)
		}
	}
	return out
}

// randomChange is a net change of the content: what is deleted is there, and no key is left twice. In a
// generation's first delivery it is the whole content.
func (g *target) randomChange(r *rand.Rand, whole bool) (inserted, deleted []string) {
	there := g.content.rows()
	if whole {
		there = nil
	}
	r.Shuffle(len(there), func(i, j int) { there[i], there[j] = there[j], there[i] })
	if !g.AppendOnly {
		deleted = there[:min(len(there), r.IntN(4))]
	}
	taken := map[string]bool{}
	for _, kept := range there[len(deleted):] {
		taken[keyOf(kept)] = true
	}
	gone := bag{}.plus(deleted)
	ids, values := 12, 40
	if g.Key == nil {
		ids, values = 3, 3 // equal rows are common
	}
	for range r.IntN(6) {
		next := row(r.IntN(ids), r.IntN(values))
		if g.Key != nil && taken[keyOf(next)] || gone[next] > 0 {
			continue
		}
		taken[keyOf(next)] = true
		inserted = append(inserted, next)
	}
	return inserted, deleted
}

// keyOf is the first value of a row.
func keyOf(row string) string {
	key, _, _ := strings.Cut(row, ",")
	return key
}
