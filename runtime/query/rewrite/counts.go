package rewrite

import (
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Counts has windows count the rows that pass a condition by the condition itself, which is never NULL in these. DuckDB 1.5 counts rows
// without a value by looking at each row of each frame where there is a FILTER, which is quadratic; values it counts by a tree over the partition.
func Counts(op *bound.Op) *bound.Op {
	return upwards(op, func(op *bound.Op) *bound.Op {
		if op.Type != "LOGICAL_WINDOW" || !slices.ContainsFunc(op.Expressions, countsSome) {
			return op
		}
		out := *op
		out.Expressions = slices.Clone(op.Expressions)
		for i, e := range op.Expressions {
			if countsSome(e) {
				count := *e
				count.Name, count.Children = "count", []*bound.Expr{e.Filters}
				out.Expressions[i] = &count
			}
		}
		return &out
	})
}

func countsSome(e *bound.Expr) bool {
	return e.Type == "WINDOW_AGGREGATE" && (e.Name == "count_star" || e.Name == "count") && len(e.Children) == 0 && e.Filters != nil
}
