package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// from is a relation to read: one of the pool, or now and then a query over one. Columns that are fuzzy are not shown.
func (g *Generator) from(depth int) Relation {
	r := g.Pool[g.IntN(len(g.Pool))]
	if depth > 0 && g.Chance(3) {
		sql := g.Query(depth - 1)
		if columns, err := g.Describe(sql); err == nil {
			r = Relation{SQL: "(" + sql + ")", Columns: columns}
		}
	}
	columns := slices.DeleteFunc(slices.Clone(r.Columns), unusable)
	if len(columns) == 0 {
		return Relation{SQL: g.Pool[0].SQL + " " + g.name("r"), Columns: g.Pool[0].Columns}
	}
	if len(columns) < len(r.Columns) {
		r.SQL = "(SELECT " + strings.Join(columnNames(columns), ", ") + " FROM " + r.SQL + ")"
	}
	return Relation{SQL: r.SQL + " " + g.name("r"), Columns: columns}
}

func columnNames(columns batch.Schema) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// renamed is a relation some of whose columns have other names, so that two can stand beside each other.
func (g *Generator) renamed(r Relation) Relation {
	var list []string
	var columns batch.Schema
	for _, c := range r.Columns {
		if len(columns) > 0 && g.Chance(3) {
			continue
		}
		name := g.name("x")
		list = append(list, c.Name+" AS "+name)
		columns = append(columns, batch.Column{Name: name, Type: c.Type})
	}
	return Relation{SQL: "(SELECT " + strings.Join(list, ", ") + " FROM " + r.SQL + ") " + g.name("r"), Columns: columns}
}

func (g *Generator) items(columns batch.Schema, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.expression(columns) + " AS " + g.name("e")
	}
	return strings.Join(parts, ", ")
}

// Over is a query over another one, written out in it.
func (g *Generator) Over(sql string) string {
	columns, err := g.Describe(sql)
	if err != nil || slices.ContainsFunc(columns, unusable) {
		return "SELECT count(*) AS n FROM (" + sql + ") " + g.name("r")
	}
	r := Relation{SQL: "(" + sql + ") " + g.name("r"), Columns: columns}
	makers := []func(Relation, int) string{g.selection, g.grouped, g.distinct, g.windows, g.top}
	return makers[g.IntN(len(makers))](r, 0)
}

// Query is one SELECT over the pool, with queries inside of it up to a depth.
func (g *Generator) Query(depth int) string {
	r := g.from(depth)
	makers := []func(Relation, int) string{g.selection, g.grouped, g.grouped, g.scalar, g.sets, g.join, g.join, g.membership, g.windows, g.windows, g.qualified,
		g.distinct, g.top, g.setOperation, g.unnested, g.correlated, g.common, g.pivot, g.asof, g.lateral, g.rare, g.constants, g.wide, g.wide, g.wide, g.wide, g.wide, g.wide}
	return makers[g.IntN(len(makers))](r, depth)
}

func (g *Generator) selection(r Relation, _ int) string {
	if g.Chance(3) {
		return fmt.Sprintf("SELECT *, %s FROM %s%s", g.items(r.Columns, 1), r.SQL, g.where(r.Columns))
	}
	return fmt.Sprintf("SELECT %s FROM %s%s", g.items(r.Columns, 1+g.IntN(3)), r.SQL, g.where(r.Columns))
}

func (g *Generator) having(columns batch.Schema) string {
	c := g.column(columns).Name
	return g.pick("", "", "", " HAVING count(*) > 1", " HAVING count("+c+") > 0", " HAVING count(DISTINCT "+c+") = 1", " HAVING max("+c+") IS NOT NULL")
}

