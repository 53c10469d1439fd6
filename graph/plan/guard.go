package plan

import (
	"fmt"

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

// price sums what the sources hold that a change reads from their start. Views that stay are not read through.
func (m *maker) price(a addr.Resource) *Price {
	p := &Price{}
	seen := map[addr.Resource]bool{a: true}
	todo := []addr.Resource{a}
	for len(todo) > 0 {
		next := todo[0]
		todo = todo[1:]
		if next.Block == addr.Source {
			p.Sources = append(p.Sources, next)
			continue
		}
		for _, input := range m.in.Graph.Inputs(next) {
			if !seen[input] && (input.Block != addr.View || m.fresh(input)) {
				seen[input] = true
				todo = append(todo, input)
			}
		}
	}
	sortByAddress(p.Sources, func(a addr.Resource) addr.Resource { return a })
	if m.in.Facts != nil {
		for _, s := range p.Sources {
			held := m.in.Facts.Sources[s]
			p.Files, p.Bytes, p.Rows = p.Files+held.Files, p.Bytes+held.Bytes, p.Rows+held.Rows
		}
	}
	if len(p.Sources) == 0 {
		return nil
	}
	return p
}

// checkNames refuses addresses from the command line that mean nothing, and mentions what only the runtime knows.
func (m *maker) checkNames() {
	for _, list := range []struct {
		flag  string
		names []addr.Resource
	}{{"-target", m.in.Targets}, {"-replace", m.in.Replace}} {
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
	for a := range m.in.Facts.Generations {
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
	return schema.Nearest(a.String(), candidates)
}
