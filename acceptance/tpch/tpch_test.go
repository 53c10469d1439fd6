package tpch_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/streamform/streamform/acceptance/lockstep"
	"github.com/streamform/streamform/acceptance/tpch"
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
	return run
}

// TestIncremental counts the queries that need no full refresh.
func TestIncremental(t *testing.T) {
	run := open(t, t.TempDir())
	incremental := 0
	for _, q := range tpch.Queries() {
		p, err := run.Add(context.Background(), lockstep.Relation{Name: q.Name, SQL: q.SQL})
		require.NoError(t, err)
		if p.FullRefresh == "" {
			incremental++
		}
		t.Logf("%-4s %2d operators %s", q.Name, len(p.Operators), p.FullRefresh)
	}
	t.Logf("%d of %d queries are incremental", incremental, len(tpch.Queries()))
	require.GreaterOrEqual(t, incremental, 20)
}
