package logical

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Temporal is a filter whose conditions compare the row with the time, so that rows go in and out without a change of the input.
type Temporal struct {
	ID         string // the name its output has as a leaf; it has the input's columns
	Input      KeyedInput
	Values     []string // expressions over the input's columns, which conditions compare with the time
	Names      []string // what people call the values
	Conditions []TemporalCondition
	Body       string    // SQL over the leaf InputLeaf(0) and bound.ClockSQL
	Tree       *bound.Op // the filter over its input as a leaf, for checks
	Identity   string    // canonical form of the operator and its input
}

// TemporalCondition is one comparison with a function of the time.
type TemporalCondition struct {
	Value int
	Sign  string // how the value must compare with the function: <, <=, > or >=
	SQL   string // the function, over bound.ClockSQL
	Steps []ClockStep
}

// ClockStep is one part of a function of the time, applied to what the steps before it give.
type ClockStep struct {
	Kind     string // +, -, trunc
	Type     string // of the operand: TIMESTAMP WITH TIME ZONE, TIMESTAMP, DATE
	Constant string // SQL: what is added or subtracted, or the unit
	// OneSign, if set, is SQL of an interval whose parts must not differ in sign, and Place where the query asks for the time.
	OneSign string
	Place   int
}

func conjuncts(e *bound.Expr) []*bound.Expr {
	if e.Class == "BOUND_CONJUNCTION" && e.Type == "CONJUNCTION_AND" {
		var out []*bound.Expr
		for _, c := range e.Children {
			out = append(out, conjuncts(c)...)
		}
		return out
	}
	return []*bound.Expr{e}
}

// filter keeps the conditions on the time in an operator, behind the other conditions.
func (s *splitter) filter(op *bound.Op) (*bound.Op, bool, error) {
	var plain, clocked []*bound.Expr
	for _, e := range op.Expressions {
		for _, c := range conjuncts(e) {
			if len(c.Clocks()) > 0 {
				clocked = append(clocked, comparisons(c)...)
			} else {
				plain = append(plain, c)
			}
		}
	}
	if len(clocked) == 0 {
		if best, ok, err := s.best(op); err != nil {
			return nil, false, err
		} else if ok {
			op = best
		}
		return s.linear(op)
	}
	in, err := s.input(bound.Filtered(op.Children[0], plain))
	if err != nil {
		return nil, false, err
	}
	t := &Temporal{Input: in, Tree: bound.Filtered(leaf(0, in.Columns), clocked)}
	for _, e := range clocked {
		if err := t.add(e, numberedScope(in.Columns, "")); err != nil {
			return nil, false, err
		}
	}
	body, err := Render(t.Tree)
	if err != nil {
		return nil, false, err
	}
	t.Body = body.SQL
	t.ID = fmt.Sprintf("%s%d", s.prefix, len(s.out.Operators)+1)
	s.out.Operators = append(s.out.Operators, Operator{Temporal: t})
	out := &bound.Op{Type: "LOGICAL_GET", Stored: t.ID, StoredColumns: in.Columns}
	s.memo[out] = splitResult{op: out, retracts: true}
	if len(op.ProjectionMap) == 0 {
		return out, true, nil
	}
	project := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{out}}
	for _, p := range op.ProjectionMap {
		project.Expressions = append(project.Expressions, &bound.Expr{Class: "BOUND_REF", Index: int(p)})
	}
	return project, true, nil
}

// add adds a condition on the time.
func (t *Temporal) add(e *bound.Expr, over bound.Scope) error {
	place := e.Clocks()[0]
	switch {
	case e.Class == "BOUND_COMPARISON":
		return t.compare(e, place, over)
	case e.Class == "BOUND_CONJUNCTION":
		return &bound.ClockError{Place: place, Reason: "A condition on the time stands under OR. Filter by each alternative in a query of its own, and put them together with UNION, or write the rest as another condition behind AND."}
	}
	return &bound.ClockError{Place: place, Reason: "The condition on the time is no comparison."}
}

