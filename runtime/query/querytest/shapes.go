package querytest

import (
	"fmt"
	"slices"
	"strings"
)

func (g *Generator) distinct(r Relation, _ int) string {
	if g.Chance(2) {
		return fmt.Sprintf("SELECT DISTINCT %s FROM %s%s", g.items(r.Columns, 1+g.IntN(2)), r.SQL, g.where(r.Columns))
	}
	key := g.group(r.Columns)
	return fmt.Sprintf("SELECT DISTINCT ON (%s) * FROM %s%s ORDER BY %s, %s", key, r.SQL, g.where(r.Columns), key, g.total(r.Columns))
}

func (g *Generator) top(r Relation, _ int) string {
	return fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d%s", strings.Join(columnNames(r.Columns), ", "), r.SQL, g.where(r.Columns), g.total(r.Columns), 1+g.IntN(4), g.pick("", "", " OFFSET 1"))
}

func (g *Generator) setOperation(r Relation, depth int) string {
	other := g.from(depth)
	word := g.pick("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
	if g.Chance(5) {
		a, b := g.column(r.Columns).Name, g.column(r.Columns).Name
		if a == b {
			b = a + " AS z"
		}
		return fmt.Sprintf("SELECT %s, %s FROM %s %s BY NAME SELECT %s FROM %s", a, b, r.SQL, g.pick("UNION", "UNION ALL"), a, r.SQL)
	}
	for _, a := range r.Columns {
		for _, b := range other.Columns {
			if a.Type == b.Type && g.Chance(2) {
				return fmt.Sprintf("SELECT %s AS a FROM %s%s %s SELECT %s FROM %s%s", a.Name, r.SQL, g.where(r.Columns), word, b.Name, other.SQL, g.where(other.Columns))
			}
		}
	}
	list := g.items(r.Columns, 1+g.IntN(2))
	return fmt.Sprintf("SELECT %s FROM %s%s %s SELECT %s FROM %s%s", list, r.SQL, g.where(r.Columns), word, list, r.SQL, g.where(r.Columns))
}

func (g *Generator) unnested(r Relation, _ int) string {
	if c, ok := g.of(r.Columns, "list"); ok {
		if g.Chance(3) {
			return fmt.Sprintf("SELECT e, count(*) AS n FROM (SELECT unnest(%s) AS e FROM %s) GROUP BY e", c.Name, r.SQL)
		}
		return fmt.Sprintf("SELECT %s, unnest(%s) AS e FROM %s%s", g.items(r.Columns, 1), c.Name, r.SQL, g.where(r.Columns))
	}
	if c, ok := g.of(r.Columns, "struct"); ok && g.Chance(2) {
		return fmt.Sprintf("SELECT unnest(%s) FROM %s", c.Name, r.SQL)
	}
	c := g.column(r.Columns)
	return fmt.Sprintf("SELECT %s, unnest(%s) AS e FROM %s%s", g.items(r.Columns, 1), g.form(c.Name, "[@]", "[@, @]", "list_value(@, NULL)"), r.SQL, g.where(r.Columns))
}

// correlated is a scalar subquery, correlated or not.
func (g *Generator) correlated(l Relation, depth int) string {
	r := g.renamed(g.from(depth))
	call, inexact := g.aggregate(r.Columns)
	name := "a"
	if inexact {
		name = "f_a"
	}
	if strings.Contains(call, "ORDER BY") {
		call, name = "count(*)", "a"
	}
	on, ok := g.pair(l.Columns, r.Columns)
	if !ok || g.Chance(4) {
		return fmt.Sprintf("SELECT *, (SELECT %s FROM %s%s) AS %s FROM %s", call, r.SQL, g.where(r.Columns), name, l.SQL)
	}
	if g.Chance(3) {
		return fmt.Sprintf("SELECT * FROM %s WHERE (SELECT count(*) FROM %s WHERE %s) %s", l.SQL, r.SQL, on, g.pick("> 1", "= 0", "< 3"))
	}
	return fmt.Sprintf("SELECT %s, (SELECT %s FROM %s WHERE %s) AS %s FROM %s", g.items(l.Columns, 1), call, r.SQL, on, name, l.SQL)
}

// common reads a CTE more than once.
func (g *Generator) common(r Relation, _ int) string {
	key := g.column(r.Columns).Name
	cte := fmt.Sprintf("WITH c AS (SELECT %s AS k, count(*) AS n, max(%s) AS m FROM %s%s GROUP BY ALL) ", g.group(r.Columns), key, r.SQL, g.where(r.Columns))
	return cte + g.pick("SELECT a.k, a.n, b.n AS bn FROM c a JOIN c b ON a.k = b.k", "SELECT a.k, b.m FROM c a LEFT JOIN c b ON a.n = b.n + 1",
		"SELECT k FROM c WHERE n = (SELECT max(n) FROM c)", "SELECT k, n FROM c UNION ALL SELECT k, n + 1 FROM c", "SELECT k, n, n * 100 // (SELECT sum(n) FROM c) AS share FROM c",
		"SELECT k, n FROM c WHERE n NOT IN (SELECT n FROM c WHERE k IS NULL)")
}

func (g *Generator) pivot(r Relation, _ int) string {
	c, ok := g.of(r.Columns, "int", "text")
	if !ok {
		return g.grouped(r, 0)
	}
	values := g.pick("'a', 'b'", "'a', ''")
	if kindOf(c.Type) == "int" {
		values = "0, 1, 2"
	}
	group := g.column(r.Columns)
	source := "(SELECT " + c.Name + ", 1 AS one FROM " + r.SQL + ")"
	if group.Name != c.Name {
		source = "(SELECT " + c.Name + ", " + group.Name + ", 1 AS one FROM " + r.SQL + ")"
	}
	return fmt.Sprintf("SELECT * FROM (PIVOT %s ON %s IN (%s) USING %s)", source, c.Name, values, g.pick("count(*)", "sum(one)"))
}

// asof joins each row with the latest earlier one; the right side has one row for each time. DuckDB 1.5 may match NULL.
func (g *Generator) asof(l Relation, _ int) string {
	c, ok := g.of(l.Columns, "time", "int")
	if !ok {
		return g.top(l, 0)
	}
	time, n := g.name("t"), g.name("n")
	kind, on := g.pick("JOIN", "LEFT JOIN"), "a."+c.Name+" "+g.pick(">=", ">", "<=", "<")+" z."+time
	list := "a.*, z." + time + ", z." + n
	if k := g.column(l.Columns); kindOf(k.Type) != "map" && g.Chance(2) {
		return fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s WHERE %s IS NOT NULL) a ASOF %s (SELECT %s AS %s, %s AS k, count(*) AS %s FROM %s%s GROUP BY ALL) z ON a.%s = z.k AND %s",
			list, l.SQL, c.Name, kind, c.Name, time, k.Name, n, l.SQL, g.where(l.Columns), k.Name, on)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s WHERE %s IS NOT NULL) a ASOF %s (SELECT %s AS %s, count(*) AS %s FROM %s%s GROUP BY ALL) z ON %s",
		list, l.SQL, c.Name, kind, c.Name, time, n, l.SQL, g.where(l.Columns), on)
}

