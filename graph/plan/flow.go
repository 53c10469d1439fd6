package plan

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// effect is what a change of a relation does to those who read it.
type effect int

const (
	unaffected effect = iota // its rows stay
	difference               // it gets other rows, and old and new ones are held: readers are given new minus old
	anew                     // its rows begin anew, and nobody holds the old ones
)

// regenerates reports whether a change makes a new generation.
func (m *maker) regenerates(c *Change) bool {
	return c.Computes() || c.Action == Create || c.Action == Replace
}

// effect of a change on readers. A view ends what began above it, since its old rows are held.
func (m *maker) effect(a addr.Resource) effect {
	c := m.changes[a]
	switch {
	case c == nil:
		return unaffected
	case !m.regenerates(c) && len(c.Receives) > 0:
		return difference
	case !m.regenerates(c):
		return unaffected
	case a.Block == addr.View && m.serves(c) && !m.wasStream(a):
		return difference
	}
	return anew
}

// serves reports whether the runtime has rows of the generation before.
func (m *maker) serves(c *Change) bool {
	if c.Prior == nil || c.Action == Create {
		return false
	}
	if m.in.Facts == nil {
		return c.Prior.Status == state.Applied
	}
	return m.in.Facts.Generations[c.Addr] != 0
}

// fresh reports whether readers of a relation need a new generation, since it gets one in this plan.
func (m *maker) fresh(a addr.Resource) bool { return m.effect(a) == anew }

// inputs judges what the changes of what is read mean for a reader. A generation that an apply left
// unfinished is no reason for a reader that it left unfinished too: that was made for it.
func (m *maker) inputs(c *Change, v *verdict) {
	for _, input := range m.in.Graph.Inputs(c.Addr) {
		switch m.effect(input) {
		case anew:
			if !m.sinceNow(c.Addr) && !(c.Prior.Status == state.Building && m.resumed(input)) {
				v.anew = true
				what := "is computed again"
				if in := m.changes[input]; in.Prior == nil {
					what = "is new"
				}
				v.reasons = append(v.reasons, input.String()+", which it reads, "+what)
			}
		case difference:
			if why := m.cannotReceive(c, input); why != "" {
				v.anew = true
				v.reasons = append(v.reasons, why)
			} else {
				c.Receives = append(c.Receives, input)
			}
		}
	}
	if why := m.together[c.Addr]; why != "" {
		v.anew = true
		v.reasons = append(v.reasons, why)
	}
	if v.anew {
		c.Receives = nil
	}
}

// cannotReceive says why a reader cannot be given the difference of a view: it was compiled for rows that are never taken back.
func (m *maker) cannotReceive(c *Change, input addr.Resource) string {
	was := m.changes[input].Prior.Relation
	switch {
	case c.Addr.Block == addr.Sink:
		return m.cannotAdapt(c, input, was)
	case c.Addr.Block == addr.Stream:
		return fmt.Sprintf("%s, which it reads, gets other rows, and a stream takes none back", input)
	case c.Addr.Block == addr.View && was != nil && was.AppendOnly:
		return fmt.Sprintf("%s, which it reads, has only gained rows so far and now takes some back", input)
	case c.Addr.Block == addr.View && m.changes[input].Desired.Relation != nil && m.changes[input].Desired.Relation.AppendOnly:
		return fmt.Sprintf("%s, which it reads, takes no rows back from now on", input)
	}
	return ""
}

// cannotAdapt says why a sink has to be written anew when the view that it follows gets other columns.
func (m *maker) cannotAdapt(c *Change, input addr.Resource, was *state.Relation) string {
	is := m.changes[input].Desired.Relation
	if was == nil || is == nil || slices.Equal(was.Columns, is.Columns) {
		return ""
	}
	why := "it cannot take them in"
	if m.in.Adapts != nil {
		if why = m.in.Adapts(c.Addr.Kind(), was.Columns, is.Columns); why == "" {
			return ""
		}
	}
	return fmt.Sprintf("%s, which it follows, gets other columns, and %s: written anew", input, why)
}
