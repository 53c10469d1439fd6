package tpch_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/streamform/streamform/acceptance/lockstep"
	"github.com/streamform/streamform/acceptance/tpch"
	"github.com/stretchr/testify/require"
)

var (
	scale  = flag.Float64("tpch-scale", 0.1, "scale factor of TestQueries; 1 is 6 million line items")
	epochs = flag.Int("tpch-epochs", 3, "epochs of changes of TestQueries")
	cost   = flag.Float64("tpch-cost", 0, "scale factor of TestCost; 0 leaves it out")
	seed   = flag.Uint64("tpch-seed", 1, "seed of the data")
)

// open starts a run with the tables' logs as sources, and the tables and queries as views.
func open(t testing.TB, dir string) *lockstep.Run {
	t.Helper()
	ctx := context.Background()
	o := lockstep.Options{Dir: dir, Threads: 2}
	for _, table := range tpch.Tables() {
		o.Sources = append(o.Sources, lockstep.Source{Name: table.Log(), Columns: table.LogColumns()})
	}
	run, err := lockstep.Open(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	for _, table := range tpch.Tables() {
		p, err := run.Add(ctx, lockstep.Relation{Name: table.Name, SQL: table.Current()})
		require.NoError(t, err)
		require.Empty(t, p.FullRefresh, table.Name)
	}
	for _, q := range tpch.Queries() {
		_, err := run.Add(ctx, lockstep.Relation{Name: q.Name, SQL: q.SQL})
		require.NoError(t, err)
	}
	return run
}

// TestIncremental counts the queries that need no full refresh, and says why others do.
func TestIncremental(t *testing.T) {
	run := open(t, t.TempDir())
	incremental := 0
	for _, q := range tpch.Queries() {
		p, err := run.Program(q.Name)
		require.NoError(t, err)
		if p.FullRefresh == "" {
			incremental++
		}
		t.Logf("%-4s %2d operators %s", q.Name, len(p.Operators), p.FullRefresh)
	}
	t.Logf("%d of %d queries are incremental", incremental, len(tpch.Queries()))
	require.Equal(t, 22, incremental)
}

// TestQueries loads the tables in two parts, changes them epoch by epoch, and compares every table and
// query with plain DuckDB after each.
func TestQueries(t *testing.T) {
	dir := t.TempDir()
	run := open(t, dir)
	g := tpch.New(tpch.Options{Dir: dir, Scale: *scale, Seed: *seed, Favor: 0.1})
	load, err := g.Load()
	require.NoError(t, err)
	half := map[string]string{}
	for log, path := range load { // children arrive before their parents
		if strings.HasPrefix(log, "l") || strings.HasPrefix(log, "p") || strings.HasPrefix(log, "n") {
			half[log] = path
			delete(load, log)
		}
	}
	filled := map[string]bool{}
	step(t, run, "line items, parts, nations", half, filled)
	step(t, run, "the other tables", load, filled)
	for e := range *epochs {
		if e == 1 {
			require.NoError(t, run.Restart(context.Background()))
		}
		files, err := g.Change(2*e+1, 0.01)
		require.NoError(t, err)
		step(t, run, fmt.Sprintf("changes %d", e), files, filled)
	}
	for e, away := range []bool{true, false} {
		files, err := g.Reorganize(2*(*epochs)+2+e, away)
		require.NoError(t, err)
		step(t, run, fmt.Sprintf("nations and regions away: %t", away), files, filled)
	}
	for _, q := range tpch.Queries() {
		require.True(t, filled[q.Name], "%s had no row in any epoch: the test shows nothing of it", q.Name)
	}
}

// TestCost prints what a change of 0.1 % costs each query, beside the batch query; -tpch-cost asks for it.
func TestCost(t *testing.T) {
	if *cost == 0 {
		t.Skip("-tpch-cost gives the scale factor to measure at")
	}
	ctx, dir := context.Background(), t.TempDir()
	run := open(t, dir)
	g := tpch.New(tpch.Options{Dir: dir, Scale: *cost, Seed: *seed, Favor: 0.1})
	load, err := g.Load()
	require.NoError(t, err)
	took, err := run.Epoch(ctx, load)
	require.NoError(t, err)
	t.Logf("load: %v; milliseconds of CPU time:", took.Round(time.Millisecond))
	files, err := g.Change(1, 0.001)
	require.NoError(t, err)
	var tables []string
	for _, table := range tpch.Tables() {
		tables = append(tables, table.Name)
	}
	base, err := run.Try(ctx, files, tables, 8)
	require.NoError(t, err)
	t.Logf("%-8s %9s %9s %7s %9s %9s", "query", "change", "batch", "ratio", "keys", "KiB")
	t.Logf("%-8s %9.1f", "tables", ms(base))
	for _, q := range tpch.Queries() {
		change, err := run.Try(ctx, files, append(tables[:len(tables):len(tables)], q.Name), 5)
		require.NoError(t, err)
		again, err := run.Try(ctx, files, tables, 2)
		require.NoError(t, err)
		base = min(base, again)
		batch, err := run.Batch(ctx, q.Name)
		require.NoError(t, err)
		keys, bytes := run.Memory(q.Name)
		t.Logf("%-8s %9.1f %9.1f %7.2f %9d %9d", q.Name, ms(change-base), ms(batch), float64(batch)/float64(change-base), keys, bytes/1024)
	}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// step runs one epoch and compares. filled collects the relations that had rows.
func step(t *testing.T, run *lockstep.Run, what string, files map[string]string, filled map[string]bool) {
	t.Helper()
	ctx := context.Background()
	took, err := run.Epoch(ctx, files)
	require.NoError(t, err, what)
	start := time.Now()
	var names []string
	for _, table := range tpch.Tables() {
		names = append(names, table.Name)
	}
	for _, q := range tpch.Queries() {
		names = append(names, q.Name)
	}
	counts := ""
	for _, name := range names {
		n, err := run.Compare(ctx, name)
		require.NoError(t, err, what)
		filled[name] = filled[name] || n > 0
		counts += fmt.Sprintf(" %s=%d", name, n)
	}
	t.Logf("%s: engine %v, comparing %v; rows%s", what, took.Round(time.Millisecond), time.Since(start).Round(time.Millisecond), counts)
}
