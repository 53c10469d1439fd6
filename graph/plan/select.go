package plan

import (
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
)

// wanted reports whether the plan is about a resource.
func (m *maker) wanted(a addr.Resource) bool { return m.selected == nil || m.selected[a] }

// selectTargets limits the plan to the targets and what they need.
func (m *maker) selectTargets() {
	if len(m.in.Exclude) > 0 {
		m.exclude()
		return
	}
	if len(m.in.Targets) == 0 {
		return
	}
	m.selected = map[addr.Resource]bool{}
	for _, a := range m.in.Targets {
		m.add(a)
	}
	m.diags = append(m.diags, diag.NewWarning(nil, "Resource targeting is in effect",
		"The plan covers the targets, what they depend on, and what has to be computed again with them. Other changes of the configuration wait for a plan without -target."))
}

// add selects a resource: with what it depends on, or, when it is to be destroyed, with what depends on it.
func (m *maker) add(a addr.Resource) {
	_, configured := m.config[a]
	if m.selected[a] || !configured && m.prior[a] == nil {
		return
	}
	m.selected[a] = true
	if m.in.Mode == RefreshOnly {
		if p := m.prior[a]; p != nil {
			for _, d := range p.Dependencies {
				m.add(d)
			}
		}
		return
	}
	if configured && !m.in.still() {
		for _, d := range m.in.Graph.Dependencies(a) {
			m.add(d)
		}
		return
	}
	for _, p := range m.prior {
		if slices.Contains(p.Dependencies, a) {
			m.add(p.Addr)
		}
	}
}

// widen selects what reads something that is computed again, and reports whether that changed the selection: its
// rows would not fit those of its input any more.
func (m *maker) widen() bool {
	if m.selected == nil || m.excluded != nil || m.in.still() {
		return false
	}
	before := len(m.selected)
	for _, a := range m.order {
		if !m.fresh(a) {
			continue
		}
		for _, reader := range m.in.Graph.Readers(a) {
			if m.prior[reader] != nil {
				m.add(reader)
			}
		}
	}
	return len(m.selected) > before
}

// deletes adds what is recorded and not wanted any more.
func (m *maker) deletes() {
	declared := map[addr.Resource]bool{}
	for a := range m.config {
		declared[a.Whole()] = true
	}
	for a, p := range m.prior {
		_, configured := m.config[a]
		if configured && m.in.Mode != Destroy || !m.wanted(a) {
			continue
		}
		c := &Change{Addr: a, Action: Delete, Class: InPlace, Before: p.Attributes, Prior: p}
		if !configured && m.in.Mode != Destroy {
			c.Because = "because " + a.Whole().String() + " is not in configuration"
			if mode := m.in.Config.Repeated[a.Whole()]; mode != addr.Once || declared[a.Whole()] {
				c.Because = "because " + a.Absent(mode)
			}
		}
		c.Reason = m.leaves(a)
		m.changes[a] = c
	}
	for _, a := range m.sortedChanges() {
		c := m.changes[a]
		if c.Action != Delete {
			continue
		}
		r, configured := m.config[a]
		protected := c.Prior.PreventDestroy
		var at *diag.Range
		if configured {
			protected, at = r.Lifecycle.PreventDestroy, &r.Range
		}
		if protected {
			m.block(c, at, "Destruction is prevented", a.String()+
				" has lifecycle.prevent_destroy set, but the plan calls for it to be destroyed. Set prevent_destroy to false and apply that first, or keep the block in the configuration.")
		}
	}
}

// leaves says what becomes of the rows of something that is destroyed; empty where it has none.
func (m *maker) leaves(a addr.Resource) string {
	switch {
	case a.Block == addr.Sink:
		return "what it has delivered stays where it is"
	case m.in.Facts != nil && m.in.Facts.Held[a].Rows == 1:
		return "the row that it holds is forgotten"
	case m.in.Facts != nil && m.in.Facts.Held[a].Rows > 1:
		return "the " + Plural(m.in.Facts.Held[a].Rows, "row") + " that it holds are forgotten"
	}
	return ""
}

func (m *maker) sortedChanges() []addr.Resource {
	out := make([]addr.Resource, 0, len(m.changes))
	for a := range m.changes {
		out = append(out, a)
	}
	sortByAddress(out, func(a addr.Resource) addr.Resource { return a })
	return out
}

// deleteOrder puts readers before what they read, by what the state says. What a resource that stays has read so far
// waits until the new generations have taken over, and so does what that reads.
func (m *maker) deleteOrder() (first, last []addr.Resource) {
	deleted := map[addr.Resource]bool{}
	for a, c := range m.changes {
		if c.Action == Delete {
			deleted[a] = true
		}
	}
	late := map[addr.Resource]bool{}
	var keep func(a addr.Resource)
	keep = func(a addr.Resource) {
		for _, d := range m.prior[a].Dependencies {
			if deleted[d] && !late[d] {
				late[d] = true
				keep(d)
			}
		}
	}
	for a := range m.prior {
		if !deleted[a] {
			keep(a)
		}
	}
	for _, a := range m.readersFirst(deleted) {
		if late[a] {
			last = append(last, a)
		} else {
			first = append(first, a)
		}
	}
	return first, last
}

// readersFirst orders deletes. A cycle, which only a hand can write into a state, does not stop it.
func (m *maker) readersFirst(deleted map[addr.Resource]bool) []addr.Resource {
	readers := map[addr.Resource][]addr.Resource{}
	var all []addr.Resource
	for a := range deleted {
		all = append(all, a)
	}
	sortByAddress(all, func(a addr.Resource) addr.Resource { return a })
	for _, a := range all {
		for _, d := range m.prior[a].Dependencies {
			readers[d] = append(readers[d], a)
		}
	}
	out := make([]addr.Resource, 0, len(all))
	done := map[addr.Resource]bool{}
	var visit func(a addr.Resource)
	visit = func(a addr.Resource) {
		if done[a] || !deleted[a] {
			return
		}
		done[a] = true
		for _, r := range readers[a] {
			visit(r)
		}
		out = append(out, a)
	}
	for _, a := range all {
		visit(a)
	}
	return out
}
