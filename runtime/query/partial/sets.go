package partial

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Sets is an aggregate with GROUPING SETS, ROLLUP or CUBE, over a child, as the union of its sets, each an aggregate of its own.
func Sets(op, child *bound.Op) *bound.Op {
	union := &bound.Op{Type: "LOGICAL_UNION", SetOpAll: true}
	sets := op.GroupingSets
	if len(sets) == 0 {
		sets = [][]int{bound.Upto(len(op.Groups))}
	}
	for _, set := range sets {
		arm := &bound.Op{Type: "LOGICAL_AGGREGATE_AND_GROUP_BY", Children: []*bound.Op{child}, Expressions: op.Expressions}
		for _, g := range set {
			arm.Groups = append(arm.Groups, op.Groups[g])
		}
		project := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{arm}}
		for i, g := range op.Groups {
			project.Expressions = append(project.Expressions, groupOrNull(g, i, set))
		}
		for i := range op.Expressions {
			project.Expressions = append(project.Expressions, &bound.Expr{Class: "BOUND_REF", Index: len(set) + i})
		}
		for _, f := range op.GroupingFunctions {
			project.Expressions = append(project.Expressions, groupingValue(f, set))
		}
		union.Children = append(union.Children, project)
	}
	return union
}

func groupOrNull(g *bound.Expr, i int, set []int) *bound.Expr {
	if at := slices.Index(set, i); at >= 0 {
		return &bound.Expr{Class: "BOUND_REF", Index: at}
	}
	return NullOf(g)
}

// groupingValue is GROUPING(…) for one set: a bit for each argument that is not in it, the last the lowest.
func groupingValue(arguments, set []int) *bound.Expr {
	n := 0
	for _, a := range arguments {
		n <<= 1
		if !slices.Contains(set, a) {
			n |= 1
		}
	}
	return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "BIGINT"}, Data: []byte(fmt.Sprint(n))}}
}
