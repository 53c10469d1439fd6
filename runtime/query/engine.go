package query

import (
	"context"
	"errors"
	"fmt"
	"github.com/apache/arrow-go/v18/arrow"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/result"
)

// EngineOptions set up an Engine.
type EngineOptions struct {
	Memory  int64    // bytes DuckDB may use before it spills; 0: 1 GiB
	Threads int      // 0: all cores
	TempDir string   // where DuckDB spills and cleaned files lie; must exist
	Dirs    []string // folders and files that statements may read, and folders they may write
}

// Engine runs programs on real data. It has its own DuckDB database, which
// can reach nothing but EngineOptions.Dirs. It is used by one goroutine at a time.
type Engine struct {
	conn    *duck.Conn
	tempDir string
	tables  int  // names given to tables so far in this epoch
	open    bool // a transaction is open; rolling it back drops all it made
	schemas map[string]*arrow.Schema
}

const defaultMemory = 1 << 30

// OpenEngine starts an engine.
func OpenEngine(ctx context.Context, o EngineOptions) (*Engine, error) {
	if o.Memory <= 0 {
		o.Memory = defaultMemory
	}
	temp, err := filepath.Abs(o.TempDir)
	if err != nil {
		return nil, fmt.Errorf("starting the query engine: %w", err)
	}
	settings := []string{fmt.Sprintf("SET memory_limit = '%dB'", o.Memory), "SET temp_directory = " + bound.Text(filepath.Join(temp, "duckdb"))}
	if o.Threads > 0 {
		settings = append(settings, fmt.Sprintf("SET threads = %d", o.Threads))
	}
	dirs, err := absolute(append([]string{temp}, o.Dirs...))
	if err != nil {
		return nil, fmt.Errorf("starting the query engine: %w", err)
	}
	settings = append(settings,
		"SET allowed_directories = ["+strings.Join(dirs, ", ")+"]",
		"SET allowed_paths = ["+strings.Join(dirs, ", ")+"]",
		"SET enable_external_access = false", "SET lock_configuration = true")
	conn, err := duck.Open(ctx, settings...)
	if err != nil {
		return nil, fmt.Errorf("starting the query engine: %w", err)
	}
	return &Engine{conn: conn, tempDir: temp, schemas: map[string]*arrow.Schema{}}, nil
}

func absolute(dirs []string) ([]string, error) {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, err
		}
		out[i] = bound.Text(abs)
	}
	return out, nil
}

// Close frees the engine.
func (e *Engine) Close() error { return e.conn.Close() }

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

// begin starts an epoch or a query. In a transaction a failed statement ends all, so what
// means to go on after one does without.
func (e *Engine) begin(ctx context.Context, transaction bool) error {
	if !transaction {
		return nil
	}
	if err := e.conn.Exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("starting the engine's transaction: %w", err)
	}
	e.open = true
	return nil
}

// clear drops every table, view and schema an epoch or a query made. A database
// that a fault of DuckDB has ended is replaced: nothing in it was to last.
func (e *Engine) clear(ctx context.Context) error {
	err := e.drop(ctx)
	if duck.Invalidated(err) {
		err = e.conn.Reopen(ctx)
	}
	if err != nil {
		return fmt.Errorf("clearing the engine: %w", err)
	}
	return nil
}

func (e *Engine) drop(ctx context.Context) error {
	e.tables = 0
	if e.open {
		e.open = false
		return e.conn.Exec(ctx, "ROLLBACK")
	}
	rows, err := e.conn.Text(ctx, "SELECT schema_name, table_name, 'TABLE' FROM duckdb_tables() WHERE NOT internal UNION ALL "+
		"SELECT schema_name, view_name, 'VIEW' FROM duckdb_views() WHERE NOT internal")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := e.conn.Exec(ctx, "DROP "+*r[2]+" "+bound.Ident(*r[0])+"."+bound.Ident(*r[1])); err != nil {
			return err
		}
	}
	return nil
}

// table makes a table of a query's rows and returns its name.
func (e *Engine) table(ctx context.Context, sql string) (string, error) {
	name := e.name()
	return name, e.conn.Exec(ctx, "CREATE TABLE "+name+" AS "+sql)
}

func (e *Engine) name() string {
	e.tables++
	return fmt.Sprintf("sf$t%d", e.tables)
}

// count returns how many rows a relation has.
func (e *Engine) count(ctx context.Context, relation string) (int64, error) {
	var n int64
	text, err := e.conn.Value(ctx, "SELECT CAST(count(*) AS VARCHAR) FROM "+relation)
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(text, &n)
	return n, err
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

// Rows is an open result. Close it.
type Rows = result.Rows

// Cell is one value of a result.
type Cell = result.Cell
