package query_test

import (
	"fmt"
	"slices"
	"strings"
)

func (g *generator) distinct(r relation, _ int) string {
	if g.chance(2) {
		return fmt.Sprintf("SELECT DISTINCT %s FROM %s%s", g.items(r.columns, 1+g.IntN(2)), r.sql, g.where(r.columns))
	}
	key := g.group(r.columns)
	return fmt.Sprintf("SELECT DISTINCT ON (%s) * FROM %s%s ORDER BY %s, %s", key, r.sql, g.where(r.columns), key, g.total(r.columns))
}

func (g *generator) top(r relation, _ int) string {
	return fmt.Sprintf("SELECT %s FROM %s%s ORDER BY %s LIMIT %d%s", strings.Join(columnNames(r.columns), ", "), r.sql, g.where(r.columns), g.total(r.columns), 1+g.IntN(4), g.pick("", "", " OFFSET 1"))
}

func (g *generator) setOperation(r relation, depth int) string {
	other := g.from(depth)
	word := g.pick("UNION", "UNION ALL", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
	if g.chance(5) {
		a, b := g.column(r.columns).Name, g.column(r.columns).Name
		if a == b {
			b = a + " AS z"
		}
		return fmt.Sprintf("SELECT %s, %s FROM %s %s BY NAME SELECT %s FROM %s", a, b, r.sql, g.pick("UNION", "UNION ALL"), a, r.sql)
	}
	for _, a := range r.columns {
		for _, b := range other.columns {
			if a.Type == b.Type && g.chance(2) {
				return fmt.Sprintf("SELECT %s AS a FROM %s%s %s SELECT %s FROM %s%s", a.Name, r.sql, g.where(r.columns), word, b.Name, other.sql, g.where(other.columns))
			}
		}
	}
	list := g.items(r.columns, 1+g.IntN(2))
	return fmt.Sprintf("SELECT %s FROM %s%s %s SELECT %s FROM %s%s", list, r.sql, g.where(r.columns), word, list, r.sql, g.where(r.columns))
}

func (g *generator) unnested(r relation, _ int) string {
	if c, ok := g.of(r.columns, "list"); ok {
		if g.chance(3) {
			return fmt.Sprintf("SELECT e, count(*) AS n FROM (SELECT unnest(%s) AS e FROM %s) GROUP BY e", c.Name, r.sql)
		}
		return fmt.Sprintf("SELECT %s, unnest(%s) AS e FROM %s%s", g.items(r.columns, 1), c.Name, r.sql, g.where(r.columns))
	}
	if c, ok := g.of(r.columns, "struct"); ok && g.chance(2) {
		return fmt.Sprintf("SELECT unnest(%s) FROM %s", c.Name, r.sql)
	}
	c := g.column(r.columns)
	return fmt.Sprintf("SELECT %s, unnest(%s) AS e FROM %s%s", g.items(r.columns, 1), g.form(c.Name, "[@]", "[@, @]", "list_value(@, NULL)"), r.sql, g.where(r.columns))
}

// correlated is a scalar subquery, correlated or not.
func (g *generator) correlated(l relation, depth int) string {
	r := g.renamed(g.from(depth))
	call, inexact := g.aggregate(r.columns)
	name := "a"
	if inexact {
		name = "f_a"
	}
	if strings.Contains(call, "ORDER BY") {
		call, name = "count(*)", "a"
	}
	on, ok := g.pair(l.columns, r.columns)
	if !ok || g.chance(4) {
		return fmt.Sprintf("SELECT *, (SELECT %s FROM %s%s) AS %s FROM %s", call, r.sql, g.where(r.columns), name, l.sql)
	}
	if g.chance(3) {
		return fmt.Sprintf("SELECT * FROM %s WHERE (SELECT count(*) FROM %s WHERE %s) %s", l.sql, r.sql, on, g.pick("> 1", "= 0", "< 3"))
	}
	return fmt.Sprintf("SELECT %s, (SELECT %s FROM %s WHERE %s) AS %s FROM %s", g.items(l.columns, 1), call, r.sql, on, name, l.sql)
}

// common reads a CTE more than once.
func (g *generator) common(r relation, _ int) string {
	key := g.column(r.columns).Name
	cte := fmt.Sprintf("WITH c AS (SELECT %s AS k, count(*) AS n, max(%s) AS m FROM %s%s GROUP BY ALL) ", g.group(r.columns), key, r.sql, g.where(r.columns))
	return cte + g.pick("SELECT a.k, a.n, b.n AS bn FROM c a JOIN c b ON a.k = b.k", "SELECT a.k, b.m FROM c a LEFT JOIN c b ON a.n = b.n + 1",
		"SELECT k FROM c WHERE n = (SELECT max(n) FROM c)", "SELECT k, n FROM c UNION ALL SELECT k, n + 1 FROM c", "SELECT k, n, n * 100 // (SELECT sum(n) FROM c) AS share FROM c",
		"SELECT k, n FROM c WHERE n NOT IN (SELECT n FROM c WHERE k IS NULL)")
}

func (g *generator) pivot(r relation, _ int) string {
	c, ok := g.of(r.columns, "int", "text")
	if !ok {
		return g.grouped(r, 0)
	}
	values := g.pick("'a', 'b'", "'a', ''")
	if kindOf(c.Type) == "int" {
		values = "0, 1, 2"
	}
	group := g.column(r.columns)
	source := "(SELECT " + c.Name + ", 1 AS one FROM " + r.sql + ")"
	if group.Name != c.Name {
		source = "(SELECT " + c.Name + ", " + group.Name + ", 1 AS one FROM " + r.sql + ")"
	}
	return fmt.Sprintf("SELECT * FROM (PIVOT %s ON %s IN (%s) USING %s)", source, c.Name, values, g.pick("count(*)", "sum(one)"))
}

// asof joins each row with the latest earlier one; the right side has one row for each time. DuckDB 1.5 may match NULL.
func (g *generator) asof(l relation, _ int) string {
	c, ok := g.of(l.columns, "time", "int")
	if !ok {
		return g.top(l, 0)
	}
	time, n := g.name("t"), g.name("n")
	kind, on := g.pick("JOIN", "LEFT JOIN"), "a."+c.Name+" "+g.pick(">=", ">", "<=", "<")+" z."+time
	list := "a.*, z." + time + ", z." + n
	if k := g.column(l.columns); kindOf(k.Type) != "map" && g.chance(2) {
		return fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s WHERE %s IS NOT NULL) a ASOF %s (SELECT %s AS %s, %s AS k, count(*) AS %s FROM %s%s GROUP BY ALL) z ON a.%s = z.k AND %s",
			list, l.sql, c.Name, kind, c.Name, time, k.Name, n, l.sql, g.where(l.columns), k.Name, on)
	}
	return fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s WHERE %s IS NOT NULL) a ASOF %s (SELECT %s AS %s, count(*) AS %s FROM %s%s GROUP BY ALL) z ON %s",
		list, l.sql, c.Name, kind, c.Name, time, n, l.sql, g.where(l.columns), on)
}

