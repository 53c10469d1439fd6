package querytest

import "fmt"

// constants has rows that come from no relation beside one that does: VALUES, table functions of constants and of outer rows.
func (g *Generator) constants(r Relation, _ int) string {
	c, d := g.column(r.Columns).Name, g.column(r.Columns).Name
	n, ok := g.of(r.Columns, "int")
	if !ok {
		return fmt.Sprintf("SELECT %s AS a FROM %s UNION%s SELECT %s FROM %s", c, r.SQL, g.pick("", " ALL"), g.pick(c, "NULL"), g.pick("(SELECT 1)", r.SQL))
	}
	made := g.pick("(VALUES (1, 'one'), (2, NULL), (NULL, 'none')) v(i, t)", "(VALUES (0, 'nil')) v(i, t)", "(SELECT i, CAST(i AS VARCHAR) AS t FROM range(-2, 4) s(i)) v",
		"(SELECT i, 'x' AS t FROM generate_series(3, -3, -2) s(i)) v", "(SELECT i, 'u' AS t FROM unnest([2, 0, NULL, 2]) s(i)) v")
	kind := g.pick("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
	switch g.IntN(8) {
	case 0:
		return fmt.Sprintf("SELECT %s AS a, v.i, v.t FROM %s %s %s ON %s = v.i", c, r.SQL, kind, made, n.Name)
	case 1:
		return fmt.Sprintf("SELECT v.i, v.t, count(%s) AS n FROM %s %s %s ON %s %s v.i GROUP BY ALL", c, made, kind, r.SQL, n.Name, g.pick("=", "<", "IS NOT DISTINCT FROM"))
	case 2:
		return fmt.Sprintf("SELECT %s AS a, v.i FROM %s, %s%s", c, r.SQL, made, g.pick("", " WHERE v.i > 0", " WHERE v.t IS NOT NULL AND "+n.Name+" <> v.i"))
	case 3:
		return fmt.Sprintf("SELECT %s AS a, %s%s (SELECT i FROM %s) AS m FROM %s", c, n.Name, g.pick(" IN", " NOT IN", " >= ANY", " < ALL"), made, r.SQL)
	case 4:
		return fmt.Sprintf("SELECT %s AS a FROM %s %s SELECT i FROM %s", n.Name, r.SQL, g.pick("UNION ALL", "UNION", "EXCEPT", "INTERSECT", "EXCEPT ALL"), made)
	case 5:
		return fmt.Sprintf("SELECT %s AS a, j FROM %s, %s", d, r.SQL, g.pick("range(abs("+n.Name+") % 4) s(j)", "generate_series(-1, abs("+n.Name+") % 3) s(j)", "LATERAL (VALUES ("+n.Name+"), (1)) s(j)", "unnest(["+n.Name+", 0]) s(j)"))
	case 6:
		return fmt.Sprintf("SELECT v.i, v.t FROM %s WHERE %sEXISTS (SELECT 1 FROM %s WHERE %s = v.i)", made, g.pick("", "NOT "), r.SQL, n.Name)
	}
	return fmt.Sprintf("SELECT sum(v.i) AS s, count(*) AS n FROM %s %s %s ON %s = v.i + 1", r.SQL, kind, made, n.Name)
}
