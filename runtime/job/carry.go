package job

import (
	"context"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/store"
)

// Carry computes the keyed data of generations that are being built from that of their former ones, in one epoch that
// reads no source.
type Carry struct {
	Views     []Relation // read as they stand
	Relations []Carried  // what is read before what reads it
	Save      func(b *store.Batch) error
}

// Carried is a relation that takes over keyed data.
type Carried struct {
	Relation
	Former Relation
	How    evolve.Carry
}

// Carry runs the epoch and commits it. Nothing is given to sinks.
func (j *Job) Carry(ctx context.Context, c Carry) error {
	s := section{views: c.Views, seeds: map[string]Carried{}}
	for _, r := range c.Relations {
		s.relations = append(s.relations, r.Relation)
		s.seeds[r.Addr.Name] = r
	}
	return j.persist(ctx, func(ctx context.Context) error {
		o, err := j.compute(ctx, s)
		if err != nil {
			return err
		}
		return j.commit(o, c.Save)
	})
}

// seed makes a step take over keyed data, and count its rows.
func (j *Job) seed(step *query.Step, from Carried, v *store.View) {
	step.Seed = &query.Seed{Carry: from.How, Memory: memory(v, from.Former, false)}
	step.Deliver = func(context.Context, batch.Change, batch.Counts, *query.Stager) error { return nil }
}
