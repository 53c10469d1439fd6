// Package rewrite turns bound plans into plans of equal meaning that are cheaper, or easier to cut into operators.
package rewrite

import (
	"cmp"
	"math"
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Plan is every rewriting, one after the other.
func Plan(op *bound.Op) (*bound.Op, error) {
	return Equalities(Counts(Marks(Prune(Factored(Laterals(bound.StripOrder(op)))))))
}

// Prune leaves out columns that nothing above reads, so that operators remember
// what the query uses and no more. Parts that are read several times keep all their columns.
func Prune(op *bound.Op) *bound.Op {
	p := &pruner{readers: map[*bound.Op]int{}}
	p.count(op)
	n := width(op)
	if n < 0 {
		return op
	}
	out, kept := p.prune(op, bound.Upto(n))
	if !slices.Equal(kept, bound.Upto(n)) {
		return op
	}
	return out
}

type pruner struct{ readers map[*bound.Op]int }

func (p *pruner) count(op *bound.Op) {
	p.readers[op]++
	if p.readers[op] > 1 {
		return
	}
	for _, c := range op.Children {
		p.count(c)
	}
}

// width is how many columns a step has; -1 where that is not known.
func width(op *bound.Op) int {
	switch op.Type {
	case "LOGICAL_GET":
		if op.Stored != "" {
			return op.StoredColumns
		}
		if len(op.ProjectionIDs) > 0 {
			return len(op.ProjectionIDs)
		}
		return len(op.ColumnIndexes)
	case "LOGICAL_PROJECTION":
		return len(op.Expressions)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return len(op.Groups) + len(op.Expressions) + len(op.GroupingFunctions)
	case "LOGICAL_FILTER":
		if len(op.ProjectionMap) > 0 {
			return len(op.ProjectionMap)
		}
		return width(op.Children[0])
	case "LOGICAL_WINDOW", "LOGICAL_UNNEST":
		if n := width(op.Children[0]); n >= 0 {
			return n + len(op.Expressions)
		}
		return -1
	case "LOGICAL_ORDER_BY", "LOGICAL_LIMIT", "LOGICAL_DISTINCT", "LOGICAL_UNION", "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		if len(op.Projections) > 0 {
			return -1
		}
		return width(op.Children[0])
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_DELIM_JOIN":
		return joinWidth(op)
	case "LOGICAL_DELIM_GET":
		return len(op.ChunkTypes)
	case "LOGICAL_EXPRESSION_GET":
		return len(op.ExprTypes)
	case "LOGICAL_DUMMY_SCAN":
		return 1
	case "LOGICAL_EMPTY_RESULT":
		return len(op.ResultTypes)
	}
	return -1
}

func joinWidth(op *bound.Op) int {
	left, right := sideWidth(op.Children[0], op.LeftMap), sideWidth(op.Children[1], op.RightMap)
	if left < 0 || right < 0 {
		return -1
	}
	switch op.JoinType {
	case "SEMI", "ANTI":
		return left
	case "MARK":
		return left + 1
	}
	return left + right
}

func sideWidth(op *bound.Op, keep []uint64) int {
	if len(keep) > 0 {
		return len(keep)
	}
	return width(op)
}

// prune returns the step with at least the wanted columns, and which of its old columns it has, in order.
func (p *pruner) prune(op *bound.Op, want []int) (*bound.Op, []int) {
	n := width(op)
	if n < 0 || p.readers[op] > 1 {
		if n < 0 {
			return op, want
		}
		return op, bound.Upto(n)
	}
	switch op.Type {
	case "LOGICAL_GET":
		return pruneGet(op, want)
	case "LOGICAL_PROJECTION":
		return p.projection(op, want)
	case "LOGICAL_FILTER":
		return p.filter(op, want)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return p.aggregate(op, want)
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_CROSS_PRODUCT":
		return p.join(op, want)
	}
	return p.whole(op), bound.Upto(n)
}

