package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// alikePairs are pairs of columns that can be compared, also where their types differ. Nested values are left out: whether those
// with NULL inside are equal depends on the plan that DuckDB 1.5 makes of a subquery.
func alikePairs(l, r batch.Schema) [][2]string {
	class := func(t string) string {
		switch k := kindOf(t); k {
		case "decimal", "int":
			return "number"
		case "enum":
			return "text"
		case "time", "date":
			return "moment"
		case "map", "json", "struct", "list":
			return ""
		}
		return t
	}
	var out [][2]string
	for _, a := range l {
		for _, b := range r {
			if c := class(a.Type); c != "" && (c == class(b.Type) || kindOf(a.Type) == "text" && class(b.Type) == "text") {
				out = append(out, [2]string{a.Name, b.Name})
			}
		}
	}
	return out
}

// alike picks a pair of columns of two relations that can be compared.
func (g *Generator) alike(l, r batch.Schema) (a, b string, ok bool) {
	all := alikePairs(l, r)
	if len(all) == 0 {
		return "", "", false
	}
	p := all[g.IntN(len(all))]
	return p[0], p[1], true
}

// wide is what queries of other engines went wrong with.
func (g *Generator) wide(l Relation, depth int) string {
	makers := []func(Relation, int) string{g.outerChain, g.outerChain, g.deep, g.marks, g.marks, g.compared, g.named, g.stacked, g.symmetric, g.collated, g.zipped, g.moments, g.emptied, g.limited, g.guarded, g.unfolded, g.quoted, g.built}
	return makers[g.IntN(len(makers))](l, depth)
}

// outerChain is outer joins over outer joins, whose conditions ask about rows that may be missing.
func (g *Generator) outerChain(l Relation, _ int) string {
	r, c := g.renamed(g.from(0)), g.renamed(g.from(0))
	a, b, ok := g.alike(l.Columns, r.Columns)
	b2, d, ok2 := g.alike(r.Columns, c.Columns)
	if !ok || !ok2 {
		return g.selection(l, 0)
	}
	both := slices.Concat(l.Columns, r.Columns)
	on := fmt.Sprintf("%s %s %s", a, g.pick("=", "=", "=", "IS NOT DISTINCT FROM", "<="), b) + g.pick("", " AND "+g.predicate(l.Columns), " AND "+g.predicate(r.Columns), " AND "+g.condition(both))
	second := fmt.Sprintf("%s %s %s", b2, g.pick("=", "=", "IS NOT DISTINCT FROM"), d) + g.pick("", "", " AND "+g.predicate(both), " OR "+g.predicate(l.Columns))
	missing := g.pick("", fmt.Sprintf(" WHERE %s IS NULL", b), fmt.Sprintf(" WHERE %s IS NULL AND %s", d, g.predicate(l.Columns)), fmt.Sprintf(" WHERE %s IS NULL OR %s", b, g.predicate(c.Columns)))
	all := slices.Concat(both, c.Columns)
	return fmt.Sprintf("SELECT %s FROM %s %s %s ON %s %s %s ON %s%s", g.pick("*", g.items(all, 2), "count(*) AS n, count("+d+") AS m", g.aggregates(all, 1)),
		l.SQL, g.pick("LEFT JOIN", "FULL JOIN", "RIGHT JOIN", "LEFT JOIN"), r.SQL, on, g.pick("LEFT JOIN", "FULL JOIN", "JOIN", "RIGHT JOIN"), c.SQL, second, missing)
}

