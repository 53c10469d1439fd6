package query_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// view is one SELECT under a name that later ones may read.
type view struct{ name, sql string }

// history is all that one world's input is made of.
type history struct {
	columns batch.Schema
	epochs  []querytest.Epoch
}

// lab is what one worker reuses over its worlds: a compiler, an engine, a plain DuckDB and a folder.
type lab struct {
	t        testing.TB
	compiler *query.Compiler
	engine   *query.Engine
	oracle   *duck.Conn
	dir      string
	files    int
	programs map[view]*query.Program // of the world at hand
}

func newLab(t testing.TB) *lab {
	oracle, err := duck.Open(context.Background(), "SET threads = 1")
	require.NoError(t, err)
	l := &lab{t: t, compiler: newCompiler(t), oracle: oracle, dir: t.TempDir(), programs: map[view]*query.Program{}}
	t.Cleanup(func() {
		require.NoError(t, oracle.Close())
		require.NoError(t, l.engine.Close())
	})
	l.restart(1)
	return l
}

// restart opens a new engine: nothing but what operators remember is carried over.
func (l *lab) restart(threads int) {
	if l.engine != nil {
		require.NoError(l.t, l.engine.Close())
	}
	o := query.EngineOptions{TempDir: l.dir, Dirs: []string{l.dir}, Threads: threads, Many: []int{1, 5, 1 << 20}[l.files/2%3]}
	if threads > 1 {
		o.Small = -1 // large epochs have other ways
		o.Light = []int64{-1, 1 << 30}[l.files/4%2]
		if l.files%7 > 1 {
			o.Threads = 1 // two threads cost much, and few rows keep one of them waiting
		}
	}
	e, err := query.OpenEngine(context.Background(), o)
	require.NoError(l.t, err)
	l.engine = e
}

// failure is where a world and plain DuckDB part.
type failure struct {
	epoch int
	views []string // what may be wrong; the first for sure where the rows differ
	what  string
	both  bool // DuckDB fails too: the query is at fault
}

// clear empties the plain DuckDB.
func (l *lab) clear() {
	ctx := context.Background()
	tables, err := l.oracle.Text(ctx, "SELECT table_name FROM duckdb_tables() WHERE NOT internal")
	require.NoError(l.t, err)
	for _, t := range tables {
		require.NoError(l.t, l.oracle.Exec(ctx, "DROP TABLE \""+*t[0]+"\""))
	}
}

// declare makes plain DuckDB's input table anew.
func (l *lab) declare(columns batch.Schema) {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.Name + " " + c.Type
	}
	require.NoError(l.t, l.oracle.Exec(context.Background(), "CREATE OR REPLACE TABLE t ("+strings.Join(list, ", ")+")"))
}

// replay runs a history through views, in a world and in plain DuckDB, and compares after every epoch.
func (l *lab) replay(h history, views []view) *failure {
	w := &world{t: l.t, dir: l.dir, engine: l.engine, oracle: l.oracle, memories: map[string]*inmap.Memory{},
		scan: batch.Scan{Format: batch.Format{Name: "json"}, Columns: h.columns, OnMalformed: "quarantine"}}
	for _, v := range views {
		if p := l.programs[v]; p != nil {
			w.steps = append(w.steps, query.Step{Relation: v.name, Program: p, Memory: w.memory(v.name)})
			continue
		}
		if _, err := w.relation(l.compiler, v.name, v.sql, false); err != nil {
			return &failure{epoch: -1, views: []string{v.name}, what: "compile: " + err.Error()}
		}
	}
	share(w)
	l.declare(h.columns)
	for e, rows := range h.epochs {
		files := l.write(w, rows)
		if _, err := w.epoch(files...); err != nil {
			return l.failed(e, views, files, h.columns, err)
		}
		if e == 0 || len(files) > 0 {
			if f := l.recompute(views, files, h.columns); f != nil {
				f.epoch = e
				return f
			}
		}
		if f := l.compare(w, views); f != nil {
			f.epoch = e
			return f
		}
		if rows.Restart {
			l.restart(1 + l.files%2)
			w.engine = l.engine
		}
	}
	return nil
}

// share lets steps have the operators once that they have in common, as a runtime does.
func share(w *world) {
	type place struct {
		step     int
		operator string
	}
	first := map[string]place{} // by what an operator is called
	for i := range w.steps {
		s := &w.steps[i]
		own, elsewhere, names, met := s.Memory, map[string]place{}, evolve.Common(s.Program), map[string]bool{}
		for _, operator := range slices.Sorted(maps.Keys(names)) {
			name := names[operator]
			at, ok := first[name]
			if !ok {
				first[name] = place{i, operator}
			}
			if !ok || met[name] || at.step == i {
				continue
			}
			met[name] = true
			owner := &w.steps[at.step]
			if owner.Shared[at.operator] == 0 {
				owner.Shared = maps.Clone(owner.Shared)
				if owner.Shared == nil {
					owner.Shared = map[string]uint64{}
				}
				owner.Shared[at.operator] = uint64(at.step)<<16 + uint64(len(owner.Shared)) + 1
			}
			if s.Shared == nil {
				s.Shared = map[string]uint64{}
			}
			s.Shared[operator], elsewhere[operator] = owner.Shared[at.operator], at
		}
		s.Memory = func(operator string) query.Memory {
			if at, ok := elsewhere[operator]; ok {
				return w.memory(w.steps[at.step].Relation)(at.operator)
			}
			return own(operator)
		}
	}
}

