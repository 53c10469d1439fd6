package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/state"
)

// RefreshOnly is the mode of a plan that changes nothing but the record: it takes over what really is.
const RefreshOnly = "refresh-only"

// Kinds of drift that the plan finds by itself; those of sources and sinks are named by who observes them.
const (
	DriftMissing    = "missing"     // recorded, and the runtime does not have it
	DriftGeneration = "generation"  // the runtime serves another generation than the one recorded
	DriftValue      = "value"       // the runtime was given other attributes than those recorded
	DriftNewColumns = "new_columns" // newer files of a source have columns that it does not
	DriftFilesLost  = "files_lost"  // files of a source that were read are gone or have changed
)

// Observation is something that happened to the real object behind a resource since streamform dealt with it.
type Observation struct {
	Addr   addr.Resource
	Kind   string
	Detail string // what was found, a sentence
	Advice string // what can be done, in sentences; empty: what can always be done
	// Proposal is what could be written into the block of the resource; empty: nothing.
	Proposal string
	Mark     string // another one whenever something else is found; a refresh-only apply records it, and it is then not told again
}

// Drift is a difference between what is recorded and what really is.
type Drift struct {
	Addr   addr.Resource `json:"address"`
	Kind   string        `json:"kind"`
	Detail string        `json:"detail"`           // what was found, a sentence
	Advice string        `json:"advice,omitempty"` // what can be done, a sentence; empty where the plan does something already
	// Proposal is what could be written into the block of the resource; empty: nothing.
	Proposal string          `json:"proposal,omitempty"`
	Before   json.RawMessage `json:"before,omitempty"`
	After    json.RawMessage `json:"after,omitempty"` // nil where the object is gone
	mark     string
}

// Deleted reports that the object is gone, and not only another one.
func (d Drift) Deleted() bool { return d.Kind == DriftMissing }

// Acceptance is what a refresh-only plan makes the state say.
type Acceptance struct {
	Resources []state.Resource `json:"resources,omitempty"` // as they are to be recorded
	Forget    []addr.Resource  `json:"forget,omitempty"`
}

// drift compares the record with what really is, by address. Nothing is said without facts, and nothing about resources
// that an apply left unfinished: what they are is not decided.
func (m *maker) drift() []Drift {
	if m.in.Facts == nil {
		return nil
	}
	observed := map[addr.Resource][]Observation{}
	for _, o := range m.in.Facts.Observed {
		observed[o.Addr] = append(observed[o.Addr], o)
	}
	var out []Drift
	for _, a := range slices.SortedFunc(maps.Keys(m.prior), addr.Resource.Compare) {
		p := m.prior[a]
		if p.Status != state.Applied || !m.wanted(a) {
			continue
		}
		if m.missing(a) {
			out = append(out, Drift{Addr: a, Kind: DriftMissing, Before: p.Attributes,
				Detail: fmt.Sprintf("The runtime does not have %s, which the state records.", a)})
			continue
		}
		if live := m.generation(a); graph.Carries(a) && live != 0 && live != p.Generation {
			out = append(out, Drift{Addr: a, Kind: DriftGeneration, Before: p.Attributes, After: p.Attributes,
				Detail: fmt.Sprintf("The runtime serves generation %d, and the state records %d: another state was applied to this runtime, or an older copy of one of them is in use.", live, p.Generation)})
		}
		if real, ok := m.in.Facts.Values[a]; ok && m.altered(a, real) {
			out = append(out, Drift{Addr: a, Kind: DriftValue, Before: p.Attributes, After: real,
				Detail: "The runtime was given other attributes than those the state records."})
		}
		for _, o := range append(observed[a], m.lost(a)...) {
			if p.Accepted[o.Kind] != o.Mark && !(o.Kind == DriftNewColumns && m.otherColumns(a)) {
				out = append(out, Drift{Addr: a, Kind: o.Kind, Before: p.Attributes, After: p.Attributes, Detail: o.Detail, Advice: cmp.Or(o.Advice, advice(a)), Proposal: o.Proposal, mark: o.Mark})
			}
		}
	}
	return out
}

