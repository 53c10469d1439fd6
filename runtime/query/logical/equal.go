package logical

import "github.com/streamform/streamform/runtime/query/bound"

// distinctEqualities leaves an inner join one equality for each column: where l.a = r.x and l.b = r.x, the second
// becomes the filter l.a = l.b on the left side. A binder derives such filters anyway; made here, they shrink what the join holds.
func distinctEqualities(op *bound.Op) (*bound.Op, error) {
	out, columns := *op, numberedScope(1<<12, "")
	out.Conditions = nil
	leftOf, rightOf := map[string]*bound.Expr{}, map[string]*bound.Expr{}
	pairs := map[string]bool{}
	var filters [2][]*bound.Expr
	for _, c := range op.Conditions {
		if c.Comparison != "COMPARE_EQUAL" {
			out.Conditions = append(out.Conditions, c)
			continue
		}
		l, err := columns.SQL(c.Left)
		if err != nil {
			return nil, err
		}
		r, err := columns.SQL(c.Right)
		if err != nil {
			return nil, err
		}
		switch pair := l + " = " + r; {
		case pairs[pair]:
		case leftOf[r] != nil:
			filters[0] = append(filters[0], equality(leftOf[r], c.Left))
		case rightOf[l] != nil:
			filters[1] = append(filters[1], equality(rightOf[l], c.Right))
		default:
			leftOf[r], rightOf[l], pairs[pair] = c.Left, c.Right, true
			out.Conditions = append(out.Conditions, c)
		}
	}
	if len(out.Conditions) == len(op.Conditions) {
		return op, nil
	}
	out.Children = []*bound.Op{filtered(op.Children[0], filters[0]), filtered(op.Children[1], filters[1])}
	return &out, nil
}

func equality(a, b *bound.Expr) *bound.Expr {
	return &bound.Expr{Class: "BOUND_COMPARISON", Type: "COMPARE_EQUAL", Left: a, Right: b}
}

func filtered(op *bound.Op, conditions []*bound.Expr) *bound.Op {
	if len(conditions) == 0 {
		return op
	}
	return &bound.Op{Type: "LOGICAL_FILTER", Children: []*bound.Op{op}, Expressions: conditions}
}
