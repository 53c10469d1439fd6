package job

import (
	"context"

	"github.com/streamform/streamform/lang/addr"
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
	// Save adds to the commit; it is told what was read and made.
	Save func(b *store.Batch, done CarryProgress) error
}

// CarryProgress is what a carry did.
type CarryProgress struct {
	Taken map[addr.Resource]evolve.Taken
	Views map[addr.Resource]int64 // rows of views that were read
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
		s.seeds[r.Addr.Relation()] = r
	}
	return j.persist(ctx, func(ctx context.Context) error {
		o, err := j.compute(ctx, s)
		if err != nil {
			return err
		}
		if err := j.countKept(o, c.Relations); err != nil {
			return err
		}
		done := CarryProgress{Taken: map[addr.Resource]evolve.Taken{}, Views: o.viewRows()}
		for _, r := range c.Relations {
			if t := o.result.Taken[r.Addr.Relation()]; t != nil {
				done.Taken[r.Addr] = *t
			}
		}
		return j.commit(o, func(b *store.Batch) error { return c.Save(b, done) })
	})
}

// countKept gives relations whose rows are handed over as they are their number: nobody reads them.
func (j *Job) countKept(o *outcome, all []Carried) error {
	view := j.Store.View()
	defer view.Close()
	for _, r := range all {
		if r.How.Operators[query.ResultID].Keep == "" {
			continue
		}
		c, err := ReadCounters(view, r.Former.ID)
		if err != nil {
			return err
		}
		o.result.Relations[r.Addr.Relation()] = batch.Counts{Inserted: c.Inserted - c.Deleted}
	}
	return nil
}

// viewRows are the rows of views that an epoch has read as they stand.
func (o *outcome) viewRows() map[addr.Resource]int64 {
	out := map[addr.Resource]int64{}
	for _, v := range o.views {
		out[v.Addr] = o.result.Relations[v.Addr.Relation()].Inserted
	}
	return out
}

// seed makes a step take over keyed data, and count its rows, unless these are kept.
func (j *Job) seed(step *query.Step, from Carried, v *store.View) {
	step.Seed = &query.Seed{Carry: from.How, Memory: memory(v, from.Former, false)}
	if from.How.Operators[query.ResultID].Keep != "" {
		return
	}
	step.Deliver = func(context.Context, batch.Change, batch.Counts, *query.Stager) error { return nil }
}
