package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/kinds"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/store"
)

// world is a project folder, a runtime on it, and what was put there.
type world struct {
	t         *testing.T
	dir       string
	host      *host.Host
	compiler  *query.Compiler
	store     store.Options
	kinds     []connector.Definition
	relations []query.Relation
	puts      map[addr.Resource]host.Resource
	programs  map[addr.Resource]*query.Program // of what was put last
	landed    int
	waited    []time.Duration // between attempts
	now       func() time.Time
	later     func(time.Duration)                              // moves now
	keeping   attributes                                       // added to what edit puts
	wait      func(ctx context.Context, d time.Duration) error // nil: at once
}

func newWorld(t *testing.T) *world {
	t.Helper()
	compiler, err := query.NewCompiler(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, compiler.Close()) })
	w := &world{t: t, dir: t.TempDir(), compiler: compiler, kinds: kinds.All(), puts: map[addr.Resource]host.Resource{}, programs: map[addr.Resource]*query.Program{}}
	require.NoError(t, os.MkdirAll(w.path("landing"), 0o755))
	w.open()
	t.Cleanup(func() {
		if w.host != nil {
			require.NoError(t, w.host.Close())
		}
	})
	return w
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

func (w *world) open() {
	w.t.Helper()
	h, err := host.Open(context.Background(), host.Options{DataDir: w.path(".streamform"), ProjectDir: w.dir, Definitions: w.kinds, Version: "test", Store: w.store,
		Now: w.now, Wait: func(ctx context.Context, d time.Duration) error {
			if w.wait != nil {
				return w.wait(ctx, d)
			}
			w.waited = append(w.waited, d)
			return ctx.Err()
		}})
	require.NoError(w.t, err)
	w.host = h
}

// reopen is a restart.
func (w *world) reopen() {
	w.t.Helper()
	require.NoError(w.t, w.host.Close())
	w.open()
}

// land drops a file into the landing folder; later calls give later modification times.
func (w *world) land(name string, lines ...string) {
	w.t.Helper()
	w.landed++
	path := w.path("landing", name)
	require.NoError(w.t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	at := time.Date(2026, 5, 1, 0, 0, w.landed, 0, time.UTC)
	require.NoError(w.t, os.Chtimes(path, at, at))
}

// attributes of a resource, by name.
type attributes map[string]cty.Value

func text(s string) cty.Value { return cty.StringVal(s) }

// put completes the attributes, compiles SQL, and puts the resource at a generation.
func (w *world) put(address string, generation int64, attrs attributes) {
	w.t.Helper()
	r := w.resource(address, generation, attrs)
	require.NoError(w.t, w.host.Put(w.t.Context(), r))
	w.puts[r.Addr] = r
}

func (w *world) resource(address string, generation int64, attrs attributes) host.Resource {
	w.t.Helper()
	a, err := addr.Parse(address)
	require.NoError(w.t, err)
	i := slices.IndexFunc(w.kinds, func(d connector.Definition) bool { return d.Kind.Name() == a.Kind() })
	require.GreaterOrEqual(w.t, i, 0, "no kind %s", a.Kind())
	value, errs := w.kinds[i].Kind.Complete(cty.ObjectVal(attrs))
	require.Empty(w.t, errs)
	data, err := w.kinds[i].Kind.Marshal(value)
	require.NoError(w.t, err)
	r := host.Resource{Addr: a, Generation: generation, Value: data}
	switch a.Block {
	case addr.Source:
		r.Relation = w.sourceRelation(a, data)
	case addr.Stream, addr.View:
		r.Relation = w.compiled(a, attrs["sql"].AsString())
	}
	return r
}

func (w *world) sourceRelation(a addr.Resource, value json.RawMessage) *host.Relation {
	w.t.Helper()
	sample, err := w.host.Infer(w.t.Context(), a, value)
	require.NoError(w.t, err)
	r := &host.Relation{Columns: scan.Columns(sample.Scan), AppendOnly: true, Identity: a.String(), ID: a.String(),
		Sides: map[string]batch.Schema{"malformed": query.SideColumns("malformed"), "rescued": query.SideColumns("rescued")}}
	w.know(query.Relation{Name: a.Name, Columns: r.Columns, AppendOnly: true, Identity: r.Identity})
	w.know(query.Relation{Name: a.Name + ".malformed", Columns: r.Sides["malformed"], AppendOnly: true, Identity: r.Identity + ".malformed"})
	return r
}

func (w *world) compiled(a addr.Resource, sql string) *host.Relation {
	w.t.Helper()
	p, err := w.compiler.Compile(w.t.Context(), query.Query{SQL: sql, Relations: w.relations, Stream: a.Block == addr.Stream})
	require.NoError(w.t, err)
	w.know(query.Relation{Name: a.Name, Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Identity: a.String()})
	w.programs[a] = p
	return &host.Relation{Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Reads: p.Reads, Identity: p.Identity, ID: a.String()}
}

func (w *world) know(r query.Relation) {
	w.relations = slices.DeleteFunc(w.relations, func(o query.Relation) bool { return o.Name == r.Name })
	w.relations = append(w.relations, r)
}

func purchaseColumns() cty.Value {
	return cty.MapVal(map[string]cty.Value{"customer": text("VARCHAR"), "v": text("BIGINT")})
}

// purchases puts a JSON source on the landing folder.
func (w *world) purchases(generation int64, more attributes) {
	w.t.Helper()
	attrs := attributes{"path": text("landing"), "format": text("json"),
		"columns": purchaseColumns()}
	for name, v := range more {
		attrs[name] = v
	}
	w.put("source.files.purchases", generation, attrs)
}

func (w *world) backfill() host.Summary {
	w.t.Helper()
	s, err := w.host.Backfill(w.t.Context(), nil)
	require.NoError(w.t, err)
	return s
}

func (w *world) once() {
	w.t.Helper()
	require.NoError(w.t, w.host.Run(w.t.Context(), true, nil))
}

// query returns the rows of a SELECT, columns joined by |, sorted.
func (w *world) query(sql string) []string {
	w.t.Helper()
	rows, err := w.host.Query(w.t.Context(), sql)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, rows.Close()) }()
	return drain(w.t, rows.Next)
}

