package query_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// from is a relation to read: one of the pool, or now and then a query over one. Columns that are fuzzy are not shown.
func (g *generator) from(depth int) relation {
	r := g.pool[g.IntN(len(g.pool))]
	if depth > 0 && g.chance(3) {
		sql := g.query(depth - 1)
		if columns, err := g.describe(sql); err == nil {
			r = relation{sql: "(" + sql + ")", columns: columns}
		}
	}
	columns := slices.DeleteFunc(slices.Clone(r.columns), unusable)
	if len(columns) == 0 {
		return relation{sql: g.pool[0].sql + " " + g.name("r"), columns: g.pool[0].columns}
	}
	if len(columns) < len(r.columns) {
		r.sql = "(SELECT " + strings.Join(columnNames(columns), ", ") + " FROM " + r.sql + ")"
	}
	return relation{sql: r.sql + " " + g.name("r"), columns: columns}
}

func columnNames(columns batch.Schema) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

// renamed is a relation some of whose columns have other names, so that two can stand beside each other.
func (g *generator) renamed(r relation) relation {
	var list []string
	var columns batch.Schema
	for _, c := range r.columns {
		if len(columns) > 0 && g.chance(3) {
			continue
		}
		name := g.name("x")
		list = append(list, c.Name+" AS "+name)
		columns = append(columns, batch.Column{Name: name, Type: c.Type})
	}
	return relation{sql: "(SELECT " + strings.Join(list, ", ") + " FROM " + r.sql + ") " + g.name("r"), columns: columns}
}

func (g *generator) items(columns batch.Schema, n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = g.expression(columns) + " AS " + g.name("e")
	}
	return strings.Join(parts, ", ")
}

// query is one SELECT.
func (g *generator) query(depth int) string {
	r := g.from(depth)
	makers := []func(relation, int) string{g.selection, g.grouped, g.grouped, g.scalar, g.sets, g.join, g.join, g.membership, g.windows, g.windows, g.qualified,
		g.distinct, g.top, g.setOperation, g.unnested, g.correlated, g.common, g.pivot, g.asof, g.lateral, g.rare, g.constants}
	return makers[g.IntN(len(makers))](r, depth)
}

func (g *generator) selection(r relation, _ int) string {
	if g.chance(3) {
		return fmt.Sprintf("SELECT *, %s FROM %s%s", g.items(r.columns, 1), r.sql, g.where(r.columns))
	}
	return fmt.Sprintf("SELECT %s FROM %s%s", g.items(r.columns, 1+g.IntN(3)), r.sql, g.where(r.columns))
}

func (g *generator) having(columns batch.Schema) string {
	c := g.column(columns).Name
	return g.pick("", "", "", " HAVING count(*) > 1", " HAVING count("+c+") > 0", " HAVING count(DISTINCT "+c+") = 1", " HAVING max("+c+") IS NOT NULL")
}

func (g *generator) grouped(r relation, _ int) string {
	groups := g.group(r.columns) + " AS " + g.name("g")
	if g.chance(3) {
		groups += ", " + g.group(r.columns) + " AS " + g.name("g")
	}
	return fmt.Sprintf("SELECT %s, %s FROM %s%s GROUP BY ALL%s", groups, g.aggregates(r.columns, 1+g.IntN(3)), r.sql, g.where(r.columns), g.having(r.columns))
}

func (g *generator) scalar(r relation, _ int) string {
	return fmt.Sprintf("SELECT %s FROM %s%s", g.aggregates(r.columns, 1+g.IntN(4)), r.sql, g.where(r.columns))
}

func (g *generator) sets(r relation, _ int) string {
	a, b := g.column(r.columns).Name, g.column(r.columns).Name
	if a == b {
		return fmt.Sprintf("SELECT %s AS k, %s FROM %s GROUP BY ROLLUP (%s)", a, g.aggregates(r.columns, 1), r.sql, a)
	}
	by := fmt.Sprintf(g.pick("ROLLUP (%[1]s, %[2]s)", "CUBE (%[1]s, %[2]s)", "GROUPING SETS ((%[1]s), (%[2]s), ())", "GROUPING SETS ((%[1]s, %[2]s), (%[2]s))"), a, b)
	marker := g.pick("", fmt.Sprintf("GROUPING(%s, %s) AS gr, ", a, b))
	return fmt.Sprintf("SELECT %s AS k1, %s AS k2, %s%s FROM %s%s GROUP BY %s%s", a, b, marker, g.aggregates(r.columns, 1+g.IntN(2)), r.sql, g.where(r.columns), by,
		g.pick("", " HAVING count(*) > 1"))
}

// pair is a condition between two relations: equalities with or without more, ranges, or nothing in common.
func (g *generator) pair(l, r batch.Schema) (string, bool) {
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
	if g.chance(3) {
		e = equal[g.IntN(len(equal))]
		out += " AND " + e[0] + g.pick(" = ", " <= ", " <> ", " IS NOT DISTINCT FROM ") + e[1]
	}
	if g.chance(4) {
		out += " AND " + g.predicate(append(slices.Clone(l), r...))
	}
	return out, true
}

