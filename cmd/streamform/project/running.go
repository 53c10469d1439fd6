package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/state"
)

// Prepare opens the runtime for Run and says what is going to run, in words.
func (p *Project) Prepare(ctx context.Context) (string, diag.Diagnostics, error) {
	p.loadForRanges()
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return "", ds, err
	}
	if document == nil || len(document.Resources) == 0 {
		return "", append(ds, nothingApplied()), nil
	}
	if _, err := p.openHost(ctx); err != nil {
		more, err := findings(p.config, err)
		return "", append(ds, more...), err
	}
	return inventory(document), ds, nil
}

// Running is the runtime that Prepare has opened.
func (p *Project) Running() *host.Host { return p.host }

func nothingApplied() diag.Diagnostic {
	return diag.NewError(nil, "Nothing was applied", "This folder has no applied resources. Run streamform apply first.")
}

// inventory counts what was applied: 1 source, 2 views, 1 sink.
func inventory(d *state.Document) string {
	counts := map[addr.Block]int{}
	for _, r := range d.Resources {
		counts[r.Addr.Block]++
	}
	var parts []string
	for _, b := range []addr.Block{addr.Source, addr.Stream, addr.View, addr.Sink} {
		switch n := counts[b]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+string(b))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, b))
		}
	}
	return strings.Join(parts, ", ")
}

// Run keeps the pipelines running until ctx ends, which lets them finish the epoch in hand; with once, until
// everything that is there at the start was read. Prepare must have been called.
func (p *Project) Run(ctx context.Context, once bool, report func(job.Progress)) (diag.Diagnostics, error) {
	return findings(p.config, p.host.Run(ctx, once, report))
}

// Refresh brings the pipelines of some sources, streams, views and sinks up to date, whatever their triggers say. Prepare must have been called.
func (p *Project) Refresh(ctx context.Context, names []string, report func(job.Progress)) (diag.Diagnostics, error) {
	document, ds, err := p.State(ctx)
	if ds.Failed() || err != nil {
		return ds, err
	}
	var of []addr.Resource
	named, ds := addresses(ds, "address", names)
	for _, a := range instances(named, nil, document) {
		switch {
		case document.Resource(a) == nil:
			ds = append(ds, notRecorded(a, document))
		case !graph.Carries(a):
			ds = append(ds, diag.NewError(nil, "Nothing to bring up to date", fmt.Sprintf("No rows flow through %s. Name a source, stream, view or sink; the whole pipeline that it belongs to is then brought up to date.", a)))
		default:
			of = append(of, a)
		}
	}
	if ds.Failed() {
		return ds, nil
	}
	more, err := findings(p.config, p.host.Refresh(ctx, of, report))
	return append(ds, more...), err
}
