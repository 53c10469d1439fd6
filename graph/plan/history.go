package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/graph/plan/columns"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Choices of the attribute history: what becomes of rows that were delivered, when a definition changes which rows there would be.
const (
	keepHistory    = "keep"    // they stay, and the new definition holds from the next epoch on
	restateHistory = "restate" // a new generation is computed from the start
)

// historyOf reads the choice of a resource; empty when it makes none.
func historyOf(v cty.Value) string { return textOf(v, "history") }

// KeepsHistory reports whether a complete value says history = "keep".
func KeepsHistory(v cty.Value) bool { return historyOf(v) == keepHistory }

// delivered reports whether a resource has given rows to anybody. What nobody knows, it has.
func (m *maker) delivered(c *Change) bool {
	if c.Prior.Status != state.Applied {
		return false
	}
	if m.in.Facts == nil || m.in.Facts.Delivered == nil {
		return true
	}
	return m.in.Facts.Delivered[c.Addr] > 0
}

// restates reports that the rows are computed anew, as chosen or asked for, or that there are none to be kept.
func (m *maker) restates(c *Change, choice string) bool {
	asked := m.requested[c.Addr] || m.recreated[c.Addr] || m.triggered[c.Addr] != ""
	return asked || choice == restateHistory || choice == "" && !m.delivered(c)
}

// choose keeps history where attributes change which rows there would have been, or asks for a choice.
func (m *maker) choose(c *Change, r lang.Resource, v *verdict, paths []string) {
	if historyOf(r.Value) != keepHistory {
		m.blockForHistory(c, r, v, paths)
		return
	}
	v.keep = true
	v.add(InPlace, strings.Join(changedText(paths), "")+`, and history = "keep": what was delivered stays, and the new value holds from the next epoch on`)
}

// editedStream judges the edit of a stream's query: the rows it has emitted are not held, so nothing but a replay gives them anew.
func (m *maker) editedStream(c *Change, r lang.Resource, v *verdict, e Evolution) {
	switch choice := historyOf(r.Value); {
	case !slices.Contains(c.Changed, "sql") && c.Prior.Relation != nil && c.Desired.Relation != nil && columns.Follow(c.Prior.Relation.Columns, c.Desired.Relation.Columns):
		v.add(InPlace, "its columns follow those of what it reads")
	case m.restates(c, choice):
		v.anew = true
		v.reasons = append([]string{meansElse}, v.reasons...)
	case choice == keepHistory:
		if at := slices.IndexFunc(e.Operators, remembersElse); at >= 0 {
			v.block(place(r, "history"), `History cannot be kept`, fmt.Sprintf(
				`The new query of %s needs its operator %q (%s) to remember what the old one did not, so it cannot go on from the next epoch. Say history = "restate" to compute the stream anew from the start of its sources.`,
				c.Addr, e.Operators[at].Name, e.Operators[at].Kind))
			return
		}
		v.keep = true
		v.add(InPlace, `its query means something else, and history = "keep": what was delivered stays, and the new query holds from the next epoch on`)
		if len(e.Operators) > 0 {
			c.Evolution = &e
		}
	default:
		m.blockForHistory(c, r, v, []string{"sql"})
	}
}

// remembersElse reports that an operator's keyed data is not there from the next epoch on.
func remembersElse(f Fate) bool {
	return f.Kind != "linear" && (f.Fate == Migrated || f.Fate == Rebuilt || f.Fate == Replayed)
}

// blockForHistory explains both choices and what they cost.
func (m *maker) blockForHistory(c *Change, r lang.Resource, v *verdict, paths []string) {
	rows := "rows"
	if m.in.Facts != nil && m.in.Facts.Delivered[c.Addr] > 0 {
		rows = Plural(m.in.Facts.Delivered[c.Addr], "row")
	}
	reading := ""
	for _, s := range m.readSources(c.Addr) {
		if m.in.Facts != nil && m.in.Facts.Sources[s] != (Extent{}) {
			held := m.in.Facts.Sources[s]
			reading += fmt.Sprintf(" (%s: %s, %s)", s, Plural(held.Files, "file"), FormatBytes(held.Bytes))
		}
	}
	what := "the new value of " + strings.Join(paths, ", ")
	if !slices.Contains(c.Changed, paths[0]) {
		what = "the columns that it reads now"
	}
	v.block(place(r, paths[0]), "Delivered rows would not follow the new definition", fmt.Sprintf(
		"%s has delivered %s, and with %s they would have been others. Say in its block what is to become of them:\n\n"+
			"  history = \"keep\"     leaves them as they are: the new definition holds from the next epoch on, nothing is read again,\n"+
			"                       and what is computed from them has a mixed history, which plans and the state note.\n"+
			"  history = \"restate\"  computes them anew from the start of the sources%s, with everything that reads them;\n"+
			"                       sinks are given the difference.", c.Addr, rows, what, reading))
}

// boundary notes that rows from before an edit stand beside those from after it.
func (m *maker) boundary(c *Change) {
	b := state.Boundary{Of: c.Addr, ID: c.Desired.ID, Serial: m.serial(), Before: definition(c.Prior), After: definition(c.Desired)}
	c.Boundaries = append(c.Boundaries, b)
}

// definition is the digest of what decides about the rows of a resource.
func definition(r *state.Resource) string {
	text := r.Attributes
	if r.Relation != nil && r.Relation.Identity != "" && r.Addr.Block != addr.Source {
		text = []byte(r.Relation.Identity)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// inherit gives a resource the boundaries of what it reads. What reads nothing but views is made of their rows, and follows them. Else
// it keeps those that it has until it is computed anew.
func (m *maker) inherit(c *Change) {
	replayed := m.regenerates(c) && (c.Evolution == nil || c.Evolution.Class == ReplayFromSource)
	derived := true
	var held []state.Boundary
	for _, input := range m.in.Graph.Inputs(c.Addr) {
		in := m.changes[input]
		if in == nil || in.Desired == nil {
			continue
		}
		derived = derived && input.Block == addr.View
		if input.Block == addr.View {
			held = joined(held, in.Desired.History)
		}
		if !replayed {
			c.Boundaries = joined(c.Boundaries, in.Boundaries)
		}
	}
	switch {
	case replayed || derived && c.Addr.Block != addr.Source:
		c.Desired.History = held
	case c.Prior != nil:
		c.Desired.History = joined(c.Prior.History, c.Boundaries)
	}
}

// joined adds to a list what it does not have, without changing it.
func joined(list, more []state.Boundary) []state.Boundary {
	out := slices.Clone(list)
	for _, b := range more {
		if !slices.Contains(out, b) {
			out = append(out, b)
		}
	}
	return out
}
