package logical

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/partial"
)

// Form is the canonical form of rows: equal forms are equal rows. Its texts are SQL in which columns of relations and of
// operators stand as tokens, see Column.
type Form struct {
	Base  string   // where they come from; equal bases are the same rows before Preds keep some of them
	Arms  []string // of a UNION ALL that is the base, in order; nil for any other base
	Preds []string // what keeps them: in order, each once
	Cols  []string // what each column is; empty for one without a value
}

func (c canon) form() Form {
	preds, arms := slices.Clone(c.preds), slices.Clone(c.arms)
	slices.Sort(preds)
	slices.Sort(arms)
	return Form{Base: c.base, Arms: arms, Preds: slices.Compact(preds), Cols: c.cols}
}

// Arm is the form as one of a UNION ALL's, as Arms has them.
func (f Form) Arm() string { return canon{base: f.Base, preds: f.Preds, cols: f.Cols}.arm() }

// Identity is one text for a form.
func (f Form) Identity() string {
	return Digest(append(append([]string{f.Base, fmt.Sprint(len(f.Preds))}, f.Preds...), f.Cols...)...)
}

// RelationForm is the form of all rows and columns of a relation.
func RelationForm(leaf string, s Source, columns []string) Form {
	of := leaf
	if s.Identity != "" {
		of = s.Identity
	}
	f := Form{Base: "scan(" + of + ")"}
	for _, name := range columns {
		f.Cols = append(f.Cols, s.column(of, name))
	}
	return f
}

// Column is what a token in a canonical text stands for.
type Column struct{ Of, Name, Type string }

// Token is the column's text in a canonical form.
func (c Column) Token() string { return columnToken(c.Of, c.Name, c.Type) }

// Next finds the first token in a canonical text: the column, and where it begins and ends; ok is false when there is none.
// A column of which nothing more is known has no name.
func Next(text string) (c Column, start, end int, ok bool) {
	start = strings.Index(text, columnMark)
	if start < 0 {
		return c, 0, 0, false
	}
	inside, _, closed := strings.Cut(text[start+1:], columnMark)
	if !closed {
		return c, 0, 0, false
	}
	if parts := strings.Split(inside, "\x01"); len(parts) == 3 {
		c = Column{Of: parts[0], Name: parts[1], Type: parts[2]}
	}
	return c, start, start + len(inside) + 2, true
}

// Identify gives every operator, and the whole, its canonical form. *bound.Unsupported says what has none.
func (s *Split) Identify(source func(leaf string) Source) error {
	z := &canonizer{source: source, stored: map[string]canon{}}
	for _, o := range s.Operators {
		identify := z.identifyAggregate
		switch {
		case o.Keyed != nil:
			identify = z.identifyKeyed
		case o.Temporal != nil:
			identify = z.identifyTemporal
		}
		if err := identify(o); err != nil {
			return err
		}
	}
	c, err := z.canon(s.FinalTree)
	s.Form = c.form()
	return err
}

func (z *canonizer) identifyAggregate(o Operator) error {
	a := o.Aggregate
	in, err := z.canon(a.Tree)
	if err != nil {
		return err
	}
	a.Form = in.form()
	if a.GroupForms, err = in.exprs(a.groups); err != nil {
		return err
	}
	if err := z.arms(a, in); err != nil {
		return err
	}
	a.sortPartials()
	parts := append([]string{"aggregate", a.Form.Base, fmt.Sprint(len(a.Form.Preds), len(a.groups), a.Counter, a.AppendOnly)}, a.Form.Preds...)
	parts = append(parts, a.GroupForms...)
	for _, p := range a.Partials {
		parts = append(parts, p.Form, fmt.Sprint(p.Arm), p.Merge)
	}
	a.Remembers = Digest(parts...)
	a.Identity = Digest(append(append([]string{a.Remembers}, a.Finals...), a.FinalTypes...)...)
	z.stored[a.ID] = leafCanon(a.Identity, len(a.Groups)+len(a.Finals))
	return nil
}

// sortPartials remembers partials in an order that does not depend on how the query is written.
func (a *Aggregate) sortPartials() {
	order := bound.Upto(len(a.Partials))
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := a.Partials[i], a.Partials[j]
		return cmp.Or(cmp.Compare(a.Arm, b.Arm), strings.Compare(a.Form, b.Form))
	})
	at := map[string]string{}
	sorted := make([]Partial, len(order))
	for to, from := range order {
		sorted[to], at[partial.Name(from)] = a.Partials[from], partial.Name(to)
	}
	a.Partials = sorted
	if a.Counter >= 0 {
		a.Counter = slices.Index(order, a.Counter)
	}
	word := regexp.MustCompile(`\bp[0-9]+\b`)
	for i, f := range a.Finals {
		a.Finals[i] = word.ReplaceAllStringFunc(f, func(name string) string { return at[name] })
	}
}

func (z *canonizer) identifyKeyed(o Operator) error {
	k := o.Keyed
	parts := []string{"keyed"}
	for i := range k.Inputs {
		in, err := z.canon(k.Inputs[i].Tree)
		if err != nil {
			return err
		}
		k.Inputs[i].Form = in.form()
		parts = append(append(parts, k.Inputs[i].Form.Identity(), fmt.Sprint(k.Inputs[i].Retracts, len(k.Inputs[i].Keys))), k.Inputs[i].Keys...)
		z.stored[InputLeaf(i)] = canon{base: in.seal(), cols: shown(in.cols)}
	}
	body, err := z.canon(k.Tree)
	if err != nil {
		return err
	}
	k.Identity = Digest(append(parts, body.query(), k.Kind, fmt.Sprint(k.Unstable, k.Best, k.AtMostOne != ""))...)
	z.stored[k.ID] = leafCanon(k.Identity, k.Columns)
	return nil
}

func (z *canonizer) identifyTemporal(o Operator) error {
	t := o.Temporal
	in, err := z.canon(t.Input.Tree)
	if err != nil {
		return err
	}
	t.Input.Form = in.form()
	z.stored[InputLeaf(0)] = canon{base: in.seal(), cols: shown(in.cols)}
	body, err := z.canon(t.Tree)
	if err != nil {
		return err
	}
	t.Identity = Digest(append([]string{"temporal", t.Input.Form.Identity(), body.query()}, t.Values...)...)
	z.stored[t.ID] = leafCanon(t.Identity, t.Input.Columns)
	return nil
}