// deep is a subquery in a subquery that asks about the outermost row.
func (g *Generator) deep(l Relation, _ int) string {
	r, c := g.renamed(g.from(0)), g.renamed(g.from(0))
	a, b, ok := g.alike(l.Columns, r.Columns)
	e, d, ok2 := g.alike(l.Columns, c.Columns)
	b2, d2, ok3 := g.alike(r.Columns, c.Columns)
	if !ok || !ok2 || !ok3 {
		return g.selection(l, 0)
	}
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT * FROM %s WHERE %sEXISTS (SELECT 1 FROM %s WHERE %s = %s AND %sEXISTS (SELECT 1 FROM %s WHERE %s = %s AND %s = %s))", l.SQL, g.pick("", "NOT "), r.SQL, b, a, g.pick("", "NOT "), c.SQL, d, e, d2, b2)
	case 1:
		return fmt.Sprintf("SELECT * FROM %s WHERE EXISTS (SELECT 1 FROM %s LEFT JOIN %s ON %s = %s AND %s = %s WHERE %s %s %s)", l.SQL, r.SQL, c.SQL, b2, d2, d, e, a, g.pick("=", "IS NOT DISTINCT FROM"), b)
	case 2:
		return fmt.Sprintf("SELECT %s, (SELECT count(*) FROM %s WHERE %s = %s AND %s IN (SELECT %s FROM %s WHERE %s <= %s)) AS n FROM %s", g.items(l.Columns, 1), r.SQL, b, a, b2, d2, c.SQL, d, e, l.SQL)
	case 3:
		return fmt.Sprintf("SELECT %s, (SELECT count(%s) FROM %s WHERE %s = %s) + (SELECT count(*) FROM %s WHERE %s = %s) AS n FROM %s%s", g.items(l.Columns, 1), b2, r.SQL, b, a, c.SQL, d, e, l.SQL, g.where(l.Columns))
	}
	return fmt.Sprintf("SELECT * FROM %s WHERE (SELECT count(*) FROM %s JOIN %s ON %s = %s WHERE %s = %s) %s", l.SQL, r.SQL, c.SQL, b2, d2, b, a, g.pick("> 0", "= 0", "<> 1"))
}

// marks are memberships that are no filters: NULL is an answer of theirs.
func (g *Generator) marks(l Relation, _ int) string {
	r := g.renamed(g.from(0))
	a, b, ok := g.alike(l.Columns, r.Columns)
	c, d, ok2 := g.alike(l.Columns, r.Columns)
	if !ok || !ok2 {
		return g.selection(l, 0)
	}
	in := fmt.Sprintf("%s %s (SELECT %s FROM %s%s)", a, g.pick("IN", "NOT IN"), b, r.SQL, g.where(r.Columns))
	narrowed := fmt.Sprintf("%s %s (SELECT %s FROM %s WHERE %s %s %s)", a, g.pick("IN", "NOT IN"), b, r.SQL, d, g.pick("=", "<>", ">="), c)
	test := g.pick(in, narrowed)
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("SELECT * FROM %s WHERE (%s) IS %sNULL", l.SQL, test, g.pick("", "NOT "))
	case 1:
		return fmt.Sprintf("SELECT %s AS k, count(*) FILTER (WHERE m) AS n, count(m) AS c, bool_and(m) AS b FROM (SELECT *, %s AS m FROM %s) GROUP BY ALL", g.group(l.Columns), test, l.SQL)
	case 2:
		return fmt.Sprintf("SELECT %s, CASE WHEN %s THEN 'in' WHEN NOT (%s) THEN 'out' ELSE 'unknown' END AS m FROM %s", g.items(l.Columns, 1), test, in, l.SQL)
	case 3:
		return fmt.Sprintf("SELECT * FROM %s WHERE %s %s %s", l.SQL, test, g.pick("AND", "OR", "IS DISTINCT FROM"), g.pick(in, "("+g.condition(l.Columns)+")"))
	case 4:
		return fmt.Sprintf("SELECT * FROM %s WHERE NOT (%s AND %s)", l.SQL, test, g.predicate(l.Columns))
	case 5:
		return fmt.Sprintf("SELECT %s, EXISTS (SELECT 1 FROM %s WHERE %s = %s) AS e, NOT EXISTS (SELECT 1 FROM %s WHERE %s > %s) AS x FROM %s", g.items(l.Columns, 1), r.SQL, b, a, r.SQL, d, c, l.SQL)
	case 6:
		return fmt.Sprintf("SELECT * FROM %s WHERE coalesce(%s, %s)", l.SQL, test, g.pick("true", "false"))
	}
	return fmt.Sprintf("SELECT %s AS k, max(%s) AS m FROM %s GROUP BY ALL HAVING %s", a, c, l.SQL, strings.ReplaceAll(in, c, a))
}

