package rewrite

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Factored takes what stands in every arm of an OR out of it, in conditions of joins: (a = b AND x) OR (a = b AND y) is a = b AND (x OR y), which gives
// the join a key. What an inner join's condition says of one side alone becomes a filter of that side, and so does what follows for
// it from an OR, (l.x AND r.y) OR (l.z AND r.w) for example: l.x OR l.z.
func Factored(op *bound.Op) *bound.Op {
	f := &factoring{pruner: pruner{readers: map[*bound.Op]int{}}, done: map[*bound.Op]*bound.Op{}, shared: map[*bound.Op]bool{}}
	f.count(op)
	return f.rewrite(op)
}

type factoring struct {
	pruner
	done   map[*bound.Op]*bound.Op
	shared map[*bound.Op]bool // of what came out: read several times, so that it stays as it is and is computed once
}

func (f *factoring) rewrite(op *bound.Op) *bound.Op {
	if out, ok := f.done[op]; ok {
		return out
	}
	result, changed := *op, false
	result.Children = slices.Clone(op.Children)
	for i, c := range op.Children {
		result.Children[i] = f.rewrite(c)
		changed = changed || result.Children[i] != c
	}
	out := op
	if changed {
		out = &result
	}
	switch op.Type {
	case "LOGICAL_ANY_JOIN", "LOGICAL_COMPARISON_JOIN":
		out = f.join(out)
	case "LOGICAL_FILTER":
		out = f.filter(out)
	}
	f.done[op], f.shared[out] = out, f.readers[op] > 1
	return out
}

// filter takes a filter over an inner join for a part of its condition.
func (f *factoring) filter(op *bound.Op) *bound.Op {
	join := *op.Children[0]
	of := slices.Clone(op.Expressions)
	fixed := len(op.ProjectionMap) > 0 || f.shared[op.Children[0]]
	if join.Type == "LOGICAL_FILTER" {
		fixed = fixed || len(join.ProjectionMap) > 0 || f.shared[join.Children[0]]
		of = append(of, join.Expressions...)
		join = *join.Children[0]
	}
	switch {
	case fixed || slices.ContainsFunc(of, func(e *bound.Expr) bool { return len(e.Clocks()) > 0 }):
		return op
	case join.Type == "LOGICAL_CROSS_PRODUCT":
		join.JoinType = "INNER"
	case join.JoinType != "INNER" || join.Type != "LOGICAL_COMPARISON_JOIN" && join.Type != "LOGICAL_ANY_JOIN":
		return op
	}
	if join.Predicate != nil {
		of = append(of, join.Predicate)
	}
	join.Predicate = conjunction("CONJUNCTION_AND", of...)
	if out := f.join(&join); out != &join {
		return out
	}
	return op
}

// join gives an inner join a key, filters below and what is left as a filter above; another join its condition in factors.
func (f *factoring) join(op *bound.Op) *bound.Op {
	left, right := width(op.Children[0]), width(op.Children[1])
	if left < 0 || right < 0 || len(op.LeftMap)+len(op.RightMap) > 0 || op.Condition == nil && op.Predicate == nil {
		return op
	}
	names := make(bound.Scope, left+right)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	var all, direct []*bound.Expr
	split := false
	for _, e := range []*bound.Expr{op.Condition, op.Predicate} {
		if e == nil {
			continue
		}
		these, own := factors(names, e), parts(e, "CONJUNCTION_AND")
		split = split || len(these) > len(own)
		all, direct = append(all, these...), append(direct, own...)
	}
	if op.JoinType != "INNER" {
		if !split {
			return op
		}
		out := *op
		out.Condition, out.Predicate = conjunction("CONJUNCTION_AND", all...), nil
		return &out
	}
	out := bound.Op{Type: "LOGICAL_COMPARISON_JOIN", JoinType: "INNER", Conditions: slices.Clone(op.Conditions)}
	var below [2][]*bound.Expr
	var above []*bound.Expr
	for _, c := range all {
		side := sideOf(c, left)
		if key, ok := equality(c, left); ok && (slices.Contains(direct, c) || unguarded(key, all, left)) {
			out.Conditions = append(out.Conditions, key)
		} else if side >= 0 && harmless(c) {
			below[side], split = append(below[side], c.Shifted(side*left)), true
		} else {
			above = append(above, c)
		}
	}
	for side := range below {
		for _, c := range above {
			if implied := impliedFor(side, c, left); implied != nil {
				below[side] = append(below[side], implied.Shifted(side*left))
				split = true
			}
		}
	}
	if !split || len(out.Conditions) == 0 {
		return op
	}
	for side, c := range op.Children {
		if len(below[side]) > 0 {
			c = f.filter(bound.Filtered(c, below[side]))
		}
		out.Children = append(out.Children, c)
	}
	return bound.Filtered(&out, above)
}

