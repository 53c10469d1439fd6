package rewrite

import "github.com/streamform/streamform/runtime/query/bound"

// Presence replaces what stands behind EXISTS where the subquery does not ask about the outer row: the number of rows up to a
// LIMIT of one, which says nothing of the row that goes when another one stays. It counts all rows, and shows 1 for any number of them.
func Presence(op *bound.Op) *bound.Op {
	return upwards(op, func(op *bound.Op) *bound.Op {
		if !asksForOne(op) {
			return op
		}
		count := *op
		count.Children = op.Children[0].Children
		n := bound.Ref(0)
		n.Return = bound.Type{ID: "BIGINT"}
		return projection(&count, choice(number("0"), bound.CaseCheck{When: bound.Compare("COMPARE_GREATERTHAN", n, number("0")), Then: number("1")}))
	})
}

// asksForOne recognises the number of rows of a LIMIT 1.
func asksForOne(op *bound.Op) bool {
	if op.Type != "LOGICAL_AGGREGATE_AND_GROUP_BY" || len(op.Groups) > 0 || len(op.GroupingSets) > 1 || len(op.Expressions) != 1 || len(op.Children) != 1 {
		return false
	}
	call, limit := op.Expressions[0], op.Children[0]
	return call.Name == "count_star" && call.Filter == nil && limit.Type == "LOGICAL_LIMIT" && len(limit.Children) == 1 &&
		limit.LimitVal.Type == "CONSTANT_VALUE" && limit.LimitVal.Constant == 1 && (limit.OffsetVal.Type == "UNSET" || limit.OffsetVal.Type == "")
}

func number(text string) *bound.Expr {
	typ := bound.Type{ID: "BIGINT"}
	return &bound.Expr{Class: "BOUND_CONSTANT", Return: typ, Value: &bound.Value{Type: typ, Data: []byte(text)}}
}
