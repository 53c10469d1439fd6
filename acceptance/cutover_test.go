package acceptance

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKillDuringCutOver ends an apply that replaces a view and a stream, at random moments, with SIGKILL or Ctrl-C. Readers of the view and of
// the Delta tables see what was there or what is to be there; the next apply finishes it, and says the right numbers of rows.
func TestKillDuringCutOver(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const rows, kills = 12_000, 6
	p := newProject(t, "main.sf.hcl", killConfig, "by_key.sql", killByKey+"events GROUP BY ALL")
	require.NoError(t, writeEvents(p.path("landing"), rows, 6))
	p.must("apply", "-auto-approve")
	base := t.TempDir()
	copyTree(t, p.dir, base)
	kept := func(where string) string { return "SELECT id, key, value FROM " + eventsBatch + " WHERE " + where }
	byKey := func(by string) string {
		return strings.Replace(killByKey, "sum(value)", by, 1) + eventsBatch + " GROUP BY ALL"
	}
	states := map[string][2]string{"lake/kept": {kept("kind <> 'view'"), kept("kind = 'view'")}, "lake/by_key": {byKey("sum(value)"), byKey("sum(value * 2)")}}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	longest := time.Duration(0)
	for life := range kills {
		copyTree(t, base, p.dir)
		p.write("main.sf.hcl", strings.Replace(killConfig, `"SELECT id, key, value FROM events WHERE kind <> 'view'"`, `"SELECT id, key, value FROM events WHERE kind = 'view'"`+"\n  history = \"restate\"", 1))
		p.write("by_key.sql", strings.Replace(killByKey, "sum(value)", "sum(value * 2)", 1)+"events GROUP BY ALL")
		cmd := p.command(t.Context(), "apply", "-auto-approve")
		began := time.Now()
		require.NoError(t, cmd.Start())
		if life > 0 {
			time.Sleep(time.Duration(random.Int64N(int64(longest))))
			signal := []os.Signal{os.Kill, os.Interrupt}[life%2]
			_ = cmd.Process.Signal(signal) // it may have ended
		}
		err := cmd.Wait()
		if life == 0 {
			require.NoError(t, err)
			longest = time.Since(began)
		}
		p.write("view.csv", p.must("query", "-csv", "SELECT * FROM by_key"))
		p.seen(t, states["lake/by_key"], "FROM read_csv('view.csv', header = true)", fmt.Sprint("life ", life, ": the view"))
		for table, two := range states {
			scan, err := deltaScan(p.path(table))
			require.NoError(t, err)
			p.seen(t, two, scan, fmt.Sprint("life ", life, ": ", table))
		}
		p.must("apply", "-auto-approve")
		for table, two := range states {
			scan, err := deltaScan(p.path(table))
			require.NoError(t, err)
			require.Empty(t, difference(t, p.dir, scan, two[1]), "life %d: %s", life, table)
		}
		require.Contains(t, p.must("plan"), "No changes.")
	}
}

// seen checks that rows are one of two states.
func (p *project) seen(t *testing.T, states [2]string, rows, what string) {
	t.Helper()
	if was := difference(t, p.dir, rows, states[0]); len(was) > 0 {
		require.Empty(t, difference(t, p.dir, rows, states[1]), "%s: neither the former nor the new rows", what)
	}
}
