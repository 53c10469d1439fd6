package partial

import (
	"fmt"

	"github.com/streamform/streamform/runtime/query/bound"
)

// distinctParts takes an aggregate with DISTINCT arguments apart, so that what is remembered are values with their numbers
// and not rows: below, an aggregate by groups and value for each argument; above, one aggregate over the union of the rows and
// of those. ok is false where an aggregate is among them that this does not help.
type distinctParts struct {
	op       *bound.Op
	child    *bound.Op
	retracts bool
	plain    []*bound.Expr // calls over all rows
	args     []*distinctArg
	place    []place // by call
}

// distinctArg is one argument of DISTINCT calls, with the filters it has in them.
type distinctArg struct {
	expr    *bound.Expr
	filters []*bound.Expr // nil stands for no filter
	texts   []string
}

// place is where a call's value comes from: argument and filter of a DISTINCT call, or a plain call.
type place struct{ arg, filter, plain int }

// Union is an aggregate over the union of rows and of distinct values.
type Union struct {
	Op    *bound.Op
	Plain []bool // by call: it is about the rows, and not about values
}

// Apart returns the aggregate over the union; nil when it has no DISTINCT argument, or one that must see its rows.
func Apart(op, child *bound.Op, scope bound.Scope, retracts bool) (*Union, error) {
	d := &distinctParts{op: op, child: child, retracts: retracts}
	if ok, err := d.sort(scope); !ok || err != nil {
		return nil, err
	}
	union := &bound.Op{Type: "LOGICAL_UNION", SetOpAll: true}
	if len(d.plain) > 0 {
		union.Children = append(union.Children, d.arm(-1))
	}
	for i := range d.args {
		union.Children = append(union.Children, d.arm(i))
	}
	input := union
	if len(union.Children) == 1 {
		input = union.Children[0]
	}
	out := &Union{Op: &bound.Op{Type: "LOGICAL_AGGREGATE_AND_GROUP_BY", Children: []*bound.Op{input}, Groups: refs(op.Groups, 0), Expressions: d.calls()}}
	for _, p := range d.place {
		out.Plain = append(out.Plain, p.arg < 0)
	}
	return out, nil
}

// sort tells DISTINCT calls from plain ones.
func (d *distinctParts) sort(scope bound.Scope) (bool, error) {
	index := map[string]int{}
	for _, e := range d.op.Expressions {
		if e.AggregateType != "DISTINCT" || indifferent(e.Name) {
			d.place = append(d.place, place{arg: -1, plain: len(d.plain)})
			d.plain = append(d.plain, e)
			continue
		}
		if !countable(e) {
			return false, nil
		}
		text, err := scope.SQL(e.Children[0])
		if err != nil {
			return false, err
		}
		at, ok := index[text]
		if !ok {
			at = len(d.args)
			index[text], d.args = at, append(d.args, &distinctArg{expr: e.Children[0]})
		}
		f, err := d.args[at].filter(e.Filter, scope)
		if err != nil {
			return false, err
		}
		d.place = append(d.place, place{arg: at, filter: f})
	}
	if len(d.args) == 0 {
		return false, nil
	}
	b := NewBuilder(d.retracts)
	for _, e := range d.plain {
		if b.Add(e, scope) != nil {
			return false, nil
		}
	}
	return true, nil
}

// countable are the DISTINCT calls that need no more than the values.
func countable(e *bound.Expr) bool {
	if len(e.Children) != 1 || len(e.Arguments) != 1 || nameless(e.Children[0].Return) {
		return false
	}
	switch e.Name {
	case "count":
		return true
	case "sum", "avg":
		typ, err := e.Arguments[0].SQL()
		return err == nil && exact(typ)
	}
	return false
}

// nameless types, rows without member names, cannot be declared, nor can a NULL of theirs be written.
func nameless(t bound.Type) bool {
	_, err := t.SQL()
	return err != nil && t.ID != ""
}

func (a *distinctArg) filter(f *bound.Expr, scope bound.Scope) (int, error) {
	text := ""
	if f != nil {
		var err error
		if text, err = scope.SQL(f); err != nil {
			return 0, err
		}
	}
	for i, t := range a.texts {
		if t == text {
			return i, nil
		}
	}
	a.filters, a.texts = append(a.filters, f), append(a.texts, text)
	return len(a.texts) - 1, nil
}

// values is the aggregate that keeps an argument's values by group: with each, whether a row that passes the filter has it.
func (d *distinctParts) values(a *distinctArg) *bound.Op {
	out := &bound.Op{Type: "LOGICAL_AGGREGATE_AND_GROUP_BY", Children: []*bound.Op{d.child}, Groups: append(append([]*bound.Expr{}, d.op.Groups...), a.expr)}
	for _, f := range a.filters {
		switch {
		case f == nil:
		case d.retracts:
			out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_AGGREGATE", Name: "count_star", Return: bound.Type{ID: "BIGINT"}, Filter: f})
		default:
			boolean := bound.Type{ID: "BOOLEAN"}
			out.Expressions = append(out.Expressions, &bound.Expr{Class: "BOUND_AGGREGATE", Name: "bool_or", Return: boolean, Arguments: []bound.Type{boolean}, Children: []*bound.Expr{f}})
		}
	}
	return out
}

