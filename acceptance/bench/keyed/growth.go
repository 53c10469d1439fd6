// Package keyed has the workloads whose cost is keyed data: many keys, small epochs on large views, little memory, restarts.
package keyed

import (
	"context"
	"errors"
	"fmt"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/ours"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// totals is the view of most workloads here: two partials per key.
const totals = "SELECT k, count(*) AS n, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY k"

// growth loads a view with every key once, and then changes random keys in small epochs.
type growth struct {
	settings workload.Settings
	data     input.Keyed
	warm     int // epochs of changes that are not measured
}

// table are Base rows, one for each key, and updates of epoch rows each.
func table(s workload.Settings, keys, updates, epoch int64) input.Keyed {
	return input.Keyed{Cache: s.Cache, Keys: keys, Base: keys, BaseFile: min(keys, 1_000_000), Updates: updates, UpdateFile: epoch}
}

// open puts the source and the view; the source is read file by file.
func open(ctx context.Context, s workload.Settings, dir, path string) (*ours.Runtime, error) {
	rt, err := ours.Open(ctx, ours.Options{Dir: dir, Memory: s.Memory, Threads: s.Threads})
	if err != nil {
		return nil, err
	}
	if err := rt.Source(ctx, ours.Input{Name: "t", Path: path, Format: "parquet", Files: 1}); err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return rt, nil
}

// arrange makes a folder that holds the base files, and returns a function that adds the updates to it.
func arrange(dir string, k input.Keyed) (path string, add func() error, err error) {
	path = dir + "/landing"
	if err := link(k.BaseDir(), path, "0-"); err != nil {
		return "", nil, err
	}
	return path, func() error { return link(k.UpdateDir(), path, "1-") }, nil
}

// ours measures the changes: the load is told as a number.
func (g growth) ours(ctx context.Context, dir string) (out workload.Outcome, err error) {
	path, add, err := arrange(dir, g.data)
	if err != nil {
		return out, err
	}
	rt, err := open(ctx, g.settings, dir, path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	columns, err := rt.Relation(ctx, "view.totals", totals)
	if err != nil {
		return out, err
	}
	mark := meter.Start()
	if err := rt.Backfill(ctx); err != nil {
		return out, err
	}
	if err := meter.Settle(ctx); err != nil {
		return out, err
	}
	load := mark.Cost()
	if err := add(); err != nil {
		return out, err
	}
	epochs, err := rt.Epochs(ctx)
	if err != nil {
		return out, err
	}
	mark = meter.Start()
	if err := meter.Settle(ctx); err != nil { // folds of what was committed
		return out, err
	}
	tail := mark.Cost()
	if len(epochs) <= g.warm {
		return out, fmt.Errorf("%d epochs are too few", len(epochs))
	}
	rows := int64(0)
	var walls []float64
	for _, e := range epochs[g.warm:] {
		out.Cost = out.Cost.Plus(e.Cost)
		rows += e.Rows
		walls = append(walls, e.Cost.Wall.Seconds()*1000)
	}
	out.Numbers = []workload.Number{
		{Name: "µs cpu per row", Value: (out.Cost.CPU + tail.CPU).Seconds() * 1e6 / float64(rows)},
		{Name: "load, µs cpu per row", Value: load.CPU.Seconds() * 1e6 / float64(g.data.Base)},
		{Name: "epoch p50, ms", Value: meter.Median(walls)},
		{Name: "disk, B per key", Value: float64(size(dir)) / float64(g.data.Keys)},
	}
	return fingerprint(ctx, rt, out, plain.Fingerprint(columns, "totals"))
}

func fingerprint(ctx context.Context, rt *ours.Runtime, out workload.Outcome, sql string) (workload.Outcome, error) {
	rows, err := rt.Query(ctx, sql)
	if err == nil {
		out.Result = rows[0][0]
	}
	return out, err
}

// oneShot aggregates the rows that ours measures, grouped from nothing; its result is that of all rows.
func (g growth) oneShot(ctx context.Context, _ string) (out workload.Outcome, err error) {
	db, err := plain.Open(ctx, g.settings.Threads)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := g.data.Relations(ctx, db, g.warm); err != nil {
		return out, err
	}
	if out.Cost, err = db.Measure(ctx, "CREATE TABLE alone AS "+totals); err != nil {
		return out, err
	}
	if err := db.Exec(ctx, "CREATE OR REPLACE VIEW t AS FROM every"); err != nil {
		return out, err
	}
	out.Result, err = db.Fingerprint(ctx, "("+totals+")")
	return out, err
}

// Line of a growth workload.
func (g growth) line(name, target string) workload.Case {
	return workload.Case{Name: name, Target: target, Input: g.data.Make, Ours: g.ours, Bound: g.oneShot}
}

func growing(s workload.Settings) workload.Workload {
	w := workload.Workload{Name: "W8", Title: "keyed data grows", Pairs: 1,
		Text: "A view `count(*)`, `sum(v)` by a BIGINT key is loaded with every key once, a million rows an epoch, then changed by epochs of 100,000 rows with random keys, every epoch committed " +
			"with one sync; processor time includes the folds. The lower bound is DuckDB grouping the same changes in one shot, with nothing to merge them into and nothing to keep. " +
			"Aimed at are at most 1.5 µs per row with evenly drawn keys and 0.7 with keys by Zipf's law up to 10 M keys."}
	sizes := []int64{s.Size(1_000_000, 1_000_000), s.Size(3_000_000, 10_000_000)}
	if s.Full {
		sizes = append(sizes, 50_000_000)
	}
	for _, keys := range sizes {
		for _, zipf := range []bool{false, true} {
			g := growth{settings: s, data: table(s, keys, 25, min(100_000, keys)), warm: 5}
			g.data.Zipf = zipf
			name, target := "evenly drawn", "≤ 1.5 µs"
			if zipf {
				name, target = "Zipf", "≤ 0.7 µs"
			}
			w.Cases = append(w.Cases, g.line(fmt.Sprintf("%s keys, %s", short(keys), name), target))
		}
	}
	return w
}

// short writes 1000 as 1 k and 1000000 as 1 M.
func short(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.3g M", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.3g k", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}
