package project

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/state"
)

// RolledBack is what a rollback came to.
type RolledBack struct {
	Resources []state.Resource // that serve as they did before
	Summary   apply.Summary
}

// Rollback goes back to what a resource was before its last edit, with what was replaced together with it, in the runtime and in
// the recorded state.
func (p *Project) Rollback(ctx context.Context, of string) (*RolledBack, diag.Diagnostics, error) {
	p.loadForRanges()
	a, wrong := address("address", of)
	if wrong != nil {
		return nil, diag.Diagnostics{*wrong}, nil
	}
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return nil, ds, err
	}
	if document == nil || document.Resource(a) == nil {
		return nil, append(ds, notRecorded(a, document)), nil
	}
	h, err := p.openHost(ctx)
	if err != nil {
		more, err := findings(p.config, err)
		return nil, append(ds, more...), err
	}
	var back RolledBack
	summary, err := h.Rollback(ctx, a, func(resources []host.Resource) error {
		for _, r := range resources {
			recorded, err := recordedOf(r)
			if err != nil {
				return err
			}
			back.Resources = append(back.Resources, recorded)
		}
		document, err = p.recordBack(ctx, document, back.Resources, state.Building)
		return err
	}, nil)
	if err == nil {
		_, err = p.recordBack(ctx, document, back.Resources, state.Applied)
	}
	back.Summary = summaryOf(summary)
	more, err := findings(p.config, err)
	return &back, append(ds, more...), err
}

// recordedOf is what was recorded of a resource when it was put.
func recordedOf(r host.Resource) (out state.Resource, err error) {
	if r.Recorded == nil {
		return out, fmt.Errorf("%s was applied by an earlier version, which did not keep what a rollback needs", r.Addr)
	}
	if err := json.Unmarshal(r.Recorded, &out); err != nil {
		return out, fmt.Errorf("reading what was recorded of %s: %w", r.Addr, err)
	}
	out.Addr, out.Generation = r.Addr, r.Generation
	return out, nil
}

// recordBack writes resources into the recorded state as they were.
func (p *Project) recordBack(ctx context.Context, d *state.Document, back []state.Resource, status string) (*state.Document, error) {
	next := d.Clone()
	for _, r := range back {
		for i := range next.Resources {
			if next.Resources[i].Addr == r.Addr {
				next.Resources[i] = r
				next.Resources[i].Status = status
			}
		}
	}
	return next, p.save(ctx, next)
}