func (g *generator) join(l relation, depth int) string {
	if g.chance(6) {
		return g.using(l)
	}
	r := g.renamed(g.from(depth))
	if g.chance(12) {
		return fmt.Sprintf("SELECT * FROM (SELECT %s FROM %s) a CROSS JOIN %s", g.items(l.columns, 1), l.sql, r.sql)
	}
	on, ok := g.pair(l.columns, r.columns)
	if !ok {
		return fmt.Sprintf("SELECT count(*) AS n FROM %s, %s", l.sql, r.sql)
	}
	kind := g.pick("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")
	both := append(slices.Clone(l.columns), r.columns...)
	if strings.HasPrefix(kind, "SEMI") || strings.HasPrefix(kind, "ANTI") {
		both = l.columns
	}
	list := g.pick("*", g.items(both, 2), g.aggregates(both, 1))
	third := ""
	if g.chance(6) && len(both) > len(l.columns) {
		c := g.renamed(g.from(0))
		if on, ok := g.pair(both, c.columns); ok {
			third = g.pick(" JOIN ", " LEFT JOIN ") + c.sql + " ON " + on
		}
	}
	return fmt.Sprintf("SELECT %s FROM %s %s %s ON %s%s%s", list, l.sql, kind, r.sql, on, third, g.where(both))
}

func (g *generator) using(l relation) string {
	c := g.column(l.columns).Name
	return fmt.Sprintf("SELECT %s, a.z, b.y FROM (SELECT %s, %s AS z FROM %s) a %s (SELECT %s, %s AS y FROM %s%s) b USING (%s)",
		c, c, g.expression(l.columns), l.sql, g.pick("JOIN", "LEFT JOIN", "FULL JOIN"), c, g.expression(l.columns), l.sql, g.where(l.columns), c)
}

// membership is IN, NOT IN, EXISTS and NOT EXISTS, as a filter and as a value.
func (g *generator) membership(l relation, depth int) string {
	r := g.renamed(g.from(depth))
	var test string
	for _, a := range l.columns {
		for _, b := range r.columns {
			if a.Type == b.Type && (test == "" || g.chance(3)) {
				test = g.pick(a.Name+" IN (SELECT "+b.Name+" FROM "+r.sql+")", a.Name+" NOT IN (SELECT "+b.Name+" FROM "+r.sql+g.where(r.columns)+")",
					"EXISTS (SELECT 1 FROM "+r.sql+" WHERE "+b.Name+" = "+a.Name+")", "NOT EXISTS (SELECT 1 FROM "+r.sql+" WHERE "+b.Name+" = "+a.Name+g.pick("", " AND "+g.predicate(r.columns))+")",
					a.Name+g.pick(" = ", " > ", " <= ", " <> ")+g.pick("ANY", "ALL")+" (SELECT "+b.Name+" FROM "+r.sql+g.where(r.columns)+")")
			}
		}
	}
	if test == "" {
		test = "EXISTS (SELECT 1 FROM " + r.sql + g.where(r.columns) + ")"
	}
	if t, ok := g.memberOfRows(l, r); ok && g.chance(3) {
		test = t
	}
	if g.chance(3) {
		return fmt.Sprintf("SELECT %s, %s AS m FROM %s", g.items(l.columns, 1), test, l.sql)
	}
	if g.chance(4) {
		test += " OR " + g.predicate(l.columns)
	}
	return fmt.Sprintf("SELECT * FROM %s WHERE %s", l.sql, test)
}

// memberOfRows is IN with several columns, or IN, ANY and ALL with a subquery that the outer row narrows.
func (g *generator) memberOfRows(l, r relation) (string, bool) {
	var equal [][2]string
	for _, a := range l.columns {
		for _, b := range r.columns {
			if a.Type == b.Type && kindOf(a.Type) != "map" {
				equal = append(equal, [2]string{a.Name, b.Name})
			}
		}
	}
	if len(equal) == 0 {
		return "", false
	}
	x, y := equal[g.IntN(len(equal))], equal[g.IntN(len(equal))]
	if g.chance(2) {
		return fmt.Sprintf("(%s, %s)%s (SELECT %s, %s FROM %s%s)", x[0], y[0], g.pick(" IN", " NOT IN"), x[1], y[1], r.sql, g.where(r.columns)), true
	}
	return fmt.Sprintf("%s%s (SELECT %s FROM %s WHERE %s%s%s)", x[0], g.pick(" IN", " NOT IN", " > ANY", " <= ALL", " <> ANY"), x[1], r.sql, y[1], g.pick(" = ", " <= ", " IS NOT DISTINCT FROM "), y[0]), true
}

func (g *generator) windows(r relation, _ int) string {
	list := []string{g.pick("*", g.items(r.columns, 1))}
	for range 1 + g.IntN(3) {
		list = append(list, paired(list, g.window(r.columns)))
	}
	return fmt.Sprintf("SELECT %s FROM %s%s", strings.Join(list, ", "), r.sql, g.where(r.columns))
}

func (g *generator) qualified(r relation, _ int) string {
	w := g.window(r.columns)
	call, name, _ := strings.Cut(w, " AS w")
	switch {
	case strings.HasPrefix(call, "row_number"), strings.HasPrefix(call, "rank"), strings.HasPrefix(call, "dense_rank"), strings.HasPrefix(call, "count"):
		return fmt.Sprintf("SELECT * FROM %s%s QUALIFY %s <= %d", r.sql, g.where(r.columns), call, 1+g.IntN(3))
	}
	return fmt.Sprintf("SELECT *, %s AS w%s FROM %s QUALIFY w%[2]s IS NOT NULL", call, name, r.sql)
}
