package logical

import (
	"github.com/streamform/streamform/runtime/query/bound"
	"slices"
)

// ordered returns a copy of the expression whose commutative parts stand in the
// order of their texts, so that a AND b and b AND a read the same.
func (c canon) ordered(e *bound.Expr) (*bound.Expr, error) {
	if e == nil {
		return nil, nil
	}
	if e.Class == "BOUND_CAST" && e.Child.Class == "BOUND_FUNCTION" && e.Child.Name == "error" {
		return c.ordered(e.Child) // it never returns, so its type is nobody's matter
	}
	if e.Class == "BOUND_CAST" && e.Child.Class == "BOUND_CONSTANT" && e.Child.Value != nil && e.Child.Value.Type.ID == "VARCHAR" && plainText(e.Return) {
		return c.ordered(e.Child)
	}
	out := *e
	for _, part := range []**bound.Expr{&out.Child, &out.Left, &out.Right, &out.Input, &out.Lower, &out.Upper, &out.ElseExpr} {
		in, err := c.ordered(*part)
		if err != nil {
			return nil, err
		}
		*part = in
	}
	out.Children = slices.Clone(e.Children)
	for i, child := range out.Children {
		in, err := c.ordered(child)
		if err != nil {
			return nil, err
		}
		out.Children[i] = in
	}
	out.CaseChecks = slices.Clone(e.CaseChecks)
	for i, check := range out.CaseChecks {
		when, err := c.ordered(check.When)
		if err != nil {
			return nil, err
		}
		then, err := c.ordered(check.Then)
		if err != nil {
			return nil, err
		}
		out.CaseChecks[i] = bound.CaseCheck{When: when, Then: then}
	}
	return &out, c.sort(&out)
}

// plainText reports the type of texts without a collation.
func plainText(t bound.Type) bool {
	return t.ID == "VARCHAR" && (t.Info == nil || t.Info.Collation == "" && t.Info.Alias == "")
}

func (c canon) sort(e *bound.Expr) error {
	switch e.Class {
	case "BOUND_CONJUNCTION":
		return c.sortChildren(e)
	case "BOUND_COMPARISON":
		return c.sortSides(e)
	}
	return nil
}

func (c canon) sortChildren(e *bound.Expr) error {
	e.Children = flatten(e.Type, e.Children)
	texts := map[*bound.Expr]string{}
	for _, child := range e.Children {
		text, err := bound.Scope(c.cols).SQL(child)
		if err != nil {
			return err
		}
		texts[child] = text
	}
	slices.SortStableFunc(e.Children, func(a, b *bound.Expr) int {
		if texts[a] < texts[b] {
			return -1
		}
		if texts[a] > texts[b] {
			return 1
		}
		return 0
	})
	return nil
}

func flatten(kind string, es []*bound.Expr) []*bound.Expr {
	var out []*bound.Expr
	for _, e := range es {
		if e.Class == "BOUND_CONJUNCTION" && e.Type == kind {
			out = append(out, flatten(kind, e.Children)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

// mirrored is the comparison that holds with the sides exchanged.
func mirrored(t string) string {
	switch t {
	case "COMPARE_GREATERTHAN":
		return "COMPARE_LESSTHAN"
	case "COMPARE_LESSTHAN":
		return "COMPARE_GREATERTHAN"
	case "COMPARE_GREATERTHANOREQUALTO":
		return "COMPARE_LESSTHANOREQUALTO"
	case "COMPARE_LESSTHANOREQUALTO":
		return "COMPARE_GREATERTHANOREQUALTO"
	}
	return t
}

func (c canon) sortSides(e *bound.Expr) error {
	left, err := bound.Scope(c.cols).SQL(e.Left)
	if err != nil {
		return err
	}
	right, err := bound.Scope(c.cols).SQL(e.Right)
	if err != nil {
		return err
	}
	if left > right {
		e.Left, e.Right, e.Type = e.Right, e.Left, mirrored(e.Type)
	}
	return nil
}
