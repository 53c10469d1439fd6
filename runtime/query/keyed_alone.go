package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
)

// emptySides is where a join remembers which of its sides never had a row: one bit each.
const emptySides = "\xfe"

// alone lets rows of one side of a join in while the other side has never had any. Their keys do not matter yet: one that cannot be computed, because a cast
// fails, is no failure of the query, which compares nothing. When the other side gets its first rows, all keys are computed.
type alone struct {
	strict *logical.Keyed // the operator as it is; nil: both sides have had rows
	empty  [2]bool
	marked bool
}

// waiting says which sides have had no rows yet. Until both have, keys that fail are NULL.
func (r *keyedRun) waiting() (alone, error) {
	var a alone
	if r.k.Lone == "" {
		return a, nil
	}
	v, err := r.mem.Get([][]byte{[]byte(emptySides)})
	if err != nil {
		return a, fmt.Errorf("reading keyed data: %w", err)
	}
	if v[0] != nil {
		a.marked, a.empty = true, [2]bool{v[0][0]&1 != 0, v[0][0]&2 != 0}
	} else if nothing, err := memory.Empty(r.mem); err != nil {
		return a, fmt.Errorf("reading keyed data: %w", err)
	} else if nothing {
		a.empty = [2]bool{true, true}
	} else {
		return a, nil
	}
	a.strict = r.k.Keyed
	lenient := *r.k.Keyed
	lenient.Inputs = slices.Clone(lenient.Inputs)
	for i, in := range lenient.Inputs {
		keys := make([]string, len(in.Keys))
		for j, key := range in.Keys {
			keys[j] = "TRY(" + key + ")"
		}
		lenient.Inputs[i].Keys = keys
	}
	r.k.Keyed = &lenient
	return a, nil
}

// met goes on once the changes of both sides are known: without the comparison while a side is empty, else with keys that are all there.
func (r *keyedRun) met(ctx context.Context, relation string, a alone) error {
	if a.strict == nil {
		return nil
	}
	still := byte(0)
	for i, d := range r.deltas {
		if a.empty[i] && d == nil {
			still |= 1 << i
		}
	}
	if still != 0 {
		r.k.Body, r.k.AtMostOne = r.k.Lone, ""
		r.remember(relation, Remember{Operator: r.k.ID, Keys: [][]byte{[]byte(emptySides)}, Values: [][]byte{{still}}})
		return nil
	}
	r.k.Keyed, r.before = a.strict, a.strict.Lone
	if a.marked {
		r.remember(relation, Remember{Operator: r.k.ID, Keys: [][]byte{[]byte(emptySides)}, Values: [][]byte{nil}})
	}
	for i, in := range r.k.Inputs {
		held, err := r.all(ctx, i)
		if err != nil {
			return err
		}
		if _, err := r.Make(ctx, "SELECT "+strings.Join(in.Keys, ", ")+" FROM "+r.after(i, held, r.deltas[i])); err != nil {
			return err
		}
	}
	return nil
}

// all makes a table of the rows an input held.
func (r *keyedRun) all(ctx context.Context, i int) (string, error) {
	l, err := r.Loader(compile.Numbered("c", len(r.k.InputTypes[i])), r.k.InputTypes[i])
	if err != nil {
		return "", err
	}
	defer l.Release()
	if err := r.shelves(i).All(func(row []byte) error { return l.Append(ctx, row) }); err != nil {
		return "", err
	}
	return l.Table(ctx)
}
