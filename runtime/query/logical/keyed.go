package logical

import (
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/partial"
	"slices"
	"strings"
)

// Keyed is an operator whose output rows for a key depend only on its inputs'
// rows for that key. It holds those rows, and computes touched keys again.
type Keyed struct {
	ID      string // the name its output has as a leaf
	Inputs  []KeyedInput
	Body    string // SQL over the leaves InputLeaf(0), …; columns c0, c1, …
	Columns int
	// Bilinear: the output is a product of its two inputs (an inner join), so that a
	// change of one side needs the other side's rows of the touched keys only.
	Bilinear bool
	// Singly is the input, by its number from 1, each of whose rows gives rows of its own, whatever else that input has (the left side of a
	// left join): rows of it that stay matter only where the other input changed. 0: neither is so.
	Singly int
	// AtMostOne, if set, is SQL over the input leaves that has a row when a scalar subquery gives more than one.
	AtMostOne string
	// Lone is Body where one of the inputs has no rows, so that nothing is compared; empty where the keys are columns, and no join.
	Lone string
	// Unstable: the output may depend on the order of the rows, so that what was given is remembered too. Its
	// keys are its first columns (aggregate), or expressions over its columns as over the input's.
	Unstable bool
	// Shown are the keys over the output's columns, where these do not follow from Kind; Groups is how many of the first columns an aggregate's rows
	// are told apart by, where these are not its keys. Both are set where operators were put together.
	Shown  []string
	Groups int
	// Best: rows that are not given now never will be, so that of each key those given before and the new ones are enough; all
	// rows are kept in order.
	Best bool
	// First says which rows are shown, where these are the first of each key; nil for any other operator.
	First *First
	// Alone: the output's last column is the same in every row.
	Alone bool
	// Why, of an aggregate: what stands in the way of partials. nil for other operators.
	Why    *bound.Unsupported
	Detail string
	Kind   string    // window, join, top, set, aggregate: for people
	Tree   *bound.Op // the operator over its inputs as leaves, for checks

	Identity string // of what it remembers and gives; set by Split.Identify
}

// First are the first rows of each key.
type First struct {
	Over  string // PARTITION BY and ORDER BY over the input's columns
	Most  int    // how many there are at least, if there are so many; ties may be more
	Dense bool   // Most counts the rows that tie as one
}

// KeyedInput is one input of a Keyed operator.
type KeyedInput struct {
	SQL      string // with leaves; columns c0, c1, …
	Keys     []string
	Columns  int
	Retracts bool
	Tree     *bound.Op

	Form Form // set by Split.Identify
}

// InputLeaf is the leaf name of an operator's i-th input.
func InputLeaf(i int) string { return fmt.Sprintf("sf$in%d", i) }

// ShownKeys are the key's expressions over the operator's output.
func (k *Keyed) ShownKeys() []string {
	switch {
	case k.Shown != nil:
		return k.Shown
	case k.Kind == "aggregate":
		return numberedScope(len(k.Inputs[0].Keys), "")
	}
	return k.Inputs[0].Keys
}

// Global reports that there is no key: any change touches everything.
func (k *Keyed) Global() bool { return len(k.Inputs[0].Keys) == 0 }

// Retracts reports whether output rows may be taken back.
func (k *Keyed) Retracts() bool {
	if !k.Bilinear {
		return true
	}
	return slices.ContainsFunc(k.Inputs, func(in KeyedInput) bool { return in.Retracts })
}

// input splits and renders a child, and gives it keys.
func (s *splitter) input(op *bound.Op) (KeyedInput, error) {
	tree, retracts, err := s.split(op)
	if err != nil {
		return KeyedInput{}, err
	}
	r, err := Render(tree)
	if err != nil {
		return KeyedInput{}, err
	}
	return KeyedInput{SQL: r.SQL, Columns: r.Columns, Retracts: retracts, Tree: tree}, nil
}

// leaf is an input as the operator's body reads it.
func leaf(i, columns int) *bound.Op {
	return &bound.Op{Type: "LOGICAL_GET", Stored: InputLeaf(i), StoredColumns: columns}
}

func numberedScope(n int, prefix string) bound.Scope {
	s := make(bound.Scope, n)
	for i := range s {
		s[i] = prefix + column(i)
	}
	return s
}

