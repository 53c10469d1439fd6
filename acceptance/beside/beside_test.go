package beside_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/outside"
)

const liveConfig = `
source "files" "events" {
  path                = "./landing"
  format              = "json"
  columns             = { id = "BIGINT", key = "VARCHAR", value = "BIGINT" }
  max_files_per_epoch = 2
}
stream "kept" {
  sql = "SELECT * FROM events WHERE value % 3 <> 0"
}
view "by_key" {
  sql     = "SELECT key, count(*) AS n, sum(value) AS total FROM kept GROUP BY key"
  trigger = trigger.processing_time.often
}
view "large" {
  sql = "SELECT key, total FROM by_key WHERE n > 10"
}
trigger "processing_time" "often" {
  interval = "300ms"
}
sink "delta" "by_key" {
  from = view.by_key
  path = "./lake/by_key"
}
sink "delta" "large" {
  from = view.large
  path = "./lake/large"
}
`

// livePart is a pipeline of its own, which no edit concerns.
const livePart = `
source "files" "others" {
  path    = "./landing"
  format  = "json"
  columns = { id = "BIGINT" }
}
view "count" {
  sql     = "SELECT count(*) AS n FROM others"
  trigger = trigger.processing_time.always
}
trigger "processing_time" "always" {
  interval = "200ms"
}
`

const liveEvents = `read_json('landing/*.json', format = 'newline_delimited', columns = {id: 'BIGINT', key: 'VARCHAR', value: 'BIGINT'})`

// TestApplyBesideALiveRun applies edits of every class while another process runs the pipelines and files keep coming.
func TestApplyBesideALiveRun(t *testing.T) {
	p := newProject(t, liveConfig+livePart)
	f := p.feed(300)
	p.Must("apply", "-auto-approve")
	r := p.run()
	defer r.kill()

	apply := func(want string) (began, ended time.Time) {
		t.Helper()
		began = time.Now()
		out := p.Must("apply", "-auto-approve")
		require.Contains(t, out, "Apply complete! Resources: "+want, out)
		return began, time.Now()
	}
	// In place: a limit, and a trigger that the run follows from now on.
	p.edit(`max_files_per_epoch = 2`, `max_files_per_epoch = 1`, `interval = "300ms"`, `interval = "250ms"`)
	apply("0 added, 2 changed, 0 destroyed.")
	// From rows that are held.
	p.edit("WHERE n > 10", "WHERE n > 12")
	apply("0 added, 1 changed, 0 destroyed.")
	// From the source: the live view goes on while the new one is computed, and so does what is not concerned.
	p.edit("value % 3 <> 0", "value % 5 <> 0")
	p.edit(`sql = "SELECT * FROM events WHERE value % 5 <> 0"`, "sql     = \"SELECT * FROM events WHERE value % 5 <> 0\"\n  history = \"restate\"")
	began, ended := apply("0 added, 2 changed, 0 destroyed.")
	t.Logf("read again in %s; %d epochs beside it", ended.Sub(began).Round(time.Millisecond), len(r.between("trigger.processing_time.often", began, ended)))
	t.Logf("longest pause %s", r.pause("trigger.processing_time.often", began, ended).Round(time.Millisecond))
	require.NotEmpty(t, r.between("trigger.processing_time.often", began, ended), "the live view had epochs\n%s", r.text())
	require.NotEmpty(t, r.between("trigger.processing_time.always", began, ended), "the other pipeline had epochs")
	// What is new is computed beside, what is gone is gone.
	p.edit(`sink "delta" "large" {
  from = view.large
  path = "./lake/large"
}
`, `sink "delta" "kept" {
  from = stream.kept
  path = "./lake/kept"
}
view "keys" {
  sql = "SELECT count(DISTINCT key) AS keys, max(id) AS latest FROM events"
}
sink "delta" "keys" {
  from = view.keys
  path = "./lake/keys"
}
`)
	apply("3 added, 0 changed, 1 destroyed.")
	require.Contains(t, p.Must("plan"), "No changes.")
	before := p.Versions("lake/large")
	f.end()
	p.caughtUp(f.files, "events")
	p.caughtUp(f.files, "others")
	kept := "SELECT * FROM " + liveEvents + " WHERE value % 5 <> 0"
	byKey := "SELECT key, count(*) AS n, sum(value) AS total FROM (" + kept + ") GROUP BY key"
	tables := map[string]string{"lake/by_key": byKey, "lake/kept": kept, "lake/keys": "SELECT count(DISTINCT key) AS keys, max(id) AS latest FROM " + liveEvents}
	p.equal(tables)
	p.Write("view.csv", p.Must("query", "-csv", "SELECT * FROM large"))
	require.Empty(t, outside.Difference(t, p.Dir, "FROM read_csv('view.csv', header = true)", "SELECT key, total FROM ("+byKey+") WHERE n > 12"), "the view")
	require.Equal(t, fmt.Sprintf("n\n%d\n", f.files*40), p.Must("query", "-csv", "SELECT n FROM count"))
	require.Equal(t, before, p.Versions("lake/large"), "what is gone is not written to")
	r.interrupt(t)
	p.Must("run", "-once")
	p.equal(tables)
	require.Contains(t, p.Must("plan"), "No changes.")
}

