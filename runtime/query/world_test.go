package query_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
	"github.com/stretchr/testify/require"
)

// world is one source, relations over it, and a plain DuckDB beside them.
type world struct {
	t        testing.TB
	dir      string
	engine   *query.Engine
	oracle   *duck.Conn
	scan     batch.Scan
	files    []batch.File
	steps    []query.Step
	memories map[string]*inmap.Memory
	measure  bool
}

func newWorld(t testing.TB, columns batch.Schema) *world {
	t.Helper()
	oracle, err := duck.Open(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { oracle.Close() })
	return newWorldBeside(t, columns, oracle)
}

// newWorldBeside shares the plain DuckDB with other worlds.
func newWorldBeside(t testing.TB, columns batch.Schema, oracle *duck.Conn) *world {
	w := &world{t: t, dir: t.TempDir(), memories: map[string]*inmap.Memory{}, oracle: oracle,
		scan: batch.Scan{Format: batch.Format{Name: "json"}, Columns: columns, OnMalformed: "quarantine"}}
	w.restart()
	return w
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

func (w *world) close() { require.NoError(w.t, w.engine.Close()) }

func (w *world) memory(relation string) func(string) query.Memory {
	return func(operator string) query.Memory {
		id := relation + "/" + operator
		if w.memories[id] == nil {
			w.memories[id] = inmap.New()
		}
		return w.memories[id]
	}
}

// relation compiles SQL over the source t and the relations before it.
func (w *world) relation(c *query.Compiler, name, sql string, stream bool) (*query.Program, error) {
	known := []query.Relation{{Name: "t", Columns: query.Columns(w.scan), AppendOnly: true, Identity: "t"},
		{Name: "t.malformed", Columns: query.SideColumns("malformed"), AppendOnly: true, Identity: "tm"}}
	for _, s := range w.steps {
		known = append(known, query.Relation{Name: s.Relation, Columns: s.Program.Columns, AppendOnly: s.Program.AppendOnly, Identity: s.Program.Identity})
	}
	p, err := c.Compile(context.Background(), query.Query{SQL: sql, Relations: known, Stream: stream})
	if err != nil {
		return nil, err
	}
	w.steps = append(w.steps, query.Step{Relation: name, Program: p, Memory: w.memory(name)})
	return p, nil
}

// file writes one input file and returns it.
func (w *world) file(name string, content string) batch.File {
	path := filepath.Join(w.dir, name)
	require.NoError(w.t, os.WriteFile(path, []byte(content), 0o600))
	f := batch.File{Ordinal: int64(len(w.files) + 1), Path: path, Version: "1", Size: int64(len(content))}
	w.files = append(w.files, f)
	return f
}

// epoch runs the given files through all relations and remembers what they remember.
func (w *world) epoch(files ...batch.File) (*query.Result, error) {
	work := query.Work{Measure: w.measure, Steps: w.steps, Inputs: []query.Input{{Relation: "t", Scan: w.scan, Files: files, Epoch: 1}}}
	r, err := w.engine.Run(context.Background(), work)
	if errors.Is(err, query.ErrCareful) {
		work.Careful = true
		r, err = w.engine.Run(context.Background(), work)
	}
	if err != nil {
		return nil, err
	}
	w.remember(r)
	return r, nil
}

// remember keeps what an epoch remembers.
func (w *world) remember(r *query.Result) {
	for relation, list := range r.Remember {
		for _, m := range list {
			w.memory(relation)(m.Operator).(*inmap.Memory).Keep(m)
		}
	}
}

// rows answers a query over the world as sorted lines of text.
func (w *world) rows(sql string) []string {
	r := query.Reading{SQL: sql, Sources: []query.FileRows{{Relation: "t", Scan: w.scan, Files: w.files}}}
	for _, s := range w.steps {
		r.Views = append(r.Views, query.Held{Relation: s.Relation, Program: s.Program, Memory: s.Memory})
	}
	rows, err := w.engine.Select(context.Background(), r)
	require.NoError(w.t, err, sql)
	var out []string
	for {
		cells, err := rows.Next()
		if err == io.EOF {
			break
		}
		require.NoError(w.t, err)
		var line []string
		for _, c := range cells {
			if c.Null {
				line = append(line, "NULL")
				continue
			}
			line = append(line, c.Text)
		}
		out = append(out, strings.Join(line, "|"))
	}
	require.NoError(w.t, rows.Close())
	slices.Sort(out)
	return out
}

// batch answers the same by plain DuckDB over all files read. Relations are views over one another.
func (w *world) batch(relation string, sqls map[string]string, order []string, read []batch.File) []string {
	ctx := context.Background()
	paths := make([]string, len(read))
	for i, f := range read {
		paths[i] = "'" + f.Path + "'"
	}
	columns := make([]string, len(w.scan.Columns))
	for i, c := range w.scan.Columns {
		columns[i] = fmt.Sprintf("%q: '%s'", c.Name, c.Type)
	}
	require.NoError(w.t, w.oracle.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE t AS SELECT * FROM read_json([%s], columns = {%s}, format = 'newline_delimited')",
		strings.Join(paths, ", "), strings.Join(columns, ", "))))
	for _, name := range order {
		require.NoError(w.t, w.oracle.Exec(ctx, "CREATE OR REPLACE TEMP VIEW "+name+" AS "+sqls[name]))
	}
	rows, err := w.oracle.Text(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "+relation)
	require.NoError(w.t, err)
	var out []string
	for _, row := range rows {
		line := make([]string, len(row))
		for i, v := range row {
			if line[i] = "NULL"; v != nil {
				line[i] = *v
			}
		}
		out = append(out, strings.Join(line, "|"))
	}
	slices.Sort(out)
	return out
}

func newCompiler(t testing.TB) *query.Compiler {
	c, err := query.NewCompiler(context.Background(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}
