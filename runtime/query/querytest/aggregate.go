package querytest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// aggregate is one aggregate call; inexact tells that its last digits depend on the order of the rows.
func (g *Generator) aggregate(columns batch.Schema) (call string, inexact bool) {
	c := g.column(columns)
	kind := kindOf(c.Type)
	filter := ""
	if g.Chance(5) {
		filter = " FILTER (WHERE " + g.predicate(columns) + ")"
	}
	if g.Chance(5) {
		return g.ordered(columns) + filter, false
	}
	call = g.anyAggregate(c.Name)
	switch kind {
	case "int", "decimal":
		if g.Chance(2) {
			return g.numeric(c, filter)
		}
	case "double":
		if g.Chance(2) {
			return g.form(c.Name, "sum(@)", "avg(@)", "sum(DISTINCT @)", "fsum(@)", "product(CASE WHEN isfinite(@) THEN @ END)",
				"stddev_pop(CASE WHEN isfinite(@) THEN @ END)") + filter, true
		}
	case "bool":
		call = g.form(c.Name, "bool_and(@)", "bool_or(@)", "count_if(@)", "count(@)")
	case "text":
		call = g.form(c.Name, "min(@)", "max(@)", "count(DISTINCT @)", "string_agg(DISTINCT @, '/' ORDER BY @)", "histogram(@)")
	case "map", "struct", "json":
		call = g.pick("count("+c.Name+")", "count(*)", "count(DISTINCT "+c.Name+")")
	}
	return call + filter, false
}

func (g *Generator) anyAggregate(n string) string {
	return g.form(n, "count(*)", "min(@)", "max(@)", "count(@)", "count(DISTINCT @)", "approx_count_distinct(@)", "list(DISTINCT @ ORDER BY @)", "min(@, 2)", "max(@, 2)")
}

func (g *Generator) numeric(c batch.Column, filter string) (string, bool) {
	if g.Chance(4) && c.Type != "HUGEINT" {
		other := g.pick(c.Name, "1", c.Name+" % 2")
		return strings.ReplaceAll(g.form(c.Name, "stddev(@)", "var_pop(@)", "variance(@)", "corr(@, #)", "covar_pop(@, #)", "regr_count(@, #)",
			"covar_samp(@, #)", "stddev_pop(@)", "entropy(@)", "geomean(abs(@) + 1)", "skewness(@)", "regr_avgx(@, #)", "sem(@)"), "#", other) + filter, true
	}
	if kindOf(c.Type) == "int" && g.Chance(4) {
		return g.form(c.Name, "bit_and(@)", "bit_or(@)", "bit_xor(@)", "histogram(@)") + filter, false
	}
	return g.form(c.Name, "sum(@)", "avg(@)", "min(@)", "max(@)", "sum(DISTINCT @)", "avg(DISTINCT @)", "median(@)", "quantile_disc(@, 0.3)", "quantile_cont(@, 0.75)",
		"quantile_disc(@, [0.1, 0.9])", "mad(@)", "sum(@)", "avg(@)", "count(@)") + filter, false
}

// ordered is an aggregate that has an order of its rows inside.
func (g *Generator) ordered(columns batch.Schema) string {
	c, by := g.column(columns).Name, g.total(columns)
	all := make([]string, len(columns))
	for i, col := range columns {
		all[i] = col.Name
	}
	key := "row(" + strings.Join(all, ", ") + ")"
	return g.pick(fmt.Sprintf("list(%s ORDER BY %s)", c, by), fmt.Sprintf("first(%s ORDER BY %s)", c, by), fmt.Sprintf("last(%s ORDER BY %s)", c, by),
		fmt.Sprintf("string_agg(CAST(%s AS VARCHAR), '; ' ORDER BY %s)", c, by), fmt.Sprintf("any_value(%s ORDER BY %s)", c, by),
		fmt.Sprintf("arg_max(%s, %s)", c, key), fmt.Sprintf("arg_min(%s, %s)", c, key), fmt.Sprintf("arg_max(%s, %s, 2)", c, key))
}

// aggregates are n select items with names; inexact ones are marked by theirs.
func (g *Generator) aggregates(columns batch.Schema, n int) string {
	parts := make([]string, n)
	for i := range parts {
		call, inexact := g.aggregate(columns)
		prefix := "a"
		if inexact {
			prefix = "f_"
		}
		parts[i] = call + " AS " + g.name(prefix)
	}
	return strings.Join(parts, ", ")
}

