package project

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// erroredState is where the recorded state goes when it cannot be written to its place.
const erroredState = "errored.sfstate"

// Apply does what a plan says and records each step. The result is also there when it failed half way.
func (p *Project) Apply(ctx context.Context, made *plan.Plan, hooks apply.Hooks) (*apply.Result, diag.Diagnostics, error) {
	store, ds := p.openStore()
	if ds.Failed() {
		return nil, ds, nil
	}
	h, err := p.openHost(ctx)
	if err != nil {
		more, err := findings(p.config, err)
		return nil, append(ds, more...), err
	}
	defer h.Changing()()
	result, err := apply.Run(ctx, apply.Input{
		Plan: made, Store: store, Target: &target{host: h, id: h.ID()}, Hooks: hooks, Version: p.o.Version,
	})
	if err == nil {
		return &result, ds, nil
	}
	more, err := p.applyFindings(result, err)
	return &result, append(ds, more...), err
}

// applyFindings explains why an apply failed, one finding per resource.
func (p *Project) applyFindings(result apply.Result, err error) (diag.Diagnostics, error) {
	var ds diag.Diagnostics
	var rest []error
	for _, e := range split(err) {
		var stale *apply.StaleError
		var failed *apply.ResourceError
		var unsaved *apply.SaveError
		switch {
		case errors.As(e, &stale):
			ds = append(ds, staleFinding(sentence(stale.Error())))
		case errors.Is(e, apply.ErrErrored):
			ds = append(ds, diag.NewError(nil, "The plan has errors", "A plan that was made with errors cannot be applied. Mend them and make a new one."))
		case errors.As(e, &unsaved):
			ds = append(ds, keepUnsaved(result.Document, unsaved))
		case errors.As(e, &failed) && !errors.Is(e, context.Canceled):
			ds = append(ds, p.resourceFindings(failed)...)
		default:
			more, left := findings(p.config, e)
			ds, rest = append(ds, more...), append(rest, left)
		}
	}
	return ds, errors.Join(rest...)
}

func (p *Project) resourceFindings(failed *apply.ResourceError) diag.Diagnostics {
	more, rest := findings(p.config, failed.Err)
	if rest != nil {
		more = append(more, diag.NewError(nil, "Operation failed", sentence(rest.Error())))
	}
	for i, d := range more {
		if d.Subject == nil && failed.Addr != (addr.Resource{}) {
			more[i] = at(p.config, failed.Addr.String(), d.Summary, d.Detail)
		}
	}
	return more
}

// keepUnsaved writes a document that the store refused where the user finds it.
func keepUnsaved(d *state.Document, cause *apply.SaveError) diag.Diagnostic {
	const summary = "Failed to save the recorded state"
	text, err := state.Encode(d)
	if err == nil {
		err = os.WriteFile(erroredState, text, 0o600)
	}
	if err != nil {
		return diag.NewError(nil, summary, fmt.Sprintf("%s It could not be kept as %s either: %v. The runtime has what was applied; the next plan sees it as drift.", sentence(cause.Error()), erroredState, err))
	}
	return diag.NewError(nil, summary, fmt.Sprintf("%s What was applied is recorded in %s instead: when the cause is mended, move that file over the recorded state.", sentence(cause.Error()), erroredState))
}

func staleFinding(why string) diag.Diagnostic {
	return diag.NewError(nil, "Saved plan is stale", why+" Make a new one with: streamform plan -out=FILE")
}