// equality is a condition of a join as a key: the left side's value first, and columns counted from each side's own.
func equality(e *bound.Expr, left int) (bound.Condition, bool) {
	if e.Class != "BOUND_COMPARISON" || e.Type != "COMPARE_EQUAL" && e.Type != "COMPARE_NOT_DISTINCT_FROM" {
		return bound.Condition{}, false
	}
	l, r := e.Left, e.Right
	if sideOf(l, left) == 1 {
		l, r = r, l
	}
	return bound.Condition{Left: l, Right: r.Shifted(left), Comparison: e.Type}, sideOf(l, left) == 0 && sideOf(r, left) == 1
}

// unguarded reports that a key cannot fail, or that no condition may be there to keep rows away for which it would: a join computes its keys of all rows.
func unguarded(key bound.Condition, all []*bound.Expr, left int) bool {
	for side, e := range []*bound.Expr{key.Left, key.Right} {
		about := func(c *bound.Expr) bool {
			_, isKey := equality(c, left)
			return !isKey && !harmless(c) && slices.ContainsFunc(c.Refs(), func(i int) bool { return (i >= left) == (side == 1) })
		}
		if !calm(e) && slices.ContainsFunc(all, about) {
			return false
		}
	}
	return true
}

// calm reports that an expression is computed of every row without a failure: columns as they are, in a wider type, and as they are collated.
func calm(e *bound.Expr) bool {
	if e.Class == "BOUND_CAST" {
		sizes := []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DOUBLE"}
		from := slices.Index(sizes, e.Child.ResultType().ID)
		return calm(e.Child) && (e.TryCast || e.Return.ID == "VARCHAR" || from >= 0 && from < slices.Index(sizes, e.Return.ID))
	}
	if e.Class == "BOUND_FUNCTION" {
		return slices.Contains([]string{"lower", "upper", "strip_accents", "nfc_normalize"}, e.Name) && !slices.ContainsFunc(e.Children, func(c *bound.Expr) bool { return !calm(c) })
	}
	return e.Class == "BOUND_REF" || e.Class == "BOUND_CONSTANT"
}

// parts are the conditions that AND, or OR, joins in e.
func parts(e *bound.Expr, typ string) []*bound.Expr {
	if e.Class != "BOUND_CONJUNCTION" || e.Type != typ {
		return []*bound.Expr{e}
	}
	var out []*bound.Expr
	for _, c := range e.Children {
		out = append(out, parts(c, typ)...)
	}
	return out
}

// factors are the conditions that all have to hold for e to hold.
func factors(names bound.Scope, e *bound.Expr) []*bound.Expr {
	var out []*bound.Expr
	for _, c := range parts(e, "CONJUNCTION_AND") {
		out = append(out, common(names, c)...)
	}
	return out
}

// common splits an OR into what all its arms say, and the OR of the rest.
func common(names bound.Scope, e *bound.Expr) []*bound.Expr {
	arms := parts(e, "CONJUNCTION_OR")
	if len(arms) < 2 {
		return []*bound.Expr{e}
	}
	says := make([][]string, len(arms))
	conditions := make([][]*bound.Expr, len(arms))
	for i, arm := range arms {
		conditions[i] = parts(arm, "CONJUNCTION_AND")
		for _, c := range conditions[i] {
			text, err := meaning(names, c)
			if err != nil {
				return []*bound.Expr{e}
			}
			says[i] = append(says[i], text)
		}
	}
	everywhere := func(text string) bool {
		return !slices.ContainsFunc(says, func(s []string) bool { return !slices.Contains(s, text) })
	}
	var out, rest []*bound.Expr
	seen := map[string]bool{}
	whole := false // an arm says nothing more, so that the OR holds where that does
	for i := range arms {
		var own []*bound.Expr
		for n, text := range says[i] {
			switch {
			case !everywhere(text):
				own = append(own, conditions[i][n])
			case !seen[text]:
				seen[text] = true
				out = append(out, conditions[i][n])
			}
		}
		if len(own) == 0 {
			whole = true
			continue
		}
		rest = append(rest, conjunction("CONJUNCTION_AND", own...))
	}
	if len(out) == 0 {
		return []*bound.Expr{e}
	}
	if !whole {
		out = append(out, conjunction("CONJUNCTION_OR", rest...))
	}
	return out
}

