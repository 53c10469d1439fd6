// Package job runs one pipeline: batches → query → commit → deliver.
package job

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// Source is one source of a pipeline.
type Source struct {
	Addr       addr.Resource
	ID         string // of this generation; names its ledger and position in the store
	Generation int64
	From       connector.Source
	Scan       batch.Scan        // with the columns that were settled when it was applied
	Sides      map[string]uint64 // tables of the side relations, by name ("malformed")
	Keeps      Keeping           // the rows it admits
	Fresh      bool              // being built: a replay reads it for the first time
}

// Relation is one stream or view of a pipeline.
type Relation struct {
	Addr       addr.Resource
	ID         string // of this generation; names its counters in the store
	Generation int64
	Program    *query.Program
	Tables     map[string]uint64 // by operator; one that several relations have is computed and remembered once
	// Shared are operators of a relation that is being built whose tables a live one keeps up to date: a replay takes what they give
	// from there, and leaves them as they are.
	Shared map[string]bool
}

// Sink is one sink of a pipeline.
type Sink struct {
	Addr       addr.Resource
	ID         string        // of this generation; names its receipts in the store
	Life       string        // stable over generations and pipelines; another when the sink was created anew
	Origin     addr.Resource // the address it was created under
	Generation int64
	From       string       // the relation's bare name
	Columns    batch.Schema // of the relation
	Key        []string
	AppendOnly bool
	Overwrite  bool // what it is given replaces what it had
	To         connector.Sink
}

// Options are a pipeline and what it runs on.
type Options struct {
	ID        string // stable; outbox and epoch are kept under it
	Name      string // for people
	Store     *store.Store
	Engine    *query.Engine
	Sources   []Source
	Relations []Relation // what is read before what reads it
	Sinks     []Sink
	Beside    []Sink // being built: given what Replay and CutOver decide, not what live epochs do
	// Sequence is that of a job of the same pipeline that serves meanwhile: this one only replays, and leaves what the outbox holds for
	// other sinks alone. nil: no other job of this pipeline runs.
	Sequence *Sequence
	Trigger  Trigger
	Now      func() time.Time                                   // nil: time.Now
	Wait     func(ctx context.Context, d time.Duration) error   // nil: a timer; returns ctx's error when it ends first
	Report   func(Progress)                                     // nil: nobody listens
	Retrying func(pipeline string, err error, in time.Duration) // told of machine failures; nil: nobody listens
	// Attempts bounds how often a machine failure is met before it is returned; 0: for ever.
	Attempts int
	// Measure makes Progress.Operators exact; epochs take longer.
	Measure bool
}

// Job is one pipeline at work. It is used by one goroutine at a time.
type Job struct {
	Options
	runID     string
	epoch     int64      // last committed
	taken     int64      // number of the epoch in hand; 0: none
	sources   []*reader  // in Options.Sources' order
	outbox    []parcel   // decided, not delivered
	delivered []delivery // delivered, not yet dropped from the store
	receipts  map[string]Receipt
	counters  map[string]Counters    // by ID of relations and sinks
	clocks    map[string]clockRecord // by ID of relations whose Program is Temporal
	lastBegun time.Time              // of the last epoch reported
	reported  time.Time              // when Report was last called
	lost      *Progress              // committed by an earlier process, and not reported; nil: none
	told      bool                   // an epoch was reported, and the store does not know yet
}

// reader is a source and what the job knows of it.
type reader struct {
	Source
	ledger *ledger
	state  SourceState
	seen   int64 // ordinals up to here need no look: read, or never to be read
	listed time.Time
}

// New loads what the store knows of a pipeline. It runs nothing.
func New(o Options) (*Job, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	if o.Retrying == nil {
		o.Retrying = func(string, error, time.Duration) {}
	}
	j := &Job{Options: o, runID: uuid.NewString(), receipts: map[string]Receipt{}, counters: map[string]Counters{}}
	if err := j.load(); err != nil {
		return nil, fmt.Errorf("loading pipeline %s: %w", o.Name, err)
	}
	return j, nil
}

func (j *Job) load() error {
	view := j.Store.View()
	defer view.Close()
	var err error
	if j.epoch, err = Epoch(view, j.ID); err != nil {
		return err
	}
	alone := j.Sequence == nil
	if alone {
		j.Sequence = &Sequence{given: j.epoch, committed: j.epoch}
		if j.Sequence.pace, err = ReadPace(view, j.ID); err != nil {
			return err
		}
	}
	if err = j.readUnreported(view); err != nil {
		return err
	}
	for _, s := range j.Sources {
		state, err := ReadSourceState(view, s.ID)
		if err != nil {
			return err
		}
		j.sources = append(j.sources, &reader{Source: s, state: state, seen: state.Position, ledger: newLedger(j.Store, s.ID, state.Last)})
	}
	for _, r := range j.Relations {
		if j.counters[r.ID], err = ReadCounters(view, r.ID); err != nil {
			return err
		}
	}
	if err := j.loadClocks(view); err != nil {
		return err
	}
	for _, s := range append(slices.Clone(j.Sinks), j.Beside...) {
		if j.counters[s.ID], err = ReadCounters(view, s.ID); err != nil {
			return err
		}
		if j.receipts[s.ID], _, err = ReadReceipt(view, s.ID); err != nil {
			return err
		}
	}
	j.outbox, err = readOutbox(view, j.ID)
	if !alone {
		j.outbox = slices.DeleteFunc(j.outbox, func(p parcel) bool { return j.receiver(p.Sink) == nil })
	}
	return err
}

// Epoch is the number of the last epoch committed; 0 before the first.
func (j *Job) Epoch() int64 { return j.epoch }

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
