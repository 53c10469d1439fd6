package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/job"
)

func limit(n int64) attributes { return attributes{"max_files_per_epoch": cty.NumberIntVal(n)} }

func sum(w *world) []string { return w.query("SELECT sum(v) FROM purchases") }

// reports runs once and returns what was reported, until stop says to cancel.
func (w *world) reports(stop func(job.Progress) bool) []job.Progress {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	var all []job.Progress
	err := w.host.Run(ctx, true, func(p job.Progress) {
		if all = append(all, p); stop != nil && stop(p) {
			cancel()
		}
	})
	require.NoError(w.t, err)
	return all
}

// Case R1: files that arrive during a run are left to the next.
func TestAvailableNowStopsWhereItBegan(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, limit(1))
	w.backfill()
	for i := range 3 {
		w.land(fmt.Sprintf("%d.json", i), purchase("ann", 1))
	}
	first := w.reports(func(p job.Progress) bool {
		if p.Streamform.Epoch == 2 {
			w.land("late.json", purchase("ann", 1))
		}
		return false
	})
	require.Len(t, first, 3)
	require.Len(t, w.reports(nil), 1)
	require.Equal(t, want("4"), sum(w))
}

// Case R2: a run that was cut short goes on to the same end.
func TestAvailableNowResumesToTheSameEnd(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, limit(1))
	w.backfill()
	for i := range 3 {
		w.land(fmt.Sprintf("%d.json", i), purchase("ann", 1))
	}
	require.Len(t, w.reports(func(job.Progress) bool { return true }), 1)
	w.land("late.json", purchase("ann", 1))
	w.reopen()
	require.Len(t, w.reports(nil), 2)
	require.Equal(t, want("3"), sum(w))
	w.once()
	require.Equal(t, want("4"), sum(w))
}

// Case F3, scaled: files are taken while the bytes so far are below the limit.
func TestByteLimit(t *testing.T) {
	cases := []struct {
		order string
		files []int64 // read by each epoch
	}{
		{order: "modified", files: []int64{2, 1}},
		{order: "name", files: []int64{1, 2}},
	}
	for _, c := range cases {
		t.Run(c.order, func(t *testing.T) {
			w := newWorld(t)
			w.land("b.json", lines(10)...)
			w.land("c.json", lines(50)...)
			w.land("a.json", lines(60)...)
			w.purchases(1, attributes{"order": text(c.order), "max_bytes_per_epoch": text("1000")})
			w.put("stream.all", 1, attributes{"sql": text("SELECT v FROM purchases")})
			w.put("sink.delta.all", 1, attributes{"from": text("stream.all"), "path": text("lake")})
			w.backfill()
			var files []int64
			for _, epoch := range w.query("SELECT epoch, count(*) FROM purchases.files GROUP BY ALL ORDER BY ALL") {
				var e, n int64
				_, err := fmt.Sscanf(epoch, "%d|%d", &e, &n)
				require.NoError(t, err)
				files = append(files, n)
			}
			require.Equal(t, c.files, files)
			rows, version := w.table("lake")
			require.Len(t, rows, 120)
			require.EqualValues(t, 1, version)
		})
	}
}

// lines are rows of 24 bytes or so.
func lines(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = purchase("ann", 1)
	}
	return all
}

// Case F4: what becomes of a file that is overwritten after it was read.
func TestOverwrittenFile(t *testing.T) {
	for policy, c := range map[string]struct {
		sum    string
		status []string
		fails  bool
	}{
		"ignore": {sum: "30", status: want("overwritten|1")},
		"append": {sum: "41", status: want("overwritten|1", "read|1")},
		"fail":   {sum: "30", status: want("read|1"), fails: true},
	} {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t)
			w.land("x.json", purchase("ann", 10), purchase("ann", 20))
			w.purchases(1, attributes{"on_overwrite": text(policy)})
			w.put("view.s", 1, attributes{"sql": text("SELECT sum(v) AS s FROM purchases")})
			w.backfill()
			w.land("x.json", purchase("ann", 11))
			err := w.host.Run(t.Context(), true, nil)
			var failure *job.Failure
			require.Equal(t, c.fails, errors.As(err, &failure), "%v", err)
			require.Equal(t, want(c.sum), w.query("FROM s"))
			require.Equal(t, c.status, w.query("SELECT status, count(*) FROM purchases.files GROUP BY ALL"))
			if c.fails {
				require.Contains(t, failure.Error(), "x.json")
			}
		})
	}
}