// meaning is a text that a condition shares with what says the same the other way round.
func meaning(names bound.Scope, e *bound.Expr) (string, error) {
	turned := map[string]string{"COMPARE_EQUAL": "COMPARE_EQUAL", "COMPARE_NOTEQUAL": "COMPARE_NOTEQUAL", "COMPARE_DISTINCT_FROM": "COMPARE_DISTINCT_FROM",
		"COMPARE_NOT_DISTINCT_FROM": "COMPARE_NOT_DISTINCT_FROM", "COMPARE_LESSTHAN": "COMPARE_GREATERTHAN", "COMPARE_LESSTHANOREQUALTO": "COMPARE_GREATERTHANOREQUALTO",
		"COMPARE_GREATERTHAN": "COMPARE_LESSTHAN", "COMPARE_GREATERTHANOREQUALTO": "COMPARE_LESSTHANOREQUALTO"}
	text, err := names.SQL(e)
	if err != nil || e.Class != "BOUND_COMPARISON" || turned[e.Type] == "" {
		return text, err
	}
	other, err := names.SQL(bound.Compare(turned[e.Type], e.Right, e.Left))
	return min(text, other), err
}

// sideOf is the side of a join that a condition is about, 0 or 1; -1 for both or neither.
func sideOf(e *bound.Expr, left int) int {
	refs := e.Refs()
	isLeft := func(i int) bool { return i < left }
	switch {
	case len(refs) == 0:
		return -1
	case !slices.ContainsFunc(refs, isLeft):
		return 1
	case !slices.ContainsFunc(refs, func(i int) bool { return i >= left }):
		return 0
	}
	return -1
}

// impliedFor is what an OR means for one side alone; nil where that is nothing, or might fail.
func impliedFor(side int, c *bound.Expr, left int) *bound.Expr {
	var each []*bound.Expr
	for _, arm := range parts(c, "CONJUNCTION_OR") {
		var own []*bound.Expr
		for _, p := range parts(arm, "CONJUNCTION_AND") {
			if sideOf(p, left) == side && harmless(p) {
				own = append(own, p)
			}
		}
		if len(own) == 0 {
			return nil
		}
		each = append(each, conjunction("CONJUNCTION_AND", own...))
	}
	return conjunction("CONJUNCTION_OR", each...)
}

// harmless reports that a condition compares columns and constants as they are, which cannot fail for a row that the join would not have met.
func harmless(e *bound.Expr) bool {
	switch e.Class {
	case "BOUND_REF", "BOUND_CONSTANT":
		return true
	case "BOUND_CAST":
		return e.Child.Class == "BOUND_CONSTANT" // the same for every row
	case "BOUND_COMPARISON":
		return harmless(e.Left) && harmless(e.Right)
	case "BOUND_BETWEEN":
		return harmless(e.Input) && harmless(e.Lower) && harmless(e.Upper)
	case "BOUND_CONJUNCTION":
		return !slices.ContainsFunc(e.Children, func(c *bound.Expr) bool { return !harmless(c) })
	case "BOUND_OPERATOR":
		return slices.Contains([]string{"OPERATOR_NOT", "OPERATOR_IS_NULL", "OPERATOR_IS_NOT_NULL", "COMPARE_IN", "COMPARE_NOT_IN"}, e.Type) &&
			!slices.ContainsFunc(e.Children, func(c *bound.Expr) bool { return !harmless(c) })
	}
	return false
}
