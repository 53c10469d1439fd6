// Package host keeps the applied resources running as jobs: catalog, backfill, cut-over, queries.
package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/query"
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

// Host holds the applied resources and what they remember. Put, Delete, Backfill
// and Run exclude each other; Facts and Query may be called at any time.
type Host struct {
	opts        Options
	definitions map[string]connector.Definition // by kind
	store       *store.Store
	busy        sync.Mutex // held by what changes the catalog or runs pipelines
	catalog     *catalog.Catalog
	compiler    *query.Compiler
	engines     *engines.Pool
	programs    programs // of views that queries read
}

// Open opens or creates the runtime in Options.DataDir. A second process gets
// an error that wraps store.ErrInUse.
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
	for _, dir := range []string{o.DataDir, filepath.Join(o.DataDir, spoolFolder), filepath.Join(o.DataDir, spillFolder)} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("making the data directory: %w", err)
		}
	}
	h := &Host{opts: o, definitions: map[string]connector.Definition{}}
	h.engines = engines.New(engines.Options{Memory: o.Memory, Threads: o.Threads, TempDir: filepath.Join(o.DataDir, spillFolder)})
	for _, d := range o.Definitions {
		h.definitions[d.Kind.Name()] = d
	}
	var err error
	if h.store, err = store.Open(o.Store); err != nil {
		return nil, fmt.Errorf("opening the runtime: %w", err)
	}
	if h.catalog, err = catalog.Load(h.store); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the runtime: %w", err), h.store.Close())
	}
	if h.compiler, err = query.NewCompiler(ctx, 1); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the runtime: %w", err), h.store.Close())
	}
	return h, nil
}

const (
	spoolFolder = "spool" // output that is staged, by sink generation
	spillFolder = "spill" // what DuckDB does not hold in memory
)

// ID identifies the runtime's store; it never changes.
func (h *Host) ID() string { return h.store.ID() }

// Close frees the runtime. It must not be called while another call is running, nor before all rows of Query are closed.
func (h *Host) Close() error {
	return errors.Join(h.engines.Close(), h.compiler.Close(), h.store.Close())
}

func (h *Host) env(spool string) connector.Env {
	return connector.Env{Dir: h.opts.ProjectDir, Spool: spool, Version: h.opts.Version, Now: h.opts.Now, Out: h.opts.Out}
}

func (h *Host) openSource(ctx context.Context, a addr.Resource, g *catalog.Generation) (connector.Source, error) {
	d, ok := h.definitions[a.Kind()]
	if !ok || d.Source == nil {
		return nil, fmt.Errorf("opening %s: this version has no source of kind %s", a, a.Kind())
	}
	value, err := d.Kind.Unmarshal(g.Value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	cfg, err := d.Kind.Bind(value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	s, err := d.Source(ctx, cfg, h.env(filepath.Join(h.opts.DataDir, spoolFolder)))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	return s, nil
}

func (h *Host) openSink(ctx context.Context, a addr.Resource, g *catalog.Generation) (connector.Sink, error) {
	d, ok := h.definitions[a.Kind()]
	if !ok || d.Sink == nil {
		return nil, fmt.Errorf("opening %s: this version has no sink of kind %s", a, a.Kind())
	}
	value, err := d.Kind.Unmarshal(g.Value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	cfg, err := d.Kind.Bind(value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	spool := h.spool(g.ID)
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	s, err := d.Sink(ctx, cfg, h.env(spool))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	return s, nil
}

func (h *Host) spool(sink string) string { return filepath.Join(h.opts.DataDir, spoolFolder, sink) }