func (s *splitter) addKeyed(k *Keyed) (*bound.Op, bool, error) {
	k.ID = fmt.Sprintf("%s%d", s.prefix, len(s.out.Operators)+1)
	s.out.Operators = append(s.out.Operators, Operator{Keyed: k})
	op := &bound.Op{Type: "LOGICAL_GET", Stored: k.ID, StoredColumns: k.Columns}
	s.memo[op] = splitResult{op: op, retracts: k.Retracts()}
	return op, k.Retracts(), nil
}

// windows keeps window functions: one operator for each set of partition columns.
func (s *splitter) windows(op *bound.Op) (*bound.Op, bool, error) {
	child, width := op.Children[0], 0
	var groups [][]int
	var sets []string
	for i, e := range op.Expressions {
		id := fmt.Sprint(len(e.Partitions))
		for _, p := range e.Partitions {
			text, err := numberedScope(1<<12, "").SQL(p)
			if err != nil {
				return nil, false, err
			}
			id += "," + text
		}
		at := slices.Index(sets, id)
		if at < 0 {
			at = len(sets)
			sets, groups = append(sets, id), append(groups, nil)
		}
		groups[at] = append(groups[at], i)
	}
	place := make([]int, len(op.Expressions))
	retracts := false
	for g, members := range groups {
		var exprs []*bound.Expr
		for _, m := range members {
			exprs = append(exprs, op.Expressions[m])
		}
		next, n, r, err := s.window(child, exprs)
		if err != nil {
			return nil, false, err
		}
		if g == 0 {
			width = n
		}
		for j, m := range members {
			place[m] = n + j
		}
		child, retracts = next, r
	}
	out := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{child}}
	for i := range width {
		out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_REF", Index: i})
	}
	for _, p := range place {
		out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_REF", Index: p})
	}
	return out, retracts, nil
}

// window is one operator for window functions of equal partitions; it appends their columns.
func (s *splitter) window(child *bound.Op, exprs []*bound.Expr) (*bound.Op, int, bool, error) {
	in, err := s.input(child)
	if err != nil {
		return nil, 0, false, err
	}
	over := numberedScope(in.Columns, "")
	if in.Keys, err = over.All(exprs[0].Partitions); err != nil {
		return nil, 0, false, err
	}
	var list, names []string
	for _, e := range exprs {
		text, err := over.Window(e)
		if err != nil {
			return nil, 0, false, err
		}
		list = append(list, text)
		names = append(names, functionName(text))
	}
	k := &Keyed{Inputs: []KeyedInput{in}, Columns: in.Columns + len(exprs), Kind: "window", Unstable: !partial.StableOver(exprs, in.Columns), Detail: strings.Join(names, ", "),
		Body: "SELECT *, " + aliased(list, in.Columns) + " FROM " + Leaf(InputLeaf(0)),
		Tree: &bound.Op{Type: "LOGICAL_WINDOW", Children: []*bound.Op{leaf(0, in.Columns)}, Expressions: exprs}}
	op, retracts, err := s.addKeyed(k)
	return op, in.Columns, retracts, err
}

// functionName is the name that a rendered call begins with.
func functionName(call string) string { return strings.Trim(call[:strings.IndexByte(call, '(')], `"`) }

// recompute keeps an aggregate that has no mergeable partials: its rows by group.
func (s *splitter) recompute(op *bound.Op, child *bound.Op, retracts bool, why *bound.Unsupported) (*bound.Op, bool, error) {
	r, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	over := numberedScope(r.Columns, "")
	keys, err := over.All(op.Groups)
	if err != nil {
		return nil, false, err
	}
	list := slices.Clone(keys)
	for _, e := range op.Expressions {
		text, err := over.AggregateCall(e)
		if err != nil {
			return nil, false, err
		}
		list = append(list, text)
	}
	body := "SELECT " + aliased(list, 0) + " FROM " + Leaf(InputLeaf(0))
	if len(keys) > 0 {
		body += " GROUP BY " + positions(len(keys))
	}
	tree := *op
	tree.Children = []*bound.Op{leaf(0, r.Columns)}
	return s.addKeyed(&Keyed{Inputs: []KeyedInput{{SQL: r.SQL, Keys: keys, Columns: r.Columns, Retracts: retracts, Tree: child}},
		Body: body, Columns: len(list), Kind: "aggregate", Unstable: !partial.AllStable(op.Expressions, partial.Stable), Why: why, Detail: detail(op), Tree: &tree})
}

func positions(n int) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(parts, ", ")
}

