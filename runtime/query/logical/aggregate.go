package logical

import (
	"errors"
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/partial"
	"strings"
)

// Aggregate is an aggregate whose groups are kept up to date from partials: per
// group the Partials are remembered, merged with those of an epoch's rows, and the Finals computed from them.
type Aggregate struct {
	ID     string   // the name its output has as a leaf
	Input  string   // SQL with leaves; columns c0, c1, …
	Groups []string // expressions over Input's columns
	// Partials are computed over the rows of Input and merged pairwise.
	Partials []Partial
	Finals   []string // expressions over partial columns p0, p1, …
	// FinalTypes are the types the Finals are cast to.
	FinalTypes []string
	// Retracts: Input's rows may be taken back, so that Counter tells whether a group still has rows.
	Retracts bool
	Counter  int // index of the partial that counts all rows of a group; -1 when rows are never taken back
	// AppendOnly: once a group is emitted, its row never changes (DISTINCT over append-only input).
	AppendOnly bool
	Detail     string
	Tree       *bound.Op // Input's plan, for checks

	Form       Form     // of Input; this and what follows is set by Split.Identify
	GroupForms []string // what each group is
	// Arms are the parts of a UNION ALL whose rows are told apart by a number in them, so that each partial is about one; else
	// there is one arm, the input.
	Arms      []Arm
	Remembers string // identity of what is remembered
	Identity  string // identity of the output: Remembers and the finals

	groups []*bound.Expr
}

// Arm is a part of an aggregate's input.
type Arm struct {
	Form   Form
	Groups []string // what each group is
	Leaves []string // that it reads
}

// Partial is one remembered column of an aggregate.
type Partial = partial.Partial

// Scalar reports an aggregate without GROUP BY: it has exactly one row, also over no input.
func (a *Aggregate) Scalar() bool { return len(a.Groups) == 0 }

// Operator is one stateful step: exactly one of its fields is set.
type Operator struct {
	Aggregate *Aggregate
	Keyed     *Keyed
	Temporal  *Temporal
}

// ID is the name of the operator's output as a leaf.
func (o Operator) ID() string {
	switch {
	case o.Keyed != nil:
		return o.Keyed.ID
	case o.Temporal != nil:
		return o.Temporal.ID
	}
	return o.Aggregate.ID
}

// Split is a plan cut at its stateful steps.
type Split struct {
	Operators []Operator // inputs before their readers
	Final     Rendered   // what turns leaves into the relation's rows
	FinalTree *bound.Op
	Form      Form  // of the relation's rows; set by Identify
	Retracts  bool  // the relation's rows may be taken back
	Key       []int // positions in the output that identify a row; nil when there are none
	// Faithful: the rows are those that one operator gives, some left out perhaps, each with all its columns: where these differ, so do the rows.
	Faithful bool
}

type splitter struct {
	prefix     string
	appendOnly func(leaf string) bool
	out        Split
	memo       map[*bound.Op]splitResult // parts that are read several times are computed once
	delims     []*bound.Op               // what DELIM_GET reads, innermost last
}

type splitResult struct {
	op       *bound.Op
	retracts bool
}

// Cut turns a plan into aggregates and a linear rest. appendOnly tells of each
// relation read whether its rows can be taken back. *bound.Unsupported says what stands in the way.
func Cut(op *bound.Op, prefix string, appendOnly func(leaf string) bool) (Split, error) {
	s := &splitter{prefix: prefix, appendOnly: appendOnly, memo: map[*bound.Op]splitResult{}}
	top := bound.StripOrder(op)
	rest, retracts, err := s.split(top)
	if err != nil {
		return Split{}, err
	}
	final, err := Render(rest)
	if err != nil {
		return Split{}, err
	}
	s.out.Final, s.out.FinalTree, s.out.Retracts = final, rest, retracts
	s.out.Key = key(rest, s.out.Operators)
	s.out.Faithful = faithful(rest, s.out.Operators)
	return s.out, nil
}

func (s *splitter) split(op *bound.Op) (*bound.Op, bool, error) {
	if done, ok := s.memo[op]; ok {
		return done.op, done.retracts, nil
	}
	out, retracts, err := s.splitNew(op)
	if err == nil {
		s.memo[op] = splitResult{op: out, retracts: retracts}
		s.memo[out] = splitResult{op: out, retracts: retracts}
	}
	return out, retracts, err
}

func (s *splitter) splitNew(op *bound.Op) (*bound.Op, bool, error) {
	if op.Constant() {
		return s.constantRows(op)
	}
	switch op.Type {
	case "LOGICAL_DELIM_GET":
		if len(s.delims) == 0 {
			return nil, false, bound.UnsupportedOp(op)
		}
		return s.split(s.delims[len(s.delims)-1])
	case "LOGICAL_WINDOW":
		return s.windows(op)
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_ASOF_JOIN", "LOGICAL_CROSS_PRODUCT", "LOGICAL_DELIM_JOIN":
		return s.join(op)
	case "LOGICAL_EXCEPT", "LOGICAL_INTERSECT":
		return s.setOperation(op)
	case "LOGICAL_LIMIT":
		return s.top(op)
	case "LOGICAL_GET":
		schema, name, ok := op.Table()
		if !ok {
			return nil, false, bound.Unsupportedf(bound.ByTableFunction, "the table function %s", op.Name)
		}
		return op, !s.appendOnly(RelationLeaf(schema, name)), nil
	case "LOGICAL_FILTER":
		return s.filter(op)
	case "LOGICAL_PROJECTION", "LOGICAL_UNNEST", "LOGICAL_UNION":
		return s.linear(op)
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return s.aggregate(op)
	case "LOGICAL_DISTINCT":
		return s.distinct(op)
	case "LOGICAL_ORDER_BY":
		return s.split(op.Children[0])
	}
	return nil, false, bound.UnsupportedOp(op)
}