func (g *Generator) grouped(r Relation, _ int) string {
	groups := g.group(r.Columns) + " AS " + g.name("g")
	if g.Chance(3) {
		groups += ", " + g.group(r.Columns) + " AS " + g.name("g")
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s%s GROUP BY ALL%s", groups, g.aggregates(r.Columns, 1+g.IntN(3)), r.SQL, g.where(r.Columns), g.having(r.Columns))
}

func (g *Generator) scalar(r Relation, _ int) string {
	return fmt.Sprintf("SELECT %s FROM %s%s", g.aggregates(r.Columns, 1+g.IntN(4)), r.SQL, g.where(r.Columns))
}

func (g *Generator) sets(r Relation, _ int) string {
	a, b := g.column(r.Columns).Name, g.column(r.Columns).Name
	if a == b {
		return fmt.Sprintf("SELECT %s AS k, %s FROM %s GROUP BY ROLLUP (%s)", a, g.aggregates(r.Columns, 1), r.SQL, a)
	}
	by := fmt.Sprintf(g.pick("ROLLUP (%[1]s, %[2]s)", "CUBE (%[1]s, %[2]s)", "GROUPING SETS ((%[1]s), (%[2]s), ())", "GROUPING SETS ((%[1]s, %[2]s), (%[2]s))"), a, b)
	marker := g.pick("", fmt.Sprintf("GROUPING(%s, %s) AS gr, ", a, b))
	return fmt.Sprintf("SELECT %s AS k1, %s AS k2, %s%s FROM %s%s GROUP BY %s%s", a, b, marker, g.aggregates(r.Columns, 1+g.IntN(2)), r.SQL, g.where(r.Columns), by,
		g.pick("", " HAVING count(*) > 1"))
}

// pair is a condition between two relations: equalities with or without more, ranges, or nothing in common.
func (g *Generator) pair(l, r batch.Schema) (string, bool) {
	var equal [][2]string
	for _, a := range l {
		for _, b := range r {
			if a.Type == b.Type && kindOf(a.Type) != "map" {
				equal = append(equal, [2]string{a.Name, b.Name})
			}
		}
	}
	if len(equal) == 0 {
		return "", false
	}
	e := equal[g.IntN(len(equal))]
	out := e[0] + g.pick(" = ", " = ", " = ", " IS NOT DISTINCT FROM ", " < ", " <> ", " >= ") + e[1]
	if g.Chance(3) {
		e = equal[g.IntN(len(equal))]
		out += " AND " + e[0] + g.pick(" = ", " <= ", " <> ", " IS NOT DISTINCT FROM ") + e[1]
	}
	if g.Chance(4) {
		out += " AND " + g.predicate(append(slices.Clone(l), r...))
	}
	return out, true
}

func (g *Generator) join(l Relation, depth int) string {
	if g.Chance(6) {
		return g.using(l)
	}
	r := g.renamed(g.from(depth))
	if g.Chance(12) {
		return fmt.Sprintf("SELECT * FROM (SELECT %s FROM %s) a CROSS JOIN %s", g.items(l.Columns, 1), l.SQL, r.SQL)
	}
	on, ok := g.pair(l.Columns, r.Columns)
	if !ok {
		return fmt.Sprintf("SELECT count(*) AS n FROM %s, %s", l.SQL, r.SQL)
	}
	kind := g.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")
	both := append(slices.Clone(l.Columns), r.Columns...)
	if strings.HasPrefix(kind, "SEMI") || strings.HasPrefix(kind, "ANTI") {
		both = l.Columns
	}
	list := g.pick("*", g.items(both, 2), g.aggregates(both, 1))
	third := ""
	if g.Chance(6) && len(both) > len(l.Columns) {
		c := g.renamed(g.from(0))
		if on, ok := g.pair(both, c.Columns); ok {
			third = g.pick(" JOIN ", " LEFT JOIN ") + c.SQL + " ON " + on
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s %s %s ON %s%s%s", list, l.SQL, kind, r.SQL, on, third, g.where(both))
}

func (g *Generator) using(l Relation) string {
	c := g.column(l.Columns).Name
	return fmt.Sprintf("SELECT %s, a.z, b.y FROM (SELECT %s, %s AS z FROM %s) a %s (SELECT %s, %s AS y FROM %s%s) b USING (%s)",
		c, c, g.expression(l.Columns), l.SQL, g.pick("JOIN", "LEFT JOIN", "FULL JOIN"), c, g.expression(l.Columns), l.SQL, g.where(l.Columns), c)
}

// membership is IN, NOT IN, EXISTS and NOT EXISTS, as a filter and as a value.
func (g *Generator) membership(l Relation, depth int) string {
	r := g.renamed(g.from(depth))
	var test string
	for _, a := range l.Columns {
		for _, b := range r.Columns {
			if a.Type == b.Type && (test == "" || g.Chance(3)) {
				test = g.pick(a.Name+" IN (SELECT "+b.Name+" FROM "+r.SQL+")", a.Name+" NOT IN (SELECT "+b.Name+" FROM "+r.SQL+g.where(r.Columns)+")",
					"EXISTS (SELECT 1 FROM "+r.SQL+" WHERE "+b.Name+" = "+a.Name+")", "NOT EXISTS (SELECT 1 FROM "+r.SQL+" WHERE "+b.Name+" = "+a.Name+g.pick("", " AND "+g.predicate(r.Columns))+")",
					a.Name+g.pick(" = ", " > ", " <= ", " <> ")+g.pick("ANY", "ALL")+" (SELECT "+b.Name+" FROM "+r.SQL+g.where(r.Columns)+")")
			}
		}
	}
	if test == "" {
		test = "EXISTS (SELECT 1 FROM " + r.SQL + g.where(r.Columns) + ")"
	}
	if t, ok := g.memberOfRows(l, r); ok && g.Chance(3) {
		test = t
	}
	if g.Chance(3) {
		return fmt.Sprintf("SELECT %s, %s AS m FROM %s", g.items(l.Columns, 1), test, l.SQL)
	}
	if g.Chance(4) {
		test += " OR " + g.predicate(l.Columns)
	}
	return fmt.Sprintf("SELECT * FROM %s WHERE %s", l.SQL, test)
}

// memberOfRows is IN with several columns, or IN, ANY and ALL with a subquery that the outer row narrows.
func (g *Generator) memberOfRows(l, r Relation) (string, bool) {
	var equal [][2]string
	for _, a := range l.Columns {
		for _, b := range r.Columns {
			if a.Type == b.Type && kindOf(a.Type) != "map" {
				equal = append(equal, [2]string{a.Name, b.Name})
			}
		}
	}
	if len(equal) == 0 {
		return "", false
	}
	x, y := equal[g.IntN(len(equal))], equal[g.IntN(len(equal))]
	if g.Chance(2) {
		return fmt.Sprintf("(%s, %s)%s (SELECT %s, %s FROM %s%s)", x[0], y[0], g.pick(" IN", " NOT IN"), x[1], y[1], r.SQL, g.where(r.Columns)), true
	}
	return fmt.Sprintf("%s%s (SELECT %s FROM %s WHERE %s%s%s)", x[0], g.pick(" IN", " NOT IN", " > ANY", " <= ALL", " <> ANY"), x[1], r.SQL, y[1], g.pick(" = ", " <= ", " IS NOT DISTINCT FROM "), y[0]), true
}

func (g *Generator) windows(r Relation, _ int) string {
	list := []string{g.pick("*", g.items(r.Columns, 1))}
	for range 1 + g.IntN(3) {
		list = append(list, paired(list, g.window(r.Columns)))
	}
	return fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(list, ", "), r.SQL, g.where(r.Columns))
}

func (g *Generator) qualified(r Relation, _ int) string {
	w := g.window(r.Columns)
	call, name, _ := strings.Cut(w, " AS w")
	switch {
	case strings.HasPrefix(call, "row_number"), strings.HasPrefix(call, "rank"), strings.HasPrefix(call, "dense_rank"), strings.HasPrefix(call, "count"):
		return fmt.Sprintf("SELECT * FROM %s%s QUALIFY %s <= %d", r.SQL, g.where(r.Columns), call, 1+g.IntN(3))
	}
	return fmt.Sprintf("SELECT *, %s AS w%s FROM %s QUALIFY w%[2]s IS NOT NULL", call, name, r.SQL)
}
