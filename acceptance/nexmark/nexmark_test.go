package nexmark_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/streamform/streamform/acceptance/lockstep"
	queries "github.com/streamform/streamform/acceptance/nexmark"
	"github.com/streamform/streamform/runtime/connector/nexmark"
	"github.com/stretchr/testify/require"
)

var events = flag.Int64("nexmark-events", 8_000, "events of TestQueries; 200000 is the data set S")

func open(t testing.TB, dir string) *lockstep.Run {
	t.Helper()
	ctx := context.Background()
	o := lockstep.Options{Dir: dir, Threads: 2, Sources: []lockstep.Source{{Name: "side_input", Columns: queries.SideInput()}}}
	for _, table := range nexmark.Tables() {
		o.Sources = append(o.Sources, lockstep.Source{Name: table, Columns: nexmark.Columns(table)})
	}
	run, err := lockstep.Open(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, run.Close()) })
	for _, q := range queries.Queries() {
		_, err := run.Add(ctx, lockstep.Relation{Name: q.Name, SQL: q.SQL, Stream: q.Stream})
		require.NoError(t, err)
	}
	return run
}

// TestIncremental counts the queries that need no full refresh, and says why others do.
func TestIncremental(t *testing.T) {
	run := open(t, t.TempDir())
	all := queries.Queries()
	other := regexp.MustCompile(`^q\d+[a-z]`)
	incremental := 0
	for _, q := range all {
		p, err := run.Program(q.Name)
		require.NoError(t, err)
		if p.FullRefresh == "" {
			incremental++
		} else {
			require.Regexp(t, other, q.Name, "only other forms of a query may need a full refresh: %s", p.FullRefresh)
		}
		t.Logf("%-9s %2d operators %s", q.Name, len(p.Operators), p.FullRefresh)
	}
	t.Logf("%d of %d forms are incremental", incremental, len(all))
	require.GreaterOrEqual(t, incremental, len(all)-4)
}

// cut writes the events from span[0] to before span[1] as one file for each of the given tables.
func cut(t *testing.T, dir string, g *nexmark.Generator, span [2]int64, tables ...string) map[string]string {
	t.Helper()
	content, files := map[string][]byte{}, map[string]string{}
	for e := span[0]; e < span[1]; e++ {
		table := nexmark.Table(e)
		content[table] = g.Append(content[table], e)
	}
	for _, table := range tables {
		if len(content[table]) == 0 {
			continue
		}
		files[table] = filepath.Join(dir, fmt.Sprintf("%s-%d.json", table, span[0]))
		require.NoError(t, os.WriteFile(files[table], content[table], 0o600))
	}
	return files
}

// TestQueries: over epochs of one event, seven, and more, with a restart and with auctions that come
// late, every stream and view equals plain DuckDB after each.
func TestQueries(t *testing.T) {
	dir := t.TempDir()
	run := open(t, dir)
	g := nexmark.New(nexmark.Options{Rate: 200, Base: time.UnixMilli(1_700_006_383_000)})
	side := filepath.Join(dir, "side.json")
	var rows []byte
	for i := range 10_000 {
		rows = fmt.Appendf(rows, "{\"key\":%d,\"value\":\"%d\"}\n", i, i)
	}
	require.NoError(t, os.WriteFile(side, rows, 0o600))
	step(t, run, "the side table", map[string]string{"side_input": side})
	n := *events
	for i, to := range []int64{1, 8, 60, n / 10, n / 2} {
		from := []int64{0, 1, 8, 60, n / 10}[i]
		step(t, run, fmt.Sprintf("events to %d", to), cut(t, dir, g, [2]int64{from, to}, nexmark.Tables()...))
	}
	require.NoError(t, run.Restart(context.Background()))
	step(t, run, "bids ahead", cut(t, dir, g, [2]int64{n / 2, n}, "bid"))
	step(t, run, "persons and auctions behind", cut(t, dir, g, [2]int64{n / 2, n}, "person", "auction"))
	for _, q := range queries.Queries() {
		rows, err := run.Compare(context.Background(), q.Name)
		require.NoError(t, err)
		require.NotZero(t, rows, "%s has no rows: the test shows nothing of it", q.Name)
	}
}

func step(t *testing.T, run *lockstep.Run, what string, files map[string]string) {
	t.Helper()
	ctx := context.Background()
	took, err := run.Epoch(ctx, files)
	require.NoError(t, err, what)
	counts := ""
	for _, q := range queries.Queries() {
		n, err := run.Compare(ctx, q.Name)
		require.NoError(t, err, what)
		counts += fmt.Sprintf(" %s=%d", q.Name, n)
	}
	t.Logf("%s: engine %v; rows%s", what, took.Round(time.Millisecond), counts)
}