// distinctOn keeps the rows of each key and shows the first in order.
func (s *splitter) distinctOn(op *bound.Op) (*bound.Op, bool, error) {
	in, err := s.input(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	over := numberedScope(in.Columns, "")
	if in.Keys, err = over.All(op.DistinctTargets); err != nil {
		return nil, false, err
	}
	orders, err := bound.DecodeOrders(op.OrderBy)
	if err != nil {
		return nil, false, err
	}
	body := "SELECT DISTINCT ON (" + strings.Join(in.Keys, ", ") + ") * FROM " + Leaf(InputLeaf(0))
	first := &First{Over: "PARTITION BY " + strings.Join(in.Keys, ", "), Most: 1}
	if len(orders) > 0 {
		by, err := over.OrderBy(orders)
		if err != nil {
			return nil, false, err
		}
		body, first.Over = body+" "+by, first.Over+" "+by
	}
	tree := *op
	tree.Children = []*bound.Op{leaf(0, in.Columns)}
	return s.addKeyed(&Keyed{Inputs: []KeyedInput{in}, Body: body, Columns: in.Columns, Kind: "top", Unstable: true, Best: !in.Retracts, First: first, Detail: "first row by " + strings.Join(in.Keys, ", "), Tree: &tree})
}

// top keeps all rows and shows the first in order.
func (s *splitter) top(op *bound.Op) (*bound.Op, bool, error) {
	sorted := op.Children[0]
	if sorted.Type != "LOGICAL_ORDER_BY" || len(sorted.Projections) > 0 {
		return nil, false, bound.Unsupportedf(bound.ByOrder, "LIMIT without ORDER BY")
	}
	limit, err := limits(op)
	if err != nil {
		return nil, false, err
	}
	in, err := s.input(sorted.Children[0])
	if err != nil {
		return nil, false, err
	}
	by, err := numberedScope(in.Columns, "").OrderBy(sorted.Orders)
	if err != nil {
		return nil, false, err
	}
	order := *sorted
	order.Children = []*bound.Op{leaf(0, in.Columns)}
	tree := *op
	tree.Children = []*bound.Op{&order}
	var first *First
	if op.LimitVal.Type == "CONSTANT_VALUE" && op.LimitVal.Constant > 0 && op.OffsetVal.Type != "CONSTANT_VALUE" {
		first = &First{Over: by, Most: int(op.LimitVal.Constant)}
	}
	return s.addKeyed(&Keyed{Inputs: []KeyedInput{in}, Body: "SELECT * FROM " + Leaf(InputLeaf(0)) + " " + by + limit,
		Columns: in.Columns, Kind: "top", Unstable: true, Best: !in.Retracts && op.OffsetVal.Type != "CONSTANT_VALUE", First: first, Detail: strings.TrimSpace(limit), Tree: &tree})
}

func limits(op *bound.Op) (string, error) {
	text := ""
	for i, b := range []bound.Bound{op.LimitVal, op.OffsetVal} {
		switch b.Type {
		case "UNSET", "":
		case "CONSTANT_VALUE":
			text += fmt.Sprint([]string{" LIMIT ", " OFFSET "}[i], b.Constant)
		default:
			return "", bound.Unsupportedf(bound.ByLimit, "a LIMIT that is no constant")
		}
	}
	return text, nil
}

// setOperation keeps both sides by whole rows.
func (s *splitter) setOperation(op *bound.Op) (*bound.Op, bool, error) {
	word := " EXCEPT "
	if op.Type == "LOGICAL_INTERSECT" {
		word = " INTERSECT "
	}
	if op.SetOpAll {
		word += "ALL "
	}
	k := &Keyed{Kind: "set", Detail: strings.TrimSpace(word)}
	tree := *op
	tree.Children = nil
	for i, child := range op.Children {
		in, err := s.input(child)
		if err != nil {
			return nil, false, err
		}
		in.Keys = numberedScope(in.Columns, "")
		k.Inputs = append(k.Inputs, in)
		tree.Children = append(tree.Children, leaf(i, in.Columns))
	}
	if len(k.Inputs) != 2 {
		return nil, false, bound.UnsupportedOp(op)
	}
	k.Columns, k.Tree = k.Inputs[0].Columns, &tree
	if !op.SetOpAll {
		k.Tree = &bound.Op{Type: "LOGICAL_DISTINCT", DistinctType: "DISTINCT", Children: []*bound.Op{&tree}}
	}
	k.Body = "SELECT * FROM " + Leaf(InputLeaf(0)) + word + "SELECT * FROM " + Leaf(InputLeaf(1))
	return s.addKeyed(k)
}
