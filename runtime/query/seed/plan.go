package seed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/logical"
)

// Plan is a program and where its keyed data comes from.
type Plan struct {
	Program *compile.Program
	Carry   evolve.Carry
}

// Reads reports whether anything that is computed reads an operator's rows. final tells whether the program's last part is.
func (p Plan) Reads(operator string, final bool) bool {
	if final && slices.Contains(logical.Leaves(p.Program.Final), operator) {
		return true
	}
	for _, o := range p.Program.Steps {
		origin := p.Carry.Operators[o.Name()]
		if origin.Keep != "" || origin.Partials != nil && origin.Partials.With == nil {
			continue
		}
		for i, sql := range o.InputSQL() {
			given := i < len(origin.Inputs) && origin.Inputs[i] != nil
			if !given && slices.Contains(logical.Leaves(sql), operator) {
				return true
			}
		}
	}
	return false
}

// Shown begins the entries of the rows an operator has given, behind those of its inputs.
const Shown = 2

// Over is an operator that reads a leaf as it is for one of its inputs.
func Over(o compile.Stateful, input int, leaf string) compile.Stateful {
	sql := "SELECT * FROM " + logical.Leaf(leaf)
	switch o := o.(type) {
	case compile.Aggregate:
		part := *o.Aggregate
		part.Input = sql
		o.Aggregate = &part
		return o
	case compile.Temporal:
		part := *o.Temporal
		part.Input.SQL = sql
		o.Temporal = &part
		return o
	}
	k := o.(compile.Keyed)
	part := *k.Keyed
	part.Inputs = slices.Clone(part.Inputs)
	part.Inputs[input].SQL = sql
	k.Keyed = &part
	return k
}

// Merged is SQL for partials that follow from old ones, with those of what the aggregate's input gives merged in.
func Merged(p evolve.Partials, a compile.Aggregate, old, given string) string {
	list := a.GroupNames()
	for i, e := range p.With {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS p%d", e, a.PartialTypes[i], i))
	}
	sql := "SELECT " + strings.Join(list, ", ") + " FROM (" + old + " UNION ALL " + given + ")"
	if len(a.GroupTypes) > 0 {
		sql += " GROUP BY ALL"
	}
	return sql
}

// Result is where a relation's own rows come from, when they are not computed.
func (p Plan) Result() *evolve.Rows {
	origin := p.Carry.Operators[compile.ResultID]
	if origin.Keep == "" {
		return origin.Result
	}
	rows := &evolve.Rows{Operator: origin.Keep, Store: evolve.ByContent, Columns: compile.Numbered("c", len(p.Program.Columns))}
	if p.Program.AppendOnly {
		rows.Store = evolve.InOrder
	}
	for _, c := range p.Program.Columns {
		rows.Types = append(rows.Types, c.Type)
	}
	return rows
}

// As reads rows with columns c0, c1, … as a relation of the given columns.
func As(rows string, columns batch.Schema) string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("CAST(c%d AS %s) AS %s", i, c.Type, bound.Ident(c.Name))
	}
	return "(SELECT " + strings.Join(list, ", ") + " FROM " + rows + ")"
}

// Given are the rows that a keyed operator gives: those it remembers, where they may depend on their order, else its inputs, over
// which its body runs.
func Given(k compile.Keyed) []evolve.Rows {
	if k.Unstable {
		return []evolve.Rows{{Operator: k.ID, Store: evolve.ByKey, Input: Shown, Types: k.OutputTypes, Columns: compile.Numbered("c", len(k.OutputTypes))}}
	}
	out := make([]evolve.Rows, len(k.Inputs))
	for i, types := range k.InputTypes {
		out[i] = evolve.Rows{Operator: k.ID, Store: evolve.ByKey, Input: i, Types: types, Columns: compile.Numbered("c", len(types))}
	}
	return out
}

// Needs lists what carrying a plan out reads whole. The rows of the relation itself are not among it where they are kept.
func (p Plan) Needs() []evolve.Need {
	var out []evolve.Need
	rows := func(r *evolve.Rows) {
		if r != nil {
			out = append(out, evolve.Need{Operator: r.Operator, Store: r.Store, Input: r.Input})
		}
	}
	for _, leaf := range slices.Sorted(maps.Keys(p.Program.LeafColumns)) {
		switch from, needed := p.Carry.Leaves[leaf]; {
		case needed && from.From == nil:
			out = append(out, evolve.Need{View: leaf})
		case needed:
			rows(from.From)
		case p.Program.FullRefresh != "":
			if old := p.Carry.Operators[compile.InputID(leaf)].Keep; old != "" {
				out = append(out, evolve.Need{Operator: old, Store: p.stored(leaf)})
			}
		}
	}
	final := p.Result() == nil
	for _, o := range p.Program.Steps {
		origin := p.Carry.Operators[o.Name()]
		_, aggregate := o.(compile.Aggregate)
		switch {
		case origin.Keep != "" && !p.Reads(o.Name(), final):
		case origin.Keep != "" && aggregate:
			out = append(out, evolve.Need{Operator: origin.Keep, Store: evolve.Groups})
		case origin.Keep != "":
			k, _ := o.(compile.Keyed)
			for _, r := range Given(k) {
				out = append(out, evolve.Need{Operator: origin.Keep, Store: r.Store, Input: r.Input})
			}
		case origin.Partials != nil:
			out = append(out, evolve.Need{Operator: origin.Partials.Operator, Store: evolve.Groups})
		}
		for _, r := range origin.Inputs {
			rows(r)
		}
	}
	rows(p.Carry.Operators[compile.ResultID].Result)
	return out
}

// stored is the form in which all rows of an input are held.
func (p Plan) stored(leaf string) evolve.Store {
	if p.Program.AppendRead[leaf] {
		return evolve.InOrder
	}
	return evolve.ByContent
}
