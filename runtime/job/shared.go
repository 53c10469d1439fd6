package job

import (
	"context"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// several finds, by relation, the operators whose table another relation of the section has, too.
func (s section) several() map[string]map[string]uint64 {
	holders := map[uint64]int{}
	for _, r := range s.relations {
		for _, table := range r.Tables {
			holders[table]++
		}
	}
	out := map[string]map[string]uint64{}
	for _, r := range s.relations {
		for operator, table := range r.Tables {
			if holders[table] < 2 {
				continue
			}
			if out[r.Addr.Relation()] == nil {
				out[r.Addr.Relation()] = map[string]uint64{}
			}
			out[r.Addr.Relation()][operator] = table
		}
	}
	return out
}

// settle lets a step of a replay take what its shared operators give from their keyed data, in the first epoch; after it they stand still.
func settle(step *query.Step, r Relation, first bool) {
	if step.Settled = r.Shared; !first {
		return
	}
	if step.Deliver == nil { // its rows are counted all the same
		step.Deliver = func(context.Context, batch.Change, batch.Counts, *query.Stager) error { return nil }
	}
	carry := evolve.Carry{Program: r.Program.Identity, Operators: map[string]evolve.Origin{}, Leaves: map[string]evolve.Leaf{}}
	for operator := range r.Shared {
		carry.Operators[operator] = evolve.Origin{Keep: operator}
	}
	for leaf := range evolve.Needs(r.Program, func(operator string) bool { return r.Shared[operator] }) {
		carry.Leaves[leaf] = evolve.Leaf{}
	}
	step.Seed = &query.Seed{Carry: carry, Memory: step.Memory}
}
