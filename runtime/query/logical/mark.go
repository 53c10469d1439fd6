package logical

import (
	"cmp"

	"github.com/streamform/streamform/runtime/query/bound"
)

// mark cuts the join behind IN and NOT IN, whose last column says whether the left value is among the right ones:
// NULL where a NULL on either side leaves that open. So it is a left join with the distinct right values, beside
// two facts about all of them, whether there are any and whether one is NULL, which hardly ever change.
func (s *splitter) mark(op *bound.Op) (*bound.Op, bool, error) {
	if op.Type != "LOGICAL_COMPARISON_JOIN" || len(op.Conditions) != 1 || op.Conditions[0].Comparison != "COMPARE_EQUAL" || op.Condition != nil || op.Predicate != nil {
		return nil, false, bound.Unsupportedf(bound.ByMembership, "IN with a subquery that is correlated or has several columns, inside an expression")
	}
	left, value := op.Children[0], op.Conditions[0].Left
	tree, _, err := s.split(left)
	if err != nil {
		return nil, false, err
	}
	r, err := Render(tree)
	if err != nil {
		return nil, false, err
	}
	right := projection(op.Children[1], op.Conditions[0].Right)
	matched := &bound.Op{Type: "LOGICAL_COMPARISON_JOIN", JoinType: "LEFT", Children: []*bound.Op{left, distinctRows(right)},
		Conditions: []bound.Condition{{Left: value, Right: ref(0), Comparison: "COMPARE_EQUAL"}}}
	beside := &bound.Op{Type: "LOGICAL_CROSS_PRODUCT", Children: []*bound.Op{matched, facts(right)}}
	var list []*bound.Expr
	for _, i := range keptPositions(r.Columns, op.LeftMap) {
		list = append(list, ref(i))
	}
	match, some, open := ref(r.Columns), ref(r.Columns+1), ref(r.Columns+2)
	unknown := &bound.Expr{Class: "BOUND_CONJUNCTION", Type: "CONJUNCTION_OR", Children: []*bound.Expr{open,
		{Class: "BOUND_CONJUNCTION", Type: "CONJUNCTION_AND", Children: []*bound.Expr{some, test("OPERATOR_IS_NULL", value)}}}}
	list = append(list, &bound.Expr{Class: "BOUND_CASE", CaseChecks: []bound.CaseCheck{
		{When: test("OPERATOR_IS_NOT_NULL", match), Then: truth("true")},
		{When: unknown, Then: truth("")},
	}, ElseExpr: truth("false")})
	return s.split(projection(beside, list...))
}

// facts is one row: whether a relation of one column has rows, and whether one of them is NULL.
func facts(of *bound.Op) *bound.Op {
	number := bound.Type{ID: "BIGINT"}
	counts := &bound.Op{Type: "LOGICAL_AGGREGATE_AND_GROUP_BY", Children: []*bound.Op{of}, Expressions: []*bound.Expr{
		{Class: "BOUND_AGGREGATE", Name: "count_star", Return: number},
		{Class: "BOUND_AGGREGATE", Name: "count", Return: number, Children: []*bound.Expr{ref(0)}},
	}}
	zero := &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: number, Data: []byte("0")}}
	return distinctRows(projection(counts,
		&bound.Expr{Class: "BOUND_COMPARISON", Type: "COMPARE_GREATERTHAN", Left: ref(0), Right: zero},
		&bound.Expr{Class: "BOUND_COMPARISON", Type: "COMPARE_NOTEQUAL", Left: ref(0), Right: ref(1)}))
}

func projection(of *bound.Op, list ...*bound.Expr) *bound.Op {
	return &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{of}, Expressions: list}
}

func distinctRows(of *bound.Op) *bound.Op {
	return &bound.Op{Type: "LOGICAL_DISTINCT", DistinctType: "DISTINCT", Children: []*bound.Op{of}}
}

func ref(i int) *bound.Expr { return &bound.Expr{Class: "BOUND_REF", Index: i} }

func test(operator string, e *bound.Expr) *bound.Expr {
	return &bound.Expr{Class: "BOUND_OPERATOR", Type: operator, Children: []*bound.Expr{e}}
}

// truth is a constant of type BOOLEAN; an empty text is NULL.
func truth(text string) *bound.Expr {
	return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "BOOLEAN"}, IsNull: text == "", Data: []byte(cmp.Or(text, "null"))}}
}

func keptPositions(n int, keep []uint64) []int {
	if len(keep) == 0 {
		return allOf(n)
	}
	out := make([]int, len(keep))
	for i, k := range keep {
		out[i] = int(k)
	}
	return out
}
