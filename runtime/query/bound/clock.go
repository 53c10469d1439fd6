package bound

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// clockPrefix begins the names of parameters that stand for the time.
const clockPrefix = "sf_now"

// ClockParameter is the name of the parameter that stands for the time in the i-th of a query's places that ask for it: microseconds since
// 1970-01-01 UTC, a BIGINT. A parameter has no value while a plan is made, so that nothing is concluded from it.
func ClockParameter(i int) string { return clockPrefix + strconv.Itoa(i) }

// ClockSQL is the time in SQL that was rendered from a plan; what runs the SQL puts the number there.
const ClockSQL = "$" + clockPrefix

// Clock is the number of the place whose time an expression is; ok is false when it is anything else.
func (e *Expr) Clock() (place int, ok bool) {
	digits, is := strings.CutPrefix(e.Identifier, clockPrefix)
	if e.Class != "BOUND_PARAMETER" || !is {
		return 0, false
	}
	place, err := strconv.Atoi(digits)
	return place, err == nil || digits == ""
}

// Parts are an expression's direct parts.
func (e *Expr) Parts() []*Expr {
	out := []*Expr{e.Child, e.Left, e.Right, e.Input, e.Lower, e.Upper, e.ElseExpr, e.Filter, e.Filters, e.StartExpr, e.EndExpr, e.OffsetExpr, e.DefaultExpr}
	out = append(append(out, e.Children...), e.Partitions...)
	for _, o := range e.Orders {
		out = append(out, o.Expression)
	}
	for _, c := range e.CaseChecks {
		out = append(out, c.When, c.Then)
	}
	var there []*Expr
	for _, p := range out {
		if p != nil {
			there = append(there, p)
		}
	}
	return there
}

// Clocks are the places whose time an expression depends on.
func (e *Expr) Clocks() []int {
	if place, ok := e.Clock(); ok {
		return []int{place}
	}
	var out []int
	for _, raw := range []json.RawMessage{e.FunctionData, e.OrderBys, e.ArgOrders} {
		out = append(out, ClocksIn(raw)...)
	}
	for _, p := range e.Parts() {
		out = append(out, p.Clocks()...)
	}
	return out
}

// ClocksIn are the places whose time a part of a plan in JSON depends on, in the order they stand there.
func ClocksIn(doc []byte) []int {
	var out []int
	for {
		_, rest, found := bytes.Cut(doc, []byte(`"identifier":"`+clockPrefix))
		if !found {
			return out
		}
		digits, after, _ := bytes.Cut(rest, []byte(`"`))
		if place, err := strconv.Atoi(string(digits)); err == nil {
			out = append(out, place)
		}
		doc = after
	}
}

// TakeClocks divides a pushed-down filter into conditions on the time, over the column as position 0, and the rest, nil when there is none.
func (f Filter) TakeClocks() (rest *Filter, clocked []*Expr) {
	switch {
	case f.FilterType == "EXPRESSION_FILTER" && f.Expr != nil && len(f.Expr.Clocks()) > 0:
		return nil, []*Expr{f.Expr}
	case f.FilterType == "CONJUNCTION_AND":
		var kept []Filter
		for _, child := range f.ChildFilters {
			in, out := child.TakeClocks()
			clocked = append(clocked, out...)
			if in != nil {
				kept = append(kept, *in)
			}
		}
		if len(kept) == 0 {
			return nil, clocked
		}
		f.ChildFilters = kept
	}
	return &f, clocked
}

// ClockError is a place of a query that asks for the time where no filter can be made of it.
type ClockError struct {
	Place  int    // which of the query's places
	Reason string // what is in the way, and how to write it: whole sentences
}

func (e *ClockError) Error() string { return e.Reason }
