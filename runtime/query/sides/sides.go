// Package sides knows which sides of a join have never had a row, and how keys are computed until both have
package sides

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
)

// entry is where a join remembers which of its sides never had a row: one bit each.
const entry = "\xfe"

// Waiting is a join of which a side has never had a row. Keys of the other side do not matter yet: one that cannot be computed, because a cast
// fails, is no failure of the query, which compares nothing. Once both sides have rows, all keys have to be there. The zero value waits for nothing.
type Waiting struct {
	Strict *logical.Keyed // the operator as it is; nil: both sides have had rows
	empty  [2]bool
	marked bool
}

// Read finds out whether a join waits, and returns the operator to go on with: while it waits, keys that fail are NULL.
func Read(mem memory.Memory, k *logical.Keyed) (Waiting, *logical.Keyed, error) {
	var w Waiting
	if k.Lone == "" {
		return w, k, nil
	}
	v, err := memory.Get(mem, [][]byte{[]byte(entry)})
	if err != nil {
		return w, k, fmt.Errorf("reading keyed data: %w", err)
	}
	if w.marked = v[0] != nil; w.marked {
		w.empty = [2]bool{v[0][0]&1 != 0, v[0][0]&2 != 0}
	} else {
		nothing, err := memory.Empty(mem)
		if err != nil {
			return w, k, fmt.Errorf("reading keyed data: %w", err)
		}
		if !nothing {
			return w, k, nil
		}
		w.empty = [2]bool{true, true}
	}
	w.Strict = k
	lenient := *k
	lenient.Inputs = slices.Clone(k.Inputs)
	for i, in := range k.Inputs {
		lenient.Inputs[i].Keys = make([]string, len(in.Keys))
		for j, key := range in.Keys {
			lenient.Inputs[i].Keys[j] = "TRY(" + key + ")"
		}
	}
	return w, &lenient, nil
}

// Goes tells of the sides that an epoch changes whether the join goes on waiting, and what is to be remembered of that.
func (w Waiting) Goes(changes [2]bool) (on bool, r memory.Remember) {
	still := byte(0)
	for i, changed := range changes {
		if w.empty[i] && !changed {
			still |= 1 << i
		}
	}
	if still != 0 || w.marked {
		r.Keys, r.Values = [][]byte{[]byte(entry)}, [][]byte{nil}
	}
	if still != 0 {
		r.Values[0] = []byte{still}
	}
	return still != 0, r
}