// otherColumns reports that the plan gives a source other columns.
func (m *maker) otherColumns(a addr.Resource) bool {
	now, ok := m.in.Relations[a]
	return ok && m.prior[a].Relation != nil && !slices.Equal(now.Columns, m.prior[a].Relation.Columns)
}

// lost observes that a source cannot be read again as it was.
func (m *maker) lost(a addr.Resource) []Observation {
	l := m.in.Facts.Lost[a]
	if l.Files == 0 {
		return nil
	}
	what, verb := fmt.Sprintf("%d files that were read are", l.Files), "have"
	if l.Files == 1 {
		what, verb = "1 file that was read is", "has"
	}
	detail := fmt.Sprintf("%s gone or %s changed since", what, verb)
	if len(l.Examples) > 0 {
		detail += fmt.Sprintf(", such as %s", l.Examples[0])
	}
	return []Observation{{Addr: a, Kind: DriftFilesLost, Mark: fmt.Sprintf("%d %s", l.Files, strings.Join(l.Examples, " ")),
		Detail: detail + ". The rows computed from them stay; reading this source again from the start would give others."}}
}

// advice says what can be done about what others did to the object behind a resource.
func advice(a addr.Resource) string {
	if a.Block == addr.Sink {
		return fmt.Sprintf("To write it anew from the rows streamform holds, plan with -replace=%s.", a)
	}
	return ""
}

// accept is the record after what really is was taken over.
func (m *maker) accept(drifts []Drift) *Acceptance {
	out := &Acceptance{}
	changed := map[addr.Resource]*state.Resource{}
	for _, d := range drifts {
		if d.Kind == DriftMissing {
			out.Forget = append(out.Forget, d.Addr)
			continue
		}
		r := changed[d.Addr]
		if r == nil {
			next := *m.prior[d.Addr]
			next.Accepted = maps.Clone(next.Accepted)
			r = &next
			changed[d.Addr] = r
		}
		switch d.Kind {
		case DriftGeneration:
			r.Generation = m.generation(d.Addr)
		case DriftValue:
			r.Attributes = d.After
		default:
			if r.Accepted == nil {
				r.Accepted = map[string]string{}
			}
			r.Accepted[d.Kind] = d.mark
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(changed), addr.Resource.Compare) {
		out.Resources = append(out.Resources, *changed[a])
	}
	return out
}

// standing answers for a refresh-only plan: nothing happens to any resource.
func (m *maker) standing() {
	for a, p := range m.prior {
		if m.wanted(a) {
			m.changes[a] = &Change{Addr: a, Action: NoOp, Class: Noop, Before: p.Attributes, After: p.Attributes, Prior: p, Desired: p}
		}
	}
}

// restore makes changes of what drifted where the comparison of configuration and record had none to offer: the runtime is
// given again what the record says. What was accepted of a generation stays accepted while it lives, and what was delivered to it twice is.
func (m *maker) restore(drifts []Drift) {
	for _, d := range drifts {
		c := m.changes[d.Addr]
		if d.Kind == DriftValue && c != nil && c.Action == NoOp && c.Class == Noop {
			c.Action, c.Class, c.Before, c.Reason = Update, InPlace, d.After, "the runtime was given other attributes than those recorded"
		}
	}
	for _, c := range m.changes {
		if c.Prior != nil && c.Desired != nil && c.Prior.Generation == c.Desired.Generation {
			c.Desired.Accepted, c.Desired.Rewinds = c.Prior.Accepted, c.Prior.Rewinds
		}
	}
}

// altered reports whether the runtime was given attributes that mean something else than those recorded. The text of a query
// is left to the comparison of generations: another spelling of the same is recorded without being given to the runtime, and so
// is what matters at creation only.
func (m *maker) altered(a addr.Resource, real json.RawMessage) bool {
	r, configured := m.config[a]
	recorded := m.prior[a]
	if !configured || sameJSON(real, recorded.Attributes) {
		return false
	}
	was, err := recorded.Value(r.Kind)
	if err != nil {
		return false // compare says so
	}
	is, err := (&state.Resource{Addr: a, Attributes: real}).Value(r.Kind)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(schema.Changed(r.Kind, was, is), func(c schema.FieldChange) bool {
		return c.Cost != schema.CostSemantics && c.Cost != schema.CostCreation
	})
}