// linear splits the children of a step that needs no memory.
func (s *splitter) linear(op *bound.Op) (*bound.Op, bool, error) {
	out := *op
	out.Children = make([]*bound.Op, len(op.Children))
	retracts := false
	for i, c := range op.Children {
		in, r, err := s.split(c)
		if err != nil {
			return nil, false, err
		}
		out.Children[i] = in
		retracts = retracts || r
	}
	return &out, retracts, nil
}

func (s *splitter) distinct(op *bound.Op) (*bound.Op, bool, error) {
	if op.DistinctType != "DISTINCT" {
		return s.distinctOn(op)
	}
	child, retracts, err := s.split(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	in, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	groups, exprs := make([]string, in.Columns), make([]*bound.Expr, in.Columns)
	for i := range groups {
		groups[i], exprs[i] = column(i), bound.Ref(i)
	}
	return s.add(&Aggregate{Input: in.SQL, Groups: groups, groups: exprs, Retracts: retracts, Tree: child, Detail: "distinct rows"}, nil)
}

func (s *splitter) aggregate(op *bound.Op) (*bound.Op, bool, error) {
	if len(op.GroupingSets) > 1 || len(op.GroupingFunctions) > 0 ||
		(len(op.GroupingSets) == 1 && len(op.GroupingSets[0]) != len(op.Groups)) {
		return s.groupingSets(op)
	}
	child, retracts, err := s.split(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	in, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	apart, err := partial.Apart(op, child, in.scope(), retracts)
	if err != nil {
		return nil, false, err
	}
	if apart == nil {
		return s.grouped(op, child, grouping{retracts: retracts})
	}
	g := grouping{}
	if child, g.retracts, err = s.split(apart.Op.Children[0]); err != nil {
		return nil, false, err
	}
	if !retracts {
		g.growing = apart.Plain
	}
	return s.grouped(apart.Op, child, g)
}

// grouping says which of the rows of an aggregate's input may be taken back.
type grouping struct {
	retracts bool   // some
	growing  []bool // by call: none that it is about; nil: that holds for no call
}

// grouped is an aggregate over an input that was split.
func (s *splitter) grouped(op, child *bound.Op, g grouping) (*bound.Op, bool, error) {
	in, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	groups, err := in.scope().All(op.Groups)
	if err != nil {
		return nil, false, err
	}
	a := &Aggregate{Input: in.SQL, Groups: groups, groups: op.Groups, Retracts: g.retracts, Tree: child, Detail: detail(op)}
	out, again, err := s.add(a, func(b *partial.Builder) error {
		for i, e := range op.Expressions {
			add := b.Add
			if g.growing != nil && g.growing[i] {
				add = b.Growing
			}
			if err := add(e, in.scope()); err != nil {
				return err
			}
		}
		return nil
	})
	var reason *bound.Unsupported
	if errors.As(err, &reason) {
		return s.recompute(op, child, g.retracts, reason)
	}
	return out, again, err
}

func (s *splitter) add(a *Aggregate, build func(*partial.Builder) error) (*bound.Op, bool, error) {
	b := partial.NewBuilder(a.Retracts)
	a.Counter = -1
	if a.Retracts {
		a.Counter = b.Partial(partial.Number("count", "count(*)", "BIGINT", nil))
	}
	if build != nil {
		if err := build(b); err != nil {
			return nil, false, err
		}
	}
	a.Partials, a.Finals, a.FinalTypes = b.Partials, b.Finals, b.Types
	a.ID = fmt.Sprintf("%s%d", s.prefix, len(s.out.Operators)+1)
	a.AppendOnly = len(a.Finals) == 0 && !a.Retracts
	s.out.Operators = append(s.out.Operators, Operator{Aggregate: a})
	leaf := &bound.Op{Type: "LOGICAL_GET", Stored: a.ID, StoredColumns: len(a.Groups) + len(a.Finals)}
	s.memo[leaf] = splitResult{op: leaf, retracts: !a.AppendOnly}
	return leaf, !a.AppendOnly, nil
}

func detail(op *bound.Op) string {
	var aggs []string
	for _, e := range op.Expressions {
		if e.Name == "count_star" {
			aggs = append(aggs, "count(*)")
			continue
		}
		aggs = append(aggs, e.Name)
	}
	text := strings.Join(aggs, ", ")
	if text == "" {
		text = "distinct groups"
	}
	if len(op.Groups) == 0 {
		return text + " over everything"
	}
	var keys []string
	for i, g := range op.Groups {
		name := g.Alias
		if name == "" {
			name = fmt.Sprintf("expression %d", i+1)
		}
		keys = append(keys, name)
	}
	return text + " by " + strings.Join(keys, ", ")
}

// key finds output columns that identify a row: the group columns of the last
// aggregate, if projections and filters carry all of them to the top.
func key(op *bound.Op, operators []Operator) []int {
	positions, groups := tracing{operators, itself}.trace(op)
	if groups == 0 {
		return nil
	}
	out := make([]int, groups)
	found := make([]bool, groups)
	for i, p := range positions {
		if p >= 0 && p < groups && !found[p] {
			out[p], found[p] = i, true
		}
	}
	for _, f := range found {
		if !f {
			return nil
		}
	}
	return out
}

// faithful reports whether projections and filters carry all columns of an operator to the top, but for one that is always the same.
func faithful(op *bound.Op, operators []Operator) bool {
	positions, _ := tracing{operators, wholeNumber}.trace(op)
	found := map[int]bool{}
	for _, p := range positions {
		found[p] = true
	}
	for len(op.Children) == 1 && op.Stored == "" {
		op = op.Children[0]
	}
	for _, o := range operators {
		if o.Temporal != nil || o.ID() != op.Stored {
			continue
		}
		columns := op.StoredColumns
		if o.Keyed != nil && o.Keyed.Alone {
			columns--
		}
		for i := range columns {
			if !found[i] {
				return false
			}
		}
		return true
	}
	return false
}

// tracing follows columns down to a stored leaf, as far as an expression is one of them in another form.
type tracing struct {
	operators []Operator
	of        func(*bound.Expr) *bound.Expr
}

func itself(e *bound.Expr) *bound.Expr { return e }

// wholeNumber is the expression that gives the same whole number in another type.
func wholeNumber(e *bound.Expr) *bound.Expr {
	for e.Class == "BOUND_CAST" && !e.TryCast && whole(e.Return) && whole(e.Child.ResultType()) {
		e = e.Child
	}
	return e
}

func whole(t bound.Type) bool {
	return strings.HasSuffix(t.ID, "INTEGER") || strings.HasSuffix(t.ID, "BIGINT") || strings.HasSuffix(t.ID, "SMALLINT") || strings.HasSuffix(t.ID, "TINYINT") || strings.HasSuffix(t.ID, "HUGEINT")
}

// trace follows columns down to the stored leaf: for each output position the
// leaf's position, or -1; and how many of the leaf's columns are group columns.
func (t tracing) trace(op *bound.Op) ([]int, int) {
	if op.Stored != "" {
		for _, o := range t.operators {
			if o.Temporal != nil && o.Temporal.ID == op.Stored {
				return t.trace(o.Temporal.Input.Tree)
			}
		}
		positions := make([]int, op.StoredColumns)
		for i := range positions {
			positions[i] = i
		}
		return positions, keyWidth(op.Stored, t.operators)
	}
	switch op.Type {
	case "LOGICAL_FILTER":
		in, groups := t.trace(op.Children[0])
		if len(op.ProjectionMap) == 0 {
			return in, groups
		}
		out := make([]int, len(op.ProjectionMap))
		for i, k := range op.ProjectionMap {
			out[i] = in[k]
		}
		return out, groups
	case "LOGICAL_PROJECTION":
		in, groups := t.trace(op.Children[0])
		out := make([]int, len(op.Expressions))
		for i, e := range op.Expressions {
			out[i] = -1
			if e = t.of(e); e.Class == "BOUND_REF" && e.Index < len(in) {
				out[i] = in[e.Index]
			}
		}
		return out, groups
	}
	return nil, 0
}

// Linear reports whether each row of the result comes from one row of one
// relation, so that new input rows give the new result rows.
func Linear(op *bound.Op) bool {
	op = bound.StripOrder(op)
	switch op.Type {
	case "LOGICAL_GET":
		_, _, ok := op.Table()
		return ok
	case "LOGICAL_FILTER", "LOGICAL_PROJECTION", "LOGICAL_UNNEST":
		return Linear(op.Children[0])
	case "LOGICAL_UNION":
		for _, c := range op.Children {
			if !Linear(c) {
				return false
			}
		}
		return op.SetOpAll && len(op.Children) > 0
	}
	return false
}

// keyWidth is how many of an operator's first columns identify its rows: those of a GROUP BY.
func keyWidth(id string, operators []Operator) int {
	for _, o := range operators {
		switch {
		case o.ID() != id:
		case o.Aggregate != nil:
			return len(o.Aggregate.Groups)
		case o.Temporal != nil: // see trace
		case o.Keyed.Kind == "aggregate":
			return len(o.Keyed.Inputs[0].Keys)
		}
	}
	return 0
}

// groupingSets turns GROUPING SETS, ROLLUP and CUBE into the union of their sets.
func (s *splitter) groupingSets(op *bound.Op) (*bound.Op, bool, error) {
	child, _, err := s.split(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	return s.split(partial.Sets(op, child))
}
