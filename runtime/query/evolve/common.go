package evolve

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
)

// Common tells operators that several queries have in common, by ID: two with equal texts remember the same, in the same form, if
// they have seen the same rows of the relations they read. An operator that is absent has nothing in common with any other: it filters by the
// time, or reads one that does.
func Common(p *compile.Program) map[string]string {
	out := map[string]string{}
	clock := clocked(p)
	read := map[string][]string{}
	for _, o := range p.Steps {
		read[o.Name()] = relationsBelow(o, read)
		if clock[o.Name()] {
			continue
		}
		parts := []string{compile.Remembers(o), fmt.Sprint(read[o.Name()])}
		switch o := o.(type) {
		case compile.Aggregate:
			parts = append(parts, fmt.Sprint(o.GroupTypes), fmt.Sprint(o.PartialTypes))
		case compile.Keyed:
			parts = append(parts, fmt.Sprint(o.KeyTypes), fmt.Sprint(o.InputTypes), fmt.Sprint(o.OutputTypes))
		}
		out[o.Name()] = logical.Digest(parts...)
	}
	return out
}

// relationsBelow are the relations that an operator reads, through others or not.
func relationsBelow(o compile.Stateful, below map[string][]string) []string {
	var out []string
	for _, in := range inputs(o) {
		for _, leaf := range logical.Leaves(in.sql) {
			if through, isOperator := below[leaf]; isOperator {
				out = append(out, through...)
			} else {
				out = append(out, leaf)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Needs are the relations, by leaf, that a query reads when operators of it are settled: their keyed data is there.
func Needs(p *compile.Program, settled func(operator string) bool) map[string]bool {
	needs := map[string]bool{}
	if p.Final == "" {
		for leaf := range p.LeafColumns {
			needs[leaf] = true
		}
		return needs
	}
	for leaf, n := range p.LeafUses(settled) {
		needs[leaf] = n > 0
	}
	return needs
}
