// Package changes has the workload of TPC-H: its 22 queries as views over tables whose rows are inserted, updated and deleted.
package changes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/ours"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
	"github.com/streamform/streamform/acceptance/tpch"
	"github.com/streamform/streamform/runtime/batch"
)

// refresh is one query, kept up to date and computed anew, over several sizes of change.
type refresh struct {
	settings workload.Settings
	scale    float64
	query    tpch.Query
	shares   []float64 // the sizes of the changes, as shares of every table's rows
	repeats  int       // how many changes of each size are measured
}

// bench is the tables as views, in a runtime and, for the answers, in plain DuckDB.
type bench struct {
	refresh
	dir     string
	runtime *ours.Runtime
	plain   *plain.DB
	data    *tpch.Generator
	number  int
}

func (r refresh) open(ctx context.Context, dir string) (*bench, error) {
	b := &bench{refresh: r, dir: dir, data: tpch.New(tpch.Options{Dir: dir, Scale: r.scale, Seed: 1, Favor: 0.1})}
	var err error
	if b.runtime, err = ours.Open(ctx, ours.Options{Dir: dir, Memory: r.settings.Memory, Threads: r.settings.Threads}); err != nil {
		return nil, err
	}
	if b.plain, err = plain.Open(ctx, r.settings.Threads); err != nil {
		return nil, errors.Join(err, b.runtime.Close())
	}
	return b, b.load(ctx)
}

func (b *bench) close() error { return errors.Join(b.runtime.Close(), b.plain.Close()) }

// load puts the tables that the query reads as views of their logs, and fills them on both sides.
func (b *bench) load(ctx context.Context) error {
	for _, t := range b.tables() {
		landing := filepath.Join(b.dir, t.Log())
		if err := os.Mkdir(landing, 0o755); err != nil {
			return err
		}
		if err := b.runtime.Source(ctx, ours.Input{Name: t.Log(), Path: landing, Format: "json", Files: 1, Columns: t.LogColumns()}); err != nil {
			return err
		}
		if _, err := b.runtime.Relation(ctx, "view."+t.Name, t.Current()); err != nil {
			return err
		}
		if err := b.plain.Exec(ctx, "CREATE TABLE "+t.Log()+"("+columnList(t.LogColumns())+")"); err != nil {
			return err
		}
	}
	files, err := b.data.Load()
	if err != nil {
		return err
	}
	if err := b.land(ctx, files); err != nil {
		return err
	}
	return errors.Join(b.runtime.Backfill(ctx), meter.Settle(ctx))
}

func (b *bench) tables() []tpch.Table {
	var out []tpch.Table
	for _, t := range tpch.Tables() {
		if strings.Contains(b.query.SQL, t.Name) {
			out = append(out, t)
		}
	}
	return out
}

func columnList(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = c.Name + " " + c.Type
	}
	return strings.Join(parts, ", ")
}

// land gives both sides one file of changes per table.
func (b *bench) land(ctx context.Context, files map[string]string) error {
	b.number++
	for _, t := range b.tables() {
		path, ok := files[t.Log()]
		if !ok {
			continue
		}
		landed := filepath.Join(b.dir, t.Log(), fmt.Sprintf("%06d.json", b.number))
		if err := os.Rename(path, landed); err != nil {
			return err
		}
		var types []string
		for _, c := range t.LogColumns() {
			types = append(types, fmt.Sprintf("%s: '%s'", c.Name, c.Type))
		}
		if err := b.plain.Exec(ctx, fmt.Sprintf("INSERT INTO %s FROM read_json('%s', format = 'newline_delimited', columns = {%s})", t.Log(), landed, strings.Join(types, ", "))); err != nil {
			return err
		}
	}
	return nil
}

// current makes the tables of plain DuckDB what their logs leave.
func (b *bench) current(ctx context.Context) error {
	for _, t := range b.tables() {
		if err := b.plain.Exec(ctx, "CREATE OR REPLACE TABLE "+t.Name+" AS "+t.Current()); err != nil {
			return err
		}
	}
	return nil
}

