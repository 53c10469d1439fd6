package keyed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/ours"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// restart is a view of many keys whose process was killed: how long until it goes on, and how fast it answers by key.
type restart struct{ growth }

func dimensionSource(path string) ours.Input {
	return ours.Input{Name: "d", Path: path, Format: "parquet", Files: 1000}
}

// load fills the view, and notes the peak of this process.
func (r restart) load(ctx context.Context, dir string) (*ours.Runtime, error) {
	path, _, err := arrange(dir, r.data)
	if err != nil {
		return nil, err
	}
	rt, err := open(ctx, r.settings, dir, path)
	if err != nil {
		return nil, err
	}
	if _, err := rt.Relation(ctx, "view.totals", totals); err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	if err := rt.Backfill(ctx); err != nil {
		return nil, errors.Join(err, rt.Close())
	}
	return rt, os.WriteFile(filepath.Join(dir, "peak"), fmt.Append(nil, meter.Start().Cost().Peak), 0o600)
}

// before loads the view and closes nothing: the process is killed next.
func (r restart) before(ctx context.Context, dir string) error {
	_, err := r.load(ctx, dir)
	return err
}

// lookups is how many keys are asked for, one by one.
const lookups = 200

func (r restart) ours(ctx context.Context, dir string) (out workload.Outcome, err error) {
	if err := link(r.data.UpdateDir(), filepath.Join(dir, "landing"), "1-"); err != nil {
		return out, err
	}
	mark := meter.Start()
	rt, err := ours.Open(ctx, ours.Options{Dir: dir, Memory: r.settings.Memory, Threads: r.settings.Threads})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	opened := mark.Cost()
	epochs, err := rt.Epochs(ctx)
	if err != nil {
		return out, err
	}
	if len(epochs) == 0 {
		return out, errors.New("there was no epoch after the restart")
	}
	out.Cost = opened.Plus(epochs[0].Cost)
	out.Numbers = []workload.Number{
		{Name: "open, s", Value: opened.Wall.Seconds()},
		{Name: "first commit after, s", Value: out.Cost.Wall.Seconds()},
	}
	times, err := r.lookUp(ctx, rt)
	if err != nil {
		return out, err
	}
	var loaded int64
	if text, err := os.ReadFile(filepath.Join(dir, "peak")); err == nil {
		_, err = fmt.Sscan(string(text), &loaded)
		if err != nil {
			return out, err
		}
	}
	out.Numbers = append(out.Numbers,
		workload.Number{Name: "query by key p50, ms", Value: meter.Median(times)},
		workload.Number{Name: "query by key p99, ms", Value: meter.Quantile(times, 0.99)},
		workload.Number{Name: "peak while loading, MB", Value: float64(loaded) / 1e6},
		workload.Number{Name: "resident after lookups, MB", Value: float64(meter.Resident()) / 1e6},
		workload.Number{Name: "disk, MB", Value: float64(size(dir)) / 1e6})
	return out, nil
}

// lookUp asks for random keys one by one, checks the answers, and returns how many milliseconds each took.
func (r restart) lookUp(ctx context.Context, rt *ours.Runtime) ([]float64, error) {
	random := rand.New(rand.NewPCG(3, uint64(r.data.Keys)))
	var times []float64
	for range lookups {
		k := random.Int64N(r.data.Keys)
		begun := time.Now()
		rows, err := rt.Query(ctx, fmt.Sprintf("SELECT k, n FROM totals WHERE k = %d", k))
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(begun).Seconds()*1000)
		if len(rows) != 1 || rows[0][0] != fmt.Sprint(k) {
			return nil, fmt.Errorf("key %d gives %v", k, rows)
		}
	}
	return times, nil
}

// read is the lower bound of going on: every byte of the directory read once.
func (r restart) read(ctx context.Context, dir string) (out workload.Outcome, err error) {
	rt, err := r.load(ctx, dir)
	if err != nil {
		return out, err
	}
	if err := rt.Close(); err != nil {
		return out, err
	}
	mark := meter.Start()
	err = filepath.WalkDir(filepath.Join(dir, ".streamform"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, f)
		return errors.Join(err, f.Close())
	})
	out.Cost = mark.Cost()
	return out, err
}

func restarts(s workload.Settings) workload.Workload {
	keys := s.Size(3_000_000, 10_000_000)
	r := restart{growth{settings: s, data: table(s, keys, 1, min(1000, keys))}}
	return workload.Workload{Name: "W11", Title: "going on after a crash", Pairs: 3,
		Text: "The process that loaded the view of W8 is killed right after its last commit. Measured is a new one, from opening the runtime to the commit of an epoch of 1,000 rows. The lower bound is reading " +
			"the runtime's files once. Aimed at are at most 2 s with 10 M keys.",
		Cases: []workload.Case{{Name: short(keys) + " keys", Target: "≤ 2 s", Input: r.data.Make, Before: r.before, Ours: r.ours, Bound: r.read}}}
}

// gibibyte is the memory the largest view is given, smallest what no runtime does without.
const (
	gibibyte = 1 << 30
	smallest = 256 << 20
)

func largest(s workload.Settings) workload.Workload {
	keys := s.Size(3_000_000, 50_000_000)
	if s.Memory == 0 {
		s.Memory = max(smallest, int64(float64(gibibyte)*min(1, float64(keys)/50e6)))
	}
	r := restart{growth{settings: s, data: table(s, keys, 1, min(1000, keys))}}
	r.data.BaseFile = min(keys, 200_000) // the rows of one epoch are in memory whatever the budget
	return workload.Workload{Name: "keys", Title: "more keys than memory", Pairs: 1,
		Text: fmt.Sprintf("The view of W8 with %s keys and a memory budget of %d MiB for all of the runtime: loaded in epochs of 200,000 rows, killed, opened again, asked for %d random keys one by one, each by a SELECT of its own. "+
			"Aimed at are a peak within the budget of 1 GiB for 50 M keys, a restart within 5 s and answers within 10 ms.", short(keys), s.Memory>>20, lookups),
		Cases: []workload.Case{{Name: short(keys) + " keys", Target: "1 GiB, 5 s, 10 ms", Input: r.data.Make, Before: r.before, Ours: r.ours}}}
}

// tight runs a workload with less memory than its keyed data needs, against itself with plenty.
func tight(s workload.Settings) workload.Workload {
	keys := s.Size(3_000_000, 10_000_000)
	plenty, little := s, s
	plenty.Memory = 8 << 30
	w := workload.Workload{Name: "W15", Title: "little memory", Pairs: 1,
		Text: "The view of W8 with a budget smaller than its keyed data, 64 bytes a key; the bound is the same work of ours with plenty of memory. Aimed at is an eta of at least 0.5 until keyed data is four times the budget."}
	for _, times := range []int64{1, 2, 4, 8} {
		little.Memory = max(smallest, keys*64/times)
		g := growth{settings: little, data: table(s, keys, 25, min(100_000, keys)), warm: 5}
		ample := growth{settings: plenty, data: g.data, warm: 5}
		w.Cases = append(w.Cases, workload.Case{Name: fmt.Sprintf("%s keys, budget %d MiB", short(keys), little.Memory>>20), Target: target(times), Input: g.data.Make, Ours: g.ours, Bound: ample.ours})
	}
	return w
}

func target(times int64) string {
	if times <= 4 {
		return "≥ 0.5"
	}
	return ""
}
