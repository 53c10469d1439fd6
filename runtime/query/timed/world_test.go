package timed_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
)

var (
	oracleWorlds = flag.Uint64("oracle-worlds", 4, "random worlds of TestTemporalOracle")
	oracleSeed   = flag.Uint64("oracle-seed", 1, "first seed of TestTemporalOracle")
)

// world is a source t of JSON files, views over it, and a plain DuckDB beside them. The views filter by the time: in their SQL, {now}, {local} and
// {today} stand for what asks for it.
type world struct {
	t        testing.TB
	dir      string
	engine   *query.Engine
	oracle   *duck.Conn
	scan     batch.Scan
	files    []batch.File
	steps    []query.Step
	memories map[string]*inmap.Memory

	names []string
	sql   map[string]string
	due   map[string]int64
	now   int64 // the clock of the next epoch
	read  int   // files in plain DuckDB's table
}

func newWorld(t testing.TB, views ...string) *world {
	ctx := context.Background()
	oracle, err := duck.Open(ctx)
	require.NoError(t, err)
	// DuckDB 1.5 fails on some first rows of each key otherwise: "expression type mismatch".
	require.NoError(t, oracle.Exec(ctx, "SET disabled_optimizers = 'top_n_window_elimination'"))
	w := &world{t: t, dir: t.TempDir(), oracle: oracle, scan: batch.Scan{Format: batch.Format{Name: "json"}, Columns: timedColumns(), OnMalformed: "quarantine"},
		memories: map[string]*inmap.Memory{}, sql: map[string]string{}, due: map[string]int64{}}
	w.restart()
	t.Cleanup(func() { require.NoError(t, errors.Join(w.engine.Close(), oracle.Close())) })
	c, err := query.NewCompiler(ctx, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	for i, sql := range views {
		w.view(c, fmt.Sprintf("v%d", i), sql)
	}
	return w
}

func (w *world) view(c *query.Compiler, name, sql string) {
	known := []query.Relation{{Name: "t", Columns: w.scan.Columns, AppendOnly: true, Identity: "t"}}
	for _, s := range w.steps {
		known = append(known, query.Relation{Name: s.Relation, Columns: s.Program.Columns, AppendOnly: s.Program.AppendOnly, Identity: s.Program.Identity})
	}
	asked := strings.NewReplacer("{now}", "now()", "{local}", "localtimestamp", "{today}", "current_date").Replace(sql)
	p, err := c.Compile(context.Background(), query.Query{SQL: asked, Relations: known})
	require.NoError(w.t, err, sql)
	require.Empty(w.t, p.FullRefresh, sql)
	w.steps = append(w.steps, query.Step{Relation: name, Program: p, Memory: w.memory(name)})
	w.names, w.sql[name] = append(w.names, name), sql
}

func (w *world) memory(relation string) func(string) query.Memory {
	return func(operator string) query.Memory {
		id := relation + "/" + operator
		if w.memories[id] == nil {
			w.memories[id] = inmap.New()
		}
		return w.memories[id]
	}
}

// restart opens a new engine: nothing but the memories is carried over.
func (w *world) restart() {
	if w.engine != nil {
		require.NoError(w.t, w.engine.Close())
	}
	e, err := query.OpenEngine(context.Background(), query.EngineOptions{TempDir: w.dir, Dirs: []string{w.dir}, Threads: 2})
	require.NoError(w.t, err)
	w.engine = e
}

// file writes one input file and returns it.
func (w *world) file(name, content string) batch.File {
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.WriteFile(path, []byte(content), 0o600))
	f := batch.File{Ordinal: int64(len(w.files) + 1), Path: path, Version: "1", Size: int64(len(content))}
	w.files = append(w.files, f)
	return f
}

// epoch runs the given files through all views and remembers what they remember.
func (w *world) epoch(files ...batch.File) *query.Result {
	r, err := w.engine.Run(context.Background(), query.Work{Steps: w.steps, Now: w.now, Inputs: []query.Input{{Relation: "t", Scan: w.scan, Files: files, Epoch: 1}}})
	require.NoError(w.t, err)
	for relation, list := range r.Remember {
		for _, m := range list {
			w.memory(relation)(m.Operator).(*inmap.Memory).Keep(m)
		}
	}
	for name, due := range r.Due {
		w.due[name] = due
	}
	return r
}

// rows are those a view holds, as sorted lines of text.
func (w *world) rows(name string) []string {
	r := query.Reading{SQL: "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM " + name}
	for _, s := range w.steps {
		if s.Relation == name {
			r.Views = append(r.Views, query.Held{Relation: s.Relation, Program: s.Program, Memory: s.Memory})
		}
	}
	rows, err := w.engine.Select(context.Background(), r)
	require.NoError(w.t, err, name)
	var out [][]*string
	for {
		cells, err := rows.Next()
		if err == io.EOF {
			require.NoError(w.t, rows.Close())
			return lines(out)
		}
		require.NoError(w.t, err)
		row := make([]*string, len(cells))
		for i, c := range cells {
			if !c.Null {
				row[i] = &c.Text
			}
		}
		out = append(out, row)
	}
}

func lines(rows [][]*string) []string {
	out := []string{}
	for _, row := range rows {
		line := make([]string, len(row))
		for i, v := range row {
			line[i] = "NULL"
			if v != nil {
				line[i] = *v
			}
		}
		out = append(out, strings.Join(line, "|"))
	}
	slices.Sort(out)
	return out
}

// load gives plain DuckDB the rows of all files.
func (w *world) load() {
	if w.read == len(w.files) {
		return
	}
	w.read = len(w.files)
	paths, columns := make([]string, len(w.files)), make([]string, len(w.scan.Columns))
	for i, f := range w.files {
		paths[i] = "'" + f.Path + "'"
	}
	for i, c := range w.scan.Columns {
		columns[i] = fmt.Sprintf("%q: '%s'", c.Name, c.Type)
	}
	require.NoError(w.t, w.oracle.Exec(context.Background(), fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT * FROM read_json([%s], columns = {%s}, format = 'newline_delimited')",
		strings.Join(paths, ", "), strings.Join(columns, ", "))))
}
