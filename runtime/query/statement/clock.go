package statement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Clock is a place in a query that asks for the time.
type Clock struct {
	Start, End int // bytes, End exclusive
	value      string
}

// clockValue is what a function that asks for the time gives, in terms of now(), with %s in its place; "" for any other function.
func clockValue(name string) string {
	switch name {
	case "now", "get_current_timestamp", "transaction_timestamp", "current_timestamp":
		return "%s"
	case "current_localtimestamp", "localtimestamp":
		return "CAST(%s AS TIMESTAMP)"
	case "today", "current_date":
		return "CAST(%s AS DATE)"
	}
	return ""
}

// Clocks are the places that ask for the time, in the order they stand.
func (f Functions) Clocks(s *Statement) ([]Clock, *Error) {
	var out []Clock
	var odd *Error
	lambdas := 0
	var find func(m map[string]any) bool
	find = func(m map[string]any) bool {
		name := f.bareClock(m)
		switch text(m, "class") {
		case "FUNCTION":
			name = strings.ToLower(text(m, "function_name"))
		case "LAMBDA":
			lambdas++
			visit(m["expr"], find)
			lambdas--
			return false
		}
		value := clockValue(name)
		if value == "" {
			return true
		}
		c := Clock{value: value}
		if at, ok := location(m); ok && at <= len(s.Text) {
			c.Start, c.End = at, at+len(calls(name).FindString(s.Text[at:]))
		}
		if lambdas > 0 || c.End == c.Start {
			odd = volatileError(name)
			odd.Start, odd.End = c.Start, c.End
		}
		out = append(out, c)
		return true
	}
	visit(s.tree, find)
	slices.SortFunc(out, func(a, b Clock) int { return a.Start - b.Start })
	return slices.CompactFunc(out, func(a, b Clock) bool { return a.Start == b.Start }), odd
}

// bareClock is the name of a function that may stand without parentheses, such as CURRENT_DATE, and looks like a column; "" for anything else.
func (f Functions) bareClock(m map[string]any) string {
	name := columnName(m)
	if text(m, "class") == "COLUMN_REF" && f.volatile[name] && (strings.HasPrefix(name, "current_") || strings.HasPrefix(name, "localtime")) {
		return name
	}
	return ""
}

// calls matches a call of a function without arguments, or its bare name, where it begins.
func calls(name string) *regexp.Regexp {
	return regexp.MustCompile(`^(?i:((pg_catalog|main)\s*\.\s*)?("` + name + `"|` + name + `\b)(\s*\(\s*\))?)`)
}

// WithClocks is the query with parameters in the place of what asks for the time: the i-th is bound.ClockParameter(i).
func (s *Statement) WithClocks(clocks []Clock) string {
	var b strings.Builder
	from := 0
	for i, c := range clocks {
		b.WriteString(s.Text[from:c.Start])
		fmt.Fprintf(&b, c.value, "make_timestamptz(CAST($"+bound.ClockParameter(i)+" AS BIGINT))")
		from = c.End
	}
	b.WriteString(s.Text[from:])
	return b.String()
}

// TemporalForm says how a filter by the time is written so that it can be kept.
const TemporalForm = "A view may filter its rows by the time where it compares their columns with now() or current_date, plus or minus a constant: WHERE ts > now() - INTERVAL 7 DAY."
