package rewrite

import (
	"cmp"

	"github.com/streamform/streamform/runtime/query/bound"
)

func projection(of *bound.Op, list ...*bound.Expr) *bound.Op {
	return &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{of}, Expressions: list}
}

func distinctRows(of *bound.Op) *bound.Op {
	return &bound.Op{Type: "LOGICAL_DISTINCT", DistinctType: "DISTINCT", Children: []*bound.Op{of}}
}

// refsFrom are the columns of [from, to).
func refsFrom(from, to int) []*bound.Expr {
	var out []*bound.Expr
	for i := from; i < to; i++ {
		out = append(out, bound.Ref(i))
	}
	return out
}

func test(operator string, e *bound.Expr) *bound.Expr {
	return &bound.Expr{Class: "BOUND_OPERATOR", Type: operator, Children: []*bound.Expr{e}}
}

// conjunction is AND or OR; of one condition it is that condition.
func conjunction(typ string, list ...*bound.Expr) *bound.Expr {
	if len(list) == 1 {
		return list[0]
	}
	return &bound.Expr{Class: "BOUND_CONJUNCTION", Type: typ, Children: list}
}

func choice(otherwise *bound.Expr, checks ...bound.CaseCheck) *bound.Expr {
	return &bound.Expr{Class: "BOUND_CASE", CaseChecks: checks, ElseExpr: otherwise}
}

// truth is a constant of type BOOLEAN; an empty text is NULL.
func truth(text string) *bound.Expr {
	return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "BOOLEAN"}, IsNull: text == "", Data: []byte(cmp.Or(text, "null"))}}
}

func zero() *bound.Expr {
	return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "BIGINT"}, Data: []byte("0")}}
}

func keptPositions(n int, keep []uint64) []int {
	if len(keep) == 0 {
		return bound.Upto(n)
	}
	out := make([]int, len(keep))
	for i, k := range keep {
		out[i] = int(k)
	}
	return out
}
