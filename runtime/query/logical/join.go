package logical

import (
	"github.com/streamform/streamform/runtime/query/bound"
	"slices"
	"strings"
)

// join keeps both sides by the key of the equality conditions.
func (s *splitter) join(op *bound.Op) (*bound.Op, bool, error) {
	if len(op.Children) != 2 || op.DelimFlipped {
		return nil, false, bound.UnsupportedOp(op)
	}
	if op.JoinType == "MARK" {
		return nil, false, bound.Unsupportedf(bound.ByMembership, "IN, ANY or ALL with rows of several columns that are not compared for equality, or with nested values")
	}
	if op.LinearJoin() {
		return s.joinConstant(op)
	}
	left, err := s.input(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	if op.Type == "LOGICAL_DELIM_JOIN" {
		d, err := s.eliminated(op, left)
		if err != nil {
			return nil, false, err
		}
		s.delims = append(s.delims, d)
		defer func() { s.delims = s.delims[:len(s.delims)-1] }()
	}
	right, err := s.input(op.Children[1])
	if err != nil {
		return nil, false, err
	}
	j := joinParts{left: numberedScope(left.Columns, "l."), right: numberedScope(right.Columns, "r.")}
	if err := j.read(op); err != nil {
		return nil, false, err
	}
	left.Keys, right.Keys = j.leftKeys, j.rightKeys
	k := &Keyed{Inputs: []KeyedInput{left, right}, Kind: "join", Detail: strings.ToLower(op.JoinType) + " join", Bilinear: op.JoinType == "INNER" && op.Type != "LOGICAL_ASOF_JOIN"}
	if op.Type == "LOGICAL_CROSS_PRODUCT" {
		k.Detail, k.Bilinear = "cross join", true
	}
	switch op.JoinType {
	case "LEFT", "SINGLE", "SEMI", "ANTI":
		k.Singly = 1
	case "RIGHT":
		k.Singly = 2
	}
	tree := *op
	tree.Children = []*bound.Op{leaf(0, left.Columns), leaf(1, right.Columns)}
	if op.Type == "LOGICAL_ASOF_JOIN" {
		if !slices.Contains([]string{"INNER", "LEFT", "SEMI", "ANTI"}, op.JoinType) {
			return nil, false, bound.Unsupportedf(bound.ByJoin, "an ASOF join of type %s", op.JoinType)
		}
		// Of rows at one moment it gives any; what it gave is found by the left side's columns, which all have to be there.
		k.Detail, k.Unstable, k.Singly, tree.LeftMap, tree.RightMap = "asof "+k.Detail, true, 0, nil, nil
	}
	if err := j.body(&tree, k); err != nil {
		return nil, false, err
	}
	k.Tree = &tree
	out, retracts, err := s.addKeyed(k)
	if op.Type == "LOGICAL_ASOF_JOIN" {
		out = projected(out, append(upto(op.LeftMap, left.Columns, 0), upto(op.RightMap, right.Columns, left.Columns)...))
	}
	return out, retracts, err
}

// upto are the columns that a map keeps of so many, counted from a place on.
func upto(kept []uint64, columns, from int) []int {
	var out []int
	for i := range columns {
		if len(kept) == 0 {
			out = append(out, from+i)
		}
	}
	for _, k := range kept {
		out = append(out, from+int(k))
	}
	return out
}

func projected(op *bound.Op, columns []int) *bound.Op {
	out := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{op}}
	for _, c := range columns {
		out.Expressions = append(out.Expressions, bound.Ref(c))
	}
	return out
}

// eliminated is the relation that a correlated subquery runs over: the distinct
// values of the outer columns it mentions.
func (s *splitter) eliminated(op *bound.Op, left KeyedInput) (*bound.Op, error) {
	project := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{left.Tree}, Expressions: op.Eliminated}
	distinct := &bound.Op{Type: "LOGICAL_DISTINCT", DistinctType: "DISTINCT", Children: []*bound.Op{project}}
	out, _, err := s.distinct(distinct)
	return out, err
}

// joinParts are a join's conditions: equalities of one side each, and the rest.
type joinParts struct {
	left, right         bound.Scope
	leftKeys, rightKeys []string
	conditions          []string
}

func (j *joinParts) read(op *bound.Op) error {
	for _, c := range op.Conditions {
		if err := j.comparison(c.Left, c.Right, c.Comparison); err != nil {
			return err
		}
	}
	for _, e := range []*bound.Expr{op.Condition, op.Predicate} {
		if e == nil {
			continue
		}
		if err := j.conjuncts(e); err != nil {
			return err
		}
	}
	for i, k := range j.leftKeys {
		j.leftKeys[i] = strings.ReplaceAll(k, "l.c", "c")
		j.rightKeys[i] = strings.ReplaceAll(j.rightKeys[i], "r.c", "c")
	}
	return nil
}

