package host

import (
	"context"
	"errors"
	"time"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/tally"
	"github.com/streamform/streamform/runtime/job"
)

const (
	// shortPass is how long a pass of ahead may take for the rest to be left to the cut-over, for which the pipeline stands still.
	shortPass = 2 * time.Second
	// mostPasses bounds the passes: what is built may be slower than what serves.
	mostPasses = 4
)

// ahead computes what is being built of a pipeline that runs, while it goes on: as much as the pipeline has read, again and again, until
// little is left. build then does the rest as it goes on after a stop. Nothing is done where the pipeline does not run, or where it has to
// stand still as what is built is made of rows and keyed data that its epochs change.
func (h *Host) ahead(ctx context.Context, n *catalog.Network, p *catalog.Pipeline, t *tally.Tally) error {
	for range mostPasses {
		serves, ok := h.busy.Running(p.ID)
		if !ok {
			return nil
		}
		began := time.Now()
		if more, err := h.pass(ctx, &builder{workshop: h.workshop(n, p), tally: t, aside: serves.Sequence}); err != nil || !more {
			return err
		}
		if time.Since(began) < shortPass {
			return nil
		}
	}
	return nil
}

// pass computes what is being built up to where the live generations are now. It reports whether there was something that could be computed.
func (h *Host) pass(ctx context.Context, b *builder) (done bool, err error) {
	b.together = 2 // with what serves
	defer func() { err = errors.Join(err, b.close()) }()
	if b.round, err = newRound(b.network, b.pipeline, b.workshop.record); err != nil {
		return false, err
	}
	if err := b.share(ctx); err != nil {
		return false, err
	}
	b.findNeeded()
	apart, err := b.apart()
	if err != nil || !apart {
		return false, err
	}
	if err := b.resume(); err != nil {
		return false, err
	}
	b.tellOrigins()
	if empty, err := b.nothingToCompute(); err != nil || empty {
		return false, err
	}
	if err := b.open(ctx); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.job.Flush()) }()
	ends, err := b.job.ReplayEnds(ctx)
	if err != nil {
		return false, err
	}
	if err := b.tally.Replaying(ends); err != nil {
		return false, err
	}
	return true, b.replay(ctx, ends)
}

// apart reports whether what is being built can be computed while the pipeline runs: it takes nothing over from what serves, and the outbox
// holds nothing for it, which the job that serves would deliver, too.
func (b *builder) apart() (bool, error) {
	if len(b.held) > 0 || len(b.record.Shared) > 0 {
		return false, nil
	}
	pending, err := job.OutboxSinks(b.host.store, b.pipeline.ID)
	if err != nil {
		return false, err
	}
	for _, a := range b.pipeline.Members {
		if b.carried(a) {
			return false, nil
		}
		if g := b.building(a); g != nil && pending[g.ID] {
			return false, nil
		}
	}
	return true, nil
}
