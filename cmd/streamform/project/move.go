package project

import (
	"context"
	"fmt"
	"slices"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// MoveRequest renames a recorded resource.
type MoveRequest struct {
	From, To string // addresses
	DryRun   bool   // checks only
}

// Move gives a recorded resource another address, in the record and in the
// runtime. What holds rows, or has delivered some, is refused: the runtime keeps those under the name.
func (p *Project) Move(ctx context.Context, r MoveRequest) (diag.Diagnostics, error) {
	from, to, ds := moveAddresses(r)
	if ds.Failed() {
		return ds, nil
	}
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return ds, err
	}
	switch {
	case document.Resource(from) == nil:
		return append(ds, notRecorded(from, document)), nil
	case document.Resource(to) != nil:
		return append(ds, diag.NewError(nil, "Invalid target address", fmt.Sprintf("Cannot move to %s: there already is a resource at that address in the recorded state.", to))), nil
	case graph.Carries(from):
		return append(ds, diag.NewError(nil, "The runtime cannot rename this", fmt.Sprintf("%s carries rows, and queries read it by its name, so that it cannot be renamed in the record alone. Rename it in the configuration, where a moved block says that it is the same, and apply: it then keeps all that it holds. Triggers and monitors can be moved here.\n\n  moved {\n    from = %s\n    to   = %s\n  }", from, from, to))), nil
	case r.DryRun:
		return ds, nil
	}
	more, err := findings(nil, p.rename(ctx, document, from, to))
	return append(ds, more...), err
}

func moveAddresses(r MoveRequest) (from, to addr.Resource, ds diag.Diagnostics) {
	from, wrong := address("source address", r.From)
	if wrong != nil {
		ds = append(ds, *wrong)
	}
	to, wrong = address("destination address", r.To)
	if wrong != nil {
		ds = append(ds, *wrong)
	}
	if !ds.Failed() && from.Kind() != to.Kind() {
		ds = append(ds, diag.NewError(nil, "Invalid state move request", fmt.Sprintf("%s is a %s and %s would be a %s: a move changes the name only.", from, from.Kind(), to, to.Kind())))
	}
	return from, to, ds
}

// rename puts the resource under its new name, turns its readers to it, and only then drops the old name, so
// that a crash in between leaves something that the same command finishes.
func (p *Project) rename(ctx context.Context, d *state.Document, from, to addr.Resource) error {
	h, err := p.openHost(ctx)
	if err != nil {
		return err
	}
	next := d.Clone()
	var changed []state.Resource
	for i := range next.Resources {
		r := &next.Resources[i]
		turned := false
		r.Attributes, turned = moving.TurnAttributes(r.Attributes, map[addr.Resource]addr.Resource{from: to})
		r.Dependencies = replaced(r.Dependencies, from, to)
		if r.Addr == from {
			r.Addr = to
		} else if !turned {
			continue
		}
		changed = append(changed, *r)
	}
	slices.SortStableFunc(changed, func(a, b state.Resource) int { return order(a.Addr == to) - order(b.Addr == to) })
	for _, r := range changed {
		if err := h.Put(ctx, resource(r)); err != nil {
			return fmt.Errorf("renaming %s in the runtime: %w", from, err)
		}
	}
	if err := h.Delete(ctx, from); err != nil {
		return fmt.Errorf("dropping the name %s in the runtime: %w", from, err)
	}
	slices.SortFunc(next.Resources, func(a, b state.Resource) int { return a.Addr.Compare(b.Addr) })
	return p.save(ctx, next)
}

// order puts the moved resource before its readers.
func order(moved bool) int {
	if moved {
		return 0
	}
	return 1
}

func replaced(list []addr.Resource, from, to addr.Resource) []addr.Resource {
	out := slices.Clone(list)
	for i := range out {
		if out[i] == from {
			out[i] = to
		}
	}
	return out
}