func drain(t *testing.T, next func() ([]query.Cell, error)) []string {
	t.Helper()
	all := []string{}
	for {
		row, err := next()
		if err == io.EOF {
			slices.Sort(all)
			return all
		}
		require.NoError(t, err)
		cells := make([]string, len(row))
		for i, c := range row {
			if cells[i] = c.Text; c.Null {
				cells[i] = "NULL"
			}
		}
		all = append(all, strings.Join(cells, "|"))
	}
}

// table returns the rows of a Delta table, sorted, and its version; -1 when there is none.
func (w *world) table(dir string) ([]string, int64) {
	w.t.Helper()
	return tableAt(w.t, w.path(dir))
}

func tableAt(t *testing.T, dir string) ([]string, int64) {
	t.Helper()
	table, err := delta.OpenTable(logstore.NewLocal(dir))
	require.NoError(t, err)
	s, err := table.Load(t.Context())
	if err != nil || s == nil {
		return nil, -1
	}
	e, err := query.OpenEngine(t.Context(), query.EngineOptions{TempDir: t.TempDir(), Dirs: []string{dir}, Threads: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	var files []batch.File
	for _, f := range s.Files {
		files = append(files, batch.File{Path: filepath.Join(dir, f.Path), Size: f.Size, Ordinal: int64(len(files) + 1)})
	}
	if len(files) == 0 {
		return []string{}, s.Version
	}
	how := batch.Scan{Format: batch.Format{Name: "parquet"}}
	how.Columns, err = e.Infer(t.Context(), how, files)
	require.NoError(t, err)
	rows, err := e.Select(t.Context(), query.Reading{SQL: "SELECT * FROM t", Sources: []query.FileRows{{Relation: "t", Scan: how, Files: files}}})
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	return drain(t, rows.Next), s.Version
}

// want builds sorted expected rows.
func want(rows ...string) []string {
	slices.Sort(rows)
	return rows
}

func purchase(customer string, v int) string {
	return fmt.Sprintf(`{"customer":%q,"v":%d}`, customer, v)
}