// change makes so many changes of a share of the rows, one epoch each, and returns the milliseconds of processor time of each but
// the first, which has the start of the engine in it.
func (b *bench) change(ctx context.Context, share float64) ([]float64, error) {
	for range b.repeats + 1 {
		files, err := b.data.Change(b.number, share)
		if err != nil {
			return nil, err
		}
		if err := b.land(ctx, files); err != nil {
			return nil, err
		}
	}
	if err := meter.Settle(ctx); err != nil {
		return nil, err
	}
	epochs, err := b.runtime.Epochs(ctx)
	if err != nil {
		return nil, err
	}
	if len(epochs) < 2 {
		return nil, fmt.Errorf("%d epochs are too few", len(epochs))
	}
	var cpus []float64
	for _, e := range epochs[1:] {
		cpus = append(cpus, e.Cost.CPU.Seconds()*1000)
	}
	return cpus, nil
}

// costs are the medians of changes of all sizes.
func (b *bench) costs(ctx context.Context) ([]float64, error) {
	out := make([]float64, len(b.shares))
	for i, share := range b.shares {
		cpus, err := b.change(ctx, share)
		if err != nil {
			return nil, err
		}
		out[i] = meter.Median(cpus)
	}
	return out, nil
}

// run measures changes with the tables alone, then with the query, whose share is the difference; and the query anew.
func (r refresh) run(ctx context.Context, dir string) (out workload.Outcome, err error) {
	b, err := r.open(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	without, err := b.costs(ctx)
	if err != nil {
		return out, err
	}
	columns, err := b.runtime.Relation(ctx, "view.result", r.query.SQL)
	if err != nil {
		return out, err
	}
	if err := b.runtime.Backfill(ctx); err != nil {
		return out, err
	}
	mark := meter.Start()
	with, err := b.costs(ctx)
	if err != nil {
		return out, err
	}
	out.Cost = mark.Cost()
	anew, err := b.anew(ctx)
	if err != nil {
		return out, err
	}
	for i, share := range b.shares {
		name := fmt.Sprintf("%g %%", share*100)
		cost := max(with[i]-without[i], 0.05)
		out.Numbers = append(out.Numbers, workload.Number{Name: name + ", ms cpu", Value: cost}, workload.Number{Name: name + ", of anew", Value: cost / anew})
	}
	out.Numbers = append(out.Numbers, workload.Number{Name: "anew, ms cpu", Value: anew})
	return out, b.compare(ctx, columns)
}

// anew is what computing the query once takes in plain DuckDB: the least of three, in milliseconds of processor time.
func (b *bench) anew(ctx context.Context) (float64, error) {
	if err := b.current(ctx); err != nil {
		return 0, err
	}
	best := time.Hour
	for range 3 {
		c, err := b.plain.Measure(ctx, "CREATE OR REPLACE TABLE result AS "+b.query.SQL)
		if err != nil {
			return 0, err
		}
		best = min(best, c.CPU)
	}
	return best.Seconds() * 1000, nil
}

func (b *bench) compare(ctx context.Context, columns batch.Schema) error {
	rows, err := b.runtime.Query(ctx, plain.Fingerprint(columns, "result"))
	if err != nil {
		return err
	}
	want, err := b.plain.Fingerprint(ctx, "result")
	if err != nil {
		return err
	}
	if !plain.Same(rows[0][0], want) {
		return fmt.Errorf("the rows differ: ours are %s, DuckDB's %s", rows[0][0], want)
	}
	return nil
}

// All is W14.
func All(s workload.Settings) []workload.Workload {
	scale := 0.05 * s.Scale
	if s.Full {
		scale = 1
	}
	w := workload.Workload{Name: "W14", Title: "TPC-H under changes", Pairs: 1,
		Text: fmt.Sprintf("The queries of TPC-H at scale factor %g as views over the tables, which are views of their change logs; changes are a third each inserts, updates and deletes, and touch the given share of every table's rows. "+
			"What an epoch takes with the tables alone is subtracted. The bound is DuckDB computing the query anew over tables in memory; numbers are processor time. "+
			"Aimed at are never more than 1.2 of that, and at most 0.2 with changes of 0.1 %% for joins.", scale)}
	for _, q := range tpch.Queries() {
		r := refresh{settings: s, scale: scale, query: q, shares: []float64{0.0001, 0.001, 0.01, 0.1}, repeats: 3}
		w.Cases = append(w.Cases, workload.Case{Name: q.Name, Target: "≤ 0.2 at 0.1 %", Ours: r.run})
	}
	return []workload.Workload{w}
}
