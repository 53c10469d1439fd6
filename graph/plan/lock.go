package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/graph/plan/columns"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
)

// Lock is what a plan was made on beside the configuration and the record. A saved plan is refused when one of it moved.
type Lock struct {
	// Generations are those the runtime served, of what the plan is about.
	Generations map[addr.Resource]int64 `json:"generations,omitempty"`
	// Identities are those of the objects behind sources and sinks.
	Identities map[addr.Resource]Identity `json:"identities,omitempty"`
}

// Identity tells the object behind a source or sink from another one that has come to its place.
type Identity struct {
	Place   string       `json:"place,omitempty"`   // where its address leads to: a folder with links followed, a table's ID
	Columns batch.Schema `json:"columns,omitempty"` // of its data; nil: not looked at
}

// lock notes what the plan was made on.
func (m *maker) lock(changes []Change) *Lock {
	if m.in.Facts == nil {
		return nil
	}
	l := lockOn(changes, m.in.Facts)
	for _, c := range changes {
		if c.Inferred && c.Desired != nil && c.Desired.Relation != nil {
			id := l.Identities[c.Addr]
			id.Columns = c.Desired.Relation.Columns
			l.Identities[c.Addr] = id
		}
	}
	return l
}

// LockOn is what the plan would be locked to were it made on these facts.
func (p *Plan) LockOn(f *Facts) *Lock { return lockOn(p.Changes, f) }

func lockOn(changes []Change, f *Facts) *Lock {
	l := &Lock{Generations: map[addr.Resource]int64{}, Identities: map[addr.Resource]Identity{}}
	for _, c := range changes {
		at := c.Addr
		if _, there := f.Generations[at]; !there && c.PreviousAddr != nil {
			at = *c.PreviousAddr // until apply renames it
		}
		if g, ok := f.Generations[at]; ok {
			l.Generations[c.Addr] = g
		}
		if id, ok := f.Identities[c.Addr]; ok && c.Desired != nil {
			l.Identities[c.Addr] = id
		}
	}
	return l
}

// Moved says, as a sentence, the first thing by address that is not as it was; empty when all is.
func (l *Lock) Moved(now *Lock) string {
	if l == nil || now == nil {
		return ""
	}
	for _, a := range slices.SortedFunc(maps.Keys(union(l.Generations, now.Generations)), addr.Resource.Compare) {
		was, had := l.Generations[a]
		is, has := now.Generations[a]
		switch {
		case had && !has:
			return fmt.Sprintf("The runtime does not have %s any more.", a)
		case !had && has:
			return fmt.Sprintf("The runtime has got %s since the plan was made.", a)
		case was != is:
			return fmt.Sprintf("The runtime serves generation %d of %s now; it was %d when the plan was made.", is, a, was)
		}
	}
	for _, a := range slices.SortedFunc(maps.Keys(union(l.Identities, now.Identities)), addr.Resource.Compare) {
		was, had := l.Identities[a]
		is, has := now.Identities[a]
		switch {
		case had && !has:
			return fmt.Sprintf("What %s stands for (%s) cannot be found any more.", a, was.Place)
		case !had && has:
			return fmt.Sprintf("There is something in the place of %s now (%s), where there was nothing when the plan was made.", a, is.Place)
		case was.Place != is.Place:
			return fmt.Sprintf("%s stands for %s now; it was %s when the plan was made.", a, is.Place, was.Place)
		}
		if what := columns.Differ(was.Columns, is.Columns); what != "" {
			return fmt.Sprintf("The columns of %s have changed since the plan was made: %s.", a, what)
		}
	}
	return ""
}

func union[V any](a, b map[addr.Resource]V) map[addr.Resource]V {
	out := maps.Clone(a)
	if out == nil {
		out = map[addr.Resource]V{}
	}
	maps.Copy(out, b)
	return out
}
