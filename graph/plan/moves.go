package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// turnedFacts gives what the runtime says about a resource that is still to be renamed its new address.
func turnedFacts(m moving.Moves, f *Facts) *Facts {
	if f == nil || len(m.Former) == 0 {
		return f
	}
	out := *f
	out.Generations = rekeyed(f.Generations, m.Now)
	out.Sources = rekeyed(f.Sources, m.Now)
	out.Identities = rekeyed(f.Identities, m.Now)
	out.Held = rekeyed(f.Held, m.Now)
	out.Kept = rekeyed(f.Kept, m.Now)
	out.Delivered = rekeyed(f.Delivered, m.Now)
	out.Lost = rekeyed(f.Lost, m.Now)
	out.Rates = rekeyed(f.Rates, m.Now)
	out.Begun = rekeyed(f.Begun, m.Now)
	out.Occupied = rekeyed(f.Occupied, m.Now)
	out.Values = rekeyed(f.Values, m.Now)
	to := m.To()
	for a, v := range out.Values {
		out.Values[a], _ = moving.TurnAttributes(v, to)
	}
	out.Observed = slices.Clone(f.Observed)
	for i, o := range out.Observed {
		if is, moved := to[o.Addr]; moved {
			out.Observed[i].Addr = is
		}
	}
	return &out
}

func rekeyed[T any](from map[addr.Resource]T, now map[addr.Resource]addr.Resource) map[addr.Resource]T {
	out := maps.Clone(from)
	for is, was := range now {
		if v, ok := from[was]; ok {
			out[is] = v
			delete(out, was)
		}
	}
	return out
}

// wasStream reports that a view is, or is still to be, made of the stream that it was before it moved: nobody holds the rows of that.
func (m *maker) wasStream(a addr.Resource) bool {
	former, moved := m.in.Moves.Former[a]
	if !moved || former.Block == a.Block {
		return false
	}
	_, now := m.in.Moves.Now[a]
	return now || m.prior[a] != nil && m.prior[a].Status == state.Building
}

// moved judges that a resource, or what it names, has another address now. Nothing is computed for it, unless it was a stream.
func (m *maker) moved(c *Change, v *verdict) {
	switch {
	case c.PreviousAddr != nil && m.wasStream(c.Addr):
		v.anew = true
		v.add(Migrate, fmt.Sprintf("it was %s, and a view holds its rows, which a stream does not", c.PreviousAddr))
	case c.PreviousAddr != nil:
		v.add(Migrate, fmt.Sprintf("it was %s; what it holds stays", c.PreviousAddr))
	}
	if m.in.Moves.Stale[c.Addr] {
		v.add(InPlace, "what it names was renamed")
	}
}

// hint says of what is destroyed that it may have been renamed: something like it is created.
func (m *maker) hint() {
	if m.in.Mode == Destroy {
		return
	}
	deleted := map[string][]addr.Resource{}
	for _, a := range m.sortedChanges() {
		if c := m.changes[a]; c.Action == Delete && graph.Carries(a) {
			key := likeness(a, c.Prior)
			deleted[key] = append(deleted[key], a)
		}
	}
	for _, a := range m.sortedChanges() {
		c := m.changes[a]
		if c.Action != Create || c.Prior != nil || !graph.Carries(a) {
			continue
		}
		key := likeness(a, c.Desired)
		if len(deleted[key]) == 0 {
			continue
		}
		from := deleted[key][0]
		deleted[key] = deleted[key][1:]
		at := m.config[a].Range
		m.warn(a, &at, "This may be a rename", fmt.Sprintf(
			"%s is to be destroyed, and %s, which means the same, is to be created: what the former holds is lost, and the latter begins anew. If it was renamed, say so, and it keeps all that it holds:\n\n"+
				"  moved {\n    from = %s\n    to   = %s\n  }", from, a, from, a))
	}
}

// likeness is equal for two resources of one kind that mean the same.
func likeness(a addr.Resource, r *state.Resource) string {
	if r.Relation != nil && r.Relation.Identity != "" && a.Block != addr.Source {
		return a.Kind() + " " + r.Relation.Identity
	}
	var compact bytes.Buffer
	if json.Compact(&compact, r.Attributes) != nil {
		return a.String()
	}
	return a.Kind() + " " + compact.String()
}
