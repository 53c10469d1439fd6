package project

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
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
