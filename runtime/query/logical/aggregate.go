package logical

import (
	"fmt"
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
	// Retracts: Input's rows may be taken back, so that Counter tells whether a group still has rows.
	Retracts bool
	Counter  int // index of the partial that counts all rows of a group; -1 when rows are never taken back
	// AppendOnly: once a group is emitted, its row never changes (DISTINCT over append-only input).
	AppendOnly bool
	Canonical  string // identity of Input and the groups, without the aggregates
	Detail     string
	Tree       *Op // Input's plan, for checks
}

// Partial is one remembered column of an aggregate.
type Partial struct {
	Expr string // aggregate over Input's columns
	Zero string // its value over no rows
	// Merge combines the remembered value $o with the epoch's $n, in SQL.
	Merge string
}

// Scalar reports an aggregate without GROUP BY: it has exactly one row, also over no input.
func (a *Aggregate) Scalar() bool { return len(a.Groups) == 0 }

// Split is a plan cut at its aggregates.
type Split struct {
	Aggregates []*Aggregate // inputs before their readers
	Final      Rendered     // what turns leaves into the relation's rows
	FinalTree  *Op
	Retracts   bool  // the relation's rows may be taken back
	Key        []int // positions in the output that identify a row; nil when there are none
	Leaves     []string
}

type splitter struct {
	prefix     string
	appendOnly func(leaf string) bool
	out        Split
}

// Cut turns a plan into aggregates and a linear rest. appendOnly tells of each
// relation read whether its rows can be taken back. *Unsupported says what stands in the way.
func Cut(op *Op, prefix string, appendOnly func(leaf string) bool) (Split, error) {
	s := &splitter{prefix: prefix, appendOnly: appendOnly}
	top := StripOrder(op)
	rest, retracts, err := s.split(top)
	if err != nil {
		return Split{}, err
	}
	final, err := Render(rest)
	if err != nil {
		return Split{}, err
	}
	if hasConstantRows(rest) {
		return Split{}, unsupported("rows that come from no relation")
	}
	s.out.Final, s.out.FinalTree, s.out.Retracts = final, rest, retracts
	s.out.Key = key(rest, s.out.Aggregates)
	return s.out, nil
}

func hasConstantRows(op *Op) bool {
	if op.Stored != "" || op.Type == "LOGICAL_GET" {
		return false
	}
	for _, c := range op.Children {
		if hasConstantRows(c) {
			return true
		}
	}
	return len(op.Children) == 0
}

func (s *splitter) split(op *Op) (*Op, bool, error) {
	switch op.Type {
	case "LOGICAL_GET":
		schema, name, ok := op.Table()
		if !ok {
			return nil, false, unsupported("the table function %s", op.Name)
		}
		return op, !s.appendOnly(RelationLeaf(schema, name)), nil
	case "LOGICAL_FILTER", "LOGICAL_PROJECTION", "LOGICAL_UNNEST", "LOGICAL_UNION":
		out := *op
		out.Children = make([]*Op, len(op.Children))
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
	case "LOGICAL_AGGREGATE_AND_GROUP_BY":
		return s.aggregate(op)
	case "LOGICAL_DISTINCT":
		return s.distinct(op)
	case "LOGICAL_ORDER_BY":
		return s.split(op.Children[0])
	}
	return nil, false, unsupported("%s", Describe(op))
}

func (s *splitter) distinct(op *Op) (*Op, bool, error) {
	if op.DistinctType != "DISTINCT" || !isNull(op.OrderBy) {
		return nil, false, unsupported("DISTINCT ON")
	}
	child, retracts, err := s.split(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	in, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	groups := make([]string, in.Columns)
	for i := range groups {
		groups[i] = column(i)
	}
	return s.add(&Aggregate{Input: in.SQL, Groups: groups, Retracts: retracts, Tree: child, Detail: "distinct rows"}, nil)
}

func (s *splitter) aggregate(op *Op) (*Op, bool, error) {
	if len(op.GroupingSets) > 1 || len(op.GroupingFunctions) > 0 ||
		(len(op.GroupingSets) == 1 && len(op.GroupingSets[0]) != len(op.Groups)) {
		return nil, false, unsupported("GROUPING SETS, ROLLUP or CUBE")
	}
	child, retracts, err := s.split(op.Children[0])
	if err != nil {
		return nil, false, err
	}
	in, err := Render(child)
	if err != nil {
		return nil, false, err
	}
	groups, err := in.scope().all(op.Groups)
	if err != nil {
		return nil, false, err
	}
	a := &Aggregate{Input: in.SQL, Groups: groups, Retracts: retracts, Tree: child, Detail: detail(op)}
	return s.add(a, func(b *partialBuilder) error {
		for _, e := range op.Expressions {
			if err := b.add(e, in.scope()); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *splitter) add(a *Aggregate, build func(*partialBuilder) error) (*Op, bool, error) {
	b := &partialBuilder{retracts: a.Retracts, index: map[string]int{}}
	a.Counter = -1
	if a.Retracts {
		a.Counter = b.partial("count(*)", "0", sumMerge("BIGINT"))
	}
	if build != nil {
		if err := build(b); err != nil {
			return nil, false, err
		}
	}
	a.Partials, a.Finals = b.partials, b.finals
	a.ID = fmt.Sprintf("%s%d", s.prefix, len(s.out.Aggregates)+1)
	a.AppendOnly = len(a.Finals) == 0 && !a.Retracts
	s.out.Aggregates = append(s.out.Aggregates, a)
	leaf := &Op{Type: "LOGICAL_GET", Stored: a.ID, StoredColumns: len(a.Groups) + len(a.Finals)}
	return leaf, !a.AppendOnly, nil
}

func detail(op *Op) string {
	var aggs []string
	for _, e := range op.Expressions {
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
func key(op *Op, aggs []*Aggregate) []int {
	positions, groups := trace(op, aggs)
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

// trace follows columns down to the stored leaf: for each output position the
// leaf's position, or -1; and how many of the leaf's columns are group columns.
func trace(op *Op, aggs []*Aggregate) ([]int, int) {
	if op.Stored != "" {
		for _, a := range aggs {
			if a.ID == op.Stored {
				positions := make([]int, op.StoredColumns)
				for i := range positions {
					positions[i] = i
				}
				return positions, len(a.Groups)
			}
		}
		return nil, 0
	}
	switch op.Type {
	case "LOGICAL_FILTER":
		in, groups := trace(op.Children[0], aggs)
		if len(op.ProjectionMap) == 0 {
			return in, groups
		}
		out := make([]int, len(op.ProjectionMap))
		for i, k := range op.ProjectionMap {
			out[i] = in[k]
		}
		return out, groups
	case "LOGICAL_PROJECTION":
		in, groups := trace(op.Children[0], aggs)
		out := make([]int, len(op.Expressions))
		for i, e := range op.Expressions {
			out[i] = -1
			if e.Class == "BOUND_REF" && e.Index < len(in) {
				out[i] = in[e.Index]
			}
		}
		return out, groups
	}
	return nil, 0
}

// Linear reports whether each row of the result comes from one row of one
// relation, so that new input rows give the new result rows.
func Linear(op *Op) bool {
	op = StripOrder(op)
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
