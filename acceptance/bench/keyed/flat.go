package keyed

import (
	"context"
	"errors"
	"fmt"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// flat is a view over many rows and epochs of a thousand: what an epoch costs must not depend on what there was before.
type flat struct {
	settings workload.Settings
	data     input.Keyed
	sql      string // over t(k, v, id) and d(k, v, id), which has one row for every second key
}

// shapes are the operators whose cost is to be flat.
func shapes() []struct{ name, sql string } {
	return []struct{ name, sql string }{
		{"aggregate", totals},
		{"inner join", "SELECT t.id, t.v, d.v AS dv FROM t JOIN d ON t.k = d.k"},
		{"left join", "SELECT t.id, t.v, d.v AS dv FROM t LEFT JOIN d ON t.k = d.k"},
		{"top 3 per key", "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, id) <= 3"},
		{"distinct", "SELECT DISTINCT k FROM t"},
	}
}

const flatWarm = 5

func (f flat) dimension() input.Keyed {
	return input.Keyed{Cache: f.settings.Cache, Keys: f.data.Keys, Base: max(1, f.data.Keys/2), BaseFile: max(1, f.data.Keys/2)}
}

func (f flat) make(ctx context.Context) error {
	if err := f.dimension().Make(ctx); err != nil {
		return err
	}
	return f.data.Make(ctx)
}

func (f flat) ours(ctx context.Context, dir string) (out workload.Outcome, err error) {
	path, add, err := arrange(dir, f.data)
	if err != nil {
		return out, err
	}
	rt, err := open(ctx, f.settings, dir, path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	if err := rt.Source(ctx, dimensionSource(f.dimension().BaseDir())); err != nil {
		return out, err
	}
	columns, err := rt.Relation(ctx, "view.result", f.sql)
	if err != nil {
		return out, err
	}
	if err := errors.Join(rt.Backfill(ctx), meter.Settle(ctx), add()); err != nil {
		return out, err
	}
	epochs, err := rt.Epochs(ctx)
	if err != nil {
		return out, err
	}
	if len(epochs) <= flatWarm {
		return out, fmt.Errorf("%d epochs are too few", len(epochs))
	}
	var walls, cpus []float64
	for _, e := range epochs[flatWarm:] {
		out.Cost = out.Cost.Plus(e.Cost)
		walls, cpus = append(walls, e.Cost.Wall.Seconds()*1000), append(cpus, e.Cost.CPU.Seconds()*1000)
	}
	out.Numbers = []workload.Number{
		{Name: "epoch p50, ms", Value: meter.Median(walls)},
		{Name: "epoch p90, ms", Value: meter.Quantile(walls, 0.9)},
		{Name: "epoch cpu p50, ms", Value: meter.Median(cpus)},
	}
	return fingerprint(ctx, rt, out, plain.Fingerprint(columns, "result"))
}

// oneShot computes the view anew from all rows, which is what an epoch would cost without keyed data.
func (f flat) oneShot(ctx context.Context, _ string) (out workload.Outcome, err error) {
	db, err := plain.Open(ctx, f.settings.Threads)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := errors.Join(f.data.Relations(ctx, db, 0), db.Files(ctx, "d", f.dimension().BaseDir(), nil), db.Exec(ctx, "CREATE OR REPLACE VIEW t AS FROM every")); err != nil {
		return out, err
	}
	if out.Cost, err = db.Measure(ctx, "CREATE TABLE result AS "+f.sql); err != nil {
		return out, err
	}
	out.Result, err = db.Fingerprint(ctx, "result")
	return out, err
}

func flatness(s workload.Settings) workload.Workload {
	w := workload.Workload{Name: "flat", Title: "an epoch of 1,000 rows on a large view", Pairs: 1,
		Text: "A view over ever more rows with a million keys (as many keys as rows where there are fewer), then epochs of 1,000 rows with random keys. The costs of ours are those of 20 such epochs, the bound's those of computing the view " +
			"once anew. Aimed at are less than 50 ms an epoch, and the same over all sizes within a factor of two."}
	for _, shape := range shapes() {
		for _, rows := range []int64{s.Size(100_000, 100_000), s.Size(1_000_000, 1_000_000), s.Size(3_000_000, 10_000_000)} {
			f := flat{settings: s, sql: shape.sql, data: table(s, min(rows, 1_000_000), 25, 1000)}
			f.data.Base, f.data.BaseFile = rows, min(rows, 500_000)
			w.Cases = append(w.Cases, workload.Case{Name: shape.name + ", " + short(rows) + " rows", Target: "< 50 ms", Input: f.make, Ours: f.ours, Bound: f.oneShot})
		}
	}
	return w
}
