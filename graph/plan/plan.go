// Package plan compares Config and State with facts about the runtime and answers what apply would do, as pure data.
package plan

import (
	"encoding/json"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Action is what happens to a resource.
type Action string

// Actions, spelled as plan JSON spells them.
const (
	NoOp    Action = "no-op"
	Create  Action = "create"
	Update  Action = "update"
	Delete  Action = "delete"
	Replace Action = "replace" // -replace, or an outside object that cannot be altered
)

// Class is what a change costs the data.
type Class string

// Classes, from nothing to impossible.
const (
	Noop             Class = "noop"
	InPlace          Class = "in_place"
	Migrate          Class = "migrate"
	RebuildFromState Class = "rebuild_from_state"
	ReplayFromSource Class = "replay_from_source"
	Blocked          Class = "blocked"
)

// Plan is everything apply needs. It is serialised whole into a saved plan.
type Plan struct {
	FormatVersion     string          `json:"format_version"`
	StreamformVersion string          `json:"streamform_version"`
	Mode              string          `json:"mode"` // normal, destroy, refresh-only
	ConfigHash        string          `json:"config_hash"`
	Lineage           string          `json:"lineage"`
	Serial            int64           `json:"serial"`
	RuntimeID         string          `json:"runtime_id"` // identity of the runtime's store the facts came from
	Changes           []Change        `json:"changes"`    // by address, no-ops included
	Order             []addr.Resource `json:"order"`      // creates, updates and replacements, in the order apply takes them
	// DeleteFirst and DeleteLast are the deletes in the order apply takes them: before Order, and after the new
	// generations have taken over, for what the former ones still read until then.
	DeleteFirst []addr.Resource `json:"delete_first,omitempty"`
	DeleteLast  []addr.Resource `json:"delete_last,omitempty"`
	// Sources says what each source held when the plan was made: what Price counts. Empty without facts.
	Sources   map[addr.Resource]Extent `json:"sources,omitempty"`
	Outputs   []OutputChange           `json:"outputs"`
	Targeted  bool                     `json:"targeted,omitempty"`
	Variables map[string]string        `json:"variables,omitempty"` // name → digest of the value used, salted with the lineage
	// Values are the variables' values as JSON, without sensitive ones.
	Values  map[string]json.RawMessage `json:"values,omitempty"`
	Errored bool                       `json:"errored,omitempty"`
	// Drift is what really is and differs from the record, by address.
	Drift []Drift `json:"drift,omitempty"`
	// Accept is what a refresh-only plan makes the state say; nil in other modes.
	Accept *Acceptance `json:"accept,omitempty"`
	// Allowed lists what -allow named.
	Allowed []addr.Resource `json:"allowed,omitempty"`
	// Lock is what a saved plan stands and falls with; nil without facts.
	Lock *Lock `json:"lock,omitempty"`
	// Checks are the results of the check blocks, by name.
	Checks []CheckResult `json:"checks,omitempty"`
}

// Change is one resource's entry.
type Change struct {
	Addr addr.Resource `json:"address"`
	// PreviousAddr is where the state and the runtime have it until apply, when it was moved: the runtime renames it
	// first, with all that it holds and remembers, and then makes the rest of the change.
	PreviousAddr *addr.Resource `json:"previous_address,omitempty"`
	Action       Action         `json:"action"`
	Class        Class          `json:"class"`
	Reason       string         `json:"reason,omitempty"`
	// Evolution says what becomes of each operator of a query that was edited. Its Carry is nil unless keyed data is carried over.
	Evolution *Evolution `json:"evolution,omitempty"`
	// Shares says what keyed data a view that is computed takes from views that serve, and goes on having together with them.
	Shares *Sharing `json:"shares,omitempty"`
	// Receives lists the views it reads that get other rows in this plan: it is given new minus old rows when they cut over, and
	// is not computed anew itself.
	Receives []addr.Resource `json:"receives,omitempty"`
	// Boundaries are those this plan puts into the rows of the resource: its own with history = "keep", and those of what it reads.
	Boundaries []state.Boundary `json:"boundaries,omitempty"`
	// Requested: the replacement was asked for with -replace.
	Requested bool            `json:"requested,omitempty"`
	Because   string          `json:"because,omitempty"` // second comment line: "because view.x is not in configuration"
	Before    json.RawMessage `json:"before,omitempty"`  // complete value, sensitive leaves null
	After     json.RawMessage `json:"after,omitempty"`
	Changed   []string        `json:"changed,omitempty"` // attribute paths that differ
	Price     *Price          `json:"price,omitempty"`
	Prior     *state.Resource `json:"prior,omitempty"`
	// Desired is what the state records once the change is made; nil for a delete.
	Desired *state.Resource `json:"desired,omitempty"`
	// Relations lists columns a relation gains or had inferred, for the reader of the plan.
	Inferred bool `json:"inferred,omitempty"` // Desired.Relation.Columns were inferred from files now
	// Sampled is what inferring read; nil unless Inferred.
	Sampled *Extent `json:"sampled,omitempty"`
	// Denials are what policies have against the change.
	Denials []Denial `json:"denials,omitempty"`
}

// Computes reports whether the change makes a new generation that apply has to compute. A move alone does not.
func (c Change) Computes() bool {
	if c.Action == NoOp || c.Action == Delete {
		return false
	}
	if c.Prior != nil && c.Desired != nil && c.Prior.Generation == c.Desired.Generation && c.Prior.Status == state.Applied {
		return false
	}
	return c.Class == Migrate || c.Class == RebuildFromState || c.Class == ReplayFromSource
}

// Keeps reports whether the change puts another definition into a generation that stays: with history = "keep" it holds from the
// next epoch on.
func (c Change) Keeps() bool {
	for _, b := range c.Boundaries {
		if b.Of == c.Addr {
			return true
		}
	}
	return false
}

// Price is what carrying out a change reads and computes.
type Price struct {
	Files   int64           `json:"files,omitempty"`
	Rows    int64           `json:"rows,omitempty"` // 0 when unknown
	Bytes   int64           `json:"bytes,omitempty"`
	Sources []addr.Resource `json:"sources,omitempty"` // read again, or for the first time
	// Reads is the same by source: from where, and how much.
	Reads []Reading `json:"reads,omitempty"`
	// HeldRows are rows that the runtime holds and that are read instead of a source; 0 when unknown.
	HeldRows int64 `json:"held_rows,omitempty"`
	// Seconds estimates how long it takes, from the rates of past epochs; 0 when unknown.
	Seconds float64 `json:"seconds,omitempty"`
}

// OutputChange is one output's entry.
type OutputChange struct {
	Name      string          `json:"name"`
	Action    Action          `json:"action"`
	Before    json.RawMessage `json:"before,omitempty"`
	After     json.RawMessage `json:"after,omitempty"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Digest    string          `json:"digest,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
}

// Counts are the numbers of the "Plan:" line.
type Counts struct{ Add, Change, Destroy int }

// Counts sums the changes. A replacement counts as one added and one destroyed.
func (p *Plan) Counts() Counts {
	var c Counts
	for _, ch := range p.Changes {
		switch ch.Action {
		case Create:
			c.Add++
		case Update:
			c.Change++
		case Delete:
			c.Destroy++
		case Replace:
			c.Add++
			c.Destroy++
		}
	}
	return c
}

// Empty reports whether apply would change nothing, outputs included.
func (p *Plan) Empty() bool {
	if p.Mode == RefreshOnly {
		return len(p.Drift) == 0
	}
	for _, o := range p.Outputs {
		if o.Action != NoOp {
			return false
		}
	}
	return p.Counts() == Counts{}
}
