// Package moving gives recorded resources the addresses that moved blocks say.
package moving

import (
	"encoding/json"
	"fmt"
	"slices"

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

// Apply gives recorded resources the addresses that the configuration's moved blocks say, and turns what names them. A resource that is given
// a count, or is left without one, is its first instance, as if a moved block said so. The document given is left alone. A move whose old address is not recorded has been made before.
func Apply(cfg *lang.Config, d *state.Document) (*state.Document, Moves, diag.Diagnostics) {
	m := Moves{Now: map[addr.Resource]addr.Resource{}, Former: map[addr.Resource]addr.Resource{}, Stale: map[addr.Resource]bool{}}
	moved := instances(cfg, d)
	if len(moved) == 0 {
		return d, m, nil
	}
	var ds diag.Diagnostics
	out := d.Clone()
	places := make(map[addr.Resource]int, len(out.Resources))
	for i, r := range out.Resources {
		places[r.Addr] = i
	}
	for from, to := range targets(moved) {
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
	to := m.To()
	for i := range d.Resources {
		r := &d.Resources[i]
		var stale bool
		if r.Dependencies, stale = turnedAddresses(r.Dependencies, to); stale {
			m.Stale[r.Addr] = true
		}
		if attributes, turned := TurnAttributes(r.Attributes, to); turned {
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

// TurnAttributes rewrites references among the attributes of a resource: texts that are the address, or the address and a side relation.
func TurnAttributes(raw json.RawMessage, to map[addr.Resource]addr.Resource) (json.RawMessage, bool) {
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
		if v, err := json.Marshal(text); err == nil {
			values[name], turned = v, true
		}
	}
	if !turned {
		return raw, false
	}
	out, err := json.Marshal(values)
	return out, err == nil
}

// To is where each former address leads.
func (m Moves) To() map[addr.Resource]addr.Resource {
	out := make(map[addr.Resource]addr.Resource, len(m.Former))
	for is, was := range m.Former {
		out[was] = is
	}
	return out
}
