// Package host keeps the applied resources running as jobs: catalog, backfill, cut-over, queries.
package host

import (
	"context"
	"errors"
	"time"

	"github.com/streamform/streamform/runtime/connector"
)

// Options set up a Host.
type Options struct {
	DataDir     string // the runtime's own folder; made when it does not exist
	ProjectDir  string // relative paths in resources are relative to it
	Definitions []connector.Definition
	Version     string            // streamform's version
	Memory      int64             // bytes for DuckDB and keyed data together; 0: 1 GiB
	Threads     int               // of one pipeline's engine; 0: all cores
	Out         func(line string) // where sink.console prints
	Now         func() time.Time  // nil: time.Now
}

// Host holds the applied resources and what they remember. Put, Delete, Backfill
// and Run exclude each other; Facts and Query may be called at any time.
type Host struct {
	opts Options
}

// Open opens or creates the runtime in Options.DataDir. A second process gets
// an error that wraps store.ErrInUse.
func Open(ctx context.Context, o Options) (*Host, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Host{opts: o}, errors.New("not built yet")
}

// Close frees the runtime. It must not be called while another call is running.
func (h *Host) Close() error { return nil }
