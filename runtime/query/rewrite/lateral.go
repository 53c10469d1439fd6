package rewrite

import (
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Laterals turns joins of each row with rows made of nothing but that row, as in FROM t, unnest(t.list), into steps over the rows: nothing has to be
// remembered for these. What it does not know it leaves alone.
func Laterals(op *bound.Op) *bound.Op {
	return upwards(op, func(op *bound.Op) *bound.Op {
		if op.Type != "LOGICAL_DELIM_JOIN" || op.JoinType != "INNER" || len(op.Children) != 2 || op.DelimFlipped || op.Condition != nil || op.Predicate != nil {
			return op
		}
		l := lateral{op: op, source: op.Children[0], width: width(op.Children[0])}
		if out, ok := l.build(); ok {
			return out
		}
		return op
	})
}

// lateral is one such join.
type lateral struct {
	op       *bound.Op
	source   *bound.Op // the left side, without the numbers that DuckDB gives its rows where they cannot be compared otherwise
	width    int       // of the left side
	numbered bool      // its last column is that number, which only the join's condition reads
}

func (l lateral) build() (*bound.Op, bool) {
	if l.width < 0 {
		return nil, false
	}
	if source, ok := l.unnumbered(l.source); ok {
		l.source, l.numbered = source, true
	}
	right, from, ok := l.over(l.op.Children[1])
	if !ok {
		return nil, false
	}
	n, tied, rest := len(from), map[int]bool{}, []*bound.Expr(nil)
	for _, c := range l.op.Conditions {
		if at := l.eliminated(c, from); at >= 0 {
			tied[at] = true
			continue
		}
		rest = append(rest, bound.Compare(c.Comparison, c.Left.Shifted(-n), c.Right))
	}
	if l.numbered && slices.ContainsFunc(rest, func(e *bound.Expr) bool { return slices.Contains(e.Refs(), n+l.width-1) }) {
		return nil, false
	}
	for _, e := range l.op.Eliminated { // a number tells rows apart by itself
		if number := l.numbered && tied[l.width-1]; !number && !tied[e.Index] {
			return nil, false
		}
	}
	var list []*bound.Expr
	for _, i := range keptPositions(l.width, l.op.LeftMap) {
		list = append(list, bound.Ref(n+i))
	}
	for _, i := range keptPositions(n, l.op.RightMap) {
		list = append(list, bound.Ref(i))
	}
	return projection(bound.Filtered(right, rest), list...), true
}

// unnumbered is the left side without the numbers of its rows, if it has such.
func (l lateral) unnumbered(op *bound.Op) (*bound.Op, bool) {
	switch {
	case op.Type == "LOGICAL_WINDOW" && len(op.Expressions) == 1:
		w := op.Expressions[0]
		return op.Children[0], w.Type == "WINDOW_ROW_NUMBER" && len(w.Partitions)+len(w.Orders) == 0
	case op.Type == "LOGICAL_FILTER" && len(op.ProjectionMap) == 0:
		in, ok := l.unnumbered(op.Children[0])
		reads := slices.ContainsFunc(op.Expressions, func(e *bound.Expr) bool { return slices.Contains(e.Refs(), l.width-1) })
		return bound.Filtered(in, op.Expressions), ok && !reads
	}
	return nil, false
}

// eliminated is the left column that a condition ties to itself, by way of the right side; -1 where it says something else.
func (l lateral) eliminated(c bound.Condition, from []int) int {
	if c.Comparison != "COMPARE_NOT_DISTINCT_FROM" || c.Left.Class != "BOUND_REF" || c.Right.Class != "BOUND_REF" || c.Right.Index >= len(from) || from[c.Right.Index] != c.Left.Index {
		return -1
	}
	return c.Left.Index
}

// over computes the right side over the left rows, whose columns follow its own. It tells which left column each of its own is, or -1.
func (l lateral) over(op *bound.Op) (*bound.Op, []int, bool) {
	if op.Type == "LOGICAL_DELIM_GET" {
		var from []int
		for _, e := range l.op.Eliminated {
			if e.Class != "BOUND_REF" {
				return nil, nil, false
			}
			from = append(from, e.Index)
		}
		var list []*bound.Expr
		for _, i := range append(slices.Clone(from), bound.Upto(l.width)...) {
			list = append(list, l.column(i))
		}
		return projection(l.source, list...), from, true
	}
	if len(op.Children) != 1 || len(op.ProjectionMap) > 0 {
		return nil, nil, false
	}
	in, from, ok := l.over(op.Children[0])
	if !ok {
		return nil, nil, false
	}
	out, n := *op, len(from)
	out.Children = []*bound.Op{in}
	switch op.Type {
	case "LOGICAL_FILTER":
		return &out, from, true
	case "LOGICAL_PROJECTION":
		var made []int
		for _, e := range op.Expressions {
			made = append(made, -1)
			if e.Class == "BOUND_REF" && e.Index < n {
				made[len(made)-1] = from[e.Index]
			}
		}
		out.Expressions = append(slices.Clone(op.Expressions), refsFrom(n, n+l.width)...)
		return &out, made, true
	case "LOGICAL_UNNEST":
		more := len(op.Expressions)
		list := slices.Concat(bound.Upto(n), upFrom(n+l.width, more), upFrom(n, l.width))
		exprs := make([]*bound.Expr, len(list))
		for i, at := range list {
			exprs[i] = bound.Ref(at)
		}
		for range more {
			from = append(from, -1)
		}
		return projection(&out, exprs...), from, true
	}
	return nil, nil, false
}

func upFrom(start, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = start + i
	}
	return out
}

// column is a column of the left side; of the numbers, which nothing reads any more, it is NULL.
func (l lateral) column(i int) *bound.Expr {
	if l.numbered && i == l.width-1 {
		return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "BIGINT"}, IsNull: true, Data: []byte("null")}}
	}
	return bound.Ref(i)
}
