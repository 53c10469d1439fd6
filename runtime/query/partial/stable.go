package partial

import (
	"reflect"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Stable reports that an aggregate of the same rows is the same to the last bit, whatever their order. Sums
// of DOUBLEs are not, nor is what picks one of several equal rows, or values.
func Stable(e *bound.Expr) bool {
	switch e.Name {
	case "count", "count_star", "count_if", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "regr_count":
		return true
	case "min", "max", "median", "quantile_cont", "quantile_disc", "mad", "histogram":
		of := e.Return
		if len(e.Arguments) > 0 && e.Arguments[0].ID != "ANY" {
			of = e.Arguments[0]
		}
		typ, err := of.SQL()
		return err == nil && !bound.Alike(typ)
	case "sum", "sum_no_overflow", "avg":
		if len(e.Arguments) != 1 {
			return false
		}
		typ, err := e.Arguments[0].SQL()
		return err == nil && exact(typ)
	}
	return false
}

// StableWindow is stable for a window function: rows that tie in its order have equal results. DuckDB 1.5 gives zeros back without
// their sign where it sorts by them, which it does when there are enough rows.
func StableWindow(e *bound.Expr) bool {
	sorted := append([]*bound.Expr{}, e.Partitions...)
	for _, o := range e.Orders {
		sorted = append(sorted, o.Expression)
	}
	for _, by := range sorted {
		if typ, err := by.Return.SQL(); by.Return.ID != "" && (err != nil || bound.Alike(typ)) {
			return false
		}
	}
	switch e.Type {
	case "WINDOW_RANK", "WINDOW_RANK_DENSE", "WINDOW_PERCENT_RANK", "WINDOW_CUME_DIST":
		return true
	case "WINDOW_AGGREGATE":
		return Stable(e) && !strings.HasSuffix(e.Start, "ROWS") && !strings.HasSuffix(e.End, "ROWS")
	}
	return false
}

// StableOver reports that window functions with the same partitions are stable together, over so many columns. Where all columns are in the partition or the
// order, rows that tie are the same, and it is no matter which of them comes first: each place has its result. Two orders might put two such rows
// one way and the other, so that only functions of one order have that.
func StableOver(es []*bound.Expr, columns int) bool {
	var first *bound.Expr
	for _, e := range es {
		if StableWindow(e) {
			continue
		}
		if first == nil {
			first = e
		}
		if !tellsAll(e, columns) || !reflect.DeepEqual(e.Orders, first.Orders) {
			return false
		}
	}
	return true
}

// tellsAll reports that each place in a window function's order has its result, since all columns are in its partition or order.
func tellsAll(e *bound.Expr, columns int) bool {
	by, told := append([]*bound.Expr{}, e.Partitions...), map[int]bool{}
	for _, o := range e.Orders {
		by = append(by, o.Expression)
	}
	for _, b := range by {
		if typ, err := b.Return.SQL(); err != nil || bound.Alike(typ) {
			return false
		}
		if b.Class == "BOUND_REF" {
			told[b.Index] = true
		}
	}
	return len(told) == columns && (e.Type != "WINDOW_AGGREGATE" || Stable(e))
}

// AllStable reports that all of them are.
func AllStable(es []*bound.Expr, one func(*bound.Expr) bool) bool {
	for _, e := range es {
		if !one(e) {
			return false
		}
	}
	return true
}
