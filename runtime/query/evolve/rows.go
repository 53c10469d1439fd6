package evolve

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
)

// heldRows are rows that an operator of the old program holds.
type heldRows struct {
	rows Rows // without Where and Columns
	form logical.Form
	what string // for people: "the rows of …"
}

// rowsHeld lists the rows that an old program holds. Those of operators come first: what is above them may hold less.
func rowsHeld(p *compile.Program, ws []widening) []heldRows {
	var out []heldRows
	add := func(r Rows, f logical.Form, what string) {
		out = append(out, heldRows{rows: r, form: widenForm(f, ws), what: what})
	}
	clock := clocked(p)
	for _, o := range p.Steps {
		k, ok := o.(compile.Keyed)
		if !ok || clock[o.Name()] || !k.KeepsInput {
			continue
		}
		for i, in := range k.Inputs {
			store := ByKey
			if k.Best {
				store = InOrder
			}
			add(Rows{Operator: k.ID, Store: store, Input: i, Types: k.InputTypes[i]}, in.Form, "the rows that the "+k.Kind+" holds")
		}
	}
	if p.FullRefresh != "" {
		for _, name := range p.Reads {
			leaf := strings.ToLower(name)
			r := Rows{Operator: compile.InputID(leaf), Store: store(p.AppendRead[leaf]), Types: types(p.LeafColumns[leaf])}
			add(r, p.RelationForm(leaf), "all rows of "+name)
		}
	}
	if p.Final != "" && p.HoldsResult() && !readsAny(p.Final, clock) {
		add(Rows{Operator: compile.ResultID, Store: store(p.AppendOnly), Types: types(p.Columns)}, p.Form, "its own rows")
	}
	return out
}

func store(appendOnly bool) Store {
	if appendOnly {
		return InOrder
	}
	return ByContent
}

func types(columns batch.Schema) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Type
	}
	return out
}

// query finds the rows of a form among those held; nil, and the reason, when they do not follow.
func (h heldRows) query(want logical.Form) (*Rows, string) {
	if h.form.Base != want.Base {
		return nil, ""
	}
	for _, p := range h.form.Preds {
		if !slices.Contains(want.Preds, p) {
			return nil, "rows that the condition " + words(p) + " left out are not held"
		}
	}
	d := derivation{held: newTerms(h.form.Cols, h.rows.Types, "c"), used: map[string]bool{}}
	out := h.rows
	var where []string
	for _, p := range want.Preds {
		if slices.Contains(h.form.Preds, p) {
			continue
		}
		sql, ok := d.sql(p)
		if !ok {
			return nil, d.missing
		}
		where = append(where, sql)
	}
	for _, c := range want.Cols {
		sql, ok := d.sql(c)
		if !ok {
			return nil, d.missing
		}
		out.Columns = append(out.Columns, sql)
	}
	out.Where = strings.Join(where, " AND ")
	return &out, ""
}
