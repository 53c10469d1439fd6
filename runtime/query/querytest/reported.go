package querytest

import (
	"fmt"
	"strings"
)

// guarded has expressions that fail on some rows, which a condition keeps away from them, and keys that fail while there is nothing to compare them with.
func (g *Generator) guarded(l Relation, _ int) string {
	c, ok := g.of(l.Columns, "text")
	if !ok {
		return g.emptied(l, 0)
	}
	digits, number := c.Name+" SIMILAR TO '[0-9]+'", "CAST("+c.Name+" AS INTEGER)"
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT %s, CASE WHEN %s THEN %s ELSE -1 END AS n FROM %s", g.items(l.Columns, 1), digits, number, l.SQL)
	case 1:
		return fmt.Sprintf("SELECT %s AS k, count(*) AS n FROM %s WHERE %s GROUP BY k", number, l.SQL, digits)
	case 2:
		return fmt.Sprintf("SELECT %s AS k, max(%s) FILTER (WHERE n > 0) AS m FROM (SELECT *, CASE WHEN %s THEN %s END AS n FROM %s) GROUP BY ALL", g.group(l.Columns), g.column(l.Columns).Name, digits, number, l.SQL)
	case 3:
		return fmt.Sprintf("SELECT a.*, z.i FROM (SELECT * FROM %s WHERE %s) a %s (SELECT DISTINCT %s AS i FROM %s WHERE %s) z ON z.i = CAST(a.%s AS INTEGER) + %s", l.SQL, digits,
			g.pick("JOIN", "LEFT JOIN", "FULL JOIN"), number, l.SQL, digits, c.Name, g.pick("0", "1"))
	case 4:
		return fmt.Sprintf("SELECT a.* FROM %s a %s (SELECT %s AS i FROM %s WHERE %s AND %s IS NULL) z ON CAST(a.%s AS INTEGER) = z.i", l.SQL[:strings.LastIndex(l.SQL, " ")], g.pick("SEMI JOIN", "ANTI JOIN", "LEFT JOIN"), number, l.SQL, digits, c.Name, c.Name)
	}
	return fmt.Sprintf("SELECT * FROM (SELECT %s AS t, count(*) AS n FROM %s GROUP BY ALL) WHERE t SIMILAR TO '[0-9]+' AND CAST(t AS INTEGER) > 0", c.Name, l.SQL)
}

// unfolded joins rows with what their own lists hold.
func (g *Generator) unfolded(l Relation, _ int) string {
	c := g.column(l.Columns)
	list := g.pick("["+c.Name+", "+c.Name+"]", "list_value("+c.Name+", NULL)")
	if of, ok := g.of(l.Columns, "list"); ok {
		list = of.Name
	}
	x := g.name("u")
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("SELECT *, q.%s AS y FROM %s CROSS JOIN unnest(%s) q(%s)%s", x, l.SQL, list, x, g.where(l.Columns))
	case 1:
		return fmt.Sprintf("SELECT %s, count(*) AS n FROM %s, unnest(%s) q(%s) GROUP BY %s", x, l.SQL, list, x, x)
	case 2:
		return fmt.Sprintf("SELECT %s, q.%s, p.w FROM %s, unnest(%s) q(%s), unnest([1, NULL]) p(w)%s", g.items(l.Columns, 1), x, l.SQL, list, x, g.where(l.Columns))
	case 3:
		return fmt.Sprintf("SELECT %s, %s FROM %s %s unnest(%s) q(%s) ON %s", g.items(l.Columns, 1), x, l.SQL, g.pick("JOIN", "LEFT JOIN"), list, x, g.pick("true", x+" IS NOT NULL"))
	case 4:
		return fmt.Sprintf("SELECT %s, row_number() OVER (PARTITION BY %s ORDER BY %s) AS r FROM (SELECT *, q.%s AS y FROM %s, unnest(%s) q(%s))", g.items(l.Columns, 1), "y", g.total(l.Columns)+", y", x, l.SQL, list, x)
	}
	return fmt.Sprintf("SELECT %s FROM %s WHERE EXISTS (SELECT 1 FROM unnest(%s) q(%s) WHERE %s %s)", g.items(l.Columns, 1), l.SQL, list, x, x, g.pick("IS NULL", "IS NOT NULL"))
}

// quoted has names that need quotes, or that the engine gives its own columns.
func (g *Generator) quoted(l Relation, _ int) string {
	a, b := g.column(l.Columns).Name, g.column(l.Columns).Name
	first, second := g.pick(`"select"`, `"Two Words"`, `"c0"`, `"k0"`, `"é"`), g.pick(`"order"`, `"x.y"`, `"c1"`, `"1st"`, `"p0"`)
	inner := fmt.Sprintf("(SELECT %s AS %s, %s AS %s FROM %s%s)", a, first, b, second, l.SQL, g.where(l.Columns))
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf(`SELECT %s, count(*) AS "count(*)", max(%s) AS "Max" FROM %s GROUP BY %s`, first, second, inner, first)
	case 1:
		return fmt.Sprintf(`SELECT x.%s, y.n AS "g0" FROM %s x LEFT JOIN (SELECT %s, count(*) AS n FROM %s GROUP BY ALL) y ON x.%s = y.%s`, second, inner, first, inner, first, first)
	case 2:
		return fmt.Sprintf(`SELECT DISTINCT %s AS "a b", %s FROM %s`, first, second, inner)
	}
	return fmt.Sprintf(`SELECT %s, rank() OVER (PARTITION BY %s ORDER BY %s) AS "rank()" FROM %s`, second, first, second, inner)
}

// built groups and compares by values that are put together from others.
func (g *Generator) built(l Relation, _ int) string {
	a, b := g.column(l.Columns).Name, g.column(l.Columns).Name
	made := g.pick("{'a': @, 'b b': [#]}", "[@, NULL]", "{'a': {'x': @}, 'n': NULL::INTEGER}", "list_value(@, @)", "MAP {1: @}")
	made = strings.NewReplacer("@", a, "#", b).Replace(made)
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("SELECT %s AS v, count(*) AS n FROM %s GROUP BY v", made, l.SQL)
	case 1:
		return fmt.Sprintf("SELECT DISTINCT %s AS v, %s IS NULL AS e FROM %s", made, b, l.SQL)
	case 2:
		return fmt.Sprintf("SELECT count(DISTINCT %s) AS n, count(%s) AS m FROM %s", made, made, l.SQL)
	}
	return fmt.Sprintf("SELECT %s AS v, %s FROM %s EXCEPT ALL SELECT %s, %s FROM %s WHERE %s", made, b, l.SQL, made, b, l.SQL, g.condition(l.Columns))
}