func (j *joinParts) comparison(left, right *bound.Expr, kind string) error {
	l, err := j.left.SQL(left)
	if err != nil {
		return err
	}
	r, err := j.right.SQL(right)
	if err != nil {
		return err
	}
	sign, ok := bound.ComparisonSign(kind)
	if !ok {
		return bound.Unsupportedf(bound.ByForm, "a comparison of type %s", kind)
	}
	if kind == "COMPARE_EQUAL" || kind == "COMPARE_NOT_DISTINCT_FROM" {
		j.leftKeys, j.rightKeys = append(j.leftKeys, l), append(j.rightKeys, r)
	}
	j.conditions = append(j.conditions, "("+l+" "+sign+" "+r+")")
	return nil
}

// conjuncts reads a condition over both sides' columns, one after the other.
func (j *joinParts) conjuncts(e *bound.Expr) error {
	if e.Class == "BOUND_CONJUNCTION" && e.Type == "CONJUNCTION_AND" {
		for _, child := range e.Children {
			if err := j.conjuncts(child); err != nil {
				return err
			}
		}
		return nil
	}
	if e.Class == "BOUND_COMPARISON" && (e.Type == "COMPARE_EQUAL" || e.Type == "COMPARE_NOT_DISTINCT_FROM") {
		n := len(j.left)
		switch {
		case within(e.Left, 0, n) && within(e.Right, n, n+len(j.right)):
			return j.comparison(e.Left, e.Right.Shifted(n), e.Type)
		case within(e.Right, 0, n) && within(e.Left, n, n+len(j.right)):
			return j.comparison(e.Right, e.Left.Shifted(n), e.Type)
		}
	}
	text, err := bound.Scope(append(slices.Clone(j.left), j.right...)).SQL(e)
	if err != nil {
		return err
	}
	j.conditions = append(j.conditions, text)
	return nil
}

// within reports whether an expression reads columns, all of them of [from, to).
func within(e *bound.Expr, from, to int) bool {
	refs := e.Refs()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(i int) bool { return i < from || i >= to })
}

// body writes the join over the two input leaves.
func (j *joinParts) body(op *bound.Op, k *Keyed) error {
	word, rightShown := "", true
	switch op.JoinType {
	case "INNER":
		word = "JOIN"
	case "LEFT", "SINGLE":
		word = "LEFT JOIN"
	case "RIGHT":
		word = "RIGHT JOIN"
	case "OUTER", "FULL":
		word = "FULL JOIN"
	case "SEMI":
		word, rightShown = "SEMI JOIN", false
	case "ANTI":
		word, rightShown = "ANTI JOIN", false
	default:
		if op.Type != "LOGICAL_CROSS_PRODUCT" {
			return bound.Unsupportedf(bound.ByJoin, "a join of type %s", op.JoinType)
		}
		word = "JOIN"
	}
	if op.Type == "LOGICAL_ASOF_JOIN" {
		word = "ASOF " + word
	}
	list := kept(j.left, op.LeftMap)
	if rightShown {
		list = append(list, kept(j.right, op.RightMap)...)
	}
	on := strings.Join(j.conditions, " AND ")
	if on == "" {
		on = "true"
	}
	if op.JoinType == "SINGLE" {
		k.AtMostOne = "SELECT 1 FROM (SELECT row_number() OVER () AS sf$i, * FROM " + Leaf(InputLeaf(0)) + ") l JOIN " + Leaf(InputLeaf(1)) + " r ON " + on +
			" GROUP BY l.sf$i HAVING count(*) > 1 LIMIT 1"
	}
	k.Columns = len(list)
	k.Body = "SELECT " + aliased(list, 0) + " FROM " + Leaf(InputLeaf(0)) + " l " + word + " " + Leaf(InputLeaf(1)) + " r ON " + on
	if slices.ContainsFunc(slices.Concat(j.leftKeys, j.rightKeys), func(key string) bool { return strings.Contains(key, "(") }) {
		k.Lone = "SELECT " + aliased(list, 0) + " FROM " + Leaf(InputLeaf(0)) + " l " + strings.TrimPrefix(word, "ASOF ") + " " + Leaf(InputLeaf(1)) + " r ON false"
	}
	return nil
}

func kept(s bound.Scope, keep []uint64) []string {
	if len(keep) == 0 {
		return slices.Clone(s)
	}
	out := make([]string, len(keep))
	for i, k := range keep {
		out[i] = s[k]
	}
	return out
}
