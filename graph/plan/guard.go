package plan

import (
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
)

func (m *maker) fail(a addr.Resource, at *diag.Range, summary, detail string) {
	d := diag.NewError(at, summary, detail)
	d.Address, d.Context = a.String(), a.Header()
	m.diags = append(m.diags, d)
}

func (m *maker) warn(a addr.Resource, at *diag.Range, summary, detail string) {
	d := diag.NewWarning(at, summary, detail)
	d.Address, d.Context = a.String(), a.Header()
	m.diags = append(m.diags, d)
}

func (m *maker) warnCreationOnly(r lang.Resource, change schema.FieldChange) {
	if m.requested[r.Addr] {
		return
	}
	m.warn(r.Addr, place(r, change.Path), "Change has no effect on what exists", fmt.Sprintf(
		"%q is read when %s is created, so its new value changes nothing that was read so far. To start again with it, plan with -replace=%s.",
		change.Path, r.Addr, r.Addr))
}

// warnRestated says that rows somebody may have seen already will be others. A view makes no promise about that.
func (m *maker) warnRestated(r lang.Resource, change schema.FieldChange) {
	history := change.Cost == schema.CostHistory || change.Cost == schema.CostSemantics && r.Addr.Block == addr.Stream
	if !history {
		return
	}
	m.warn(r.Addr, place(r, change.Path), "Delivered rows are restated", fmt.Sprintf(
		"Changing %q of %s changes which rows it would have produced so far. Everything that reads it is computed again from the start of its sources, and sinks are given the difference.",
		change.Path, r.Addr))
}

// protect turns a replacement into a blocked change where the lifecycle forbids it.
func (m *maker) protect(c *Change, r lang.Resource) {
	if c.Action == Replace && r.Lifecycle.PreventDestroy {
		m.block(c, &r.Range, "Replacement is prevented", fmt.Sprintf(
			"%s has lifecycle.prevent_destroy set, but the plan calls for it to be replaced. Set prevent_destroy to false, or leave it out of the change.", c.Addr))
	}
}

// block keeps the change in the plan for its reader, but leaves nothing to do.
func (m *maker) block(c *Change, at *diag.Range, summary, detail string) {
	c.Action, c.Class, c.Reason, c.Price = NoOp, Blocked, summary, nil
	m.fail(c.Addr, at, summary, detail)
}

// price sums what the sources hold that a change reads from their start.
func (m *maker) price(a addr.Resource) *Price {
	p := &Price{Sources: m.readSources(a)}
	if len(p.Sources) == 0 {
		return nil
	}
	if m.in.Facts != nil {
		var all Extent
		for _, s := range p.Sources {
			all = all.Plus(m.in.Facts.Sources[s])
		}
		p.Files, p.Bytes, p.Rows = all.Files, all.Bytes, all.Rows
	}
	return p
}

// readSources lists, by address, the sources that computing a resource reads. Views that stay hold their rows, so they are not
// read through. The lists are remembered and shared, as chains of resources have the same.
func (m *maker) readSources(a addr.Resource) []addr.Resource {
	if a.Block == addr.Source {
		return []addr.Resource{a}
	}
	if list, ok := m.sources[a]; ok {
		return list
	}
	var out []addr.Resource
	for _, input := range m.in.Graph.Inputs(a) {
		if input.Block == addr.View && !m.fresh(input) {
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

// checkNames refuses addresses from the command line that mean nothing, and mentions what only the runtime knows.
func (m *maker) checkNames() {
	for _, list := range []struct {
		flag  string
		names []addr.Resource
	}{{"-target", m.in.Targets}, {"-replace", m.in.Replace}, {"-exclude", m.in.Exclude}, {"-allow", m.in.Allow}} {
		for _, a := range list.names {
			if _, ok := m.config[a]; ok || m.prior[a] != nil {
				continue
			}
			detail := fmt.Sprintf("%s=%s names nothing: it is neither in the configuration nor in the state.", list.flag, a)
			if near := m.nearest(a); near != "" {
				detail += fmt.Sprintf(" Did you mean %q?", near)
			}
			m.diags = append(m.diags, diag.NewError(nil, "No such resource", detail))
		}
	}
	if m.in.Facts == nil {
		return
	}
	for _, a := range slices.SortedFunc(maps.Keys(m.in.Facts.Generations), addr.Resource.Compare) {
		if _, ok := m.config[a]; !ok && m.prior[a] == nil && graph.Carries(a) {
			m.warn(a, nil, "The runtime has a resource that the state does not record", fmt.Sprintf(
				"%s is neither in the configuration nor in the state, so it is left as it is.", a))
		}
	}
}

func (m *maker) nearest(a addr.Resource) string {
	var candidates []string
	for c := range m.config {
		candidates = append(candidates, c.String())
	}
	for c := range m.prior {
		candidates = append(candidates, c.String())
	}
	slices.Sort(candidates)
	return schema.Nearest(a.String(), candidates)
}
