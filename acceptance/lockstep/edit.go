package lockstep

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// Edit puts another query in the place of the last relation's. What its operators remember comes from what the old ones do, and from
// the rows of the views before it; where that is not enough (ReplayFromSource) nothing changes.
func (r *Run) Edit(ctx context.Context, sql string) (evolve.Evolution, error) {
	last := len(r.relations) - 1
	old := *r.relations[last]
	r.relations = r.relations[:last]
	program, err := r.Add(ctx, Relation{Name: old.Name, SQL: sql, Stream: old.Stream})
	if err != nil {
		return evolve.Evolution{}, err
	}
	held := evolve.Held{}
	for _, rel := range r.relations[:last] {
		held[strings.ToLower(rel.Name)] = !rel.Stream
	}
	e := evolve.Compare(old.Program, program, held)
	switch {
	case e.Class == evolve.Noop:
		return e, nil
	case e.Carry == nil:
		r.relations[last] = &old
		return e, nil
	}
	if err := r.seed(ctx, old.Name, program, e.Carry); err != nil {
		return e, err
	}
	_, err = r.Batch(ctx, old.Name)
	return e, err
}

// seed runs the epoch that an edit takes. The carry is written down and read first, as in a plan.
func (r *Run) seed(ctx context.Context, relation string, program *query.Program, planned *evolve.Carry) error {
	text, err := json.Marshal(planned)
	if err != nil {
		return fmt.Errorf("writing what is carried over: %w", err)
	}
	var carry evolve.Carry
	if err := json.Unmarshal(text, &carry); err != nil {
		return fmt.Errorf("reading what is carried over: %w", err)
	}
	before := map[string]*memory{}
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
		return &memory{}
	}}}
	result, err := r.engine.Run(ctx, query.Work{Steps: append(r.wholes(carry), step)})
	if err != nil {
		return fmt.Errorf("seeding %s: %w", relation, err)
	}
	for _, m := range result.Remember[relation] {
		r.memoryOf(relation, m.Operator).keep(m)
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
