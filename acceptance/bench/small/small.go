// Package small has the workload of epochs that read one row, or none: what is left is what every epoch costs.
package small

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/ours"
	"github.com/streamform/streamform/acceptance/bench/workload"
	"github.com/streamform/streamform/runtime/batch"
)

// single is one relation over a source of files with one row each.
type single struct {
	settings workload.Settings
	address  string
	sql      string
	sink     bool
	syncs    int // which the lower bound makes for each epoch
	warm     int // epochs that are not measured
	timed    int // epochs that are
}

func (c single) ours(ctx context.Context, dir string) (out workload.Outcome, err error) {
	landing := filepath.Join(dir, "landing")
	if err := rows(landing, 0, c.warm+c.timed); err != nil {
		return out, err
	}
	rt, err := ours.Open(ctx, ours.Options{Dir: dir, Memory: c.settings.Memory, Threads: c.settings.Threads})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	err = rt.Source(ctx, ours.Input{Name: "t", Path: landing, Format: "json", Files: 1, Columns: batch.Schema{{Name: "k", Type: "BIGINT"}, {Name: "v", Type: "BIGINT"}}})
	if err != nil {
		return out, err
	}
	if _, err := rt.Relation(ctx, c.address, c.sql); err != nil {
		return out, err
	}
	if c.sink {
		if err := rt.Delta(ctx, "result", c.address, filepath.Join(dir, "lake")); err != nil {
			return out, err
		}
	}
	if err := begin(ctx, rt, landing); err != nil {
		return out, err
	}
	epochs, err := rt.Epochs(ctx)
	if err != nil {
		return out, err
	}
	if len(epochs) < c.warm+c.timed {
		return out, fmt.Errorf("%d epochs for %d files", len(epochs), c.warm+c.timed)
	}
	var walls, cpus []float64
	for _, e := range epochs[c.warm:] {
		out.Cost = out.Cost.Plus(e.Cost)
		walls, cpus = append(walls, e.Cost.Wall.Seconds()*1000), append(cpus, e.Cost.CPU.Seconds()*1000)
	}
	out.Numbers = []workload.Number{{Name: "epoch p50, ms", Value: meter.Median(walls)}, {Name: "epoch p99, ms", Value: meter.Quantile(walls, 0.99)},
		{Name: "epoch cpu p50, ms", Value: meter.Median(cpus)}}
	return out, nil
}

// begin lets the relations begin with an empty folder, so that the files are read by live epochs.
func begin(ctx context.Context, rt *ours.Runtime, landing string) error {
	aside := landing + "-aside"
	if err := errors.Join(os.Rename(landing, aside), os.Mkdir(landing, 0o755)); err != nil {
		return err
	}
	if err := rt.Backfill(ctx); err != nil {
		return err
	}
	return errors.Join(os.Remove(landing), os.Rename(aside, landing))
}

func rows(dir string, from, n int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := from; i < from+n; i++ {
		line := fmt.Appendf(nil, "{\"k\":%d,\"v\":%d}\n", i%10, i)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.json", i)), line, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bound appends 4 KiB to a file and syncs it, as often as an epoch must at least.
func (c single) bound(_ context.Context, dir string) (out workload.Outcome, err error) {
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	page := make([]byte, 4096)
	var walls []float64
	mark := meter.Start()
	for range c.timed {
		begun := time.Now()
		for range c.syncs {
			if _, err := f.Write(page); err != nil {
				return out, err
			}
			if err := f.Sync(); err != nil {
				return out, err
			}
		}
		walls = append(walls, time.Since(begun).Seconds()*1000)
	}
	out.Cost = mark.Cost()
	out.Numbers = []workload.Number{{Name: "epoch p50, ms", Value: meter.Median(walls)}}
	return out, nil
}

// All is W10.
func All(s workload.Settings) []workload.Workload {
	const warm, timed = 20, 200
	w := workload.Workload{Name: "W10", Title: "an epoch of one row", Pairs: 3,
		Text: fmt.Sprintf("%d epochs of one row each, after %d that are not measured: a file with a line of JSON, the statements, one synced commit; with a sink also a Delta version. The lower bound is writing 4 KiB and "+
			"syncing, once for each commit and once for what a sink writes; compare by wall time. Aimed at are 1.5 ms without and 3 ms with keyed data.", timed, warm)}
	for _, c := range []struct {
		name, target, address, sql string
		sink                       bool
	}{
		{"a stream, Delta sink", "≤ 1.5 ms", "stream.result", "SELECT k, v FROM t WHERE v >= 0", true},
		{"a view, count and sum by key", "≤ 3 ms", "view.result", "SELECT k, count(*) AS n, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY k", false},
		{"a view, top 3 per key", "≤ 3 ms", "view.result", "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC) <= 3", false},
		{"a view, count and sum by key, Delta sink", "≤ 3 ms", "view.result", "SELECT k, count(*) AS n, CAST(sum(v) AS BIGINT) AS total FROM t GROUP BY k", true},
	} {
		one := single{settings: s, address: c.address, sql: c.sql, sink: c.sink, syncs: 1, warm: warm, timed: timed}
		if c.sink {
			one.syncs = 2
		}
		w.Cases = append(w.Cases, workload.Case{Name: c.name, Target: c.target, Ours: one.ours, Bound: one.bound})
	}
	return []workload.Workload{w}
}
