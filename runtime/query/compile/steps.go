package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/logical"
)

// LeafUses counts how often running a program reads the change of each relation; operators that are done read nothing.
func (p *Program) LeafUses(done func(operator string) bool) map[string]int {
	uses := map[string]int{}
	if p.Final == "" {
		for leaf := range p.LeafColumns {
			uses[leaf] += 2
		}
		return uses
	}
	texts := []string{p.Final}
	for _, o := range p.Steps {
		if !done(o.Name()) {
			texts = append(texts, o.InputSQL()...)
		}
	}
	for _, t := range texts {
		for _, leaf := range logical.Leaves(t) {
			if !isOperator(leaf) {
				uses[leaf]++
			}
		}
	}
	return uses
}

func isOperator(leaf string) bool { return strings.HasPrefix(leaf, storedPrefix) }

// HoldsResult reports whether the relation's rows are held by themselves: it is a
// view, and the operators below do not remember all that its rows are made of.
func (p *Program) HoldsResult() bool {
	if p.Stream {
		return false
	}
	if p.Final == "" {
		return true
	}
	for _, leaf := range logical.Leaves(p.Final) {
		if !p.remembered(leaf) {
			return true
		}
	}
	return false
}

// Readers counts where a program reads the output of one of its operators.
func (p *Program) Readers(operator string) int {
	texts := []string{p.Final}
	for _, o := range p.Steps {
		texts = append(texts, o.InputSQL()...)
	}
	n := 0
	for _, sql := range texts {
		n += strings.Count(sql, logical.Leaf(operator))
	}
	return n
}

// remembered reports whether a leaf is the output of an operator whose memory holds all the rows it gives.
func (p *Program) remembered(leaf string) bool {
	return slices.ContainsFunc(p.Steps, func(o Stateful) bool {
		switch o := o.(type) {
		case Aggregate:
			return o.ID == leaf
		case Keyed:
			return o.ID == leaf && o.Unstable
		}
		return false
	})
}

// Stateful is one stateful step of a program.
type Stateful interface {
	Name() string                // of its output as a leaf
	OutputColumns() batch.Schema // of its output: c0, c1, …
	InputSQL() []string          // SQL of what it reads
	Describe() Operator
}

// Remembers is the identity of what a step remembers: equal ones can go on with each other's keyed data.
func Remembers(o Stateful) string {
	switch o := o.(type) {
	case Keyed:
		return o.Identity
	case Temporal:
		return o.Identity
	}
	return o.(Aggregate).Remembers
}

// Name is the leaf name of the output.
func (a Aggregate) Name() string { return a.ID }

// OutputColumns are the output's columns.
func (a Aggregate) OutputColumns() batch.Schema { return Positional(a.OutputTypes) }

// InputSQL is the SQL of what the aggregate reads.
func (a Aggregate) InputSQL() []string { return []string{a.Input} }

// InputSQL is the SQL of what the operator reads, by input.
func (k Keyed) InputSQL() []string {
	out := make([]string, len(k.Inputs))
	for i, in := range k.Inputs {
		out[i] = in.SQL
	}
	return out
}

// GroupNames are g0, g1, ….
func (a Aggregate) GroupNames() []string { return Numbered("g", len(a.GroupTypes)) }

// PartialNames are p0, p1, ….
func (a Aggregate) PartialNames() []string { return Numbered("p", len(a.PartialTypes)) }

// Numbered are n names of a prefix and a number.
func Numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s%d", prefix, i)
	}
	return out
}

// Keyed is a logical.Keyed with the types DuckDB gives its columns.
type Keyed struct {
	*logical.Keyed
	KeyTypes    []string
	InputTypes  [][]string
	OutputTypes []string
	// KeepsInput says that the rows of the input are remembered. Not so where the first rows of each key are shown and the input is what other
	// operators give: from their keyed data it can be had again.
	KeepsInput bool
}

// Name is the leaf name of the output.
func (k Keyed) Name() string { return k.ID }

// OutputColumns are the output's columns.
func (k Keyed) OutputColumns() batch.Schema { return Positional(k.OutputTypes) }

// Positional are columns c0, c1, … of the given types.
func Positional(types []string) batch.Schema {
	out := make(batch.Schema, len(types))
	for i, t := range types {
		out[i] = batch.Column{Name: fmt.Sprintf("c%d", i), Type: t}
	}
	return out
}