// whole keeps all of a step's columns, and prunes below projections further down.
func (p *pruner) whole(op *bound.Op) *bound.Op {
	out := *op
	out.Children = slices.Clone(op.Children)
	for i, c := range op.Children {
		n := width(c)
		if n < 0 {
			continue
		}
		if in, kept := p.prune(c, bound.Upto(n)); slices.Equal(kept, bound.Upto(n)) {
			out.Children[i] = in
		}
	}
	return &out
}

func pruneGet(op *bound.Op, want []int) (*bound.Op, []int) {
	if op.Stored != "" || len(op.ProjectionIDs) > 0 {
		return op, bound.Upto(width(op))
	}
	if len(want) == 0 {
		want = []int{0}
	}
	want = inTableOrder(op, want)
	out := *op
	out.ColumnIndexes = nil
	for _, w := range want {
		out.ColumnIndexes = append(out.ColumnIndexes, op.ColumnIndexes[w])
	}
	return &out, want
}

// inTableOrder puts a scan's columns into the order of the table: a binder has them in that of the text.
func inTableOrder(op *bound.Op, columns []int) []int {
	place := func(i int) int64 {
		n, err := op.ColumnIndexes[i].Index.Int64()
		if err != nil { // the row identifier, beyond all columns
			return math.MaxInt64
		}
		return n
	}
	out := slices.Clone(columns)
	slices.SortStableFunc(out, func(i, j int) int { return cmp.Compare(place(i), place(j)) })
	return out
}

// below prunes a child to what the expressions read beside the wanted columns, and
// returns how its old columns are numbered now.
func (p *pruner) below(child *bound.Op, want []int, exprs []*bound.Expr) (*bound.Op, []int, map[int]int) {
	need := map[int]bool{}
	for _, w := range want {
		need[w] = true
	}
	for _, e := range exprs {
		for _, r := range e.Refs() {
			need[r] = true
		}
	}
	list := make([]int, 0, len(need))
	for i := range need {
		list = append(list, i)
	}
	slices.Sort(list)
	in, kept := p.prune(child, list)
	if len(kept) > len(list) && len(list) > 0 {
		in, kept = only(in, kept, list), list
	}
	at := make(map[int]int, len(kept))
	for i, k := range kept {
		at[k] = i
	}
	return in, kept, at
}

// only projects a step that has the columns kept to those wanted.
func only(op *bound.Op, kept, want []int) *bound.Op {
	out := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{op}}
	for _, w := range want {
		out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_REF", Index: slices.Index(kept, w)})
	}
	return out
}

func (p *pruner) projection(op *bound.Op, want []int) (*bound.Op, []int) {
	if len(want) == 0 {
		want = []int{0}
	}
	out := *op
	out.Expressions = nil
	for _, w := range want {
		out.Expressions = append(out.Expressions, op.Expressions[w])
	}
	if width(op.Children[0]) < 0 {
		return &out, want
	}
	in, _, at := p.below(op.Children[0], nil, out.Expressions)
	out.Children = []*bound.Op{in}
	out.Expressions = renumberAll(out.Expressions, at)
	return &out, want
}

func (p *pruner) filter(op *bound.Op, want []int) (*bound.Op, []int) {
	if len(op.ProjectionMap) > 0 {
		return p.whole(op), bound.Upto(width(op))
	}
	in, kept, at := p.below(op.Children[0], want, op.Expressions)
	out := *op
	out.Children = []*bound.Op{in}
	out.Expressions = renumberAll(op.Expressions, at)
	return &out, kept
}

