package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/groups"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/seed"
	"github.com/streamform/streamform/runtime/query/temporal"
)

// Seed makes an epoch compute a relation from what an old program of it remembers, instead of from new input. The change is
// all rows of the relation, where something reads them. Nothing is remembered for operators that are kept: their keyed data is
// to be handed over as it is. Views that Carry.Leaves names without an operator are to be Whole steps before this one.
type Seed struct {
	Carry  evolve.Carry
	Memory func(operator string) Memory // of the old program
}

// keeps reports that an operator's keyed data is handed over.
func (s Step) keeps(operator string) bool {
	return s.Seed != nil && s.Seed.Carry.Operators[operator].Keep != ""
}

// seeding is one seeded relation.
type seeding struct {
	*epoch
	step   Step
	plan   seed.Plan
	inputs map[string]*change
	final  bool // the last part is computed
	log    seed.Log
}

func (ep *epoch) seeded(ctx context.Context, s Step) (*change, error) {
	p := s.Program
	if s.Seed.Carry.Program != p.Identity {
		return nil, fmt.Errorf("what is carried over was made for another query than the one that runs")
	}
	r := &seeding{epoch: ep, step: s, plan: seed.Plan{Program: p, Carry: s.Seed.Carry}, inputs: map[string]*change{}}
	r.log = seed.Log{Plan: r.plan, Set: ep.Set, Taken: &evolve.Taken{Read: map[string]int64{}}}
	ep.result.Taken[s.Relation] = r.log.Taken
	ep.meter.last = nil
	for _, leaf := range slices.Sorted(maps.Keys(p.LeafColumns)) {
		ep.next()
		in, err := r.leaf(ctx, leaf)
		if err != nil {
			return nil, err
		}
		r.inputs[leaf] = in
	}
	if p.FullRefresh != "" {
		return r.refresh(ctx)
	}
	readers, result := ep.readers[strings.ToLower(s.Relation)], r.plan.Result()
	if s.keeps(compile.ResultID) {
		readers-- // who would remember the rows
	}
	r.final = result == nil && readers > 0
	for _, o := range p.Steps {
		ep.next()
		out, err := r.operator(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", o.Name(), err)
		}
		r.inputs[o.Name()] = out
	}
	ep.next()
	r.log.Result()
	switch {
	case r.final:
		return ep.finish(ctx, p, r.inputs)
	case readers == 0:
		return nothing(p.Columns), nil
	}
	c, err := r.rows(ctx, *result, p.Columns)
	if err == nil {
		c.appendOnly = p.AppendOnly
	}
	return c, err
}

func nothing(columns batch.Schema) *change {
	return &change{columns: columns, inserted: emptyRows(columns), appendOnly: true, stored: true}
}

// source is the memory of an old operator.
func (r *seeding) source(operator string) seed.Source {
	return seed.Source{Set: r.Set, Memory: r.step.Seed.Memory(operator), Count: r.log.Count}
}

// rows is a change of rows that an old operator holds.
func (r *seeding) rows(ctx context.Context, from evolve.Rows, columns batch.Schema) (*change, error) {
	text, err := r.source(from.Operator).Rows(ctx, from)
	return &change{columns: columns, inserted: seed.As(text, columns), counts: batch.Counts{Inserted: -1}}, err
}

// leaf is all rows of a relation, if they are needed.
func (r *seeding) leaf(ctx context.Context, leaf string) (*change, error) {
	columns := r.step.Program.LeafColumns[leaf]
	switch from, needed := r.plan.Carry.Leaves[leaf]; {
	case !needed:
		return nothing(columns), nil
	case from.From != nil:
		c, err := r.rows(ctx, *from.From, columns)
		if err != nil {
			return nil, err
		}
		return c, r.materialize(ctx, c)
	}
	if _, ok := r.changes[leaf]; ok || r.step.Settled != nil {
		return r.changeOf(leaf, columns), nil
	}
	return nil, fmt.Errorf("the rows of %s are not among the epoch's", leaf)
}

