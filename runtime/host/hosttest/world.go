// Package hosttest is a small world in which hosts are tested: a project folder, a runtime on it, power cuts and deliveries that fail.
package hosttest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/store"
)

// World is a project folder, a runtime on it, and what was put there.
type World struct {
	T         *testing.T
	Dir       string
	Host      *host.Host
	compiler  *query.Compiler
	Store     store.Options
	Kinds     []connector.Definition
	relations []query.Relation
	Puts      map[addr.Resource]host.Resource
	Programs  map[addr.Resource]*query.Program // of what was put last
	landed    int
	Waited    []time.Duration // between attempts
	Now       func() time.Time
	Later     func(time.Duration)                              // moves now
	Keeping   Attributes                                       // added to what Edit puts
	Wait      func(ctx context.Context, d time.Duration) error // nil: at once
}

// NewWorld is an empty folder with a runtime on it.
func NewWorld(t *testing.T) *World {
	t.Helper()
	compiler, err := query.NewCompiler(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, compiler.Close()) })
	w := &World{T: t, Dir: t.TempDir(), compiler: compiler, Kinds: kinds.All(), Puts: map[addr.Resource]host.Resource{}, Programs: map[addr.Resource]*query.Program{}}
	require.NoError(t, os.MkdirAll(w.Path("landing"), 0o755))
	w.Open()
	t.Cleanup(func() {
		if w.Host != nil {
			require.NoError(t, w.Host.Close())
		}
	})
	return w
}

// Path is a place in the project folder.
func (w *World) Path(parts ...string) string {
	return filepath.Join(append([]string{w.Dir}, parts...)...)
}

// Open opens the runtime.
func (w *World) Open() {
	w.T.Helper()
	h, err := host.Open(context.Background(), host.Options{DataDir: w.Path(".streamform"), ProjectDir: w.Dir, Definitions: w.Kinds, Version: "test", Store: w.Store,
		Now: w.Now, Wait: func(ctx context.Context, d time.Duration) error {
			if w.Wait != nil {
				return w.Wait(ctx, d)
			}
			w.Waited = append(w.Waited, d)
			return ctx.Err()
		}})
	require.NoError(w.T, err)
	w.Host = h
}

// Reopen is a restart.
func (w *World) Reopen() {
	w.T.Helper()
	require.NoError(w.T, w.Host.Close())
	w.Open()
}