// aggregate leaves out the calls that nothing reads and that may fail: DuckDB leaves them out as well, and does not stop there. The others stay, so that
// what a query, or several, contain more than once is still one operator.
func (p *pruner) aggregate(op *bound.Op, want []int) (*bound.Op, []int) {
	all := bound.Upto(width(op))
	for _, e := range op.Expressions {
		if !bound.IsNull(e.OrderBys) {
			return p.whole(op), all // its order refers to columns in a form of its own
		}
	}
	out, kept := *op, bound.Upto(len(op.Groups))
	out.Expressions = nil
	for i, e := range op.Expressions {
		if at := len(op.Groups) + i; slices.Contains(want, at) || neverFails(e) {
			out.Expressions, kept = append(out.Expressions, e), append(kept, at)
		}
	}
	if len(out.Expressions) == 0 && len(op.Expressions) > 0 && overAll(op) { // its row stays
		out.Expressions = []*bound.Expr{{Class: "BOUND_AGGREGATE", Name: "count_star", Return: bound.Type{ID: "BIGINT"}}}
		kept = append(kept, len(op.Groups))
	}
	for i := range op.GroupingFunctions {
		kept = append(kept, len(op.Groups)+len(op.Expressions)+i)
	}
	if width(op.Children[0]) < 0 {
		return &out, kept
	}
	exprs := append(slices.Clone(op.Groups), out.Expressions...)
	for _, e := range out.Expressions {
		exprs = append(exprs, e.Filter)
	}
	in, _, at := p.below(op.Children[0], nil, exprs)
	out.Children = []*bound.Op{in}
	out.Groups = renumberAll(op.Groups, at)
	out.Expressions = renumberAll(out.Expressions, at)
	return &out, kept
}

// neverFails reports that a call counts, picks or adds up columns as they are, in a type that has room.
func neverFails(e *bound.Expr) bool {
	if e.Filter != nil || slices.ContainsFunc(e.Children, func(c *bound.Expr) bool { return c.Class != "BOUND_REF" }) {
		return false
	}
	switch e.Name {
	case "count_star", "count", "min", "max", "bool_and", "bool_or":
		return true
	case "sum", "avg":
		return len(e.Arguments) == 1 && slices.Contains([]string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT"}, e.Arguments[0].ID)
	}
	return false
}

// overAll reports that an aggregate, or one of its grouping sets, is over everything.
func overAll(op *bound.Op) bool {
	return len(op.Groups) == 0 || slices.ContainsFunc(op.GroupingSets, func(set []int) bool { return len(set) == 0 })
}

// join prunes both sides to what is wanted above and what the conditions read.
func (p *pruner) join(op *bound.Op, want []int) (*bound.Op, []int) {
	if len(op.LeftMap) > 0 || len(op.RightMap) > 0 || op.JoinType == "MARK" || op.DelimFlipped {
		return p.whole(op), bound.Upto(width(op))
	}
	n := width(op.Children[0])
	var left, right []*bound.Expr
	var wantLeft, wantRight []int
	for _, c := range op.Conditions {
		left, right = append(left, c.Left), append(right, c.Right)
	}
	for _, w := range want {
		if w < n {
			wantLeft = append(wantLeft, w)
		} else {
			wantRight = append(wantRight, w-n)
		}
	}
	for _, e := range []*bound.Expr{op.Condition, op.Predicate} {
		for _, r := range e.Refs() {
			if r < n {
				wantLeft = append(wantLeft, r)
			} else {
				wantRight = append(wantRight, r-n)
			}
		}
	}
	l, keptLeft, atLeft := p.below(op.Children[0], wantLeft, left)
	r, keptRight, atRight := p.below(op.Children[1], wantRight, right)
	out := *op
	out.Children = []*bound.Op{l, r}
	out.Conditions = slices.Clone(op.Conditions)
	for i, c := range op.Conditions {
		out.Conditions[i].Left, out.Conditions[i].Right = c.Left.Renumbered(in(atLeft)), c.Right.Renumbered(in(atRight))
	}
	both := make(map[int]int, len(atLeft)+len(atRight))
	kept := slices.Clone(keptLeft)
	for k, v := range atLeft {
		both[k] = v
	}
	for k, v := range atRight {
		both[n+k] = len(keptLeft) + v
	}
	out.Condition, out.Predicate = op.Condition.Renumbered(in(both)), op.Predicate.Renumbered(in(both))
	if op.JoinType != "SEMI" && op.JoinType != "ANTI" {
		for _, k := range keptRight {
			kept = append(kept, n+k)
		}
	}
	return &out, kept
}

func renumberAll(es []*bound.Expr, at map[int]int) []*bound.Expr {
	out := make([]*bound.Expr, len(es))
	for i, e := range es {
		out[i] = e.Renumbered(in(at))
	}
	return out
}

func in(at map[int]int) func(int) int { return func(i int) int { return at[i] } }
