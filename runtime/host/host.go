// Package host keeps the applied resources running as jobs: catalog, backfill, cut-over, queries.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/asking"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/host/serving"
	"github.com/streamform/streamform/runtime/store"
)

// Options set up a Host.
type Options struct {
	DataDir     string // the runtime's own folder; made when it does not exist
	ProjectDir  string // relative paths in resources are relative to it
	Definitions []connector.Definition
	Version     string            // streamform's version
	Memory      int64             // bytes for DuckDB, keyed data and Go's heap together, divided by engines.Divide; 0: engines.DefaultMemory
	Threads     int               // of one pipeline's engine; 0: all cores
	Out         func(line string) // where sink.console prints
	Now         func() time.Time  // nil: time.Now
	// Wait waits for a while or until ctx ends, then returning its error; nil: a timer.
	Wait func(ctx context.Context, d time.Duration) error
	// Retrying is told of machine failures that are tried again after a while; nil: nobody listens.
	Retrying func(pipeline string, err error, in time.Duration)
	// Stopped is told, in Run, of a pipeline that failed for good while others go on; nil: nobody listens.
	Stopped func(pipeline string, err error)
	// Store overrides how the store is opened; Dir and MemoryBudget are filled in when empty.
	Store store.Options
}

// Host holds the applied resources and what they remember. Put, Move, Delete, Backfill, Rollback, Refresh and Analyze exclude each
// other. Run goes on meanwhile, but for the pipelines that they change; Facts and Query may be called at any time.
type Host struct {
	opts    Options
	open    *opening.Opener
	ask     *asking.Asker
	store   *store.Store
	busy    serving.Gate // passed by what changes the catalog or runs pipelines
	catalog *catalog.Catalog
	live    *runner // what Run keeps running; nil: nothing
}

// Open opens or creates the runtime in Options.DataDir. A second process gets
// an error that wraps store.ErrInUse. Keyed data of another version's form is a *catalog.FormError.
func Open(ctx context.Context, o Options) (*Host, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Memory == 0 {
		o.Memory = engines.DefaultMemory()
	}
	if o.Retrying == nil {
		o.Retrying = func(string, error, time.Duration) {}
	}
	if o.Stopped == nil {
		o.Stopped = func(string, error) {}
	}
	if o.Out == nil {
		o.Out = func(string) {}
	}
	if o.Store.Dir == "" {
		o.Store.Dir = filepath.Join(o.DataDir, "store")
	}
	if o.Store.MemoryBudget == 0 {
		o.Store.MemoryBudget = engines.Divide(o.Memory).Store
	}
	h := &Host{opts: o}
	err := os.MkdirAll(o.DataDir, 0o700)
	if err != nil {
		return nil, fmt.Errorf("making the data directory: %w", err)
	}
	if h.store, err = store.Open(o.Store); err != nil {
		return nil, fmt.Errorf("opening the runtime: %w", err)
	}
	if h.catalog, err = catalog.Load(h.store); err != nil {
		var other *catalog.FormError
		if errors.As(err, &other) {
			other.Dir = o.DataDir
		}
		return nil, errors.Join(fmt.Errorf("opening the runtime: %w", err), h.store.Close())
	}
	h.open, err = opening.New(ctx, opening.Options{DataDir: o.DataDir, ProjectDir: o.ProjectDir, Definitions: o.Definitions, Version: o.Version,
		Memory: o.Memory, Threads: o.Threads, Out: o.Out, Now: o.Now})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the runtime: %w", err), h.store.Close())
	}
	h.ask = asking.New(h.open, h.store)
	return h, nil
}

// ID identifies the runtime's store; it never changes.
func (h *Host) ID() string { return h.store.ID() }

// Close frees the runtime. It must not be called while another call is running, nor before all rows of Query are closed.
func (h *Host) Close() error { return errors.Join(h.open.Close(), h.store.Close()) }