// window is one window function with a name.
func (g *Generator) window(columns batch.Schema) string {
	partition := ""
	if !g.Chance(4) {
		partition = "PARTITION BY " + g.group(columns) + " "
		if g.Chance(4) {
			partition = "PARTITION BY " + g.group(columns) + ", " + g.group(columns) + " "
		}
	}
	c := g.column(columns).Name
	total := "ORDER BY " + g.total(columns)
	name := " AS " + g.name("w")
	switch g.IntN(5) {
	case 0:
		return g.pick("row_number()", "ntile(2)", "rank()", "dense_rank()", "cume_dist()", "percent_rank()") + " OVER (" + partition + total + ")" + name
	case 1:
		return g.form(c, "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)", "count(@)", "min(@)", "max(@)", "count(DISTINCT @)") +
			" OVER (" + partition + "ORDER BY " + g.group(columns) + g.pick("", " DESC", " NULLS FIRST") + ")" + name
	case 2:
		return g.form(c, "lag(@)", "lead(@)", "lag(@, 2)", "lead(@, 1, @)", "lag(@ IGNORE NULLS)", "first_value(@)", "last_value(@)",
			"nth_value(@, 2)", "first_value(@ IGNORE NULLS)") + " OVER (" + partition + total + ")" + name
	case 3:
		return g.framed(columns, partition, total) + name
	}
	filter := ""
	if g.Chance(3) {
		filter = " FILTER (WHERE " + g.predicate(columns) + ")"
	}
	return g.form(c, "count(*)", "min(@)", "max(@)", "count(@)") + filter + " OVER (" + partition + ")" + name
}

// framed is a window function with a frame.
func (g *Generator) framed(columns batch.Schema, partition, total string) string {
	c := g.column(columns).Name
	exact := g.form(c, "count(*)", "min(@)", "max(@)", "count(@)", "count(DISTINCT @)")
	if n, ok := g.of(columns, "int", "decimal"); ok && g.Chance(2) {
		exact = g.pick("sum(", "avg(") + n.Name + ")"
	}
	exclude := g.pick("", "", "", " EXCLUDE CURRENT ROW", " EXCLUDE GROUP", " EXCLUDE TIES")
	start := g.pick("UNBOUNDED PRECEDING", "1 PRECEDING", "2 PRECEDING", "CURRENT ROW")
	end := g.pick("UNBOUNDED FOLLOWING", "1 FOLLOWING", "CURRENT ROW")
	switch g.IntN(3) {
	case 0:
		f := g.pick(exact, "first_value("+c+")", "last_value("+c+")", "nth_value("+c+", 2)")
		return fmt.Sprintf("%s OVER (%s%s ROWS BETWEEN %s AND %s%s)", f, partition, total, start, end, exclude)
	case 1:
		if n, ok := g.of(columns, "int", "decimal"); ok && n.Type != "UBIGINT" {
			return fmt.Sprintf("%s OVER (%sORDER BY %s%s RANGE BETWEEN %s AND %s%s)", exact, partition, n.Name, g.pick("", " DESC"), start, end, exclude)
		}
		if n, ok := g.of(columns, "time"); ok {
			return fmt.Sprintf("%s OVER (%sORDER BY %s RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND %s)", exact, partition, n.Name, g.pick("CURRENT ROW", "INTERVAL 30 MINUTE FOLLOWING"))
		}
	}
	return fmt.Sprintf("%s OVER (%sORDER BY %s GROUPS BETWEEN %s AND %s%s)", exact, partition, g.column(columns).Name, start, end, exclude)
}

var tied = regexp.MustCompile(`^(row_number|ntile|lag|lead|first_value|last_value|nth_value)\(|ROWS |GROUPS `)

// paired leaves a window function out that tells equal rows apart, where another one does: what one gives for a row says nothing
// of what the other does.
func paired(before []string, window string) string {
	if !tied.MatchString(window) || !slices.ContainsFunc(before, tied.MatchString) {
		return window
	}
	return "count(*) OVER ()" + window[strings.LastIndex(window, " AS "):]
}
