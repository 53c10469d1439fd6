package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan/columns"
	"github.com/streamform/streamform/graph/plan/holding"
	"github.com/streamform/streamform/lang/addr"
)

// kept is what can be read of a source without its files: nothing where its rows begin anew, where this plan gives some of them up, or where
// it gives the source columns that they may not have.
func (m *maker) kept(source addr.Resource) holding.Kept {
	if m.in.Facts == nil || m.replays(source) {
		return holding.Kept{}
	}
	k := m.in.Facts.Kept[source]
	if c := m.changes[source]; c != nil {
		if c.Prior != nil && c.Desired != nil && c.Prior.Relation != nil && c.Desired.Relation != nil &&
			columns.Further(c.Prior.Relation.Columns, c.Desired.Relation.Columns) {
			return holding.Kept{}
		}
		return k.After(holding.Of(c.Before), holding.Of(c.After))
	}
	return k
}

// lostTo is what a change that reads a source from its start would miss: files that are gone, also those whose rows are held, where it cannot
// be computed from these.
func (m *maker) lostTo(c *Change, source addr.Resource) Loss {
	loss, k := m.in.Facts.Lost[source], m.in.Facts.Kept[source]
	if k.Lost == 0 || c.Addr != source && m.kept(source).Files > 0 {
		return loss
	}
	return Loss{Files: loss.Files + k.Lost, Examples: append(slices.Clone(loss.Examples), k.Gone)}
}

// fromHeld reports whether all that a change reads of sources is held.
func (m *maker) fromHeld(a addr.Resource) bool {
	sources := m.readSources(a)
	return a.Block != addr.Source && len(sources) > 0 && !slices.ContainsFunc(sources, func(s addr.Resource) bool { return !m.kept(s).Whole() })
}

// tellKeep says what a change of which rows are held means.
func (m *maker) tellKeep(c *Change) {
	if !slices.Contains(c.Changed, "keep") || c.Class != InPlace || m.in.Facts == nil {
		return
	}
	k, read := m.in.Facts.Kept[c.Addr], ""
	if n := m.in.Facts.Delivered[c.Addr]; n > 0 {
		read = Plural(n, "row")
	}
	held := fmt.Sprintf("%s (%s)", Plural(k.Rows, "row"), FormatBytes(k.Stored))
	c.Reason = joinReasons(c.Reason, holding.Reason(holding.Of(c.Before), holding.Of(c.After), k, read, held))
}

// rebuild turns replays that need no source into what they are: everything they read is held.
func (m *maker) rebuild() {
	for a, c := range m.changes {
		if c.Class != ReplayFromSource || !c.Computes() || !m.fromHeld(a) {
			continue
		}
		defer func() { c.Class = RebuildFromState }() // once all are found: what reads it is told by its class
		var names []string
		for _, s := range m.readSources(a) {
			names = append(names, s.String())
		}
		c.Reason = joinReasons(c.Reason, "computed from the rows that "+strings.Join(names, ", ")+" holds")
		if c.Evolution != nil {
			e := *c.Evolution
			e.Class, e.Operators = RebuildFromState, slices.Clone(e.Operators)
			for i := range e.Operators {
				if f := &e.Operators[i]; f.Fate == Replayed {
					f.Fate, f.Reason = Rebuilt, strings.Replace(f.Reason, "is read again", "is computed again", 1)
				}
			}
			c.Evolution = &e
		}
	}
}
