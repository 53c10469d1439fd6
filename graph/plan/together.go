package plan

import (
	"slices"

	"github.com/streamform/streamform/lang/addr"
)

// gather finds what is to be computed anew so that one commit can switch everything over: what is built can neither read a
// view that is about to receive a difference, nor take over keyed data while a view it reads gets other rows. Only what is made of views
// alone is found, as their rows are held; else what is built waits until the difference was received. It reports whether something
// new was found.
func (m *maker) gather() bool {
	before := len(m.together)
	for _, a := range m.order {
		c := m.changes[a]
		if c == nil || !m.regenerates(c) {
			continue
		}
		carried := c.Evolution != nil && c.Evolution.Carry != nil
		for _, in := range m.in.Graph.Inputs(a) {
			if m.effect(in) != difference {
				continue
			}
			switch received := !m.regenerates(m.changes[in]); {
			case received && m.ofViews(in):
				m.together[in] = a.String() + ", which reads it, is computed in the same commit"
			case !received && carried && m.ofViews(a):
				m.together[a] = in.String() + ", which it reads, gets other rows in the same commit"
			}
		}
	}
	return len(m.together) > before
}

// ofViews reports whether a relation is made of views alone.
func (m *maker) ofViews(a addr.Resource) bool {
	return !slices.ContainsFunc(m.in.Graph.Inputs(a), func(in addr.Resource) bool { return in.Block != addr.View })
}
