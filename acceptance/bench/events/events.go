// Package events has the workloads over Nexmark's events: windows, joins, deduplication, distinct counts and tops, and all queries.
package events

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/ours"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
	"github.com/streamform/streamform/acceptance/nexmark"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// run is one query over a data set, cut into epochs.
type run struct {
	settings workload.Settings
	query    nexmark.Query // as users write it: the first form
	bound    string        // SQL of the form that DuckDB computes fastest in one shot
	data     input.Nexmark // an epoch is one file of each table
}

//go:embed forms.sql
var forms string

// fastest are the forms of Nexmark's queries that are the lower bound, where that is not the first form.
func fastest() map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(forms, "\n-- ")[1:] {
		name, sql, _ := strings.Cut(part, "\n")
		out[name] = sql
	}
	for _, q := range nexmark.Queries() {
		for name, form := range map[string]string{"q5": "q5pane", "q6": "q6narrow", "q7": "q7half", "q9": "q9two", "q11": "q11two", "q15": "q15two", "q19": "q19two", "q21": "q21split"} {
			if q.Name == form {
				out[name] = q.SQL
			}
		}
	}
	return out
}

// find returns the first form of a query and the SQL of its lower bound, which is the first form where no faster one is known.
func find(name string) (nexmark.Query, string) {
	for _, q := range nexmark.Queries() {
		if q.Name != name {
			continue
		}
		if fast, ok := fastest()[name]; ok {
			return q, fast
		}
		return q, q.SQL
	}
	return nexmark.Query{}, ""
}

func (r run) reads() []string {
	var out []string
	for _, table := range r.data.Tables() {
		if regexp.MustCompile(`\b` + table + `\b`).MatchString(r.query.SQL) {
			out = append(out, table)
		}
	}
	return out
}

// input is a table's files as a source.
func (r run) input(table string) ours.Input {
	in := ours.Input{Name: table, Path: r.data.Dir(table), Format: "parquet", Files: 1}
	if r.data.Lines {
		in.Format, in.Columns = "json", r.data.Columns(table)
	}
	return in
}

func (r run) ours(ctx context.Context, dir string) (out workload.Outcome, err error) {
	rt, err := ours.Open(ctx, ours.Options{Dir: dir, Memory: r.settings.Memory, Threads: r.settings.Threads})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	for _, table := range r.reads() {
		if err := rt.Source(ctx, r.input(table)); err != nil {
			return out, err
		}
	}
	address := "view.result"
	if r.query.Stream {
		address = "stream.result"
	}
	columns, err := rt.Relation(ctx, address, r.query.SQL)
	if err != nil {
		return out, err
	}
	lake := filepath.Join(dir, "lake")
	if r.query.Stream {
		if err := rt.Delta(ctx, "result", address, lake); err != nil {
			return out, err
		}
	}
	mark := meter.Start()
	if err := rt.Backfill(ctx); err != nil {
		return out, err
	}
	out.Cost = mark.Cost()
	if r.query.Stream {
		out.Result, err = written(ctx, lake)
		return out, err
	}
	rows, err := rt.Query(ctx, plain.Fingerprint(columns, "result"))
	if err == nil {
		out.Result = rows[0][0]
	}
	return out, err
}

// written is the fingerprint of a Delta table; one that was never written has no rows.
func written(ctx context.Context, dir string) (text string, err error) {
	t, err := delta.OpenTable(logstore.NewLocal(dir))
	if err != nil {
		return "", err
	}
	snapshot, err := t.Load(ctx)
	if err != nil {
		return "", err
	}
	if snapshot == nil {
		return "", errors.New("no Delta table was written")
	}
	scan, err := delta.ScanSQL(snapshot, delta.ScanOptions{})
	if err != nil {
		return "", err
	}
	db, err := plain.Open(ctx, 0)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Fingerprint(ctx, "("+scan+")")
}

// oneShot computes the whole result at once: a view's into a table in memory, a stream's into a Parquet file.
func (r run) oneShot(ctx context.Context, dir string) (out workload.Outcome, err error) {
	db, err := plain.Open(ctx, r.settings.Threads)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	for _, table := range r.reads() {
		var columns batch.Schema
		if r.data.Lines {
			columns = r.data.Columns(table)
		}
		if err := db.Files(ctx, table, r.data.Dir(table), columns); err != nil {
			return out, err
		}
	}
	result, statement := "result", "CREATE TABLE result AS "+r.bound
	if r.query.Stream {
		file := filepath.Join(dir, "result.parquet")
		result, statement = "read_parquet('"+file+"')", fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet, COMPRESSION zstd)", r.bound, file)
	}
	if out.Cost, err = db.Measure(ctx, statement); err != nil {
		return out, err
	}
	out.Result, err = db.Fingerprint(ctx, result)
	return out, err
}

// line is a case of one query: its events in Parquet files, and how many of them an epoch takes.
func line(s workload.Settings, name string, events, epoch int64, target string) workload.Case {
	return over(s, name, input.Nexmark{Cache: s.Cache, Events: events, Chunk: epoch}, target)
}

func over(s workload.Settings, name string, data input.Nexmark, target string) workload.Case {
	r := run{settings: s, data: data}
	r.query, r.bound = find(name)
	if data.Lines {
		name += ", NDJSON"
	}
	title := fmt.Sprintf("%s, epochs of %s", name, short(data.Chunk))
	return workload.Case{Name: title, Target: target, Input: r.data.Make, Ours: r.ours, Bound: r.oneShot}
}

// short writes 1000 as 1 k and 1000000 as 1 M.
func short(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000, " M"}, {1000, " k"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + unit.name
		}
	}
	return fmt.Sprint(n)
}