// arm gives one part of the union: the rows (-1), or the values of an argument. Its columns are the groups, the arm's number,
// the arguments and filters of plain calls, and of each argument the value and whether it passes each filter.
func (d *distinctParts) arm(n int) *bound.Op {
	child, groups := d.child, d.op.Groups
	if n >= 0 {
		child = d.values(d.args[n])
		groups = refs(d.op.Groups, 0)
	}
	out := &bound.Op{Type: "LOGICAL_PROJECTION", Children: []*bound.Op{child}}
	add := func(e *bound.Expr, here bool) {
		if !here {
			e = NullOf(e)
		}
		out.Expressions = append(out.Expressions, e)
	}
	out.Expressions = append(append(out.Expressions, groups...), ConstantOf("INTEGER", n+1))
	for _, e := range d.plain {
		for _, c := range e.Children {
			add(c, n < 0)
		}
		if e.Filter != nil {
			add(e.Filter, n < 0)
		}
	}
	for i, a := range d.args {
		value := *bound.Ref(len(d.op.Groups))
		value.Return = a.expr.Return
		add(&value, i == n)
		at := len(d.op.Groups)
		for _, f := range a.filters {
			if f == nil {
				continue
			}
			at++
			var passes = bound.Ref(at)
			if passes.Return = (bound.Type{ID: "BOOLEAN"}); d.retracts {
				passes.Return = bound.Type{ID: "BIGINT"}
				passes = bound.Compare("COMPARE_GREATERTHAN", passes, ConstantOf("BIGINT", 0))
			}
			add(passes, i == n)
		}
	}
	return out
}

// calls are the aggregate's calls over the union.
func (d *distinctParts) calls() []*bound.Expr {
	groups := len(d.op.Groups)
	at := groups + 1
	arm := func(n int) *bound.Expr {
		source := bound.Ref(groups)
		source.Return = bound.Type{ID: "INTEGER"}
		return bound.Compare("COMPARE_EQUAL", source, ConstantOf("INTEGER", n+1))
	}
	plain := make([]*bound.Expr, len(d.plain))
	for i, e := range d.plain {
		call := *e
		call.Children = refs(e.Children, at)
		at += len(e.Children)
		call.Filter = arm(-1)
		if e.Filter != nil {
			call.Filter = and(call.Filter, boolean(at))
			at++
		}
		plain[i] = &call
	}
	value := make([]int, len(d.args))
	for i, a := range d.args {
		value[i] = at
		at++
		for _, f := range a.filters {
			if f != nil {
				at++
			}
		}
	}
	out := make([]*bound.Expr, len(d.op.Expressions))
	for i, e := range d.op.Expressions {
		p := d.place[i]
		if p.arg < 0 {
			out[i] = plain[p.plain]
			continue
		}
		call := *e
		call.AggregateType = "NON_DISTINCT"
		call.Children = refs(e.Children, value[p.arg])
		call.Filter = arm(p.arg)
		if a := d.args[p.arg]; a.filters[p.filter] != nil {
			column := value[p.arg] + 1
			for _, f := range a.filters[:p.filter] {
				if f != nil {
					column++
				}
			}
			call.Filter = and(call.Filter, boolean(column))
		}
		out[i] = &call
	}
	return out
}

// refs refer to columns from a position on, each in the place of an expression.
func refs(of []*bound.Expr, from int) []*bound.Expr {
	out := make([]*bound.Expr, len(of))
	for i, e := range of {
		out[i] = &bound.Expr{Class: "BOUND_REF", Index: from + i, Return: e.Return, Alias: e.Alias}
	}
	return out
}

func boolean(at int) *bound.Expr {
	return &bound.Expr{Class: "BOUND_REF", Index: at, Return: bound.Type{ID: "BOOLEAN"}}
}

// ConstantOf is a whole number of a type.
func ConstantOf(typ string, n int) *bound.Expr {
	return &bound.Expr{Class: "BOUND_CONSTANT", Return: bound.Type{ID: typ}, Value: &bound.Value{Type: bound.Type{ID: typ}, Data: []byte(fmt.Sprint(n))}}
}

func and(a, b *bound.Expr) *bound.Expr {
	return &bound.Expr{Class: "BOUND_CONJUNCTION", Type: "CONJUNCTION_AND", Children: []*bound.Expr{a, b}, Return: bound.Type{ID: "BOOLEAN"}}
}

// NullOf is NULL of an expression's type; comparisons and the like are written without one.
func NullOf(e *bound.Expr) *bound.Expr {
	typ := e.Return
	if typ.ID == "" {
		typ = bound.Type{ID: "BOOLEAN"}
		if e.Value != nil {
			typ = e.Value.Type
		}
	}
	return &bound.Expr{Class: "BOUND_CONSTANT", Value: &bound.Value{Type: typ, IsNull: true}}
}
