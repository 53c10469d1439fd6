package rewrite

import (
	"slices"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Marks replaces the joins behind IN, EXISTS, ANY and ALL inside of expressions, whose last column says whether the left
// row's value is among the right ones (NULL where a NULL on either side leaves that open), by left joins with distinct
// rows and with facts about the right side that hardly ever change. What it does not know it leaves alone.
func Marks(op *bound.Op) *bound.Op {
	return upwards(op, func(op *bound.Op) *bound.Op {
		if op.JoinType == "MARK" {
			if x, ok := newMark(op); ok {
				return x.build()
			}
		}
		return op
	})
}

// upwards rewrites every step, those below first. A step that is read several times is rewritten once, and stays one.
func upwards(op *bound.Op, rewrite func(*bound.Op) *bound.Op) *bound.Op {
	done := map[*bound.Op]*bound.Op{}
	var walk func(*bound.Op) *bound.Op
	walk = func(op *bound.Op) *bound.Op {
		if out, ok := done[op]; ok {
			return out
		}
		out, changed := *op, false
		out.Children = slices.Clone(op.Children)
		for i, c := range op.Children {
			out.Children[i] = walk(c)
			changed = changed || out.Children[i] != c
		}
		result := op
		if changed {
			result = &out
		}
		done[op] = rewrite(result)
		return done[op]
	}
	return walk(op)
}

// mark is one such join: conditions that correlate the subquery with the outer row, and those on the values asked for.
type mark struct {
	op                *bound.Op
	width             int // of the left side
	correlated, asked []bound.Condition
	right             *bound.Op // what the conditions read of the right side, in their order
	joined            *bound.Op // the left side with what was joined so far
	columns           int       // of joined
}

func newMark(op *bound.Op) (*mark, bool) {
	k := len(op.MarkTypes)
	if len(op.Children) != 2 || op.Condition != nil || op.Predicate != nil || op.DelimFlipped || len(op.RightMap) > 0 || len(op.Conditions) < max(k, 1) {
		return nil, false
	}
	m := &mark{op: op, width: width(op.Children[0]), correlated: op.Conditions[:k], asked: op.Conditions[k:], joined: op.Children[0]}
	if m.columns = m.width; m.width < 0 {
		return nil, false
	}
	for _, c := range m.correlated {
		if c.Comparison != "COMPARE_NOT_DISTINCT_FROM" {
			return nil, false
		}
	}
	if !m.equality() && (len(m.asked) != 1 || !m.ordered()) {
		return nil, false
	}
	var list []*bound.Expr
	for _, c := range op.Conditions {
		list = append(list, c.Right)
	}
	if len(m.asked) == 0 {
		list = append(list, truth("true"))
	}
	m.right = projection(op.Children[1], list...)
	return m, true
}

// equality reports that all values are compared for equality; so they are where none is.
func (m *mark) equality() bool {
	return !slices.ContainsFunc(m.asked, func(c bound.Condition) bool { return c.Comparison != "COMPARE_EQUAL" })
}

// ordered reports a comparison that the least and the greatest value decide.
func (m *mark) ordered() bool {
	switch m.asked[0].Comparison {
	case "COMPARE_LESSTHAN", "COMPARE_GREATERTHAN", "COMPARE_LESSTHANOREQUALTO", "COMPARE_GREATERTHANOREQUALTO", "COMPARE_NOTEQUAL":
	default:
		return false
	}
	switch m.asked[0].Right.ResultType().ID {
	case "LIST", "STRUCT", "MAP", "ARRAY", "UNION", "VARIANT", "":
		return false
	}
	return true
}

func (m *mark) build() *bound.Op {
	var match *bound.Expr
	if m.equality() {
		at := m.columns + len(m.correlated) // of the first value, or of the constant that stands for one
		m.join(distinctRows(m.right), slices.Concat(m.correlated, m.asked))
		match = test("OPERATOR_IS_NOT_NULL", bound.Ref(at))
	}
	result := match
	switch {
	case len(m.asked) == 0: // EXISTS is never open
	case len(m.asked) == 1 && len(m.correlated) > 0:
		result = m.byGroup(match)
	default:
		result = m.overall(match)
	}
	var list []*bound.Expr
	for _, i := range keptPositions(m.width, m.op.LeftMap) {
		list = append(list, bound.Ref(i))
	}
	return projection(m.joined, append(list, result)...)
}

// join adds a left join. The first one eliminates duplicates for a correlated subquery; later ones read what that has made.
func (m *mark) join(with *bound.Op, conditions []bound.Condition) {
	out := &bound.Op{Type: "LOGICAL_COMPARISON_JOIN", JoinType: "LEFT", Children: []*bound.Op{m.joined, with}}
	if m.columns == m.width {
		out.Type, out.Eliminated = m.op.Type, m.op.Eliminated
	}
	for i, c := range conditions {
		out.Conditions = append(out.Conditions, bound.Condition{Left: c.Left, Right: bound.Ref(i), Comparison: c.Comparison})
	}
	m.joined, m.columns = out, m.columns+width(with)
}

// overall decides by facts about all of the right side: whether it has rows, and whether one has a NULL.
func (m *mark) overall(match *bound.Expr) *bound.Expr {
	at := m.columns
	some := bound.Compare("COMPARE_GREATERTHAN", bound.Ref(0), zero())
	open := bound.Compare("COMPARE_NOTEQUAL", bound.Ref(0), bound.Ref(1))
	counts := m.counts(nil)
	facts := distinctRows(projection(counts, append([]*bound.Expr{some, open}, refsFrom(2, width(counts))...)...))
	if m.columns == m.width && m.op.Type == "LOGICAL_DELIM_JOIN" {
		m.join(facts, nil)
	} else {
		m.joined = &bound.Op{Type: "LOGICAL_CROSS_PRODUCT", Children: []*bound.Op{m.joined, facts}}
		m.columns += width(facts)
	}
	if match == nil {
		match = m.extreme(at + 2)
	}
	unknown := conjunction("CONJUNCTION_OR", bound.Ref(at+1), conjunction("CONJUNCTION_AND", bound.Ref(at), m.leftOpen()))
	return choice(truth("false"), bound.CaseCheck{When: match, Then: truth("true")}, bound.CaseCheck{When: unknown, Then: truth("")})
}

// byGroup decides by facts about the right rows of the outer row's values.
func (m *mark) byGroup(match *bound.Expr) *bound.Expr {
	k, at := len(m.correlated), m.columns
	counts := m.counts(bound.Upto(k))
	open := bound.Compare("COMPARE_NOTEQUAL", bound.Ref(k), bound.Ref(k+1))
	facts := projection(counts, slices.Concat(refsFrom(0, k), []*bound.Expr{open}, refsFrom(k+2, width(counts)))...)
	m.join(facts, m.correlated)
	if match == nil {
		match = m.extreme(at + k + 1)
	}
	some := test("OPERATOR_IS_NOT_NULL", bound.Ref(at+k))
	unknown := conjunction("CONJUNCTION_AND", some, conjunction("CONJUNCTION_OR", bound.Ref(at+k), m.leftOpen()))
	return choice(truth("false"), bound.CaseCheck{When: match, Then: truth("true")}, bound.CaseCheck{When: unknown, Then: truth("")})
}

// counts aggregates the right side by some of its columns: rows, rows without a NULL among the values, and where the order of values decides the least and greatest.
func (m *mark) counts(groups []int) *bound.Op {
	number := bound.Type{ID: "BIGINT"}
	var full []*bound.Expr
	for i := range m.asked {
		full = append(full, test("OPERATOR_IS_NOT_NULL", bound.Ref(len(m.correlated)+i)))
	}
	out := &bound.Op{Type: "LOGICAL_AGGREGATE_AND_GROUP_BY", Children: []*bound.Op{m.right}, Expressions: []*bound.Expr{
		{Class: "BOUND_AGGREGATE", AggregateType: "NON_DISTINCT", Name: "count_star", Return: number},
		{Class: "BOUND_AGGREGATE", AggregateType: "NON_DISTINCT", Name: "count_star", Return: number, Filter: conjunction("CONJUNCTION_AND", full...)}}}
	for _, g := range groups {
		out.Groups = append(out.Groups, &bound.Expr{Class: "BOUND_REF", Index: g, Return: m.correlated[g].Right.ResultType()})
	}
	if !m.equality() {
		typ := m.asked[0].Right.ResultType()
		for _, name := range []string{"min", "max"} {
			out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_AGGREGATE", AggregateType: "NON_DISTINCT", Name: name, Return: typ, Arguments: []bound.Type{typ},
				Children: []*bound.Expr{{Class: "BOUND_REF", Index: len(m.correlated), Return: typ}}})
		}
	}
	return out
}

// extreme compares the left value with the least (at the position) or the greatest (after it).
func (m *mark) extreme(at int) *bound.Expr {
	c := m.asked[0]
	switch c.Comparison {
	case "COMPARE_GREATERTHAN", "COMPARE_GREATERTHANOREQUALTO":
		return bound.Compare(c.Comparison, c.Left, bound.Ref(at))
	case "COMPARE_NOTEQUAL":
		return conjunction("CONJUNCTION_OR", bound.Compare(c.Comparison, c.Left, bound.Ref(at)), bound.Compare(c.Comparison, c.Left, bound.Ref(at+1)))
	}
	return bound.Compare(c.Comparison, c.Left, bound.Ref(at+1))
}

// leftOpen is whether one of the left values is NULL.
func (m *mark) leftOpen() *bound.Expr {
	var list []*bound.Expr
	for _, c := range m.asked {
		list = append(list, test("OPERATOR_IS_NULL", c.Left))
	}
	return conjunction("CONJUNCTION_OR", list...)
}
