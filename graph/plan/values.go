package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan/columns"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/state"
)

// compareValues judges each attribute that differs by what its kind says it costs.
func (m *maker) compareValues(c *Change, r lang.Resource, v *verdict) {
	if sameJSON(c.Before, c.After) {
		return
	}
	before, err := c.Prior.Value(r.Kind)
	if err != nil {
		m.fail(r.Addr, &r.Range, "Recorded attributes cannot be read", fmt.Sprintf(
			"%s is recorded with attributes that do not fit its kind: %v. Remove it from the state, or restore a backup of the state.", r.Addr, err))
		return
	}
	var decisive, historic, both []string
	for _, change := range schema.Changed(r.Kind, before, r.Value) {
		cost := m.cost(c, change)
		if cost == schema.CostSemantics && m.sameMeaning(c) {
			continue
		}
		c.Changed = append(c.Changed, change.Path)
		if cost == schema.CostCreation {
			m.warnCreationOnly(r, change)
			continue
		}
		v.add(InPlace, "")
		switch cost {
		case schema.CostNone, schema.CostInPlace:
		case schema.CostSemantics:
			v.anew = v.anew || !comparable(c.Prior) // else its evolution says what it costs
		case schema.CostColumns:
			class, reason := columnsChange(c.Prior.Relation, c.Desired.Relation)
			if class == InPlace && historyOf(r.Value) == restateHistory && columns.Gain(c.Prior.Relation.Columns, c.Desired.Relation.Columns) {
				class, reason = ReplayFromSource, reason+`, and history = "restate": what was read before is to have them, too`
			}
			v.add(class, reason)
			v.anew = v.anew || class == ReplayFromSource
		case schema.CostRecreate:
			m.recreated[r.Addr] = true
		case schema.CostHistory:
			historic, both = append(historic, change.Path), append(both, change.Path)
		default:
			v.anew = true
			decisive, both = append(decisive, change.Path), append(both, change.Path)
		}
	}
	switch {
	case len(historic) == 0:
		v.reasons = append(v.reasons, changedText(decisive)...)
	case v.anew || m.restates(c, historyOf(r.Value)):
		v.anew = true
		v.reasons = append(v.reasons, changedText(both)...)
	default:
		m.choose(c, r, v, historic)
	}
}

// changedText is the reason that attributes give; none for none.
func changedText(paths []string) []string {
	switch len(paths) {
	case 0:
		return nil
	case 1:
		return []string{paths[0] + " has changed"}
	}
	return []string{strings.Join(paths, ", ") + " have changed"}
}

// cost is what a change of one attribute costs here. Of a sink that only adds rows, as those of streams and sources do, what decides
// about its target is a matter of history: the rows it was given cannot be given again from what the runtime holds. One since now is
// not given them in any case.
func (m *maker) cost(c *Change, change schema.FieldChange) schema.Cost {
	if change.Cost == schema.CostRebuild && m.sinceNow(c.Addr) {
		return schema.CostInPlace
	}
	if change.Cost == schema.CostRebuild && c.Addr.Block == addr.Sink && !deliversView(c.Before) && !deliversView(c.After) {
		return schema.CostHistory
	}
	return change.Cost
}

// deliversView reads the relation of a sink out of its attributes.
func deliversView(attributes json.RawMessage) bool {
	var v struct {
		From string `json:"from"`
	}
	return json.Unmarshal(attributes, &v) == nil && strings.HasPrefix(v.From, string(addr.View)+".")
}

// comparable reports whether the record says what a query meant.
func comparable(r *state.Resource) bool { return r.Relation != nil && r.Relation.Identity != "" }

// sameMeaning reports that only the text of a query differs.
func (m *maker) sameMeaning(c *Change) bool {
	_, differs := m.in.Evolutions[c.Addr]
	return !differs && comparable(c.Prior) && c.Desired.Relation != nil
}

// meansElse is the reason of an edit whose evolution gives none.
const meansElse = "its query means something else than before"

// query judges what a query means now. What it reads has been judged before.
func (m *maker) query(c *Change, r lang.Resource, v *verdict) {
	e, differs := m.in.Evolutions[c.Addr]
	if !differs {
		return
	}
	reason := e.Reason
	if reason == "" {
		reason = meansElse
	}
	if input := m.widened(c.Addr); input != "" && !slices.Contains(c.Changed, "sql") {
		c.Because = "because " + input + ", which it reads, has other columns"
	}
	live := m.generation(c.Addr)
	other := c.Prior.Status != state.Applied || live != 0 && live != c.Prior.Generation // what is held belongs to another query
	switch {
	case v.anew:
		if slices.Contains(c.Changed, "sql") {
			v.reasons = append([]string{meansElse}, v.reasons...)
		}
	case c.Addr.Block == addr.Stream:
		m.editedStream(c, r, v, e)
	case other || len(c.Receives) > 0:
		v.anew = true
		v.reasons = append([]string{meansElse}, v.reasons...)
		c.Receives = nil
	case e.Class == InPlace:
		v.add(InPlace, reason)
	case e.Carry == nil && m.shares[c.Addr] != nil:
		v.anew = true
		v.reasons = append([]string{meansElse}, v.reasons...)
	default:
		v.carried = true
		v.add(e.Class, reason)
	}
}

// widened is the first relation among those that something reads whose columns this plan changes; empty when there is none.
func (m *maker) widened(a addr.Resource) string {
	for _, input := range m.in.Graph.Inputs(a) {
		in := m.changes[input]
		if in != nil && in.Prior != nil && in.Prior.Relation != nil && in.Desired != nil && in.Desired.Relation != nil &&
			!slices.Equal(in.Prior.Relation.Columns, in.Desired.Relation.Columns) {
			return input.String()
		}
	}
	return ""
}
