package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/state"
)

// rank orders classes from nothing to impossible.
func rank(c Class) int {
	return slices.Index([]Class{Noop, InPlace, Migrate, RebuildFromState, ReplayFromSource, Blocked}, c)
}

func worse(a, b Class) Class {
	if rank(b) > rank(a) {
		return b
	}
	return a
}

// compare answers for one resource of the configuration. Everything it depends on has been answered for.
func (m *maker) compare(r lang.Resource) *Change {
	c := &Change{Addr: r.Addr, Action: NoOp, Class: Noop, Prior: m.prior[r.Addr], Desired: m.desired(r)}
	c.After = c.Desired.Attributes
	if sample, ok := m.in.Inferred[r.Addr]; ok {
		c.Inferred, c.Sampled = true, &sample
	}
	if c.Prior == nil {
		m.create(c, "")
	} else {
		c.Before = c.Prior.Attributes
		if m.missing(r.Addr) {
			m.create(c, "the state records it, but the runtime does not have it")
		} else {
			m.update(c, r)
		}
	}
	if c.Computes() {
		c.Price = m.price(r.Addr)
	}
	m.protect(c, r)
	return c
}

// desired is what the state records once the change is made.
func (m *maker) desired(r lang.Resource) *state.Resource {
	d := &state.Resource{
		Addr: r.Addr, Dependencies: m.in.Graph.Dependencies(r.Addr), PreventDestroy: r.Lifecycle.PreventDestroy,
		Status: state.Applied, Generation: 1, Pipeline: m.pipelines[r.Addr],
	}
	attributes, err := r.Kind.Marshal(r.Value)
	if err != nil {
		m.fail(r.Addr, &r.Range, "Value cannot be recorded", err.Error())
		attributes = []byte("{}")
	}
	d.Attributes = attributes
	if rel, ok := m.in.Relations[r.Addr]; ok {
		d.Relation = &rel
	}
	if p := m.prior[r.Addr]; p != nil {
		d.Generation = p.Generation
	}
	return d
}

// missing reports drift: what was applied is gone from the runtime.
func (m *maker) missing(a addr.Resource) bool {
	if m.in.Facts == nil || !graph.Carries(a) {
		return false
	}
	_, there := m.in.Facts.Generations[a]
	return !there
}

// nextGeneration is above every generation there ever was of a resource, as far as anyone knows.
func (m *maker) nextGeneration(a addr.Resource) int64 {
	var last int64
	if p := m.prior[a]; p != nil {
		last = p.Generation
	}
	if m.in.Facts != nil {
		last = max(last, m.in.Facts.Generations[a])
	}
	return last + 1
}

func (m *maker) create(c *Change, reason string) {
	c.Action, c.Class, c.Reason = Create, InPlace, reason
	c.Desired.Generation = m.nextGeneration(c.Addr)
	if graph.Carries(c.Addr) && c.Addr.Block != addr.Source {
		c.Class = m.dataClass(c.Addr)
	}
}

// dataClass says where the rows of a new generation come from: from the runtime, when all that is read are
// views, which hold their rows; else from the sources.
func (m *maker) dataClass(a addr.Resource) Class {
	for _, input := range m.in.Graph.Inputs(a) {
		if input.Block != addr.View || m.changes[input].Computes() && m.changes[input].Class != RebuildFromState {
			return ReplayFromSource
		}
	}
	if a.Block == addr.Source {
		return ReplayFromSource
	}
	return RebuildFromState
}

// fresh reports whether a relation gets a new generation in this plan, so that its readers need one too.
func (m *maker) fresh(a addr.Resource) bool {
	c := m.changes[a]
	return c != nil && (c.Computes() || c.Action == Create || c.Action == Replace)
}

// update compares a resource with its record.
func (m *maker) update(c *Change, r lang.Resource) {
	class, reasons, regenerate := m.compareValues(c, r)
	if c.Prior.PreventDestroy != c.Desired.PreventDestroy {
		class = worse(class, InPlace)
		reasons = append(reasons, fmt.Sprintf("prevent_destroy is %t from now on", c.Desired.PreventDestroy))
	}
	inputs := m.freshInputs(r.Addr, c.Prior.Status)
	if same, known := m.meaning(c); known && !same && (len(inputs) == 0 || slices.Contains(c.Changed, "sql")) {
		regenerate = true
		reasons = append(reasons, "its query means something else than before")
	}
	regenerate = regenerate || len(inputs) > 0
	reasons = append(reasons, inputs...)
	if live := m.generation(r.Addr); live != 0 && live != c.Prior.Generation && c.Prior.Status == state.Applied {
		regenerate = true
		reasons = append(reasons, fmt.Sprintf("the runtime has generation %d, the state records %d", live, c.Prior.Generation))
	}
	if regenerate {
		class = worse(class, m.dataClass(r.Addr))
		c.Desired.Generation = m.nextGeneration(r.Addr)
	}
	if c.Prior.Status == state.Building {
		class = worse(class, m.dataClass(r.Addr))
		reasons = append(reasons, "the last apply ended before its rows were computed")
	}
	if class != Noop {
		c.Action = Update
	}
	c.Class = class
	c.Reason = strings.Join(reasons, "; ")
	if c.Requested = m.requested[r.Addr]; c.Requested || m.recreated[r.Addr] {
		m.recreate(c)
	}
}

