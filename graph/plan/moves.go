package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// Moves is what moved blocks have done to a recorded state before it is compared.
type Moves struct {
	// Now are the resources that apply has to rename: address → the one it is recorded with.
	Now map[addr.Resource]addr.Resource
	// Former are those of Now and those renamed before: records that were made before may still name the old address.
	Former map[addr.Resource]addr.Resource
	// Stale are the resources whose record named an address that has moved: the runtime has to be told.
	Stale map[addr.Resource]bool
}

// Move gives recorded resources the addresses that the configuration's moved blocks say, and turns what names them. The document
// given is left alone. A move whose old address is not recorded has been made before.
func Move(cfg *lang.Config, d *state.Document) (*state.Document, Moves, diag.Diagnostics) {
	m := Moves{Now: map[addr.Resource]addr.Resource{}, Former: map[addr.Resource]addr.Resource{}, Stale: map[addr.Resource]bool{}}
	if d == nil || len(cfg.Moved) == 0 {
		return d, m, nil
	}
	var ds diag.Diagnostics
	out := d.Clone()
	places := make(map[addr.Resource]int, len(out.Resources))
	for i, r := range out.Resources {
		places[r.Addr] = i
	}
	for from, to := range targets(cfg.Moved) {
		at, recorded := places[from]
		_, taken := places[to.To]
		switch {
		case recorded && taken:
			ds = append(ds, diag.NewWarning(&to.Range, "A move cannot be made", fmt.Sprintf(
				"%s is to become %s, but the state records both. Remove one of them, or the moved block.", from, to.To)))
		case recorded:
			out.Resources[at].Addr = to.To
			m.Now[to.To], m.Former[to.To] = from, from
		case taken:
			m.Former[to.To] = from
		}
	}
	m.turn(out)
	return out, m, ds
}

// target is where a chain of moves ends, and the block that says so last.
type target struct {
	To    addr.Resource
	Range diag.Range
}

// targets follows chains of moves to their ends.
func targets(moved []lang.Move) map[addr.Resource]target {
	next := map[addr.Resource]lang.Move{}
	for _, m := range moved {
		next[m.From] = m
	}
	out := map[addr.Resource]target{}
	for _, m := range moved {
		end := m
		for range moved { // a circle is no chain: it was refused when it was read
			further, ok := next[end.To]
			if !ok {
				break
			}
			end = further
		}
		out[m.From] = target{end.To, end.Range}
	}
	return out
}

// turn rewrites what names an address that has moved: dependencies, and attributes that hold a reference.
func (m Moves) turn(d *state.Document) {
	to := inverse(m.Former)
	for i := range d.Resources {
		r := &d.Resources[i]
		var stale bool
		if r.Dependencies, stale = turnedAddresses(r.Dependencies, to); stale {
			m.Stale[r.Addr] = true
		}
		if attributes, turned := turnedAttributes(r.Attributes, to); turned {
			r.Attributes, m.Stale[r.Addr] = attributes, true
		}
	}
}

func turnedAddresses(list []addr.Resource, to map[addr.Resource]addr.Resource) ([]addr.Resource, bool) {
	out, turned := slices.Clone(list), false
	for i, a := range out {
		if is, moved := to[a]; moved {
			out[i], turned = is, true
		}
	}
	return out, turned
}

// turnedAttributes rewrites references among the attributes of a resource: texts that are the address, or the address and a side relation.
func turnedAttributes(raw json.RawMessage, to map[addr.Resource]addr.Resource) (json.RawMessage, bool) {
	values := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &values) != nil {
		return raw, false
	}
	turned := false
	for name, v := range values {
		var text string
		if json.Unmarshal(v, &text) != nil {
			continue
		}
		a, side, err := addr.ParseReference(text)
		is, moved := to[a]
		if err != nil || !moved {
			continue
		}
		text = is.String()
		if side != "" {
			text += "." + side
		}
		values[name], turned = json.RawMessage(fmt.Sprintf("%q", text)), true
	}
	if !turned {
		return raw, false
	}
	out, err := json.Marshal(values)
	return out, err == nil
}

// facts gives what the runtime says about a resource that is still to be renamed its new address.
func (m Moves) facts(f *Facts) *Facts {
	if f == nil || len(m.Former) == 0 {
		return f
	}
	out := *f
	out.Generations = rekeyed(f.Generations, m.Now)
	out.Sources = rekeyed(f.Sources, m.Now)
	out.Identities = rekeyed(f.Identities, m.Now)
	out.Held = rekeyed(f.Held, m.Now)
	out.Delivered = rekeyed(f.Delivered, m.Now)
	out.Lost = rekeyed(f.Lost, m.Now)
	out.Rates = rekeyed(f.Rates, m.Now)
	out.Values = rekeyed(f.Values, m.Now)
	to := inverse(m.Former)
	for a, v := range out.Values {
		out.Values[a], _ = turnedAttributes(v, to)
	}
	out.Observed = slices.Clone(f.Observed)
	for i, o := range out.Observed {
		if is, moved := to[o.Addr]; moved {
			out.Observed[i].Addr = is
		}
	}
	return &out
}

func inverse(m map[addr.Resource]addr.Resource) map[addr.Resource]addr.Resource {
	out := make(map[addr.Resource]addr.Resource, len(m))
	for is, was := range m {
		out[was] = is
	}
	return out
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