// compare adds a comparison of a value of the row with a function of the time, either way round.
func (t *Temporal) compare(e *bound.Expr, place int, over bound.Scope) error {
	sign, ok := bound.ComparisonSign(e.Type)
	row, clock := e.Left, e.Right
	if len(row.Clocks()) > 0 {
		row, clock = clock, row
		sign = strings.NewReplacer("<", ">", ">", "<").Replace(sign)
	}
	if !ok || !slices.Contains([]string{"<", "<=", ">", ">=", "="}, sign) {
		return &bound.ClockError{Place: place, Reason: fmt.Sprintf("The time is compared with %s; use <, <=, >, >=, = or BETWEEN.", sign)}
	}
	if len(row.Clocks()) > 0 || len(clock.Refs()) > 0 {
		return &bound.ClockError{Place: place, Reason: "The time stands on the same side of the comparison as a column. Bring the columns to the other side: ts + lifetime > now() instead of ts > now() - lifetime."}
	}
	steps, err := clockSteps(clock, place)
	if err != nil {
		return err
	}
	c := TemporalCondition{Steps: steps}
	if c.SQL, err = over.SQL(clock); err != nil {
		return err
	}
	value, err := over.SQL(row)
	if err != nil {
		return err
	}
	if c.Value = slices.Index(t.Values, value); c.Value < 0 {
		c.Value = len(t.Values)
		t.Values, t.Names = append(t.Values, value), append(t.Names, nameOf(row))
	}
	if sign != "=" {
		c.Sign = sign
		t.Conditions = append(t.Conditions, c)
		return nil
	}
	for _, c.Sign = range []string{">=", "<="} {
		t.Conditions = append(t.Conditions, c)
	}
	return nil
}

// nameOf is what people call an expression.
func nameOf(e *bound.Expr) string {
	for e.Class == "BOUND_CAST" && e.Alias == "" {
		e = e.Child
	}
	if e.Alias != "" {
		return e.Alias
	}
	var names []string
	for _, p := range e.Parts() {
		if len(p.Refs()) > 0 {
			names = append(names, nameOf(p))
		}
	}
	if e.Class != "BOUND_FUNCTION" || len(names) == 0 {
		return "an expression"
	}
	return e.Name + "(" + strings.Join(names, ", ") + ")"
}

// ClockTypes are the types in which rows are compared with the time.
func ClockTypes() []string { return []string{"TIMESTAMP WITH TIME ZONE", "TIMESTAMP", "DATE"} }

// clockSteps reads a function of the time.
func clockSteps(e *bound.Expr, place int) ([]ClockStep, error) {
	typ, err := e.Return.SQL()
	if err != nil || !slices.Contains(ClockTypes(), typ) {
		return nil, &bound.ClockError{Place: place, Reason: "The time is compared as another type than DATE, TIMESTAMP or TIMESTAMPTZ. Compare the row's own time with it, in one of these types."}
	}
	if e.Class == "BOUND_CAST" && !e.TryCast {
		steps, err := clockSteps(e.Child, place)
		if typ == "DATE" {
			steps = append(steps, ClockStep{Kind: "trunc", Constant: "'day'"})
		}
		return steps, err
	}
	if e.Class == "BOUND_FUNCTION" && len(e.Children) == 1 && e.Name == "make_timestamptz" {
		if _, ok := e.Children[0].Clock(); ok {
			return nil, nil
		}
	}
	if e.Class != "BOUND_FUNCTION" || len(e.Children) != 2 {
		return nil, unknownClock(place)
	}
	return clockCall(e, place)
}

func unknownClock(place int) error {
	return &bound.ClockError{Place: place, Reason: "The function of the time is not known to grow with it. Known are adding and subtracting constants, casts to DATE and TIMESTAMP, date_trunc with a constant unit, and AT TIME ZONE 'UTC'."}
}

// clockCall reads a function of the time and a constant.
func clockCall(e *bound.Expr, place int) ([]ClockStep, error) {
	operand, constant := e.Children[0], e.Children[1]
	if len(operand.Clocks()) == 0 && e.Name != "-" {
		operand, constant = constant, operand
	}
	if len(operand.Clocks()) == 0 || len(constant.Clocks()) > 0 {
		return nil, unknownClock(place)
	}
	typ, err := operand.Return.SQL()
	if err != nil {
		return nil, err
	}
	text, err := bound.Scope(nil).SQL(constant)
	if err != nil {
		return nil, err
	}
	steps, err := clockSteps(operand, place)
	if err != nil {
		return nil, err
	}
	switch e.Name {
	case "+", "-":
		s := ClockStep{Kind: e.Name, Type: typ, Constant: text, Place: place}
		if compared := comparedInterval(constant); compared != nil {
			s.OneSign, err = bound.Scope(nil).SQL(compared)
		}
		return append(steps, s), err
	case "date_trunc", "datetrunc":
		return append(steps, ClockStep{Kind: "trunc", Type: typ, Constant: text}), nil
	case "timezone":
		if strings.EqualFold(text, "'UTC'") {
			return steps, nil
		}
	}
	return nil, unknownClock(place)
}
