package apply

import (
	"context"
	"errors"
	"time"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Run carries out a plan: first the deletes nothing waits for, then what is created and changed, then the backfill that makes
// all new generations live at once, then the deletes of what the former ones read. It stops at the first failure. The
// result tells what was done, also next to an error: *StaleError before anything was done, *ResourceError for a resource that
// failed, *SaveError when the state could not be written.
//
// The state is saved after each step (a large one after every few: see stepsPerSave), before and after the backfill, and
// at the end, whatever happens. A step that a crash kept out of the state is planned again, and Target makes its
// repetition harmless.
func Run(ctx context.Context, in Input) (Result, error) {
	start := time.Now()
	r, err := begin(ctx, in)
	if err != nil {
		return Result{}, err
	}
	err = r.steps(ctx)
	if saveErr := r.save(ctx); saveErr != nil {
		err = errors.Join(err, saveErr)
	}
	r.result.Elapsed = time.Since(start)
	return r.result, err
}

// run is one plan being carried out.
type run struct {
	in      Input
	changes map[addr.Resource]plan.Change
	book    book
	pending []pending // put, and to be computed by the backfill
	result  Result
}

type pending struct {
	change plan.Change
	since  time.Time
}

func begin(ctx context.Context, in Input) (*run, error) {
	d, err := in.Store.Load(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkStale(in, d); err != nil {
		return nil, err
	}
	if d == nil {
		d = state.New(in.Plan.Lineage, in.Version)
	}
	r := &run{in: in, changes: make(map[addr.Resource]plan.Change, len(in.Plan.Changes)), book: openBook(in, d)}
	for _, c := range in.Plan.Changes {
		r.changes[c.Addr] = c
	}
	r.result.Document = d
	return r, nil
}

func checkStale(in Input, d *state.Document) error {
	p := in.Plan
	lineage, serial := p.Lineage, int64(0)
	if d != nil {
		lineage, serial = d.Lineage, d.Serial
	}
	switch {
	case p.Errored:
		return ErrErrored
	case lineage != p.Lineage:
		return &StaleError{What: "lineage", Planned: p.Lineage, Found: lineage}
	case serial != p.Serial:
		return &StaleError{What: "state", Planned: serialText(p.Serial), Found: serialText(serial)}
	case in.ConfigHash != "" && in.ConfigHash != p.ConfigHash:
		return &StaleError{What: "configuration", Planned: p.ConfigHash, Found: in.ConfigHash}
	case p.RuntimeID != "" && p.RuntimeID != in.Target.RuntimeID():
		return &StaleError{What: "runtime", Planned: p.RuntimeID, Found: in.Target.RuntimeID()}
	}
	return nil
}

func (r *run) steps(ctx context.Context) error {
	if r.in.Plan.Mode == plan.RefreshOnly {
		return r.accept(ctx)
	}
	if err := r.deletes(ctx, r.in.Plan.DeleteFirst); err != nil {
		return err
	}
	compute := false
	for _, a := range r.in.Plan.Order {
		c := r.changes[a]
		if err := r.put(ctx, c); err != nil {
			return err
		}
		compute = compute || c.Computes() || c.Action == plan.Create || c.Action == plan.Replace
	}
	if err := r.respell(ctx); err != nil {
		return err
	}
	if compute {
		if err := r.backfill(ctx); err != nil {
			return err
		}
	}
	if err := r.deletes(ctx, r.in.Plan.DeleteLast); err != nil {
		return err
	}
	r.book.settle(r.in.Plan)
	return nil
}

// respell gives the runtime what is written otherwise and means the same. It is no step, but the runtime must not keep the former
// text: SELECT * may come to mean more when what it reads gets another column.
func (r *run) respell(ctx context.Context) error {
	for _, c := range r.in.Plan.Changes {
		if c.Action != plan.NoOp || c.Class != plan.Noop || c.Prior == nil || c.Desired == nil || sameAttributes(c.Prior, c.Desired) {
			continue
		}
		if err := r.in.Target.Put(ctx, c); err != nil {
			return &ResourceError{Addr: c.Addr, Err: err}
		}
	}
	return nil
}

func (r *run) deletes(ctx context.Context, as []addr.Resource) error {
	for _, a := range as {
		err := r.step(ctx, r.changes[a], func() error { return r.in.Target.Delete(ctx, a) })
		if err != nil {
			return err
		}
		r.result.Counts.Destroy++
		r.book.remove(a)
		if err := r.saveStep(ctx); err != nil {
			return err
		}
	}
	return nil
}

// step makes one call for one resource and tells the hooks.
func (r *run) step(ctx context.Context, c plan.Change, call func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	r.started(c)
	if err := call(); err != nil {
		r.errored(c, start, err)
		return &ResourceError{Addr: c.Addr, Err: err}
	}
	if !c.Computes() {
		r.completed(c, start)
	}
	return nil
}

func (r *run) put(ctx context.Context, c plan.Change) error {
	start := time.Now()
	if err := r.step(ctx, c, func() error { return r.in.Target.Put(ctx, c) }); err != nil {
		return err
	}
	recorded := *c.Desired
	recorded.Status = state.Applied
	if c.Computes() {
		recorded.Status = state.Building
		r.pending = append(r.pending, pending{c, start})
	} else {
		r.count(c)
	}
	if c.PreviousAddr != nil {
		delete(r.book.resources, *c.PreviousAddr)
	}
	r.book.put(recorded)
	return r.saveStep(ctx)
}

func (r *run) count(c plan.Change) {
	done := (&plan.Plan{Changes: []plan.Change{c}}).Counts()
	r.result.Counts.Add += done.Add
	r.result.Counts.Change += done.Change
	r.result.Counts.Destroy += done.Destroy
}

// backfill has the new generations computed. Only when all are live, they count as applied.
func (r *run) backfill(ctx context.Context) error {
	if err := r.save(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	progress := r.in.Hooks.Progress
	if progress == nil {
		progress = func(Progress) {}
	}
	summary, err := r.in.Target.Backfill(ctx, progress)
	r.result.Summary = summary
	if err != nil {
		for _, p := range r.pending {
			r.errored(p.change, p.since, err)
		}
		return &ResourceError{Err: err}
	}
	for _, p := range r.pending {
		recorded := *p.change.Desired
		recorded.Status = state.Applied
		r.book.put(recorded)
		r.count(p.change)
		r.completed(p.change, p.since)
	}
	return r.save(ctx)
}

func (r *run) started(c plan.Change) {
	if hook := r.in.Hooks.Started; hook != nil {
		hook(c)
	}
}

func (r *run) completed(c plan.Change, start time.Time) {
	if hook := r.in.Hooks.Completed; hook != nil {
		hook(c, time.Since(start))
	}
}

func (r *run) errored(c plan.Change, start time.Time, err error) {
	if hook := r.in.Hooks.Errored; hook != nil {
		hook(c, time.Since(start), err)
	}
}
