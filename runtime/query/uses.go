package query

import (
	"fmt"
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
	for _, a := range p.aggregates {
		texts = append(texts, a.Input)
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
		if !isOperator(leaf) {
			return true
		}
	}
	return false
}

// columns are an aggregate's output columns: c0, c1, ….
func (a aggregate) columns() batch.Schema {
	out := make(batch.Schema, len(a.outputTypes))
	for i, t := range a.outputTypes {
		out[i] = batch.Column{Name: fmt.Sprintf("c%d", i), Type: t}
	}
	return out
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