func (g *generator) lateral(l relation, depth int) string {
	r := g.renamed(g.from(depth))
	on, ok := g.pair(l.columns, r.columns)
	if !ok {
		return g.selection(l, depth)
	}
	if g.chance(3) {
		c := g.column(r.columns)
		return fmt.Sprintf("SELECT * FROM %s, LATERAL (SELECT max(%s) AS m, count(*) AS n FROM %s WHERE %s) z", l.sql, c.Name, r.sql, on)
	}
	if g.chance(3) {
		return fmt.Sprintf("SELECT * FROM %s, LATERAL (SELECT * FROM %s WHERE %s ORDER BY %s LIMIT 1) z", l.sql, r.sql, on, g.total(r.columns))
	}
	return fmt.Sprintf("SELECT * FROM %s %s (SELECT %s FROM %s WHERE %s) z ON true", l.sql, g.pick("JOIN LATERAL", "LEFT JOIN LATERAL"), g.items(r.columns, 1), r.sql, on)
}

// rare are shapes that need no frequent test.
func (g *generator) rare(r relation, _ int) string {
	c, d := g.column(r.columns).Name, g.column(r.columns).Name
	columns := slices.Clone(r.columns)
	switch g.IntN(7) {
	case 0:
		return "WITH RECURSIVE c AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM c WHERE i < (SELECT least(count(*), 3) FROM " + r.sql + ")) SELECT i FROM c"
	case 1:
		return fmt.Sprintf("SELECT a, count(*) AS n FROM (SELECT %s AS a FROM %s) r LEFT JOIN (VALUES (1, 'one'), (2, 'two')) v(i, t) ON v.t = CAST(r.a AS VARCHAR) GROUP BY a", c, r.sql)
	case 2:
		return fmt.Sprintf("SELECT * FROM (SELECT %s AS a, %s AS b FROM %s) UNPIVOT INCLUDE NULLS (v FOR k IN (a)) ", g.form(c, "CAST(@ AS VARCHAR)"), d, r.sql)
	case 3:
		return fmt.Sprintf("SELECT i, count(%s) AS n FROM range(3) s(i) LEFT JOIN %s ON true GROUP BY i", c, r.sql)
	case 4:
		return fmt.Sprintf("SELECT n, count(*) AS m FROM (SELECT %s AS k, count(*) AS n FROM %s GROUP BY ALL) GROUP BY n", g.group(columns), r.sql)
	case 5:
		return fmt.Sprintf("SELECT 'all' AS k, count(*) AS n FROM %s UNION ALL SELECT 'some', count(*) FROM %s WHERE %s", r.sql, r.sql, g.condition(columns))
	}
	return fmt.Sprintf("SELECT DISTINCT k, sum(n) OVER (PARTITION BY n) AS s FROM (SELECT %s AS k, count(*) AS n FROM %s GROUP BY ALL)", g.group(columns), r.sql)
}
