package plan

import (
	"slices"

	"github.com/streamform/streamform/lang/addr"
)

// price is what a change reads: what its sources hold, from their start, or rows that the runtime holds; and how long that takes if
// it goes as fast as it did.
func (m *maker) price(c *Change) *Price {
	if c.Class != ReplayFromSource {
		return m.heldPrice(c)
	}
	return m.replayPrice(c, nil)
}

// replayPrice is what reading sources from their start costs, or what is left of that when some has been read.
func (m *maker) replayPrice(c *Change, read map[addr.Resource]Extent) *Price {
	p := &Price{Sources: m.readSources(c.Addr)}
	if len(p.Sources) == 0 {
		return nil
	}
	if m.in.Facts == nil {
		return p
	}
	m.heldBelow(c.Addr, map[addr.Resource]bool{}, func(held addr.Resource) { p.HeldRows += m.in.Facts.Held[held].Rows })
	var all Extent
	known := true
	for _, s := range p.Sources {
		left, from := m.in.Facts.Sources[s], FromStart
		if k := m.kept(s); k.Files > 0 {
			left = left.Minus(Extent{Files: k.Files, Bytes: k.Bytes, Rows: k.Rows})
			p.HeldRows += k.Rows
			p.Seconds += m.rate(c.Addr, s).seconds(Extent{Rows: k.Rows})
			if k.Whole() {
				continue
			}
		}
		if read[s] != (Extent{}) {
			left, from = left.Minus(read[s]), FromStop
		}
		all = all.Plus(left)
		p.Reads = append(p.Reads, Reading{Source: s, From: from, HeldFrom: m.kept(s).Epoch, Extent: left})
		took := m.rate(c.Addr, s).seconds(left)
		p.Seconds += took
		known = known && (took > 0 || left == Extent{})
	}
	if !known {
		p.Seconds = 0
	}
	p.Sources = slices.DeleteFunc(slices.Clone(p.Sources), func(s addr.Resource) bool { return m.kept(s).Whole() })
	p.Files, p.Bytes, p.Rows = all.Files, all.Bytes, all.Rows
	return p
}

// goOn prices what an apply left unfinished by what is left to read. What is computed together starts over when there is more of it.
func (m *maker) goOn() {
	if m.in.Facts == nil {
		return
	}
	anew := map[addr.Resource]bool{}
	for a, c := range m.changes {
		if c.Computes() && !m.resumed(a) {
			for _, s := range m.readSources(a) {
				anew[s] = true
			}
		}
	}
	for a, c := range m.changes {
		begun := m.in.Facts.Begun[a]
		if c.Class == ReplayFromSource && m.resumed(a) && begun.Generation == c.Desired.Generation && !slices.ContainsFunc(m.readSources(a), func(s addr.Resource) bool { return anew[s] }) {
			c.Price = m.replayPrice(c, begun.Read)
		}
	}
}

// rate is that of the relation itself where it is known, else that at which its source was read.
func (m *maker) rate(a, source addr.Resource) Rate {
	if r := m.in.Facts.Rates[a]; r != (Rate{}) {
		return r
	}
	return m.in.Facts.Rates[source]
}

// heldPrice counts the rows that the runtime holds and that a change is computed from: its own for what is
// carried over, else those of the views it reads. Nil when nobody knows, or nothing is read.
func (m *maker) heldPrice(c *Change) *Price {
	if m.in.Facts == nil {
		return nil
	}
	var p Price
	from := m.read(c.Addr)
	if c.Evolution != nil && c.Evolution.Carry != nil {
		from = nil
		p.HeldRows = c.Evolution.HeldRows
		p.Seconds = m.in.Facts.Rates[c.Addr].seconds(Extent{Rows: p.HeldRows})
	}
	for _, a := range from {
		held := m.in.Facts.Held[a]
		p.HeldRows += held.Rows
		p.Seconds += m.in.Facts.Rates[c.Addr].seconds(Extent{Rows: held.Rows})
	}
	if p.HeldRows == 0 {
		return nil
	}
	return &p
}

// heldBelow visits the views whose rows are read when a resource is computed from its sources.
func (m *maker) heldBelow(a addr.Resource, seen map[addr.Resource]bool, visit func(addr.Resource)) {
	for _, input := range m.in.Graph.Inputs(a) {
		switch {
		case seen[input]:
			continue
		case input.Block == addr.View && !m.replays(input):
			visit(input)
		default:
			m.heldBelow(input, seen, visit)
		}
		seen[input] = true
	}
}

// readSources lists, by address, the sources that computing a resource reads. Views that are not replayed themselves hold
// their rows, so they are not read through. The lists are remembered and shared, as chains of resources have the same.
func (m *maker) readSources(a addr.Resource) []addr.Resource {
	if a.Block == addr.Source {
		return []addr.Resource{a}
	}
	if list, ok := m.sources[a]; ok {
		return list
	}
	var out []addr.Resource
	for _, input := range m.read(a) {
		if input.Block == addr.View && !m.replays(input) {
			continue
		}
		more := m.readSources(input)
		if out == nil {
			out = more
		} else if !slices.Equal(out, more) {
			out = slices.Concat(out, more)
			slices.SortFunc(out, addr.Resource.Compare)
			out = slices.Compact(out)
		}
	}
	m.sources[a] = out
	return out
}
