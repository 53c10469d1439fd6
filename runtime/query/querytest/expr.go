package querytest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// Fuzzy columns hold sums of DOUBLEs, whose last digits depend on the order of
// addition: they are shown, and nothing is computed from them.
func Fuzzy(c batch.Column) bool { return strings.HasPrefix(c.Name, "f_") }

// unusable columns are not read by further queries: fuzzy ones, and those whose names need quotes.
func unusable(c batch.Column) bool {
	return Fuzzy(c) || strings.ContainsFunc(c.Name, func(r rune) bool { return !(r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9') }) || c.Name == "" || c.Name[0] <= '9'
}

func kindOf(typ string) string {
	switch {
	case strings.HasSuffix(typ, "]"):
		return "list"
	case strings.HasSuffix(typ, "INT") || typ == "INTEGER":
		return "int"
	case typ == "DOUBLE" || typ == "FLOAT":
		return "double"
	}
	base, _, _ := strings.Cut(typ, "(")
	return map[string]string{"DECIMAL": "decimal", "VARCHAR": "text", "TIMESTAMP": "time", "DATE": "date", "BOOLEAN": "bool", "STRUCT": "struct", "MAP": "map",
		"TIMESTAMP WITH TIME ZONE": "zoned", "ENUM": "enum", "JSON": "json"}[base]
}

func (g *Generator) column(columns batch.Schema) batch.Column { return columns[g.IntN(len(columns))] }

// of returns a column of one of the kinds; ok is false where there is none.
func (g *Generator) of(columns batch.Schema, kinds ...string) (batch.Column, bool) {
	var fit batch.Schema
	for _, c := range columns {
		if slices.Contains(kinds, kindOf(c.Type)) {
			fit = append(fit, c)
		}
	}
	if len(fit) == 0 {
		return batch.Column{}, false
	}
	return g.column(fit), true
}

// number is an expression with a small exact number.
func (g *Generator) number(columns batch.Schema) string {
	c, ok := g.of(columns, "int", "decimal")
	if !ok {
		return g.pick("1", "2", "NULL::INTEGER")
	}
	if c.Type == "HUGEINT" || c.Type == "UBIGINT" {
		return c.Name
	}
	return g.form(c.Name, "@", "@", "abs(@)", "(@ + 1)", "(@ % 2)", "coalesce(@, 0)", "(- @)", "nullif(@, 1)", "greatest(@, 0)", "sign(@)",
		"CAST(@ AS DECIMAL(20,2))", "CASE WHEN @ > 0 THEN @ ELSE 0 END")
}

// expression is any expression over the columns; its type is left to DuckDB.
func (g *Generator) expression(columns batch.Schema) string {
	c := g.column(columns)
	n := c.Name
	if g.Chance(3) {
		return n
	}
	switch kindOf(c.Type) {
	case "int", "decimal":
		return g.number(columns)
	case "text":
		return g.form(n, "upper(@)", "length(@)", "@ || 'x'", "coalesce(@, '-')", "substr(@, 1, 2)", "CASE @ WHEN 'a' THEN 1 WHEN 'b' THEN 2 END",
			"replace(@, 'a', 'z')", "TRY_CAST(@ AS INTEGER)", "strlen(@)", "reverse(@)", "regexp_replace(@, '[ab]', 'q')", "md5(@)", "string_split(@, ' ')",
			"concat(@, '!')", "@ LIKE 'a%'", "left(@, 1)", "contains(@, 'o')", "regexp_matches(@, '^a')", "struct_pack(a := @, b := 1)", "trim(@)",
			"concat_ws('-', @, 'k')", "lpad(@, 3, '.')", "[@, 'k']", "MAP {'k': @}", "list_transform([@], x -> x || 'y')")
	case "time":
		return g.form(n, "time_bucket(INTERVAL 1 HOUR, @)", "date_trunc('day', @)", "extract(hour FROM @)", "@ + INTERVAL 1 DAY", "strftime(@, '%H:%M')",
			"epoch_ms(@)", "CAST(@ AS DATE)", "date_diff('minute', TIMESTAMP '2026-03-01 08:00:00', @)", "hour(@)")
	case "zoned":
		return g.form(n, "date_trunc('hour', @)", "extract(hour FROM @)", "CAST(@ AS VARCHAR)", "@ + INTERVAL 2 HOUR", "epoch(@)")
	case "date":
		return g.form(n, "date_trunc('month', @)", "@ + 1", "month(@)", "CAST(@ AS TIMESTAMP)", "dayname(@)", "last_day(@)", "CAST(@ AS VARCHAR)")
	case "bool":
		return g.form(n, "NOT @", "coalesce(@, false)", "CASE WHEN @ THEN 'y' ELSE 'n' END", "CAST(@ AS INTEGER)")
	case "double":
		return g.form(n, "coalesce(@, 0)", "isnan(@)", "@ > 0.5", "nullif(@, 7)", "abs(@)", "@ + 1")
	}
	return g.nestedExpression(c, n)
}

func (g *Generator) nestedExpression(c batch.Column, n string) string {
	switch kindOf(c.Type) {
	case "list":
		return g.form(n, "len(@)", "@[1]", "list_contains(@, NULL)", "list_sort(@)", "list_distinct(@) IS NULL", "list_concat(@, @)",
			"list_filter(@, x -> x IS NOT NULL)", "array_to_string(@, '+')", "@[1:2]", "list_transform(@, x -> x IS NULL)")
	case "struct":
		return g.form(n, "@", "{'p': @, 'q': 1}")
	case "map":
		return g.form(n, "map_keys(@)", "cardinality(@)", "@['a']", "map_values(@)")
	case "json":
		return g.form(n, "@ ->> 'a'", "json_extract_string(@, '$.a')", "json_type(@)", "json_array_length(@)", "json_valid(CAST(@ AS VARCHAR))")
	case "enum":
		return g.form(n, "CAST(@ AS VARCHAR)", "upper(@)", "coalesce(@, 'a')")
	}
	return g.form(n, "CAST(@ AS VARCHAR)", "@", "coalesce(@, @)", "@ IS NULL")
}

func (g *Generator) predicate(columns batch.Schema) string {
	c := g.column(columns)
	n := c.Name
	switch kindOf(c.Type) {
	case "int", "decimal":
		return g.pick(fmt.Sprintf("%s %s %d", n, g.pick(">", "<", "=", "<>", ">=", "IS NOT DISTINCT FROM"), g.IntN(5)), n+" IN (1, 2, NULL)", n+" NOT IN (0, 1)", n+" BETWEEN 0 AND 2")
	case "text":
		return g.form(n, "@ IN ('a', 'b')", "@ LIKE '%a%'", "upper(@) = 'A'", "@ IS NOT NULL", "@ > 'a'", "starts_with(@, 'a')", "@ <> ''", "@ ILIKE 'A'")
	case "bool":
		return g.form(n, "@", "NOT @", "@ IS NULL", "@ IS NOT TRUE")
	case "time":
		return n + g.pick(" > ", " <= ") + "TIMESTAMP '2026-03-01 09:00:00'"
	case "date":
		return n + g.pick(" > ", " <= ") + "DATE '2026-03-01'"
	case "double":
		return n + g.pick(" > 0.5", " = 0", " <> 0.7", " >= 'NaN'::DOUBLE", " < 'Infinity'::DOUBLE")
	case "list":
		return g.pick("len("+n+") > 1", n+" = []", n+" IS NULL")
	}
	return n + g.pick(" IS NULL", " IS NOT NULL")
}

func (g *Generator) condition(columns batch.Schema) string {
	p := g.predicate(columns)
	switch g.IntN(6) {
	case 0, 1:
		return "(" + p + g.pick(" AND ", " OR ") + g.predicate(columns) + ")"
	case 2:
		return "NOT (" + p + ")"
	}
	return p
}

func (g *Generator) where(columns batch.Schema) string {
	if g.Chance(2) {
		return ""
	}
	return " WHERE " + g.condition(columns)
}

// group is an expression to group by.
func (g *Generator) group(columns batch.Schema) string {
	if g.Chance(3) {
		return g.expression(columns)
	}
	return g.column(columns).Name
}

// total is an order in which only equal rows tie.
func (g *Generator) total(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Name + g.pick("", " DESC", " NULLS FIRST", " DESC NULLS LAST")
	}
	return strings.Join(parts, ", ")
}

// form picks a template and puts text in the place of each @.
func (g *Generator) form(text string, templates ...string) string {
	return strings.ReplaceAll(g.pick(templates...), "@", text)
}
