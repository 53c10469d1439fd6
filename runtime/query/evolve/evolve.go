// Package evolve compares two compiled queries, and says what of the old one's keyed data the new one can go on with.
package evolve

// Class is what an edit of a query costs, in the words of a plan.
type Class string

// Classes, from the cheapest.
const (
	Noop             Class = "noop"
	Migrate          Class = "migrate"            // keyed data is used as it is, or follows from the old
	RebuildFromState Class = "rebuild_from_state" // computed from rows the runtime holds
	ReplayFromSource Class = "replay_from_source" // a source must be read again
)

// FateKind is what becomes of an operator.
type FateKind string

// Fates of operators.
const (
	Kept     FateKind = "kept"     // the same operator over the same input: its keyed data is used as it is
	Migrated FateKind = "migrated" // its keyed data, or its rows, follow from the old
	Rebuilt  FateKind = "rebuilt"  // computed from rows the runtime holds
	Replayed FateKind = "replayed" // must read a source again
	Dropped  FateKind = "dropped"  // the new query has no use for it
	New      FateKind = "new"      // holds nothing: computed from what is below it
)

// Held names the relations, by leaf, of the new query that are views whose rows the runtime holds, as the old query has read
// them. A relation that begins anew is not among them.
type Held map[string]bool

// Evolution is what an edit of a query means for its keyed data.
type Evolution struct {
	Class     Class
	Reason    string // one sentence; empty for Noop
	Operators []Fate // of the new program, inputs before their readers; then those dropped
	// Carry says how the new keyed data comes from the old; nil for Noop, and where a source must be read again.
	Carry *Carry
}

// Fate is what becomes of one operator, and why.
type Fate struct {
	Name   string // as Program.Operators of the new program names it; of the old one, when it is dropped
	Kind   string
	Detail string
	Fate   FateKind
	Reason string
}

// Carry says how one epoch that reads no source gets the keyed data of a new program from that of the old one. It is
// pure data, and complete: the old program is not needed to follow it.
type Carry struct {
	// Program is the identity of the new program that the carry was made for.
	Program string `json:"program"`
	// Operators say, by ID of the new program's operators, where their keyed data comes from. One that is absent is
	// computed from its inputs, as in any epoch.
	Operators map[string]Origin `json:"operators,omitempty"`
	// Leaves are the relations whose rows the epoch reads whole, by leaf.
	Leaves map[string]Leaf `json:"leaves,omitempty"`
}

// Leaf is where all rows of a relation come from.
type Leaf struct {
	// From is the old operator that holds them; nil: the relation is a view, and its rows are an input of the epoch.
	From *Rows `json:"from,omitempty"`
}

// Origin is where the keyed data of one operator comes from: exactly one of its fields is set.
type Origin struct {
	Keep     string    `json:"keep,omitempty"`     // ID of the old operator whose keyed data is taken over as it is
	Partials *Partials `json:"partials,omitempty"` // an aggregate's, from those of an old aggregate
	// Inputs are the rows of the operator's inputs, in order. A nil is computed from what is below it.
	Inputs []*Rows `json:"inputs,omitempty"`
	// Result are the rows of the relation itself.
	Result *Rows `json:"result,omitempty"`
}

// Partials is an aggregate's keyed data as a query over that of an old aggregate, whose groups are the columns g0, g1, … and
// whose partials are p0, p1, ….
type Partials struct {
	Operator     string   `json:"operator"` // old
	GroupTypes   []string `json:"group_types,omitempty"`
	PartialTypes []string `json:"partial_types,omitempty"`
	Where        string   `json:"where,omitempty"`
	Groups       []string `json:"groups,omitempty"`   // SQL, one for each group of the new aggregate
	Partials     []string `json:"partials,omitempty"` // SQL, one for each partial of the new aggregate
	// Merge: several old groups make one new group, and Partials are aggregates.
	Merge bool `json:"merge,omitempty"`
	// With, if set: what the aggregate's input gives is merged in, by these aggregates over the new partials p0, p1, ….
	With []string `json:"with,omitempty"`
}

// Store is the form in which an operator holds rows.
type Store string

// Stores of rows.
const (
	ByKey     Store = "by_key"     // a keyed operator's input
	ByContent Store = "by_content" // each distinct row, and how often it is there
	InOrder   Store = "in_order"   // blocks of rows that are never taken back
)

// Rows are rows that an old operator holds, as a query over its columns c0, c1, ….
type Rows struct {
	Operator string   `json:"operator"` // old
	Store    Store    `json:"store"`
	Input    int      `json:"input,omitempty"` // ByKey: which
	Types    []string `json:"types"`           // of the columns held
	Where    string   `json:"where,omitempty"`
	Columns  []string `json:"columns"` // SQL, one for each column asked for
}
