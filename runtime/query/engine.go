package query

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/streamform/streamform/runtime/query/admitted"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/result"
	"github.com/streamform/streamform/runtime/query/table"
)

// EngineOptions set up an Engine.
type EngineOptions struct {
	Memory  int64    // bytes DuckDB may use before it spills; 0: 1 GiB
	Threads int      // 0: all cores
	TempDir string   // where DuckDB spills and cleaned files lie; must exist
	Small   int64    // bytes of files up to which an epoch's tables are kept as vectors; 0: 8 MiB; below 0: never
	Light   int64    // bytes of files up to which the tables of an epoch that is not small are kept as vectors, too; 0: a sixteenth of Memory; below 0: never
	Many    int      // from how many rows, or keys, on they are remembered, and read, together and not each by its key; 0: 8192
	Dirs    []string // folders and files that statements may read, and folders they may write
}

// Engine runs programs on real data. Its DuckDB databases can reach nothing but EngineOptions.Dirs. It is used by one
// goroutine at a time.
//
// Small epochs run on a database with one thread, which costs less than half per statement; large ones, and all ad-hoc
// reading, on one with all threads. Either is opened when it is first needed; no rows last in them.
type Engine struct {
	*table.Set
	quick, wide *table.Set // nil until needed
	options     EngineOptions
	tempDir     string
}

const defaultMemory = 1 << 30

// quickShare is the part of the memory that the database for small epochs gets, as a divisor.
const quickShare = 4

// OpenEngine starts an engine.
func OpenEngine(ctx context.Context, o EngineOptions) (*Engine, error) {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	if o.Small == 0 {
		o.Small = smallBytes
	}
	if o.Light == 0 {
		o.Light = o.Memory / lightShare
	}
	if o.Many <= 0 {
		o.Many = manyRows
	}
	temp, err := filepath.Abs(o.TempDir)
	if err != nil {
		return nil, fmt.Errorf("starting the query engine: %w", err)
	}
	e := &Engine{options: o, tempDir: temp}
	return e, e.use(ctx, false)
}

// Memory is how many bytes DuckDB may use before it spills.
func (e *Engine) Memory() int64 { return e.options.Memory }

// use makes one of the databases the one that statements run on.
func (e *Engine) use(ctx context.Context, quick bool) error {
	set := &e.wide
	if quick {
		set = &e.quick
	}
	if *set == nil {
		settings, err := e.settings(quick)
		if err != nil {
			return fmt.Errorf("starting the query engine: %w", err)
		}
		conn, err := duck.Open(ctx, settings...)
		if err != nil {
			return fmt.Errorf("starting the query engine: %w", err)
		}
		*set = table.NewSet(conn)
	}
	e.Set = *set
	return nil
}

func (e *Engine) settings(quick bool) ([]string, error) {
	s := duck.Settings{Memory: e.options.Memory * (quickShare - 1) / quickShare, Threads: e.options.Threads, Spill: filepath.Join(e.tempDir, "duckdb"),
		Dirs: append([]string{e.tempDir}, e.options.Dirs...)}
	if quick {
		s.Memory, s.Spill, s.Threads = e.options.Memory/quickShare, filepath.Join(e.tempDir, "duckdb-small"), 1
		// Plans are kept from epoch to epoch: they must not lean on the values of the first.
		s.Without = []string{"statistics_propagation", "compressed_materialization"}
	}
	return s.Statements()
}

// Close frees the engine.
func (e *Engine) Close() error {
	var err error
	for _, s := range []*table.Set{e.quick, e.wide} {
		if s != nil {
			err = errors.Join(err, s.Conn.Close())
		}
	}
	return err
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

// Held is a view as it stands: its program and its operators' memory.
type Held struct {
	Relation string
	Program  *Program
	Memory   func(operator string) Memory
	Former   []Former // of a stream: queries it had before, oldest first
}

// What an ad-hoc query may read beside streams and views.
type (
	SideRows  = admitted.SideRows
	FileRows  = admitted.FileRows
	TableRows = admitted.TableRows
)

// Reading is one ad-hoc query over the committed relations of a pipeline.
type Reading struct {
	SQL     string // one SELECT; anything else is an *Error
	Sources []FileRows
	Streams []Held // run over their inputs; Memory unused
	Views   []Held
	Sides   []SideRows
	Tables  []TableRows
}

// Rows is an open result. Close it.
type Rows = result.Rows

// Cell is one value of a result.
type Cell = result.Cell
