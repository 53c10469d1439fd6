package logical

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/partial"
)

// constantRows makes constant rows an operator that gives them once, in the first epoch: an aggregate over nothing else, which
// gathers them in a list. Above it the list is taken apart.
func (s *splitter) constantRows(op *bound.Op) (*bound.Op, bool, error) {
	in, err := Render(op)
	if err != nil {
		return nil, false, err
	}
	types, ok := op.ConstantTypes()
	if !ok || len(types) != in.Columns {
		return nil, false, bound.Unsupportedf(bound.ByConstants, "rows that come from no relation, of an unknown type")
	}
	columns, members := make([]*bound.Expr, len(types)), make([]string, len(types))
	parts, declared := make([]string, len(types)), make([]string, len(types))
	for i, t := range types {
		typ, err := t.SQL()
		if err != nil {
			return nil, false, err
		}
		members[i] = fmt.Sprintf("m%d", i)
		columns[i], parts[i], declared[i] = bound.Ref(i), fmt.Sprintf("%s := CAST(%s AS %s)", members[i], column(i), typ), members[i]+" "+typ
	}
	rows := Partial{Kind: "rows", Expr: "list(struct_pack(" + strings.Join(parts, ", ") + "))", Zero: "NULL", Merge: "$o",
		Of: &bound.Expr{Class: "BOUND_AGGREGATE", Name: "list", Children: columns}}
	leaf, _, err := s.add(&Aggregate{Input: in.SQL, Tree: op, Detail: "constant rows"}, func(b *partial.Builder) error {
		b.Finals, b.Types = []string{partial.Name(b.Partial(rows))}, []string{"STRUCT(" + strings.Join(declared, ", ") + ")[]"}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	s.out.Operators[len(s.out.Operators)-1].Aggregate.AppendOnly = true
	s.memo[leaf] = splitResult{op: leaf}
	unnest := &bound.Op{Type: "LOGICAL_UNNEST", Children: []*bound.Op{leaf}, Expressions: []*bound.Expr{{Class: "BOUND_UNNEST", Child: bound.Ref(0)}}}
	apart := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{unnest}}
	for _, m := range members {
		name := &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: bound.Type{ID: "VARCHAR"}, Data: json.RawMessage(`"` + m + `"`)}}
		apart.Expressions = append(apart.Expressions, &bound.Expr{Class: "BOUND_FUNCTION", Name: "struct_extract", Children: []*bound.Expr{bound.Ref(1), name}})
	}
	return apart, false, nil
}

// renderConstant writes rows that are made of nothing else.
func renderConstant(op *bound.Op) (Rendered, error) {
	sql, columns, err := op.ConstantSQL()
	r := Rendered{SQL: sql, Columns: columns}
	if op.Type == "LOGICAL_DUMMY_SCAN" {
		r.Unnamed = map[int]bool{0: true}
	}
	return r, err
}

func canonicalConstant(op *bound.Op) (canon, error) {
	sql, columns, err := op.ConstantSQL()
	if err != nil {
		return canon{}, err
	}
	if op.Type == "LOGICAL_DUMMY_SCAN" {
		return canon{base: "one row", cols: []string{""}}, nil
	}
	out := canon{base: Digest("constant", sql)}
	for i := range columns {
		out.cols = append(out.cols, opaque("v", column(i), out.base))
	}
	return out, nil
}

// joinConstant splits the side of a linear join that is not constant.
func (s *splitter) joinConstant(op *bound.Op) (*bound.Op, bool, error) {
	out := *op
	out.Children = slices.Clone(op.Children)
	side := 0
	if op.Children[0].Constant() {
		side = 1
	}
	in, retracts, err := s.split(op.Children[side])
	out.Children[side] = in
	return &out, retracts, err
}

// renderJoin writes a linear join. Any other was made an operator before.
func renderJoin(op *bound.Op) (Rendered, error) {
	if !op.LinearJoin() {
		return Rendered{}, bound.UnsupportedOp(op)
	}
	left, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	right, err := Render(op.Children[1])
	if err != nil {
		return Rendered{}, err
	}
	j := joinParts{left: numberedScope(left.Columns, "l."), right: numberedScope(right.Columns, "r.")}
	if err := j.read(op); err != nil {
		return Rendered{}, err
	}
	k := &Keyed{}
	if err := j.body(op, k); err != nil {
		return Rendered{}, err
	}
	sides := map[string]string{InputLeaf(0): left.SQL, InputLeaf(1): right.SQL}
	sql, err := Replace(k.Body, func(name string) (string, error) { return "(" + sides[name] + ")", nil })
	return Rendered{SQL: sql, Columns: k.Columns}, err
}