// TestApplyBesideARunIsStopped interrupts an apply, or ends whoever typed it, while the live run computes what it asked for: the run goes on with what
// served, the plan says what is left, and the next apply does it. Meanwhile a second apply is refused.
func TestApplyBesideARunIsStopped(t *testing.T) {
	p := newProject(t, liveConfig)
	f := p.feed(150)
	p.Must("apply", "-auto-approve")
	r := p.run()
	defer r.kill()
	p.edit("max_files_per_epoch = 2", "max_files_per_epoch = 1")
	p.Must("apply", "-auto-approve")
	p.edit("FROM kept GROUP BY", "FROM kept WHERE value > 7 GROUP BY")
	for _, signal := range []os.Signal{os.Interrupt, os.Kill, syscall.SIGTERM} {
		var out strings.Builder
		cmd := p.Command(t.Context(), "apply", "-auto-approve")
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		p.locked()
		second := p.Try("apply", "-auto-approve")
		require.Equal(t, 1, second.Code)
		require.Contains(t, second.Stderr, "Error acquiring the state lock")
		require.Contains(t, second.Stderr, "Operation: OperationTypeApply")
		require.NoError(t, cmd.Process.Signal(signal))
		_ = cmd.Wait()
		if signal != os.Kill {
			require.Equal(t, 1, cmd.ProcessState.ExitCode(), out.String())
			require.Contains(t, out.String(), "Interrupt received")
			require.Contains(t, out.String(), "execution halted")
		}
		require.Eventually(t, func() bool { return p.Try("plan", "-lock-timeout=20s").Code == 0 }, time.Minute, 10*time.Millisecond)
		require.Contains(t, p.Must("plan"), "0 to add, 1 to change, 0 to destroy")
		now := time.Now()
		require.Eventually(t, func() bool { return len(r.between("trigger.processing_time.often", now, time.Now())) > 1 }, time.Minute, 10*time.Millisecond)
	}
	require.Contains(t, p.Must("apply", "-auto-approve", "-json"), `"type":"change_summary"`)
	require.Contains(t, p.Must("plan"), "No changes.")
	f.end()
	p.caughtUp(f.files, "events")
	p.equal(map[string]string{"lake/by_key": "SELECT key, count(*) AS n, sum(value) AS total FROM " + liveEvents + " WHERE value % 3 <> 0 AND value > 7 GROUP BY key"})
	r.interrupt(t)
}

// locked waits until somebody holds the lock of the recorded state.
func (p *project) locked() {
	p.T.Helper()
	require.Eventually(p.T, func() bool {
		info, err := os.Stat(p.Path(".streamform.sfstate.lock.info"))
		return err == nil && info.Size() > 0
	}, time.Minute, time.Millisecond)
}

// TestKillBesideALiveRun kills the run, or the apply beside it, at random moments of edits. Then the next apply finishes, with or without a run.
func TestKillBesideALiveRun(t *testing.T) {
	const lives = 8
	p := newProject(t, liveConfig+`
sink "delta" "kept" {
  from = stream.kept
  path = "./lake/kept"
}
`)
	f := p.feed(60)
	p.Must("apply", "-auto-approve")
	p.edit("max_files_per_epoch = 2", "max_files_per_epoch = 1", "FROM kept GROUP BY", "FROM kept WHERE value > 0 GROUP BY")
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 2))
	r := p.run()
	defer func() { r.kill() }()
	least := 0
	kept := "SELECT * FROM " + liveEvents + " WHERE value % 3 <> 0"
	tables := map[string]string{"lake/kept": kept}
	for life := range lives {
		if life%4 == 1 { // a sink that is given what was read before, while files keep coming
			table := fmt.Sprintf("lake/more%d", life)
			p.edit(`sink "delta" "kept"`, fmt.Sprintf("sink \"delta\" \"more%d\" {\n  from = stream.kept\n  path = \"./%s\"\n}\nsink \"delta\" \"kept\"", life, table))
			tables[table] = kept
		}
		if random.IntN(2) == 0 { // the edit of before is given up for another
			p.edit(fmt.Sprintf("value > %d", least), fmt.Sprintf("value > %d", life+1))
			least = life + 1
		}
		cmd := p.Command(t.Context(), "apply", "-auto-approve")
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(random.IntN(2500)) * time.Millisecond)
		if random.IntN(2) == 0 {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			continue
		}
		r.kill()
		_ = cmd.Wait()
		if random.IntN(3) == 0 {
			p.Must("run", "-once")
		}
		r = p.run()
	}
	p.Must("apply", "-auto-approve", "-lock-timeout=20s")
	require.Contains(t, p.Must("plan"), "No changes.")
	f.end()
	p.caughtUp(f.files, "events")
	byKey := fmt.Sprintf("SELECT key, count(*) AS n, sum(value) AS total FROM (%s) WHERE value > %d GROUP BY key", kept, least)
	tables["lake/by_key"], tables["lake/large"] = byKey, "SELECT key, total FROM ("+byKey+") WHERE n > 10"
	p.equal(tables)
	r.interrupt(t)
	require.Contains(t, p.Must("plan"), "No changes.")
}
