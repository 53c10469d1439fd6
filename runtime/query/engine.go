package query

import (
	"context"
	"errors"

	"github.com/streamform/streamform/runtime/batch"
)

// EngineOptions set up an Engine.
type EngineOptions struct {
	Memory  int64    // bytes DuckDB may use before it spills; 0: 1 GiB
	Threads int      // 0: all cores
	TempDir string   // where DuckDB spills; must exist
	Dirs    []string // folders and files that statements may read, and folders they may write
}

// Engine runs programs on real data. It has its own DuckDB database, which
// can reach nothing but EngineOptions.Dirs. It is used by one goroutine at a time.
type Engine struct{}

// OpenEngine starts an engine.
func OpenEngine(ctx context.Context, o EngineOptions) (*Engine, error) {
	return nil, errors.New("not built yet")
}

// Close frees the engine.
func (e *Engine) Close() error { return nil }

// Infer finds the columns of files by reading a sample within the scan's bounds.
// What the files themselves get wrong is an *Error without a place.
func (e *Engine) Infer(ctx context.Context, scan batch.Scan, files []batch.File) (batch.Schema, error) {
	return nil, errors.New("not built yet")
}

// ErrCareful is what Run returns when a record could not be read as its column
// types say: run the same Work again with Careful set, after throwing away what Deliver staged.
var ErrCareful = errors.New("a record could not be read; the careful scan is needed")

// DataError is a failure that the same input would cause again: the pipeline stops.
type DataError struct {
	Relation string
	Summary  string
	Detail   string // row position and value, where known
}

func (e *DataError) Error() string { return e.Relation + ": " + e.Summary + ": " + e.Detail }

// Run computes one epoch: every Step's net change, given the inputs and what the
// operators remember. Nothing outside the engine changes but files that Deliver stages.
func (e *Engine) Run(ctx context.Context, w Work) (*Result, error) {
	return nil, errors.New("not built yet")
}

// Held is a view as it stands: its program and its operators' memory.
type Held struct {
	Relation string
	Program  *Program
	Memory   func(operator string) Memory
}

// SideRows is a side relation held as blocks ("purchases.malformed").
type SideRows struct {
	Relation string
	Memory   Memory
}

// FileRows is a source as it stands: all files it has admitted.
type FileRows struct {
	Relation string
	Scan     batch.Scan
	Files    []batch.File
}

// TableRows is a small relation given row by row as text, such as <source>.files.
type TableRows struct {
	Relation string
	Columns  batch.Schema
	Rows     [][]*string
}

// Reading is one ad-hoc query over the committed relations of a pipeline.
type Reading struct {
	SQL     string // one SELECT; anything else is an *Error
	Sources []FileRows
	Streams []Held // run over their inputs; Memory unused
	Views   []Held
	Sides   []SideRows
	Tables  []TableRows
}

// Select answers a Reading. Only relations that the SQL names, directly or
// through a stream, are loaded. Mistakes in the SQL are *Error.
func (e *Engine) Select(ctx context.Context, r Reading) (*Rows, error) {
	return nil, errors.New("not built yet")
}

// Load runs fn on everything a view holds as an insert-only change: for a new sink, or one that replaces its content.
func (e *Engine) Load(ctx context.Context, h Held, fn func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error) error {
	return errors.New("not built yet")
}

// Cell is one value of a result.
type Cell struct {
	Null bool
	Text string // as DuckDB prints it
	JSON string // numbers as numbers; times, NaN and infinities as strings
}

// Rows is an open result. Close it.
type Rows struct{}

// Columns are the result's columns, in order.
func (r *Rows) Columns() batch.Schema { return nil }

// Next returns the next row, io.EOF after the last.
func (r *Rows) Next() ([]Cell, error) { return nil, errors.New("not built yet") }

// Close ends the result.
func (r *Rows) Close() error { return nil }
