package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Sharing is what a view that is computed has in common with views that serve: the keyed data of operators, which it takes as it is.
type Sharing struct {
	With      []addr.Resource `json:"with"`
	Operators int             `json:"operators"` // that it shares
	Of        int             `json:"of"`        // that it has
	// Reads are the names of the relations that its other operators read, in lower case. Nothing else is read for it.
	Reads []string `json:"reads,omitempty"`
}

// mostLooks bounds how often sharing is looked at again, since what a view shares decides its class, and classes decide what stays.
const mostLooks = 4

// share finds what views that are computed have in common with views that stay as they are, and reports whether the changes, which
// were made for what was found before, must be made again.
func (m *maker) share() bool {
	found := map[addr.Resource]*Sharing{}
	if m.looks++; m.looks < mostLooks {
		served := m.served()
		for a, c := range m.changes {
			if s := sharing(c, served); s != nil {
				found[a] = s
			}
		}
	}
	again := m.awaited
	m.awaited = false
	same := maps.EqualFunc(found, m.shares, func(x, y *Sharing) bool {
		return x.Operators == y.Operators && slices.Equal(x.With, y.With) && slices.Equal(x.Reads, y.Reads)
	})
	m.shares = found
	return !same || again
}

// served are the views that stay as they are and hold what their queries over all rows would give, by what their operators are called in common.
func (m *maker) served() map[string]addr.Resource {
	out := map[string]addr.Resource{}
	for _, a := range slices.SortedFunc(maps.Keys(m.config), addr.Resource.Compare) {
		p, c := m.prior[a], m.changes[a]
		switch {
		case a.Block != addr.View || p == nil || p.Relation == nil || p.Status != state.Applied || len(p.History) > 0 || m.missing(a):
			continue
		case m.in.Facts != nil && m.in.Facts.Generations[a] != p.Generation:
			continue
		case c != nil && (m.regenerates(c) || c.Class == Blocked || len(c.Receives)+len(c.Boundaries) > 0):
			continue
		}
		for _, o := range p.Relation.Operators {
			if _, there := out[o.Common]; o.Common != "" && !there {
				out[o.Common] = a
			}
		}
	}
	return out
}

// sharing is that of a change; nil where there is none.
func sharing(c *Change, served map[string]addr.Resource) *Sharing {
	if c.Addr.Block != addr.View || !c.Computes() || c.Evolution != nil && c.Evolution.Carry != nil || c.Desired.Relation == nil {
		return nil
	}
	s := &Sharing{}
	for _, o := range c.Desired.Relation.Operators {
		if o.Common != "" || o.Kind != "linear" {
			s.Of++
		}
		if with, shared := served[o.Common]; shared {
			s.Operators++
			s.With = append(s.With, with)
			continue
		}
		for _, name := range o.Reads {
			bare, _, _ := strings.Cut(strings.ToLower(name), ".")
			s.Reads = append(s.Reads, bare)
		}
	}
	if s.Operators == 0 {
		return nil
	}
	slices.SortFunc(s.With, addr.Resource.Compare)
	slices.Sort(s.Reads)
	s.With, s.Reads = slices.Compact(s.With), slices.Compact(s.Reads)
	return s
}

// read are the relations that are read to compute a resource: not those that only operators read whose keyed data is there.
func (m *maker) read(a addr.Resource) []addr.Resource {
	inputs, s := m.in.Graph.Inputs(a), m.shares[a]
	if s == nil {
		return inputs
	}
	return slices.DeleteFunc(slices.Clone(inputs), func(in addr.Resource) bool {
		return graph.Carries(in) && !slices.Contains(s.Reads, strings.ToLower(in.Relation()))
	})
}
