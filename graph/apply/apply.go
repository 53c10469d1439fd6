// Package apply does what a Plan says and records each step.
package apply

import (
	"context"
	"time"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Target carries out changes: the embedded host, or another runtime. Every call may be repeated: a call that
// already took effect succeeds without further effect.
type Target interface {
	// RuntimeID identifies the runtime's store, as plan.Facts had it.
	RuntimeID() string
	// Put makes the resource as Change.Desired says. A relation or sink of a new
	// generation is only registered: Backfill computes it while the former one serves.
	Put(ctx context.Context, c plan.Change) error
	// Delete removes the resource and what the runtime holds for it.
	Delete(ctx context.Context, a addr.Resource) error
	// Backfill computes every generation that was put and is not live yet, then makes all
	// of them live at once. An error leaves the former generations serving.
	Backfill(ctx context.Context, progress func(Progress)) (Summary, error)
}

// Progress is how far a backfill has come. Totals are 0 while unknown.
type Progress struct {
	Pipeline   string
	Relation   addr.Resource // what is being computed; zero: the pipeline as a whole
	Rows       int64
	HeldRows   int64 // read of what the runtime holds
	Bytes      int64
	TotalBytes int64
	Files      int64
	TotalFiles int64
	Elapsed    time.Duration
}

// Summary is what a backfill did.
type Summary struct {
	Sources   []SourceSummary
	Relations []RelationSummary
	Sinks     []SinkSummary
}

// SourceSummary is what was read of one source.
type SourceSummary struct {
	Addr      addr.Resource
	Files     int64
	Rows      int64 // admitted
	Bytes     int64
	Malformed int64 // records set aside
}

// RelationSummary is what one stream or view came to.
type RelationSummary struct {
	Addr addr.Resource
	Rows int64 // rows of a view as it stands; rows a stream emitted
	Work
}

// SinkSummary is what one sink was given.
type SinkSummary struct {
	Addr    addr.Resource
	Rows    int64          // rows written
	Receipt map[string]any // what the sink says about its last delivery
	Work
}

// Work is what a new generation was really computed from. Zero: nothing was computed anew.
type Work struct {
	Class     plan.Class  // Migrate, RebuildFromState or ReplayFromSource
	Operators []plan.Fate // Name and Fate of those that hold something, of a query that took over keyed data
	HeldRows  int64       // rows and groups that were read of what the runtime holds
	ReadRows  int64       // rows that were read of sources; what is computed together shares them
}

// Hooks are told of each step as it happens, in the order it happens. Nil ones are skipped.
type Hooks struct {
	Started   func(c plan.Change)
	Completed func(c plan.Change, elapsed time.Duration)
	Errored   func(c plan.Change, elapsed time.Duration, err error)
	Progress  func(p Progress)
}

// Input is what Run works on.
type Input struct {
	Plan       *plan.Plan
	Store      state.Store // the lock, if any, is already held through it
	Target     Target
	ConfigHash string // of the configuration at hand; empty: not compared
	Hooks      Hooks
	Version    string // streamform's, recorded in the state
}

// Result is what Run did, also when it failed half way.
type Result struct {
	Document *state.Document // as last saved, or as it should have been saved when the error is a *SaveError
	Counts   plan.Counts     // done
	Summary  Summary
	Elapsed  time.Duration
}
