package query

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// leafUses counts how often running a program reads the change of each relation.
func (p *Program) leafUses() map[string]int {
	uses := map[string]int{}
	if p.final == "" {
		for leaf := range p.leafColumns {
			uses[leaf] += 2
		}
		return uses
	}
	texts := []string{p.final}
	for _, o := range p.operators {
		texts = append(texts, o.inputs()...)
	}
	for _, t := range texts {
		for _, leaf := range leavesOf(t) {
			if !isOperator(leaf) {
				uses[leaf]++
			}
		}
	}
	return uses
}

func isOperator(leaf string) bool { return strings.HasPrefix(leaf, storedPrefix) }

// holdsResult reports whether the relation's rows are held by themselves: it is a
// view, and the operators below do not remember all that its rows are made of.
func (p *Program) holdsResult() bool {
	if p.stream {
		return false
	}
	if p.final == "" {
		return true
	}
	for _, leaf := range leavesOf(p.final) {
		if !p.isAggregate(leaf) {
			return true
		}
	}
	return false
}

// isAggregate reports whether a leaf is the output of an aggregate, whose memory holds all its rows.
func (p *Program) isAggregate(leaf string) bool {
	return slices.ContainsFunc(p.operators, func(o operator) bool {
		a, ok := o.(aggregate)
		return ok && a.ID == leaf
	})
}

// operator is one stateful step of a program.
type operator interface {
	id() string
	columns() batch.Schema // of its output: c0, c1, …
	inputs() []string      // SQL of what it reads
	describe() Operator
}

func (a aggregate) id() string { return a.ID }

func (a aggregate) columns() batch.Schema { return positional(a.outputTypes) }

func (a aggregate) inputs() []string { return []string{a.Input} }

func (a aggregate) describe() Operator {
	holds := fmt.Sprintf("%d partials per key", len(a.Partials))
	if a.Scalar() {
		holds = fmt.Sprintf("%d partials", len(a.Partials))
	}
	return Operator{ID: a.ID, Kind: "aggregate", Detail: a.Detail, Holds: holds}
}

func (k keyed) inputs() []string {
	out := make([]string, len(k.Inputs))
	for i, in := range k.Inputs {
		out[i] = in.SQL
	}
	return out
}

func (k keyed) describe() Operator {
	o := Operator{ID: k.ID, Kind: k.Kind, Detail: k.Detail, Holds: "rows by key"}
	if len(k.Inputs) == 2 {
		o.Holds = "rows of both sides by key"
	}
	if k.Global() {
		o.Holds = strings.TrimSuffix(o.Holds, " by key")
		o.Reason = "no key: every change computes the whole operator again"
		if k.Bilinear {
			o.Reason = "no key: every change is compared with the whole other side"
		}
	}
	return o
}

// groupNames are g0, g1, …; partialNames p0, p1, ….
func (a aggregate) groupNames() []string { return numbered("g", len(a.groupTypes)) }

func (a aggregate) partialNames() []string { return numbered("p", len(a.partialTypes)) }

func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return out
}
