package logical

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// arms finds the parts of an aggregate's input, and what each partial is computed from.
func (z *canonizer) arms(a *Aggregate, in canon) error {
	apart, err := z.apart(a)
	if err != nil || apart {
		return err
	}
	a.Arms = []Arm{{Form: a.Form, Groups: a.GroupForms, Leaves: Leaves(a.Input)}}
	for i := range a.Partials {
		p := &a.Partials[i]
		p.Arm = 0
		if p.Form, _, err = in.partial(*p); err != nil {
			return err
		}
	}
	return nil
}

// apart sees an aggregate over a UNION ALL as one over each of its parts; false where a partial is about several of them, or
// a part has none.
func (z *canonizer) apart(a *Aggregate) (bool, error) {
	if a.Tree.Type != "LOGICAL_UNION" || !a.Tree.SetOpAll {
		return false, nil
	}
	a.Arms = nil
	forms := make([]canon, len(a.Tree.Children))
	for i, child := range a.Tree.Children {
		c, err := z.canon(child)
		if err != nil {
			return false, err
		}
		groups, err := c.exprs(a.groups)
		if err != nil {
			return false, err
		}
		r, err := Render(child)
		if err != nil {
			return false, err
		}
		forms[i], a.Arms = c, append(a.Arms, Arm{Form: c.form(), Groups: groups, Leaves: Leaves(r.SQL)})
	}
	partials := make([]int, len(forms))
	for i := range a.Partials {
		p := &a.Partials[i]
		about := 0
		for arm, c := range forms {
			form, never, err := c.partial(*p)
			if err != nil {
				return false, err
			}
			if !never {
				p.Form, p.Arm, about = form, arm, about+1
			}
		}
		if about != 1 {
			return false, nil
		}
		partials[p.Arm]++
	}
	return !slices.Contains(partials, 0), nil
}

// partial is what a partial is computed from. never tells that its filter lets no row through.
func (c canon) partial(p Partial) (form string, never bool, err error) {
	if p.Of == nil {
		return p.Kind + "()", false, nil
	}
	args, err := c.exprs(p.Of.Children)
	if err != nil {
		return "", false, err
	}
	text := p.Kind + "(" + strings.Join(shown(args), ", ") + ")"
	if p.Of.Filter == nil {
		return text, false, nil
	}
	conditions, never, err := c.filter(p.Of.Filter)
	if never {
		conditions = append(conditions, "never")
	}
	if len(conditions) > 0 {
		text += " FILTER " + strings.Join(conditions, " AND ")
	}
	return text, never, err
}

// filter is a condition without what is always true; never tells that a part of it never is.
func (c canon) filter(e *bound.Expr) (conditions []string, never bool, err error) {
	preds, err := c.predicates(e)
	for _, p := range preds {
		switch left, right, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p, "("), ")"), " = "); {
		case !ok || !isNumber(left) || !isNumber(right):
			conditions = append(conditions, p)
		case left != right:
			never = true
		}
	}
	slices.Sort(conditions)
	return slices.Compact(conditions), never, err
}

func isNumber(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
