package evolve

import "slices"

// Taken is what the keyed data of a new program was really made from, as the runtime has seen it while it followed a Carry.
type Taken struct {
	Operators []Made           `json:"operators,omitempty"` // of the new program, inputs before their readers
	Read      map[string]int64 `json:"read,omitempty"`      // by ID of an old operator: rows and groups that were read of what it holds
}

// Made is what was done for one operator.
type Made struct {
	Operator string   `json:"operator"` // ID in the new program
	Fate     FateKind `json:"fate"`     // Kept, Migrated, Rebuilt, or New where it holds nothing
}

// Class is what was done, in the words of a plan.
func (t Taken) Class() Class {
	if slices.ContainsFunc(t.Operators, func(m Made) bool { return m.Fate == Rebuilt }) {
		return RebuildFromState
	}
	return Migrate
}

// Rows is how many rows and groups were read in all.
func (t Taken) Rows() (sum int64) {
	for _, n := range t.Read {
		sum += n
	}
	return sum
}

// Need is something that following a Carry reads whole: a view, or what an old operator holds.
type Need struct {
	View     string `json:"view,omitempty"` // leaf; empty: an operator
	Operator string `json:"operator,omitempty"`
	Store    Store  `json:"store,omitempty"`
	Input    int    `json:"input,omitempty"` // ByKey: which
}

// Groups is the form in which an aggregate holds its partials.
const Groups Store = "groups"
