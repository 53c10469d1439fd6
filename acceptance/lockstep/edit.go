package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
	"github.com/streamform/streamform/runtime/query/seed"
	"github.com/streamform/streamform/runtime/query/weight"
)

// Edited is what an edit came to: what was foreseen, and what was done. Taken is nil where nothing was carried over.
type Edited struct {
	evolve.Evolution
	Foreseen int64 // rows and groups that would be read of what the old operators hold, and rows of views
	Taken    *evolve.Taken
	Views    int64 // rows of views that were read
}

// Edit puts another query in the place of the last relation's. What its operators remember comes from what the old ones do, and from
// the rows of the views before it; where that is not enough (ReplayFromSource) nothing changes.
func (r *Run) Edit(ctx context.Context, sql string) (Edited, error) {
	last := len(r.relations) - 1
	old := *r.relations[last]
	r.relations = r.relations[:last]
	program, err := r.Add(ctx, Relation{Name: old.Name, SQL: sql, Stream: old.Stream})
	if err != nil {
		return Edited{}, err
	}
	held := evolve.Held{}
	for _, rel := range r.relations[:last] {
		held[strings.ToLower(rel.Name)] = !rel.Stream
	}
	e := Edited{Evolution: evolve.Compare(old.Program, program, held)}
	switch {
	case e.Class == evolve.Noop:
		return e, nil
	case e.Carry == nil:
		r.relations[last] = &old
		return e, nil
	}
	if err := r.foresee(ctx, old.Name, program, &e); err != nil {
		return e, err
	}
	if err := r.seed(ctx, old.Name, program, &e); err != nil {
		return e, err
	}
	_, err = r.Batch(ctx, old.Name)
	return e, err
}

// foresee adds up what a carry will read.
func (r *Run) foresee(ctx context.Context, relation string, program *query.Program, e *Edited) error {
	for _, n := range (seed.Plan{Program: program, Carry: *e.Carry}).Needs() {
		rows, err := int64(0), error(nil)
		if n.View != "" {
			var text string
			text, err = r.plain.Value(ctx, "SELECT count(*)::VARCHAR FROM "+n.View)
			if err == nil {
				_, err = fmt.Sscan(text, &rows)
			}
		} else {
			rows, err = weight.Rows(r.memoryOf(relation, n.Operator), n)
		}
		if err != nil {
			return fmt.Errorf("foreseeing what %v takes: %w", n, err)
		}
		e.Foreseen += rows
	}
	return nil
}

// seed runs the epoch that an edit takes. The carry is written down and read first, as in a plan.
func (r *Run) seed(ctx context.Context, relation string, program *query.Program, e *Edited) error {
	text, err := json.Marshal(e.Carry)
	if err != nil {
		return fmt.Errorf("writing what is carried over: %w", err)
	}
	var carry evolve.Carry
	if err := json.Unmarshal(text, &carry); err != nil {
		return fmt.Errorf("reading what is carried over: %w", err)
	}
	before := map[string]*inmap.Memory{}
	for id, m := range r.memories {
		if operator, ok := strings.CutPrefix(id, relation+"/"); ok {
			before[operator] = m
			delete(r.memories, id)
		}
	}
	step := query.Step{Relation: relation, Program: program, Memory: r.memory(relation), Seed: &query.Seed{Carry: carry, Memory: func(operator string) query.Memory {
		if m := before[operator]; m != nil {
			return m
		}
		return inmap.New()
	}}}
	if carry.Operators[query.ResultID].Keep == "" { // as the host does, to count the rows
		step.Deliver = func(context.Context, batch.Change, batch.Counts, *query.Stager) error { return nil }
	}
	result, err := r.engine.Run(ctx, query.Work{Steps: append(r.wholes(carry), step)})
	if err != nil {
		return fmt.Errorf("seeding %s: %w", relation, err)
	}
	e.Taken = result.Taken[relation]
	for _, w := range r.wholes(carry) {
		e.Views += result.Relations[w.Relation].Inserted
	}
	for _, m := range result.Remember[relation] {
		r.memoryOf(relation, m.Operator).Keep(m)
	}
	for operator, origin := range carry.Operators {
		if m := before[origin.Keep]; origin.Keep != "" && m != nil {
			r.memories[relation+"/"+operator] = m
		}
	}
	return nil
}

// wholes are the views whose rows an edit reads.
func (r *Run) wholes(carry evolve.Carry) []query.Step {
	var out []query.Step
	for _, rel := range r.relations {
		if from, read := carry.Leaves[strings.ToLower(rel.Name)]; read && from.From == nil {
			out = append(out, query.Step{Relation: rel.Name, Program: rel.Program, Memory: r.memory(rel.Name), Whole: true})
		}
	}
	return slices.Clip(out)
}
