package bound

import "slices"

// Ref is the i-th column of a step's input.
func Ref(i int) *Expr { return &Expr{Class: "BOUND_REF", Index: i} }

// Upto are the n positions 0, 1, …
func Upto(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Refs are the columns that an expression reads, as often as it does.
func (e *Expr) Refs() []int {
	if e == nil {
		return nil
	}
	if e.Class == "BOUND_REF" {
		return []int{e.Index}
	}
	var out []int
	for _, part := range append([]*Expr{e.Child, e.Left, e.Right, e.Input, e.Lower, e.Upper, e.ElseExpr}, e.Children...) {
		out = append(out, part.Refs()...)
	}
	for _, c := range e.CaseChecks {
		out = append(append(out, c.When.Refs()...), c.Then.Refs()...)
	}
	return out
}

// Renumbered gives an expression's columns new positions.
func (e *Expr) Renumbered(at func(int) int) *Expr {
	if e == nil {
		return nil
	}
	out := *e
	if e.Class == "BOUND_REF" {
		out.Index = at(e.Index)
		return &out
	}
	for _, part := range []**Expr{&out.Child, &out.Left, &out.Right, &out.Input, &out.Lower, &out.Upper, &out.ElseExpr, &out.Filter, &out.Filters} {
		*part = (*part).Renumbered(at)
	}
	out.Children = slices.Clone(e.Children)
	for i, c := range e.Children {
		out.Children[i] = c.Renumbered(at)
	}
	out.CaseChecks = slices.Clone(e.CaseChecks)
	for i, c := range e.CaseChecks {
		out.CaseChecks[i] = CaseCheck{When: c.When.Renumbered(at), Then: c.Then.Renumbered(at)}
	}
	return &out
}

// Shifted counts an expression's columns from n on as from 0.
func (e *Expr) Shifted(n int) *Expr { return e.Renumbered(func(i int) int { return i - n }) }

// ResultType is an expression's type; the plan leaves it out of constants, and where it is BOOLEAN.
func (e *Expr) ResultType() Type {
	switch {
	case e.Return.ID != "":
		return e.Return
	case e.Value != nil:
		return e.Value.Type
	}
	return Type{ID: "BOOLEAN"}
}

// Filtered keeps the rows of a step that pass conditions.
func Filtered(op *Op, conditions []*Expr) *Op {
	if len(conditions) == 0 {
		return op
	}
	return &Op{Type: "LOGICAL_FILTER", Children: []*Op{op}, Expressions: conditions}
}

// Compare is a comparison of two expressions.
func Compare(how string, a, b *Expr) *Expr {
	return &Expr{Class: "BOUND_COMPARISON", Type: how, Left: a, Right: b, Return: Type{ID: "BOOLEAN"}}
}