// compared has subqueries of one value, which may be NULL or missing, beside rows.
func (g *Generator) compared(l Relation, _ int) string {
	r := g.renamed(g.from(0))
	a, b, ok := g.alike(l.Columns, r.Columns)
	if !ok {
		return g.scalar(l, 0)
	}
	one := fmt.Sprintf("(SELECT %s(%s) FROM %s%s)", g.pick("max", "min", "max"), b, r.SQL, g.where(r.Columns))
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT * FROM %s WHERE %s %s %s", l.SQL, a, g.pick(">", "<=", "=", "<>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"), one)
	case 1:
		return fmt.Sprintf("SELECT %s, %s %s %s AS x FROM %s", g.items(l.Columns, 1), a, g.pick(">", "=", "IS DISTINCT FROM"), one, l.SQL)
	case 2:
		return fmt.Sprintf("SELECT %s, coalesce(%s, %s) AS x FROM %s%s", g.items(l.Columns, 1), one, a, l.SQL, g.where(l.Columns))
	case 3:
		return fmt.Sprintf("SELECT count(*) AS n FROM %s HAVING count(*) %s (SELECT count(%s) FROM %s)", l.SQL, g.pick(">", "<=", "<>"), b, r.SQL)
	case 4:
		return fmt.Sprintf("SELECT %s AS k, count(*) AS n FROM %s WHERE %s <> %s GROUP BY ALL", g.group(l.Columns), l.SQL, a, one)
	}
	return fmt.Sprintf("SELECT * FROM %s, (SELECT max(%s) AS most, count(*) AS many FROM %s) z WHERE %s < z.most OR z.many = 0", l.SQL, b, r.SQL, a)
}

// named joins by names: NATURAL, and USING over more than one join.
func (g *Generator) named(l Relation, _ int) string {
	c, d := g.column(l.Columns), g.column(l.Columns)
	if c.Name == d.Name || kindOf(c.Type) == "map" || kindOf(d.Type) == "map" {
		return g.using(l)
	}
	side := func(value string) string {
		return fmt.Sprintf("(SELECT %s, %s, count(*) AS %s FROM %s%s GROUP BY ALL)", c.Name, d.Name, value, l.SQL, g.where(l.Columns))
	}
	kind := g.pick("JOIN", "LEFT JOIN", "FULL JOIN", "RIGHT JOIN")
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("SELECT * FROM %s q NATURAL %s %s w", side("n"), kind, side("m"))
	case 1:
		return fmt.Sprintf("SELECT * FROM %s q %s %s w USING (%s, %s)", side("n"), kind, side("m"), c.Name, d.Name)
	}
	return fmt.Sprintf("SELECT %[1]s, n, m, o FROM %[2]s q %[3]s (SELECT %[1]s, count(*) AS m FROM %[4]s GROUP BY ALL) w USING (%[1]s) %[5]s (SELECT %[1]s, max(%[6]s) AS o FROM %[4]s GROUP BY ALL) v USING (%[1]s)",
		c.Name, side("n"), kind, l.SQL, g.pick("LEFT JOIN", "FULL JOIN", "JOIN"), d.Name)
}

// stacked are windows over aggregates and over windows, and aggregates over windows.
func (g *Generator) stacked(l Relation, _ int) string {
	k, c := g.group(l.Columns), g.column(l.Columns).Name
	inner := fmt.Sprintf("SELECT %s AS k, count(*) AS n, max(%s) AS m FROM %s%s GROUP BY ALL", k, c, l.SQL, g.where(l.Columns))
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT %s AS k, count(*) AS n, sum(count(*)) OVER (ORDER BY %s%s) AS s FROM %s GROUP BY %s", k, k, g.pick("", " DESC NULLS LAST"), l.SQL, k)
	case 1:
		return "SELECT *, rank() OVER (ORDER BY n DESC) AS r, sum(n) OVER () AS t, n * 100 // sum(n) OVER () AS p FROM (" + inner + ")"
	case 2:
		return "SELECT r, count(*) AS c FROM (SELECT dense_rank() OVER (ORDER BY n) AS r FROM (" + inner + ")) GROUP BY r"
	case 3:
		return "SELECT k, n FROM (" + inner + ") QUALIFY n = max(n) OVER ()"
	case 4:
		return fmt.Sprintf("SELECT *, max(w) OVER (PARTITION BY w) AS x FROM (SELECT *, count(*) OVER (PARTITION BY %s) AS w FROM %s)", c, l.SQL)
	}
	return "SELECT k, lag(n) OVER (ORDER BY k) AS before, n - lag(n, 1, 0) OVER (ORDER BY k) AS more FROM (" + inner + ")"
}

