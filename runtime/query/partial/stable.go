package partial

import (
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Stable reports that an aggregate of the same rows is the same to the last bit, whatever their order. Sums
// of DOUBLEs are not, nor is what picks one of several equal rows.
func Stable(e *bound.Expr) bool {
	switch e.Name {
	case "count", "count_star", "count_if", "min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor", "median", "quantile_cont", "quantile_disc", "mad", "histogram", "regr_count":
		return true
	case "sum", "sum_no_overflow", "avg":
		if len(e.Arguments) != 1 {
			return false
		}
		typ, err := e.Arguments[0].SQL()
		return err == nil && exact(typ)
	}
	return false
}

// StableWindow is stable for a window function: rows that tie in its order have equal results.
func StableWindow(e *bound.Expr) bool {
	switch e.Type {
	case "WINDOW_RANK", "WINDOW_RANK_DENSE", "WINDOW_PERCENT_RANK", "WINDOW_CUME_DIST":
		return true
	case "WINDOW_AGGREGATE":
		return Stable(e) && !strings.HasSuffix(e.Start, "ROWS") && !strings.HasSuffix(e.End, "ROWS")
	}
	return false
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