// freshInputs gives a reason for each relation that is read and gets a new generation. One that an apply left
// unfinished is no reason for a reader that it left unfinished too: that was made for it.
func (m *maker) freshInputs(a addr.Resource, status string) []string {
	var out []string
	for _, input := range m.in.Graph.Inputs(a) {
		if m.fresh(input) && !(status == state.Building && m.resumed(input)) {
			out = append(out, input.String()+", which it reads, is computed again")
		}
	}
	return out
}

// resumed reports that a generation which an apply left unfinished is only finished.
func (m *maker) resumed(a addr.Resource) bool {
	c := m.changes[a]
	return c.Action == Update && c.Prior.Status == state.Building && c.Prior.Generation == c.Desired.Generation
}

// generation is the one that serves; 0 where there is none, or nobody asked.
func (m *maker) generation(a addr.Resource) int64 {
	if m.in.Facts == nil || !graph.Carries(a) {
		return 0
	}
	return m.in.Facts.Generations[a]
}

// recreate makes the change a replacement: asked for, or since its outside object cannot be altered.
func (m *maker) recreate(c *Change) {
	c.Action, c.Class, c.Desired.Generation = Replace, InPlace, m.nextGeneration(c.Addr)
	if graph.Carries(c.Addr) {
		c.Class = m.dataClass(c.Addr)
	}
}

// meaning compares the compiled query with the recorded one; known is false where there is nothing to compare.
func (m *maker) meaning(c *Change) (same, known bool) {
	before, after := c.Prior.Relation, c.Desired.Relation
	if before == nil || after == nil || before.Identity == "" || c.Addr.Block == addr.Source {
		return false, false
	}
	return before.Identity == after.Identity && slices.Equal(before.Columns, after.Columns), true
}

// compareValues judges each attribute that differs by what its kind says it costs.
func (m *maker) compareValues(c *Change, r lang.Resource) (class Class, reasons []string, regenerate bool) {
	if sameJSON(c.Before, c.After) {
		return Noop, nil, false
	}
	before, err := c.Prior.Value(r.Kind)
	if err != nil {
		m.fail(r.Addr, &r.Range, "Recorded attributes cannot be read", fmt.Sprintf(
			"%s is recorded with attributes that do not fit its kind: %v. Remove it from the state, or restore a backup of the state.", r.Addr, err))
		return Noop, nil, false
	}
	class = Noop
	var decisive []string
	for _, change := range schema.Changed(r.Kind, before, r.Value) {
		if change.Cost == schema.CostSemantics && m.sameMeaning(c, change) {
			continue
		}
		c.Changed = append(c.Changed, change.Path)
		class = worse(class, InPlace)
		switch change.Cost {
		case schema.CostNone, schema.CostInPlace:
		case schema.CostCreation:
			m.warnCreationOnly(r, change)
		case schema.CostSemantics:
			m.warnRestated(r, change) // meaning gives the reason
			_, known := m.meaning(c)
			regenerate = regenerate || !known
		case schema.CostRecreate:
			m.recreated[r.Addr] = true
		default:
			m.warnRestated(r, change)
			regenerate = true
			decisive = append(decisive, change.Path)
		}
	}
	switch len(decisive) {
	case 0:
	case 1:
		reasons = append(reasons, decisive[0]+" has changed")
	default:
		reasons = append(reasons, strings.Join(decisive, ", ")+" have changed")
	}
	return class, reasons, regenerate
}

// sameMeaning reports that only the text of a query differs.
func (m *maker) sameMeaning(c *Change, change schema.FieldChange) bool {
	same, known := m.meaning(c)
	return change.Path == "sql" && known && same
}

// sameJSON compares two values as kinds write them, whatever the white space.
func sameJSON(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return false
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

func place(r lang.Resource, path string) *diag.Range {
	name, _, _ := strings.Cut(path, ".")
	name, _, _ = strings.Cut(name, "[")
	if at, ok := r.AttrRanges[name]; ok {
		return &at
	}
	return &r.Range
}
