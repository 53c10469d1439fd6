package rewrite

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Equalities leaves inner joins one equality for each column: where l.a = r.x and l.b = r.x, the second
// becomes the filter l.a = l.b on the left side. A binder derives such filters anyway; made here, they shrink what the join holds.
func Equalities(op *bound.Op) (*bound.Op, error) {
	return (&equalities{done: map[*bound.Op]*bound.Op{}}).rewrite(op)
}

type equalities struct{ done map[*bound.Op]*bound.Op }

func (q *equalities) rewrite(op *bound.Op) (*bound.Op, error) {
	if out, ok := q.done[op]; ok {
		return out, nil
	}
	out, changed := *op, false
	out.Children = slices.Clone(op.Children)
	for i, c := range op.Children {
		in, err := q.rewrite(c)
		if err != nil {
			return nil, err
		}
		out.Children[i] = in
		changed = changed || in != c
	}
	result := op
	if changed {
		result = &out
	}
	var err error
	if op.Type == "LOGICAL_COMPARISON_JOIN" && op.JoinType == "INNER" {
		if result, err = distinctEqualities(result); err != nil {
			return nil, err
		}
	}
	q.done[op] = result
	return result, nil
}

// distinctEqualities is Equalities for one join.
func distinctEqualities(op *bound.Op) (*bound.Op, error) {
	out, columns := *op, make(bound.Scope, manyColumns)
	for i := range columns {
		columns[i] = fmt.Sprintf("c%d", i)
	}
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
			filters[0] = append(filters[0], bound.Compare("COMPARE_EQUAL", leftOf[r], c.Left))
		case rightOf[l] != nil:
			filters[1] = append(filters[1], bound.Compare("COMPARE_EQUAL", rightOf[l], c.Right))
		default:
			leftOf[r], rightOf[l], pairs[pair] = c.Left, c.Right, true
			out.Conditions = append(out.Conditions, c)
		}
	}
	if len(out.Conditions) == len(op.Conditions) {
		return op, nil
	}
	out.Children = []*bound.Op{bound.Filtered(op.Children[0], filters[0]), bound.Filtered(op.Children[1], filters[1])}
	return &out, nil
}

// manyColumns is more than a relation has.
const manyColumns = 1 << 12