// symmetric is set operations over set operations.
func (g *Generator) symmetric(l Relation, _ int) string {
	a, b := g.column(l.Columns).Name, g.column(l.Columns).Name
	one, two := fmt.Sprintf("SELECT %s AS a, %s AS b FROM %s%s", a, b, l.SQL, g.where(l.Columns)), fmt.Sprintf("SELECT %s, %s FROM %s%s", a, b, l.SQL, g.where(l.Columns))
	all := g.pick("", " ALL")
	switch g.IntN(3) {
	case 0:
		return fmt.Sprintf("(%s EXCEPT%s %s) UNION ALL (%s EXCEPT%s %s)", one, all, two, two, all, one)
	case 1:
		return fmt.Sprintf("SELECT a, count(*) AS n FROM (%s %s %s) GROUP BY a", one, g.pick("UNION", "INTERSECT ALL", "EXCEPT ALL", "INTERSECT"), two)
	}
	return fmt.Sprintf("(%s %s %s) %s (%s LIMIT 0)", one, g.pick("UNION", "INTERSECT ALL", "EXCEPT ALL"), two, g.pick("UNION ALL", "EXCEPT", "UNION"), two)
}

// collated compares text without regard to case or accents. Which of equal texts a group shows is open, so none does.
func (g *Generator) collated(l Relation, _ int) string {
	c, ok := g.of(l.Columns, "text")
	if !ok {
		return g.selection(l, 0)
	}
	by := c.Name + " COLLATE " + g.pick("NOCASE", "NOACCENT", "NOCASE.NOACCENT")
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT %s FROM %s WHERE %s = 'a'", g.items(l.Columns, 2), l.SQL, by)
	case 1:
		return fmt.Sprintf("SELECT count(*) AS n FROM %s GROUP BY %s", l.SQL, by)
	case 2:
		return fmt.Sprintf("SELECT count(DISTINCT %s) AS n FROM %s", by, l.SQL)
	case 3:
		return fmt.Sprintf("SELECT %s, rank() OVER (ORDER BY %s) AS r FROM %s", c.Name, by, l.SQL)
	}
	return fmt.Sprintf("SELECT a.*, z.n FROM %s a JOIN (SELECT %s AS x, count(*) AS n FROM %s GROUP BY ALL) z ON a.%s = z.x", l.SQL[:strings.LastIndex(l.SQL, " ")], c.Name, l.SQL, by)
}

// zipped unnests several lists at once, and lists of the row beside it.
func (g *Generator) zipped(l Relation, _ int) string {
	c := g.column(l.Columns)
	list := "[" + c.Name + ", " + c.Name + "]"
	if of, ok := g.of(l.Columns, "list"); ok {
		c, list = of, of.Name
	}
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT %s, unnest(%s) AS x, unnest([1, 2, 3]) AS i FROM %s", g.items(l.Columns, 1), list, l.SQL)
	case 1:
		return fmt.Sprintf("SELECT %s, u.x FROM %s LEFT JOIN LATERAL (SELECT unnest(%s) AS x) u ON %s", g.items(l.Columns, 1), l.SQL, list, g.pick("true", "x IS NOT NULL"))
	case 2:
		return fmt.Sprintf("SELECT %s, u.x FROM %s, unnest(%s) u(x)", g.items(l.Columns, 1), l.SQL, list)
	case 3:
		return fmt.Sprintf("SELECT %s, (SELECT count(x) FROM unnest(%s) u(x)) AS n FROM %s", g.items(l.Columns, 1), list, l.SQL)
	case 4:
		return fmt.Sprintf("SELECT x, count(*) AS n FROM (SELECT unnest(%s, recursive := true) AS x FROM %s) GROUP BY x", list, l.SQL)
	}
	return fmt.Sprintf("SELECT %s, %s AS n FROM %s", g.items(l.Columns, 1), g.pick("list_sum([1, len("+list+")])", "list_has_any("+list+", "+list+")", "list_aggregate("+list+", 'count')", "array_length("+list+")", "list_position("+list+", NULL)"), l.SQL)
}

