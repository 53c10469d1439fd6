package acceptance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const killConfig = `
source "files" "events" {
  path                = "./landing"
  format              = "json"
  columns             = { id = "BIGINT", key = "VARCHAR", kind = "VARCHAR", value = "BIGINT", happened_at = "TIMESTAMP" }
  max_files_per_epoch = 1
}
stream "kept" {
  sql = "SELECT id, key, value FROM events WHERE kind <> 'view'"
}
view "by_key" {
  sql = file("by_key.sql")
}
sink "delta" "kept" {
  from = stream.kept
  path = "./lake/kept"
}
sink "delta" "by_key" {
  from = view.by_key
  path = "./lake/by_key"
}
`

const killByKey = `SELECT key, count(*) AS n, sum(value) AS total, min(value) AS low, max(value) AS high, max(happened_at) AS latest FROM `

const eventsBatch = `read_json('landing/*.json', format = 'newline_delimited', columns = {id: 'BIGINT', key: 'VARCHAR', kind: 'VARCHAR', value: 'BIGINT', happened_at: 'TIMESTAMP'})`

// TestKill ends the process with SIGKILL at random moments, a hundred times, while it backfills a
// million rows. Afterwards both tables and the view hold each row's effect exactly once.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("takes minutes")
	}
	const rows, files, kills = 1_000_000, 200, 100
	p := newProject(t, "main.sf.hcl", killConfig, "by_key.sql", killByKey+"events GROUP BY ALL")
	require.NoError(t, writeEvents(p.path("landing"), rows, files))
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))

	started := time.Now()
	for life := range kills {
		require.Less(t, time.Since(started), 6*time.Minute, "after %d kills", life)
		if p.kill(random) {
			t.Logf("the backfill was complete after %d kills in %s", life, time.Since(started))
			require.Greater(t, life, kills/2, "too few kills hit the backfill: the lives are too long")
			break
		}
	}
	t.Logf("%d of %d files delivered after the kills, %s", p.versions("lake/kept"), files, time.Since(started).Round(time.Second))

	p.must("apply", "-auto-approve")
	p.must("run", "-once")
	kept := "SELECT id, key, value FROM " + eventsBatch + " WHERE kind <> 'view'"
	byKey := killByKey + eventsBatch + " GROUP BY ALL"
	for table, batch := range map[string]string{"lake/kept": kept, "lake/by_key": byKey} {
		scan, err := deltaScan(p.path(table))
		require.NoError(t, err)
		require.Empty(t, difference(t, p.dir, scan, batch), table)
	}
	p.write("view.csv", p.must("query", "-csv", "SELECT * FROM by_key"))
	require.Empty(t, difference(t, p.dir, "FROM read_csv('view.csv', header = true)", byKey), "the view")
	ledger := p.must("query", "-csv", "SELECT count(*) AS files, sum(rows) AS rows, min(ordinal) AS first, max(ordinal) AS last, count(DISTINCT status) AS statuses FROM events.files")
	require.Equal(t, fmt.Sprintf("files,rows,first,last,statuses\n%d,%d,1,%d,1\n", files, rows, files), ledger)
	require.Contains(t, p.must("plan"), "No changes.")
}

// kill starts an apply and ends it a random moment into its work: before anything is delivered, or
// shortly after one of the next deliveries. It reports whether the process had nothing left to do.
func (p *project) kill(random *rand.Rand) (complete bool) {
	p.t.Helper()
	output := &strings.Builder{}
	cmd := p.command(p.t.Context(), "apply", "-auto-approve")
	cmd.Stdout, cmd.Stderr = output, output
	before := p.versions("lake/kept")
	require.NoError(p.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	deliveries := random.IntN(3)
	patience := time.After(30 * time.Second)
	for deliveries > 0 && p.versions("lake/kept")-before < deliveries {
		select {
		case err := <-ended:
			require.NoError(p.t, err, "%s", output)
			return true
		case <-patience:
			p.t.Fatalf("nothing was delivered for 30 seconds:\n%s", output)
		case <-time.After(2 * time.Millisecond):
		}
	}
	longest := 60
	if deliveries == 0 {
		longest = 800
	}
	select {
	case err := <-ended:
		require.NoError(p.t, err, "%s", output)
		return true
	case <-time.After(time.Duration(random.IntN(longest)) * time.Millisecond):
	}
	require.NoError(p.t, cmd.Process.Kill())
	<-ended
	return false
}

// versions counts the versions of a Delta table.
func (p *project) versions(table string) int { return p.outside().Versions(table) }