func (g *Generator) lateral(l Relation, depth int) string {
	r := g.renamed(g.from(depth))
	on, ok := g.pair(l.Columns, r.Columns)
	if !ok {
		return g.selection(l, depth)
	}
	if g.Chance(3) {
		c := g.column(r.Columns)
		return fmt.Sprintf("SELECT * FROM %s, LATERAL (SELECT max(%s) AS m, count(*) AS n FROM %s WHERE %s) z", l.SQL, c.Name, r.SQL, on)
	}
	if g.Chance(3) {
		return fmt.Sprintf("SELECT * FROM %s, LATERAL (SELECT * FROM %s WHERE %s ORDER BY %s LIMIT 1) z", l.SQL, r.SQL, on, g.total(r.Columns))
	}
	return fmt.Sprintf("SELECT * FROM %s %s (SELECT %s FROM %s WHERE %s) z ON true", l.SQL, g.pick("JOIN LATERAL", "LEFT JOIN LATERAL"), g.items(r.Columns, 1), r.SQL, on)
}

// rare are shapes that need no frequent test.
func (g *Generator) rare(r Relation, _ int) string {
	c, d := g.column(r.Columns).Name, g.column(r.Columns).Name
	columns := slices.Clone(r.Columns)
	switch g.IntN(7) {
	case 0:
		return "WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < (SELECT least(count(*), 3) FROM " + r.SQL + ")) SELECT i FROM c"
	case 1:
		return fmt.Sprintf("SELECT a, count(*) AS n FROM (SELECT %s AS a FROM %s) r LEFT JOIN (VALUES (1, 'one'), (2, 'two')) v(i, t) ON v.t = CAST(r.a AS VARCHAR) GROUP BY a", c, r.SQL)
	case 2:
		return fmt.Sprintf("SELECT * FROM (SELECT %s AS a, %s AS b FROM %s) UNPIVOT INCLUDE NULLS (v FOR k IN (a)) ", g.form(c, "CAST(@ AS VARCHAR)"), d, r.SQL)
	case 3:
		return fmt.Sprintf("SELECT i, count(%s) AS n FROM range(3) s(i) LEFT JOIN %s ON true GROUP BY i", c, r.SQL)
	case 4:
		return fmt.Sprintf("SELECT n, count(*) AS m FROM (SELECT %s AS k, count(*) AS n FROM %s GROUP BY ALL) GROUP BY n", g.group(columns), r.SQL)
	case 5:
		return fmt.Sprintf("SELECT 'all' AS k, count(*) AS n FROM %s UNION ALL SELECT 'some', count(*) FROM %s WHERE %s", r.SQL, r.SQL, g.condition(columns))
	}
	return fmt.Sprintf("SELECT DISTINCT k, sum(n) OVER (PARTITION BY n) AS s FROM (SELECT %s AS k, count(*) AS n FROM %s GROUP BY ALL)", g.group(columns), r.SQL)
}
