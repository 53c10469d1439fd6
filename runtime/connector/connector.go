// Package connector has the Source and Sink interfaces; each folder below is one connector.
package connector

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
)

// Definition is one kind and what opens it. Exactly one of Source and Sink is
// set for kinds of those blocks; kinds of other blocks set neither.
type Definition struct {
	Kind   schema.Kind
	Source func(ctx context.Context, cfg schema.Config, env Env) (Source, error)
	Sink   func(ctx context.Context, cfg schema.Config, env Env) (Sink, error)
	// Adapts says why a sink that follows a view cannot go on when the view gets other columns, as a clause ("…, so …" is not
	// part of it); empty: it is given the difference to its former rows, where columns they did not have are NULL. A nil
	// Adapts stands for a sink that never can.
	Adapts func(was, is batch.Schema) string
}

// Receives is Adapts for any columns, also equal ones.
func (d Definition) Receives(was, is batch.Schema) string {
	switch {
	case slices.Equal(was, is):
		return ""
	case d.Adapts == nil:
		return "its rows get other columns"
	}
	return d.Adapts(was, is)
}

// Config reads a complete value, as the kind marshals it, into what Source and Sink take.
func (d Definition) Config(value json.RawMessage) (schema.Config, error) {
	complete, err := d.Kind.Unmarshal(value)
	if err != nil {
		return nil, err
	}
	return d.Kind.Bind(complete)
}

// Env is what a connector may know about the process around it.
type Env struct {
	Dir     string            // folder that relative paths are relative to (the configuration's)
	Spool   string            // folder for staged files; same file system as the runtime's store
	Version string            // streamform's version, for formats that record their writer
	Now     func() time.Time  // the clock
	Out     func(line string) // where sink.console prints
}

// Ledger is what a files-like source has already met, kept by the job in the store.
type Ledger interface {
	// Lookup returns the newest entry of a path.
	Lookup(path string) (Entry, bool, error)
	// LastOrdinal is the greatest ordinal given so far; 0 before the first.
	LastOrdinal() int64
}

// Status of a ledger entry.
const (
	Pending     = "pending"
	Read        = "read"
	Malformed   = "malformed"
	Overwritten = "overwritten" // read, then replaced by the version shown, which is not read
	Vanished    = "vanished"
	Skipped     = "skipped" // there when the source was created with include_existing = false; never read
)

// Entry is one line of the ledger, readable as <source>.files.
type Entry struct {
	Path         string    `json:"path"`
	Version      string    `json:"version"`
	SizeBytes    int64     `json:"size_bytes"`
	ModifiedAt   time.Time `json:"modified_at"`
	DiscoveredAt time.Time `json:"discovered_at"`
	Ordinal      int64     `json:"ordinal"`
	Rows         int64     `json:"rows"` // rows admitted; -1 before it is read
	Status       string    `json:"status"`
	Epoch        int64     `json:"epoch,omitempty"`
	CommittedAt  time.Time `json:"committed_at,omitzero"`
	Error        string    `json:"error,omitempty"`
}

// Limits bound one epoch. Zero means no limit.
type Limits struct {
	MaxFiles int64
	MaxBytes int64
}

// Source finds what there is to read. Positions are ordinals of the ledger: the
// job commits new entries, then takes them in order within the limits.
type Source interface {
	// Discover lists the source and returns entries that are not in the ledger yet, in the order they are to be
	// read, ordinals given from ledger.LastOrdinal()+1 on, plus changed entries of known ones: an entry whose ordinal is known
	// replaces that one (status overwritten, or still pending with a newer version). Only entries with status pending are to be read.
	// A failure the user can mend wraps a *UserError.
	Discover(ctx context.Context, ledger Ledger) ([]Entry, error)
	// Scan says how files are decoded and under which limits.
	Scan() (batch.Scan, Limits)
	// Verify reports an error that wraps ErrChanged when the entry's file no longer has its recorded version, ErrVanished when it is gone.
	Verify(ctx context.Context, e Entry) error
	Close() error
}

// Located is implemented by sources whose files the engine opens itself.
type Located interface {
	// Dirs are the folders and files the engine must be allowed to read.
	Dirs() []string
}

// Errors of Verify, to be told apart with errors.Is.
const (
	ErrChanged  = sentinel("the file changed while it was being read")
	ErrVanished = sentinel("the file is gone")
)

type sentinel string

func (s sentinel) Error() string { return string(s) }

// Stager runs the statements a sink needs on the epoch's change: the engine, seen by a sink.
// Statements read the relations of the Change and any file below Env.Spool or a folder the sink named.
type Stager interface {
	// Copy runs COPY (query) TO path with the given format options and returns what was written. A
	// Parquet copy has statistics.
	Copy(ctx context.Context, query, path string, format batch.Format) (Written, error)
	// Query returns the rows of a small result as text, NULL as nil.
	Query(ctx context.Context, query string) ([][]*string, error)
	// Hold runs a query once, and returns what stands after FROM to read its rows, during this Stage, as often as needed.
	Hold(ctx context.Context, query string) (string, error)
	// HoldFiles is Hold of a query that does nothing but read Parquet files: their columns by name, and in the last two columns the path
	// of a row's file, as in files, and the row's position there, from 0.
	HoldFiles(ctx context.Context, query string, files []string, columns batch.Schema) (string, error)
}

// Written describes one file that Copy wrote.
type Written struct {
	Path  string
	Rows  int64
	Bytes int64
	// Columns holds COPY's RETURN_STATS for Parquet: quoted dotted column path → statistic name → text.
	Columns map[string]map[string]string
}

// Delivery is one epoch's change for one sink.
type Delivery struct {
	Pipeline   string // stable id of the stretch of epochs these are; another one when the sink was created anew
	Sink       string // address
	Origin     string // address the sink was created under: with Pipeline and Generation it names these deliveries for good
	Generation int64
	Epoch      int64
	Change     batch.Change
	Counts     batch.Counts // Inserted is -1, and Deleted not known, while nobody has counted the rows: see Counted
	Key        []string     // columns that identify a row of the relation; nil when none
	AppendOnly bool         // the relation is a stream
	// Overwrite: the change is the whole relation, and replaces everything this sink delivered before, in one step.
	Overwrite bool
	// Previous is the receipt of this generation's delivery before, nil before the first. With it, a sink notices that
	// its target was taken away or put back to an older state.
	Previous Receipt
	// Columns' order and types are Change.Columns.
}

// Staged is output that is decided but not yet visible: kept in the outbox, so it must hold all that
// Publish needs after a restart.
type Staged struct {
	Payload json.RawMessage `json:"payload"`
	Rows    batch.Counts    `json:"rows"`
}

// Receipt proves a delivery: what the sink can say about it ("version": 57).
type Receipt map[string]any

// Sink delivers changes exactly once where its target can. An epoch is staged after the one before
// it was published: a sink may look at its target to decide.
type Sink interface {
	// Stage writes the change where nobody sees it yet, or into the payload.
	Stage(ctx context.Context, d Delivery, s Stager) (Staged, error)
	// Publish makes a staged change visible. Publishing the same Staged again has no further effect.
	Publish(ctx context.Context, st Staged) (Receipt, error)
	// Dirs are the folders the engine must be allowed to read and write for Stage.
	Dirs() []string
	Close() error
}

// Compressions are those of Parquet files that sinks write, the default first.
func Compressions() []string { return []string{"zstd", "snappy", "gzip", "uncompressed"} }