func TestConservationOfMalformedRecords(t *testing.T) {
	for _, policy := range []string{"quarantine", "drop"} {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t)
			w.land("a.json", purchase("ann", 1), `{"customer":`, purchase("bob", 2))
			w.land("b.json", purchase("cy", 4))
			w.purchases(1, attributes{"on_malformed": text(policy)})
			w.put("view.totals", 1, attributes{"sql": text(totals)})
			s := w.backfill()
			require.EqualValues(t, 3, s.Sources[0].Rows)
			require.EqualValues(t, 1, s.Sources[0].Malformed)
			require.Equal(t, want("ann|1|1", "bob|2|1", "cy|4|1"), w.query("FROM totals"))
			require.Equal(t, want("3"), w.query("SELECT count(*) FROM purchases"), "malformed records stay out when the files are read again")
			aside := want("1")
			if policy == "drop" {
				aside = want("0")
			}
			require.Equal(t, aside, w.query("SELECT count(*) FROM purchases.malformed"))
		})
	}
}

func TestMalformedRecordStopsOnlyItsPipeline(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.path("other"), 0o755))
	w.purchases(1, attributes{"on_malformed": text("fail")})
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.put("source.files.visits", 1, attributes{"path": text("other"), "format": text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"page": text("VARCHAR")})})
	w.put("view.pages", 1, attributes{"sql": text("SELECT page, count(*) AS n FROM visits GROUP BY ALL")})
	w.backfill()
	w.land("bad.json", purchase("ann", 1), `{"v":`)
	require.NoError(t, os.WriteFile(w.path("other", "v.json"), []byte(`{"page":"/"}`+"\n"), 0o644))
	err := w.host.Run(t.Context(), true, nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "purchases", failure.Relation)
	require.Contains(t, failure.Detail, "bad.json")
	require.Equal(t, want("/|1"), w.query("FROM pages"), "the other pipeline went on")
	require.Empty(t, w.query("FROM totals"))
	require.Equal(t, want("pending"), w.query("SELECT status FROM purchases.files"), "nothing is committed")

	require.NoError(t, os.Remove(w.path("landing", "bad.json")))
	w.land("good.json", purchase("ann", 5))
	w.once()
	require.Equal(t, want("ann|5|1"), w.query("FROM totals"))
	require.Equal(t, want("read", "vanished"), w.query("SELECT status FROM purchases.files"))
}

func TestRunAfterAFailureReadsAllThereIs(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, attributes{"on_malformed": text("fail"), "max_files_per_epoch": cty.NumberIntVal(1)})
	w.backfill()
	w.land("a.json", purchase("ann", 1))
	w.land("b.json", `{"v":`)
	require.Error(t, w.host.Run(t.Context(), true, nil))
	require.Equal(t, want("1"), sum(w), "what came before is committed")
	w.land("b.json", purchase("ann", 2))
	w.land("c.json", purchase("ann", 4))
	w.once()
	require.Equal(t, want("7"), sum(w))
}

func TestFactsCountTheBacklog(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1))
	w.purchases(1, nil)
	w.backfill()
	w.land("b.json", purchase("ann", 1), purchase("ann", 2))
	f, err := w.host.Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, w.host.ID(), f.RuntimeID)
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "purchases"}
	fact := f.Sources[source]
	require.EqualValues(t, 1, fact.Files)
	require.EqualValues(t, 1, fact.Rows)
	require.EqualValues(t, 1, fact.BacklogFiles)
	require.EqualValues(t, 50, fact.BacklogBytes)
	require.EqualValues(t, 1, f.Resources[source].Generation)
	require.Equal(t, want("read"), w.query("SELECT status FROM purchases.files"), "a look changes nothing")
}

func TestInferredColumns(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", `{"id":1,"at":"2026-05-01T10:00:00","name":"x"}`)
	w.put("source.files.events", 1, attributes{"path": text("landing"), "format": text("json"), "metadata": cty.ListVal([]cty.Value{text("_file_name")})})
	w.put("stream.named", 1, attributes{"sql": text("SELECT id, _file_name FROM events")})
	w.put("sink.delta.named", 1, attributes{"from": text("stream.named"), "path": text("lake")})
	w.backfill()
	w.land("b.json", `{"id":2,"at":"2026-05-01T10:00:00","name":"y"}`)
	w.once()
	rows, _ := w.table("lake")
	require.Equal(t, want("1|a.json", "2|b.json"), rows)
	require.Equal(t, want("1|a.json", "2|b.json"), w.query("SELECT id, _file_name FROM events"))
}

func TestSecondProcessIsRefused(t *testing.T) {
	w := newWorld(t)
	_, err := host.Open(t.Context(), host.Options{DataDir: w.path(".streamform"), ProjectDir: w.dir, Definitions: w.kinds, Now: time.Now})
	require.ErrorContains(t, err, "in use")
}
