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
		if former, moved := m.in.Moves.Now[r.Addr]; moved {
			c.PreviousAddr = &former
		}
		if m.missing(r.Addr) {
			m.create(c, "the state records it, but the runtime does not have it")
		} else {
			m.update(c, r)
		}
	}
	m.inherit(c)
	if c.Computes() {
		c.Price, c.Shares = m.price(c), m.shares[c.Addr]
	}
	m.protect(c, r)
	m.occupied(c, r)
	return c
}

// desired is what the state records once the change is made.
func (m *maker) desired(r lang.Resource) *state.Resource {
	d := &state.Resource{
		Addr: r.Addr, ID: m.in.IDs[r.Addr], Dependencies: m.in.Graph.Dependencies(r.Addr), PreventDestroy: r.Lifecycle.PreventDestroy,
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
	switch {
	case m.sinceNow(c.Addr):
		c.Reason = joinReasons(reason, sinceNow)
	case graph.Carries(c.Addr) && c.Addr.Block != addr.Source:
		c.Class = m.dataClass(c.Addr)
	}
}

// sinceNow is the reason of sinks that are given nothing from before.
const sinceNow = `since = "now": it is given the rows that come from the next epoch on`

// sinceNow reports that a sink is never given rows from before.
func (m *maker) sinceNow(a addr.Resource) bool {
	r, ok := m.config[a]
	return ok && a.Block == addr.Sink && textOf(r.Value, "since") == "now"
}

// dataClass says where the rows of a new generation come from: from the runtime, when all that is read are
// views, which hold their rows, or other views hold all it is made of; else from the sources.
func (m *maker) dataClass(a addr.Resource) Class {
	if a.Block == addr.Source {
		return ReplayFromSource
	}
	read := m.read(a)
	if len(read) == 0 && m.shares[a] != nil {
		return Migrate
	}
	for _, input := range read {
		if input.Block != addr.View || m.replays(input) {
			return ReplayFromSource
		}
	}
	return RebuildFromState
}

// replays reports that the rows of a relation are computed from its sources in this plan.
func (m *maker) replays(a addr.Resource) bool {
	c := m.changes[a]
	return c != nil && c.Computes() && c.Class == ReplayFromSource
}

// verdict is what is found out about a resource that exists, before it is put together.
type verdict struct {
	class   Class
	reasons []string
	anew    bool // a new generation is computed from what it reads
	carried bool // a new generation is computed as its evolution says
	blocked *obstacle
	keep    bool // with history = "keep": the new definition holds from the next epoch
}

// obstacle is why a change cannot be made.
type obstacle struct {
	at              *diag.Range
	summary, detail string
}

func (v *verdict) add(class Class, reason string) {
	v.class = worse(v.class, class)
	if reason != "" {
		v.reasons = append(v.reasons, reason)
	}
}

// block remembers the first obstacle.
func (v *verdict) block(at *diag.Range, summary, detail string) {
	if v.blocked == nil {
		v.blocked = &obstacle{at, summary, detail}
	}
}

// update compares a resource with its record.
func (m *maker) update(c *Change, r lang.Resource) {
	v := &verdict{class: Noop}
	m.moved(c, v)
	m.compareValues(c, r, v)
	if c.Prior.PreventDestroy != c.Desired.PreventDestroy {
		v.add(InPlace, fmt.Sprintf("prevent_destroy is %t from now on", c.Desired.PreventDestroy))
	}
	m.inputs(c, v)
	m.query(c, r, v)
	if live := m.generation(r.Addr); live != 0 && live != c.Prior.Generation && c.Prior.Status == state.Applied {
		v.anew = true
		v.reasons = append(v.reasons, fmt.Sprintf("the runtime has generation %d, the state records %d", live, c.Prior.Generation))
	}
	if v.blocked != nil {
		m.block(c, v.blocked.at, v.blocked.summary, v.blocked.detail)
		return
	}
	m.settle(c, v)
	m.tellKeep(c)
	if c.Requested = m.requested[r.Addr]; c.Requested || m.recreated[r.Addr] || m.triggered[r.Addr] != "" {
		m.recreate(c)
	}
}

// settle writes a verdict into the change.
func (m *maker) settle(c *Change, v *verdict) {
	if v.anew {
		v.class = worse(v.class, m.dataClass(c.Addr))
	}
	if v.anew || v.carried {
		c.Desired.Generation = m.nextGeneration(c.Addr)
	}
	if v.carried && !v.anew {
		e := m.in.Evolutions[c.Addr]
		c.Evolution = &e
	}
	if c.Prior.Status == state.Building {
		v.add(m.dataClass(c.Addr), "the last apply ended before its rows were computed")
		c.Receives = nil
	}
	if v.class != Noop {
		c.Action = Update
	}
	c.Class = v.class
	c.Reason = strings.Join(v.reasons, "; ")
	if v.keep && !v.anew {
		m.boundary(c)
	}
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

// recreate makes the change a replacement: asked for, since its outside object cannot be altered, or since another change triggers it.
func (m *maker) recreate(c *Change) {
	c.Action, c.Class, c.Desired.Generation = Replace, InPlace, m.nextGeneration(c.Addr)
	c.Evolution, c.Receives, c.Boundaries = nil, nil, nil
	if why := m.triggered[c.Addr]; why != "" && !c.Requested {
		c.Reason = why
	}
	switch {
	case m.sinceNow(c.Addr):
		c.Reason = joinReasons(c.Reason, sinceNow)
	case graph.Carries(c.Addr):
		c.Class = m.dataClass(c.Addr)
	}
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