// moments are differences of times, and joins and windows over spans of time.
func (g *Generator) moments(l Relation, _ int) string {
	c, ok := g.of(l.Columns, "time", "date", "zoned")
	if !ok {
		return g.windows(l, 0)
	}
	n := c.Name
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT %s, %s - %s AS d FROM %s", g.items(l.Columns, 1), n, map[string]string{"time": "TIMESTAMP '2026-03-01 08:15:00'", "date": "DATE '2026-02-28'", "zoned": "TIMESTAMPTZ '2026-03-01 07:00:00+00'"}[kindOf(c.Type)], l.SQL)
	case 1:
		return fmt.Sprintf("SELECT a.%s AS a, z.%s AS z FROM (SELECT DISTINCT %s FROM %s) a JOIN (SELECT DISTINCT %s FROM %s) z ON z.%s BETWEEN a.%s - INTERVAL 1 DAY AND a.%s", n, n, n, l.SQL, n, l.SQL, n, n, n)
	case 2:
		return fmt.Sprintf("SELECT CAST(%s AS DATE) AS d, count(*) AS n, max(%s) - min(%s) AS span FROM %s GROUP BY d", n, n, n, l.SQL)
	case 3:
		return fmt.Sprintf("SELECT time_bucket(INTERVAL 2 DAYS, %s) AS b, count(*) AS n FROM %s GROUP BY b HAVING count(*) < 4", n, l.SQL)
	}
	return fmt.Sprintf("SELECT %s, datepart(['year', 'hour'], CAST(%s AS TIMESTAMP)) AS p FROM %s", n, n, l.SQL)
}

// emptied are aggregates of groups that lose all their values, or all their rows.
func (g *Generator) emptied(l Relation, _ int) string {
	c, n := g.column(l.Columns), g.number(l.Columns)
	f := " FILTER (WHERE " + g.condition(l.Columns) + ")"
	calls := []string{"count(*)" + f, "max(" + c.Name + ")" + f, "sum(" + n + ")" + f, "avg(TRY_CAST(" + n + " AS DECIMAL(18, 2)))" + f, "count(DISTINCT " + c.Name + ")" + f, "sum(DISTINCT " + n + ")" + f,
		"bool_or(" + c.Name + " IS NULL)" + f, "list(" + n + " ORDER BY " + g.total(l.Columns) + ")" + f, "count_if(" + c.Name + " IS NULL)"}
	var list []string
	for range 1 + g.IntN(3) {
		list = append(list, g.pick(calls...)+" AS "+g.name("a"))
	}
	by := g.pick("", g.group(l.Columns)+" AS k, ", g.group(l.Columns)+" AS k, ")
	return fmt.Sprintf("SELECT %s%s FROM %s GROUP BY ALL", by, strings.Join(list, ", "), l.SQL)
}

// limited are first rows of relations that are empty, short, or all of them ties.
func (g *Generator) limited(l Relation, _ int) string {
	names, by := strings.Join(columnNames(l.Columns), ", "), g.total(l.Columns)
	key := g.group(l.Columns)
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT %s FROM %s ORDER BY %s LIMIT %d OFFSET %d", names, l.SQL, by, g.IntN(3), g.IntN(4))
	case 1:
		return fmt.Sprintf("SELECT count(*) AS n FROM (SELECT %s FROM %s%s ORDER BY %s LIMIT 2)", names, l.SQL, g.where(l.Columns), by)
	case 2:
		return fmt.Sprintf("SELECT * FROM (SELECT %s FROM %s ORDER BY %s LIMIT 2) UNION ALL SELECT * FROM (SELECT %s FROM %s ORDER BY %s LIMIT 1)", names, l.SQL, by, names, l.SQL, by)
	case 3:
		return fmt.Sprintf("SELECT DISTINCT ON (%s) %s FROM %s%s ORDER BY %s, %s", key, names, l.SQL, g.where(l.Columns), key, by)
	}
	return fmt.Sprintf("SELECT z.* FROM (SELECT DISTINCT %s AS k FROM %s) d, LATERAL (SELECT %s FROM %s WHERE %s IS NOT DISTINCT FROM d.k ORDER BY %s LIMIT 2) z", key, l.SQL, names, l.SQL, key, by)
}