// Land drops a file into the landing folder; later calls give later modification times.
func (w *World) Land(name string, lines ...string) {
	w.T.Helper()
	w.landed++
	path := w.Path("landing", name)
	require.NoError(w.T, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	at := time.Date(2026, 5, 1, 0, 0, w.landed, 0, time.UTC)
	require.NoError(w.T, os.Chtimes(path, at, at))
}

// Attributes of a resource, by name.
type Attributes map[string]cty.Value

// Text is an attribute's value.
func Text(s string) cty.Value { return cty.StringVal(s) }

// Put completes the attributes, compiles SQL, and puts the resource at a generation.
func (w *World) Put(address string, generation int64, attrs Attributes) {
	w.T.Helper()
	r := w.Resource(address, generation, attrs)
	require.NoError(w.T, w.Host.Put(w.T.Context(), r))
	w.Puts[r.Addr] = r
}

// Resource is what Put puts.
func (w *World) Resource(address string, generation int64, attrs Attributes) host.Resource {
	w.T.Helper()
	a, err := addr.Parse(address)
	require.NoError(w.T, err)
	i := slices.IndexFunc(w.Kinds, func(d connector.Definition) bool { return d.Kind.Name() == a.Kind() })
	require.GreaterOrEqual(w.T, i, 0, "no kind %s", a.Kind())
	value, errs := w.Kinds[i].Kind.Complete(cty.ObjectVal(attrs))
	require.Empty(w.T, errs)
	data, err := w.Kinds[i].Kind.Marshal(value)
	require.NoError(w.T, err)
	r := host.Resource{Addr: a, Generation: generation, Value: data}
	switch a.Block {
	case addr.Source:
		r.Relation = w.sourceRelation(a, data)
	case addr.Stream, addr.View:
		r.Relation = w.compiled(a, attrs["sql"].AsString())
	}
	return r
}

func (w *World) sourceRelation(a addr.Resource, value json.RawMessage) *host.Relation {
	w.T.Helper()
	sample, err := w.Host.Infer(w.T.Context(), a, value)
	require.NoError(w.T, err)
	r := &host.Relation{Columns: scan.Columns(sample.Scan), AppendOnly: true, Identity: a.String(), ID: a.String(),
		Sides: map[string]batch.Schema{"malformed": query.SideColumns("malformed"), "rescued": query.SideColumns("rescued")}}
	w.know(query.Relation{Name: a.Relation(), Columns: r.Columns, AppendOnly: true, Identity: r.Identity})
	for name, columns := range r.Sides {
		w.know(query.Relation{Name: a.Relation() + "." + name, Columns: columns, AppendOnly: true, Identity: r.Identity + "." + name})
	}
	return r
}

func (w *World) compiled(a addr.Resource, sql string) *host.Relation {
	w.T.Helper()
	p, err := w.compiler.Compile(w.T.Context(), query.Query{SQL: sql, Relations: w.relations, Stream: a.Block == addr.Stream})
	require.NoError(w.T, err)
	w.know(query.Relation{Name: a.Relation(), Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Identity: a.String()})
	w.Programs[a] = p
	return &host.Relation{Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Reads: p.Reads, Identity: p.Identity, ID: a.String()}
}

func (w *World) know(r query.Relation) {
	w.relations = slices.DeleteFunc(w.relations, func(o query.Relation) bool { return o.Name == r.Name })
	w.relations = append(w.relations, r)
}

func purchaseColumns() cty.Value {
	return cty.MapVal(map[string]cty.Value{"customer": Text("VARCHAR"), "v": Text("BIGINT")})
}

// Purchases puts a JSON source on the landing folder.
func (w *World) Purchases(generation int64, more Attributes) {
	w.T.Helper()
	attrs := Attributes{"path": Text("landing"), "format": Text("json"),
		"columns": purchaseColumns()}
	for name, v := range more {
		attrs[name] = v
	}
	w.Put("source.files.purchases", generation, attrs)
}

// Backfill builds what is to be built; it must not fail.
func (w *World) Backfill() host.Summary {
	w.T.Helper()
	s, err := w.Host.Backfill(w.T.Context(), nil)
	require.NoError(w.T, err)
	return s
}

// Once reads everything there is.
func (w *World) Once() {
	w.T.Helper()
	require.NoError(w.T, w.Host.Run(w.T.Context(), true, nil))
}

// Query returns the rows of a SELECT, columns joined by |, sorted.
func (w *World) Query(sql string) []string {
	w.T.Helper()
	rows, err := w.Host.Query(w.T.Context(), sql)
	require.NoError(w.T, err)
	defer func() { require.NoError(w.T, rows.Close()) }()
	return drain(w.T, rows.Next)
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

// Table returns the rows of a Delta table, sorted, and its version; -1 when there is none.
func (w *World) Table(dir string) ([]string, int64) {
	w.T.Helper()
	return tableAt(w.T, w.Path(dir))
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
	for _, f := range s.Files() {
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

// Want builds sorted expected rows.
func Want(rows ...string) []string {
	slices.Sort(rows)
	return rows
}

// Purchase is a line of a file of purchases.
func Purchase(customer string, v int) string {
	return fmt.Sprintf(`{"customer":%q,"v":%d}`, customer, v)
}

// Totals is the query of the shop's view.
const Totals = "SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY ALL"

// Shop is a stream and a view on one source, each delivered to a Delta table.
func (w *World) Shop() {
	w.T.Helper()
	w.Purchases(1, Attributes{"max_files_per_epoch": cty.NumberIntVal(1)})
	w.Put("stream.valid", 1, Attributes{"sql": Text("SELECT customer, v FROM purchases WHERE v > 0")})
	w.Put("view.totals", 1, Attributes{"sql": Text(Totals)})
	w.Put("sink.delta.valid", 1, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid")})
	w.Put("sink.delta.totals", 1, Attributes{"from": Text("view.totals"), "path": Text("lake/totals")})
}

// Running is a shop that has read three files.
func Running(t *testing.T) *World {
	w := NewWorld(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4), Purchase("cy", -1))
	w.Land("c.json", Purchase("bob", 8))
	w.Shop()
	w.Backfill()
	return w
}

// Chain is a running shop with views on views: totals, large of totals, count of large; each has a sink.
func Chain(t *testing.T) *World {
	w := Running(t)
	w.Put("view.large", 1, Attributes{"sql": Text("SELECT customer, total FROM totals WHERE total > 0")})
	w.Put("sink.delta.large", 1, Attributes{"from": Text("view.large"), "path": Text("lake/large")})
	w.Put("view.many", 1, Attributes{"sql": Text("SELECT count(*) AS n, sum(total) AS t FROM large")})
	w.Put("sink.delta.many", 1, Attributes{"from": Text("view.many"), "path": Text("lake/many")})
	w.Backfill()
	require.Equal(t, Want("2|15"), w.Query("FROM many"))
	return w
}

// Edit puts another query, carried over as far as comparing it with the former one allows.
func (w *World) Edit(name string, generation int64, sql string) evolve.Evolution {
	w.T.Helper()
	a := Address(w.T, name)
	before, held := w.Programs[a], evolve.Held{}
	attrs := Attributes{"sql": Text(sql)}
	maps.Copy(attrs, w.Keeping)
	r := w.Resource(name, generation, attrs)
	for other := range w.Programs {
		held[other.Name] = other.Block == addr.View
	}
	e := evolve.Compare(before, w.Programs[a], held)
	if e.Carry != nil {
		data, err := json.Marshal(e.Carry)
		require.NoError(w.T, err)
		r.Carry = data
	}
	require.NoError(w.T, w.Host.Put(w.T.Context(), r))
	w.Puts[a] = r
	return e
}

// Gone removes what was read, so that nothing can be read again.
func (w *World) Gone() {
	w.T.Helper()
	require.NoError(w.T, os.RemoveAll(w.Path("landing")))
	require.NoError(w.T, os.MkdirAll(w.Path("landing"), 0o755))
}

// Move gives resources other addresses: pairs of the former and the new one.
func (w *World) Move(pairs ...string) {
	w.T.Helper()
	moves := map[addr.Resource]addr.Resource{}
	for i := 0; i < len(pairs); i += 2 {
		from, err := addr.Parse(pairs[i])
		require.NoError(w.T, err)
		to, err := addr.Parse(pairs[i+1])
		require.NoError(w.T, err)
		moves[from] = to
	}
	for range 2 { // once more has no further effect
		require.NoError(w.T, w.Host.Move(w.T.Context(), moves))
	}
}

// Facts are those of the runtime.
func (w *World) Facts() host.Facts {
	w.T.Helper()
	f, err := w.Host.Facts(w.T.Context())
	require.NoError(w.T, err)
	return f
}

// Address parses an address.
func Address(t *testing.T, text string) addr.Resource {
	t.Helper()
	a, err := addr.Parse(text)
	require.NoError(t, err)
	return a
}
