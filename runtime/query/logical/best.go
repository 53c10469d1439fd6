package logical

import (
	"encoding/json"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/partial"
)

// best recognises a filter that keeps the first rows of each partition by a ranking function. These are remembered, and told from
// those that come in their place; over rows that are never taken back, a row that is not among them never will be. ok is false for any other filter.
func (s *splitter) best(op *bound.Op) (out *bound.Op, ok bool, err error) {
	var projections []*bound.Op
	window := op.Children[0]
	for window.Type == "LOGICAL_PROJECTION" {
		projections, window = append(projections, window), window.Children[0]
	}
	if window.Type != "LOGICAL_WINDOW" || !ranking(window.Expressions[0]) || !allSame(window.Expressions) {
		return nil, false, nil
	}
	in, err := s.input(window.Children[0])
	if err != nil {
		return nil, false, nil // said where the window is cut
	}
	most, ok := bounded(op.Expressions, projections, ranked{in.Columns, len(window.Expressions)})
	if !ok {
		return nil, false, nil
	}
	leaf, err := s.firstRows(in, window.Expressions[0], most)
	if err != nil {
		return nil, false, err
	}
	if again := len(window.Expressions) - 1; again > 0 {
		project := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{leaf}}
		for i := range in.Columns + again + 1 {
			project.Expressions = append(project.Expressions, bound.Ref(min(i, in.Columns)))
		}
		leaf = project
	}
	for i := len(projections) - 1; i >= 0; i-- {
		p := *projections[i]
		p.Children = []*bound.Op{leaf}
		leaf = &p
	}
	filter := *op
	filter.Children = []*bound.Op{leaf}
	return &filter, true, nil
}

// ranking functions number rows in order: more rows never lessen a row's number.
func ranking(e *bound.Expr) bool {
	return e.Type == "WINDOW_ROW_NUMBER" || e.Type == "WINDOW_RANK" || e.Type == "WINDOW_RANK_DENSE"
}

// allSame reports that window functions are one, written several times.
func allSame(es []*bound.Expr) bool {
	first, err := numberedScope(1<<12, "").Window(es[0])
	for _, e := range es[1:] {
		text, again := numberedScope(1<<12, "").Window(e)
		if err != nil || again != nil || text != first {
			return false
		}
	}
	return err == nil
}

// ranked says where the ranking column stands, behind the window's input, and how often.
type ranked struct{ first, count int }

// bounded finds a condition that bounds the ranking column.
func bounded(conditions []*bound.Expr, projections []*bound.Op, r ranked) (int, bool) {
	for _, c := range conditions {
		for _, e := range conjuncts(c) {
			column, most, ok := upper(e)
			for _, p := range projections {
				if !ok || column >= len(p.Expressions) || p.Expressions[column].Class != "BOUND_REF" {
					ok = false
					break
				}
				column = p.Expressions[column].Index
			}
			if ok && column >= r.first && column < r.first+r.count && most >= 1 {
				return most, true
			}
		}
	}
	return 0, false
}

// upper reads column <= n, column < n or column = n.
func upper(e *bound.Expr) (column, most int, ok bool) {
	if e.Class != "BOUND_COMPARISON" {
		return 0, 0, false
	}
	left, right, how := e.Left, e.Right, e.Type
	if left.Class == "BOUND_CONSTANT" {
		left, right, how = right, left, mirrored(how)
	}
	if left.Class != "BOUND_REF" || right.Class != "BOUND_CONSTANT" || right.Value == nil || right.Value.IsNull || right.Value.Type.ID != "BIGINT" ||
		json.Unmarshal(right.Value.Data, &most) != nil {
		return 0, 0, false
	}
	switch how {
	case "COMPARE_LESSTHAN":
		most--
	case "COMPARE_LESSTHANOREQUALTO", "COMPARE_EQUAL":
	default:
		return 0, 0, false
	}
	return left.Index, most, true
}

// firstRows is the operator for the rows whose rank is at most a number.
func (s *splitter) firstRows(in KeyedInput, rank *bound.Expr, most int) (*bound.Op, error) {
	over := numberedScope(in.Columns, "")
	var err error
	if in.Keys, err = over.All(rank.Partitions); err != nil {
		return nil, err
	}
	text, err := over.Window(rank)
	if err != nil {
		return nil, err
	}
	column := bound.Ref(in.Columns)
	column.Return = bound.Type{ID: "BIGINT"}
	limit := partial.ConstantOf("BIGINT", most)
	condition, err := limit.Value.SQL()
	if err != nil {
		return nil, err
	}
	numbered := &bound.Op{Type: "LOGICAL_WINDOW", Children: []*bound.Op{leaf(0, in.Columns)}, Expressions: []*bound.Expr{rank}}
	_, of, _ := strings.Cut(text, " OVER (")
	first := &First{Over: strings.TrimSuffix(of, ")"), Most: most, Dense: rank.Type == "WINDOW_RANK_DENSE"}
	k := &Keyed{Inputs: []KeyedInput{in}, Columns: in.Columns + 1, Kind: "window", Unstable: true, Best: !in.Retracts, First: first, Alone: most == 1, Detail: "first rows by " + functionName(text),
		Body: "SELECT * FROM (SELECT *, " + aliased([]string{text}, in.Columns) + " FROM " + Leaf(InputLeaf(0)) + ") WHERE " + numberedScope(in.Columns+1, "")[in.Columns] + " <= " + condition,
		Tree: &bound.Op{Type: "LOGICAL_FILTER", Children: []*bound.Op{numbered}, Expressions: []*bound.Expr{bound.Compare("COMPARE_LESSTHANOREQUALTO", column, limit)}}}
	op, _, err := s.addKeyed(k)
	return op, err
}
