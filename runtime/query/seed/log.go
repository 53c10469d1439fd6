package seed

import (
	"context"
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/table"
)

// Log notes what a relation's keyed data is made from, while it is made.
type Log struct {
	Plan  Plan
	Set   *table.Set
	Taken *evolve.Taken
}

// Operator notes that the keyed data of an operator is made as the plan says.
func (l Log) Operator(id string) {
	fate, origin := evolve.Rebuilt, l.Plan.Carry.Operators[id]
	switch {
	case origin.Keep != "":
		fate = evolve.Kept
	case origin.Partials != nil || origin.Result != nil:
		fate = evolve.Migrated
	}
	l.Taken.Operators = append(l.Taken.Operators, evolve.Made{Operator: id, Fate: fate})
}

// Result notes the same of the rows of the relation itself.
func (l Log) Result() {
	p, origin := l.Plan.Program, l.Plan.Carry.Operators[compile.ResultID]
	views := slices.ContainsFunc(logical.Leaves(p.Final), func(leaf string) bool { _, read := l.Plan.Carry.Leaves[leaf]; return read })
	if origin.Keep == "" && origin.Result == nil && !p.HoldsResult() && !views {
		l.Taken.Operators = append(l.Taken.Operators, evolve.Made{Operator: compile.ResultID, Fate: evolve.New})
		return
	}
	l.Operator(compile.ResultID)
}

// Whole notes it of a query that runs again over all rows of what it reads.
func (l Log) Whole() {
	for _, leaf := range slices.Sorted(maps.Keys(l.Plan.Program.LeafColumns)) {
		l.Operator(compile.InputID(leaf))
	}
	l.Operator(compile.ResultID)
}

// Count notes how many rows were read of what an old operator holds.
func (l Log) Count(ctx context.Context, operator, rows string) error {
	n, err := l.Set.Count(ctx, rows)
	if n > 0 {
		l.Taken.Read[operator] += n
	}
	return err
}
