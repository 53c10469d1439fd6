package evolve

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
)

// result finds where the relation's own rows come from.
func (c *comparison) result() {
	b, a := c.before, c.after
	same := b.Final != "" && b.Form.Identity() == a.Form.Identity() && slices.Equal(types(b.Columns), types(a.Columns)) && !readsAny(b.Final, c.clocked)
	if same && a.HoldsResult() && b.HoldsResult() && a.AppendOnly == b.AppendOnly {
		c.keep(compile.ResultID, compile.ResultID, "")
		return
	}
	rows, what, misses := c.query(a.Form)
	if rows != nil && a.HoldsResult() {
		c.carry.Operators[compile.ResultID] = Origin{Result: rows}
		c.used[rows.Operator] = true
		c.fate(compile.ResultID, Migrated, "follows from "+what)
		return
	}
	from, lacks := c.below(a.Final)
	views := slices.ContainsFunc(from, func(f string) bool { return f != belowIt })
	switch {
	case lacks == "" && (views || a.HoldsResult()):
		c.fate(compile.ResultID, Rebuilt, "computed from "+list(unique(from)))
	case lacks == "" && same && !b.HoldsResult():
		c.fate(compile.ResultID, Kept, "")
	case lacks == "":
		c.fate(compile.ResultID, New, "computed from "+belowIt)
	case misses != "":
		c.fate(compile.ResultID, Replayed, misses)
	default:
		c.fate(compile.ResultID, Replayed, c.unlike(a.Form, lacks))
	}
}

// whole finds the inputs of a query that runs as it is written.
func (c *comparison) whole() {
	refresh := c.after.FullRefresh != ""
	var from, lacks []string
	for _, name := range c.after.Reads {
		leaf := strings.ToLower(name)
		id := compile.InputID(leaf)
		if old, ok := c.sameInput(leaf); ok && refresh {
			c.keep(id, old, "")
			from = append(from, "all rows of "+name)
			continue
		}
		fate, reason := Rebuilt, ""
		if c.lacks(leaf) {
			fate, reason = Replayed, "the rows of "+name+" are not held"
			lacks = append(lacks, reason)
		} else {
			from = append(from, c.read(leaf))
			reason = "computed from " + from[len(from)-1]
		}
		if refresh {
			c.fate(id, fate, reason)
		}
	}
	if len(lacks) > 0 {
		c.fate(compile.ResultID, Replayed, lacks[0])
		return
	}
	c.fate(compile.ResultID, Rebuilt, "the whole query runs again over "+list(unique(from)))
}

// sameInput finds the operator that holds all rows of a relation already.
func (c *comparison) sameInput(leaf string) (string, bool) {
	if c.before.FullRefresh == "" {
		return "", false
	}
	for _, name := range c.before.Reads {
		old := strings.ToLower(name)
		if c.before.RelationForm(old).Identity() == c.after.RelationForm(leaf).Identity() && c.before.AppendRead[old] == c.after.AppendRead[leaf] {
			return compile.InputID(old), true
		}
	}
	return "", false
}

// evolution sums up.
func (c *comparison) evolution() Evolution {
	e := Evolution{Class: Migrate, Operators: c.fates, Carry: &c.carry}
	switch {
	case c.first(Replayed) != nil:
		e.Class, e.Reason, e.Carry = ReplayFromSource, c.first(Replayed).Reason, nil
		for i, f := range e.Operators {
			if f.Fate != Replayed {
				e.Operators[i].Fate, e.Operators[i].Reason = Replayed, "computed again with the others, from the source"
			}
		}
		return e
	case c.first(Rebuilt) != nil:
		e.Class, e.Reason = RebuildFromState, c.first(Rebuilt).Reason
	case c.first(Migrated) != nil:
		e.Reason = c.first(Migrated).Reason
	case c.after.Identity == c.before.Identity:
		e.Reason = "columns have other names"
	default:
		e.Reason = "the operators stay as they are; what is above them is computed from them"
	}
	for _, o := range c.before.Operators {
		if o.Holds != "nothing" && !c.used[o.ID] && o.ID != compile.ResultID {
			e.Operators = append(e.Operators, Fate{Name: o.ID, Kind: o.Kind, Detail: o.Detail, Fate: Dropped, Reason: "nothing uses it any more"})
		}
	}
	return e
}

// first is the first operator with a fate; nil when there is none.
func (c *comparison) first(fate FateKind) *Fate {
	i := slices.IndexFunc(c.fates, func(f Fate) bool { return f.Fate == fate })
	if i < 0 {
		return nil
	}
	return &c.fates[i]
}