func (l *lab) write(w *world, rows querytest.Epoch) []batch.File {
	var out []batch.File
	for _, r := range rows.Files {
		l.files++
		out = append(out, w.file(fmt.Sprintf("f%d.json", l.files), strings.Join(r, "\n")+"\n"))
	}
	return out
}

// failed is a failure of the engine; it is the query's own when DuckDB fails on the same rows.
func (l *lab) failed(e int, views []view, files []batch.File, columns batch.Schema, err error) *failure {
	if f := l.recompute(views, files, columns); f != nil {
		f.epoch = e
		return f
	}
	f := &failure{epoch: e, what: err.Error()}
	var data *query.DataError
	if errors.As(err, &data) {
		f.views = []string{data.Relation}
	} else if _, rest, ok := strings.Cut(err.Error(), "computing "); ok {
		name, _, _ := strings.Cut(rest, ":")
		f.views = []string{name}
	}
	return f
}

// recompute adds an epoch's rows to plain DuckDB's input and runs every view's SQL over all of it.
func (l *lab) recompute(views []view, files []batch.File, columns batch.Schema) *failure {
	ctx := context.Background()
	if len(files) > 0 {
		paths := make([]string, len(files))
		for i, f := range files {
			paths[i] = "'" + f.Path + "'"
		}
		types := make([]string, len(columns))
		for i, c := range columns {
			types[i] = fmt.Sprintf("%q: '%s'", c.Name, strings.ReplaceAll(c.Type, "'", "''"))
		}
		require.NoError(l.t, l.oracle.Exec(ctx, fmt.Sprintf("INSERT INTO t SELECT * FROM read_json([%s], columns = {%s}, format = 'newline_delimited')",
			strings.Join(paths, ", "), strings.Join(types, ", "))))
	}
	for _, v := range views {
		if err := l.oracle.Exec(ctx, "CREATE OR REPLACE TABLE "+v.name+" AS "+v.sql); err != nil {
			return &failure{views: []string{v.name}, what: "DuckDB: " + err.Error(), both: true}
		}
	}
	return nil
}

// comparison is one SELECT of the rows of all views as text: the view's number, and the cells of a row with chr(2) between them.
func comparison(steps []query.Step) string {
	arms := make([]string, len(steps))
	for i, s := range steps {
		cells := make([]string, len(s.Program.Columns))
		for j, c := range s.Program.Columns {
			cells[j] = fmt.Sprintf("coalesce(CAST(%q AS VARCHAR), chr(1))", c.Name)
		}
		arms[i] = fmt.Sprintf("SELECT '%d' AS v, concat_ws(chr(2), %s) AS r FROM %s", i, strings.Join(cells, ", "), s.Relation)
	}
	return strings.Join(arms, " UNION ALL ")
}

func (l *lab) compare(w *world, views []view) *failure {
	if len(views) == 0 {
		return nil
	}
	sql := comparison(w.steps)
	want := make([][]string, len(views))
	rows, err := l.oracle.Text(context.Background(), sql)
	require.NoError(l.t, err, sql)
	for _, r := range rows {
		i := number(*r[0])
		want[i] = append(want[i], *r[1])
	}
	got, err := l.held(w, sql)
	if err != nil {
		guilty := ""
		if got, guilty, err = l.singly(w); err != nil {
			return &failure{views: []string{guilty}, what: "reading the views: " + err.Error()}
		}
	}
	for i, v := range views {
		columns := w.steps[i].Program.Columns
		if diff := difference(columns, got[i], want[i]); diff != "" {
			return &failure{views: []string{v.name}, what: diff}
		}
	}
	return nil
}

// singly reads one view after the other, in a new engine: DuckDB 1.5 may fail on the union of many.
func (l *lab) singly(w *world) (got [][]string, guilty string, err error) {
	l.restart(1)
	w.engine = l.engine
	got = make([][]string, len(w.steps))
	for i, s := range w.steps {
		rows, err := l.held(w, strings.Replace(comparison([]query.Step{s}), "'0'", fmt.Sprintf("'%d'", i), 1))
		if err != nil {
			return nil, s.Relation, err
		}
		got[i] = rows[i]
	}
	return got, "", nil
}

func number(s string) (n int) {
	for _, r := range s {
		n = n*10 + int(r-'0')
	}
	return n
}

// held answers the comparison from what the world's operators remember.
func (l *lab) held(w *world, sql string) ([][]string, error) {
	r := query.Reading{SQL: sql}
	for _, s := range w.steps {
		r.Views = append(r.Views, query.Held{Relation: s.Relation, Program: s.Program, Memory: s.Memory})
	}
	rows, err := w.engine.Select(context.Background(), r)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(w.steps))
	for {
		cells, err := rows.Next()
		if err == io.EOF {
			return out, rows.Close()
		}
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		i := number(cells[0].Text)
		out[i] = append(out[i], cells[1].Text)
	}
}

// ancestors are a view and the views it reads, in order.
func ancestors(views []view, names ...string) []view {
	needed := map[string]bool{}
	for _, n := range names {
		needed[n] = true
	}
	var out []view
	for _, v := range slices.Backward(views) {
		if !needed[v.name] {
			continue
		}
		out = append(out, v)
		for _, other := range views {
			if reads(v.sql, other.name) {
				needed[other.name] = true
			}
		}
	}
	slices.Reverse(out)
	return out
}

// reads reports whether the SQL mentions a name as a word.
func reads(sql, name string) bool {
	return slices.Contains(strings.FieldsFunc(sql, func(r rune) bool {
		return !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	}), name)
}