// operator brings the keyed data of one operator over, and gives all its rows if something reads them.
func (r *seeding) operator(ctx context.Context, o compile.Stateful) (*change, error) {
	origin := r.plan.Carry.Operators[o.Name()]
	r.log.Operator(o.Name())
	switch {
	case origin.Keep != "" && !r.plan.Reads(o.Name(), r.final):
		return nothing(o.OutputColumns()), r.stillDue(o, origin.Keep)
	case origin.Keep != "":
		return r.kept(ctx, o, origin.Keep)
	case origin.Partials != nil:
		return r.migrated(ctx, o.(compile.Aggregate), *origin.Partials)
	}
	for i, from := range origin.Inputs {
		if from == nil {
			continue
		}
		text, err := r.source(from.Operator).Rows(ctx, *from)
		if err != nil {
			return nil, err
		}
		leaf := fmt.Sprintf("%s$%d", o.Name(), i)
		r.inputs[leaf] = &change{inserted: text, counts: batch.Counts{Inserted: -1}}
		o = seed.Over(o, i, leaf)
	}
	return r.once(ctx, r.step, o, r.inputs)
}

// stillDue notes when the rows that a filter by the time holds change next.
func (r *seeding) stillDue(o compile.Stateful, old string) error {
	t, ok := o.(compile.Temporal)
	if !ok {
		return nil
	}
	w, err := temporal.Open(r.step.Seed.Memory(old), t.Filter)
	if err == nil && !w.Fresh {
		r.due(r.step.Relation, w.Due)
	}
	return err
}

// kept is all rows of an operator whose keyed data is handed over.
func (r *seeding) kept(ctx context.Context, o compile.Stateful, old string) (*change, error) {
	c := &change{columns: o.OutputColumns(), counts: batch.Counts{Inserted: -1}}
	var err error
	switch o := o.(type) {
	case compile.Aggregate:
		c.appendOnly = o.AppendOnly
		if c.inserted, err = groups.Held(ctx, r.Set, o, r.step.Seed.Memory(old)); err == nil {
			err = r.log.Count(ctx, old, c.inserted)
		}
	case compile.Keyed:
		var given []string
		for _, rows := range seed.Given(o) {
			rows.Operator = old
			text, err := r.source(old).Rows(ctx, rows)
			if err != nil {
				return nil, err
			}
			given = append(given, text)
		}
		if c.inserted = given[0]; !o.Unstable {
			run := &keyedRun{epoch: r.epoch, k: o}
			if c.inserted, err = run.k.Fill(o.Body, given...); err == nil {
				c.inserted, err = run.output(ctx, c.inserted)
			}
		}
	default:
		err = fmt.Errorf("it does not hold all its rows")
	}
	return c, err
}

// migrated is an aggregate whose partials follow from old ones.
func (r *seeding) migrated(ctx context.Context, a compile.Aggregate, p evolve.Partials) (*change, error) {
	sql, err := r.source(p.Operator).Partials(ctx, p, a)
	if err != nil {
		return nil, err
	}
	if p.With != nil {
		given, err := partials(a, r.inputs, false)
		if err != nil {
			return nil, err
		}
		sql = seed.Merged(p, a, sql, given)
	}
	now, err := r.Make(ctx, sql)
	if err != nil {
		return nil, err
	}
	rows, err := groups.Encode(ctx, r.Set, a, now)
	if err == nil {
		now, err = groups.Canonical(ctx, r.Set, a, now)
	}
	if err != nil {
		return nil, err
	}
	r.remember(r.step.Relation, Remember{Operator: a.ID, Changes: memory.Set(rows, memory.Unknown)})
	return rowsChanged(a, groups.New(now, rows.Len())), nil
}

// refresh runs a whole query over all rows of what it reads. Inputs that are handed over are read where they are.
func (r *seeding) refresh(ctx context.Context) (*change, error) {
	s, changes, fresh := r.step, r.changes, r.step.Memory
	r.log.Whole()
	r.changes = r.inputs
	defer func() { r.changes = changes }()
	s.Seed = nil
	s.Memory = func(operator string) Memory {
		if old := r.plan.Carry.Operators[operator].Keep; old != "" {
			return r.step.Seed.Memory(old)
		}
		return fresh(operator)
	}
	return r.epoch.refresh(ctx, s)
}
