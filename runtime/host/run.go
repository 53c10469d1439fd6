package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
)

// Run keeps all pipelines running until ctx ends, then finishes the epochs in hand and
// returns nil. What is put, deleted and computed meanwhile is what runs from then on. With once, each reads everything there is at the start and stops; a paused one does nothing. What is being
// built waits for Backfill. A pipeline's failure does not stop the others; the error then joins one error for
// each pipeline that failed, *job.Failure where the same input would fail again. Reports come one at a time.
func (h *Host) Run(ctx context.Context, once bool, report func(job.Progress)) error {
	return h.start(ctx, &runner{host: h, once: once}, report)
}

// Refresh brings the pipelines that some resources belong to up to date, whatever their triggers say: each reads everything there is at
// the start. A resource without a pipeline is not looked at.
func (h *Host) Refresh(ctx context.Context, of []address, report func(job.Progress)) error {
	return h.start(ctx, &runner{host: h, once: true, only: of}, report)
}

// Analyze is Run, once, with every operator of every epoch measured exactly: see job.Options.Measure.
func (h *Host) Analyze(ctx context.Context, report func(job.Progress)) error {
	return h.start(ctx, &runner{host: h, once: true, options: job.Options{Measure: true}}, report)
}

// start runs every pipeline once, or keeps them running.
func (h *Host) start(ctx context.Context, r *runner, report func(job.Progress)) error {
	r.options.Report = func(p job.Progress) {
		if report != nil {
			r.tell(func() { report(p) })
		}
	}
	r.options.Retrying = func(pipeline string, err error, in time.Duration) {
		r.tell(func() { h.opts.Retrying(pipeline, err, in) })
	}
	if !r.once {
		return h.keep(ctx, r)
	}
	h.busy.Enter()
	defer h.busy.Unlock()
	if err := h.collect(); err != nil {
		return err
	}
	n, all, err := h.regroup(ctx)
	if err != nil {
		return err
	}
	r.network, r.options.Attempts = n, attempts
	if r.only != nil {
		all = slices.DeleteFunc(all, func(p *catalog.Pipeline) bool {
			return !slices.ContainsFunc(p.Members, func(a address) bool { return slices.Contains(r.only, a) })
		})
	}
	return r.inTurn(ctx, all)
}

// runner runs the pipelines of a host.
type runner struct {
	host    *Host
	network *catalog.Network
	options job.Options
	once    bool
	only    []address // pipelines with one of these; nil: all, as their triggers say
	telling sync.Mutex
	ctx     context.Context // of what is kept running
}

// tell lets one pipeline at a time speak.
func (r *runner) tell(say func()) {
	r.telling.Lock()
	defer r.telling.Unlock()
	say()
}

func (r *runner) inTurn(ctx context.Context, all []*catalog.Pipeline) error {
	var failures []error
	for _, p := range all {
		if ctx.Err() != nil {
			break
		}
		failures = append(failures, r.run(ctx, p))
	}
	return errors.Join(failures...)
}

func (r *runner) run(ctx context.Context, p *catalog.Pipeline) (err error) {
	r.host.busy.Stop(p.ID)
	w := r.host.workshop(r.network, p)
	defer func() { err = errors.Join(err, w.close()) }()
	j, err := w.job(ctx, r.options)
	if err != nil {
		return fmt.Errorf("starting %s: %w", p.Name, err)
	}
	if p.Trigger.Paused && r.only == nil {
		return nil
	}
	_, err = j.AvailableNow(ctx)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil
	}
	return errors.Join(err, j.Flush())
}
