package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// protect turns a change into a blocked one where the lifecycle forbids it, or where what it reads is gone.
func (m *maker) protect(c *Change, r lang.Resource) {
	if c.Computes() && c.Class == ReplayFromSource && !m.fromHeld(c.Addr) {
		if m.looks == 0 && c.Addr.Block == addr.View { // it may turn out that others hold all that it is made of
			m.awaited = true
		} else {
			m.protectReplay(c, r)
		}
	}
	if c.Action == Replace && r.Lifecycle.PreventDestroy {
		m.block(c, &r.Range, "Replacement is prevented", fmt.Sprintf(
			"%s has lifecycle.prevent_destroy set, but the plan calls for it to be replaced. Set prevent_destroy to false, or leave it out of the change.", c.Addr))
	}
}

// protectReplay looks whether the sources may be read again, and still can be.
func (m *maker) protectReplay(c *Change, r lang.Resource) {
	if r.Lifecycle.PreventReplay && c.Prior != nil {
		m.block(c, &r.Range, "Replay is prevented", fmt.Sprintf(
			"%s has lifecycle.prevent_replay set, but the plan calls for its sources to be read again (%s). Set prevent_replay to false, or leave out what needs it.",
			c.Addr, cmp.Or(c.Reason, "as requested")))
		return
	}
	if m.in.Facts == nil {
		return
	}
	for _, s := range m.readSources(c.Addr) {
		loss := m.lostTo(c, s)
		if loss.Files == 0 {
			continue
		}
		detail := fmt.Sprintf("%s would be computed from the start of %s, but %d of the files that were read are gone or have changed", c.Addr, s, loss.Files)
		if len(loss.Examples) > 0 {
			detail += ", such as " + strings.Join(loss.Examples, ", ")
		}
		detail += ". Put them back as they were"
		if _, can := r.Kind.Field("history"); can && c.Prior != nil {
			detail += `, say history = "keep" to leave what was delivered as it is`
		}
		m.block(c, &r.Range, "What a replay needs is gone", detail+", or leave this change out.")
		return
	}
}

// block keeps the change in the plan for its reader, but leaves nothing to do.
func (m *maker) block(c *Change, at *diag.Range, summary, detail string) {
	c.Action, c.Class, c.Reason, c.Price = NoOp, Blocked, summary, nil
	c.Evolution, c.Receives, c.Boundaries, c.Shares = nil, nil, nil, nil
	m.fail(c.Addr, at, summary, detail)
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
