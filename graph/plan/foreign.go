package plan

import (
	"fmt"
	"maps"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
)

// Choices of the attribute on_foreign of sinks: what becomes of a target whose rows another writer has changed.
const (
	acceptForeign    = "accept"    // it stays as it is
	overwriteForeign = "overwrite" // it is written anew
)

// Kinds of drift after which a sink's target does not hold what was delivered to it.
const (
	driftForeignRows    = "foreign_rows"
	driftTargetGone     = "target_gone"
	driftTargetRestored = "target_restored"
)

// foreign decides about sinks whose target does not hold what was delivered to it. One that is written anew anyway, or goes, is left alone.
func (m *maker) foreign(drifts []Drift) {
	for i := range drifts {
		d := &drifts[i]
		c, r := m.changes[d.Addr], m.config[d.Addr]
		if c == nil || d.Addr.Block != addr.Sink || c.Action == Delete || m.regenerates(c) {
			continue
		}
		choice := textOf(r.Value, "on_foreign")
		lost := d.Kind == driftTargetGone || d.Kind == driftTargetRestored
		switch {
		case choice == overwriteForeign && (lost || d.Kind == driftForeignRows):
			d.Advice = ""
			m.overwrite(c, r)
		case d.Kind != driftForeignRows || c.Class == Blocked:
		case choice == acceptForeign:
			d.Advice = ""
			m.acknowledge(c, *d)
		default:
			if _, can := r.Kind.Field("on_foreign"); can {
				d.Advice = ""
				m.block(c, &r.Range, "Another writer changed rows of a sink's target", m.foreignChoice(c, *d))
			}
		}
	}
}

// overwrite makes the next generation of a sink, which is written over what there is.
func (m *maker) overwrite(c *Change, r lang.Resource) {
	c.Desired.Generation, c.Desired.Accepted = m.nextGeneration(c.Addr), nil
	c.Action, c.Class, c.Receives = Update, worse(c.Class, m.dataClass(c.Addr)), nil
	c.Reason = joinReasons(c.Reason, `its target does not hold what was delivered, and on_foreign = "overwrite"`)
	c.Price = m.price(c)
	m.protect(c, r)
}

// acknowledge records what was found, so that it is not told again.
func (m *maker) acknowledge(c *Change, d Drift) {
	if c.Action == NoOp {
		c.Action = Update
	}
	c.Class = worse(c.Class, InPlace)
	c.Reason = joinReasons(c.Reason, `the rows that another writer changed stay as they are: on_foreign = "accept"`)
	accepted := maps.Clone(c.Desired.Accepted)
	if accepted == nil {
		accepted = map[string]string{}
	}
	accepted[d.Kind] = d.mark
	c.Desired.Accepted = accepted
}

func joinReasons(had, more string) string {
	if had == "" {
		return more
	}
	return had + "; " + more
}

// foreignChoice explains the choices and what they cost.
func (m *maker) foreignChoice(c *Change, d Drift) string {
	from := "what it delivers"
	if inputs := m.in.Graph.Inputs(c.Addr); len(inputs) == 1 {
		from = inputs[0].String()
	}
	cost := ""
	if p := m.rewritten(c); p != nil {
		switch {
		case p.HeldRows > 0:
			cost = ", which holds " + Plural(p.HeldRows, "row")
		case p.Bytes > 0:
			cost = fmt.Sprintf(", which is computed from its sources again: %s", FormatBytes(p.Bytes))
		}
	}
	return fmt.Sprintf("%s The target's rows are not those of %s any more, and what streamform writes next may not fit. Say in the block of %s what is to become of it:\n\n"+
		"  on_foreign = \"overwrite\"  writes the target anew from %s%s;\n"+
		"                            only what differs is written, and the other writer's changes are lost.\n"+
		"  on_foreign = \"accept\"     leaves the rows as they are, and goes on with what changes from now on;\n"+
		"                            where a row that has to change is gone, the pipeline stops.\n\n"+
		"For this once, plan with -replace=%s to overwrite, or accept with \"streamform apply -refresh-only\"; -exclude=%s leaves the sink out of the plan.",
		d.Detail, from, c.Addr, from, cost, c.Addr, c.Addr)
}

// rewritten is the price of writing a sink anew.
func (m *maker) rewritten(c *Change) *Price {
	anew := *c
	anew.Class = m.dataClass(c.Addr)
	return m.price(&anew)
}

// textOf reads a text attribute of a complete value; empty where there is none.
func textOf(v cty.Value, name string) string {
	if v == cty.NilVal || v.IsNull() || !v.Type().HasAttribute(name) {
		return ""
	}
	text := v.GetAttr(name)
	if text.IsNull() || text.Type() != cty.String {
		return ""
	}
	return text.AsString()
}
