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
	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
)

func limit(n int64) Attributes { return Attributes{"max_files_per_epoch": cty.NumberIntVal(n)} }

func sum(w *world) []string { return w.Query("SELECT sum(v) FROM purchases") }

// reports runs once and returns what was reported, until stop says to cancel.
func (w *world) reports(stop func(job.Progress) bool) []job.Progress {
	w.T.Helper()
	ctx, cancel := context.WithCancel(w.T.Context())
	defer cancel()
	var all []job.Progress
	err := w.Host.Run(ctx, true, func(p job.Progress) {
		if all = append(all, p); stop != nil && stop(p) {
			cancel()
		}
	})
	require.NoError(w.T, err)
	return all
}

// Case R1: files that arrive during a run are left to the next.
func TestAvailableNowStopsWhereItBegan(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, limit(1))
	w.Backfill()
	for i := range 3 {
		w.Land(fmt.Sprintf("%d.json", i), Purchase("ann", 1))
	}
	first := w.reports(func(p job.Progress) bool {
		if p.Streamform.Epoch == 2 {
			w.Land("late.json", Purchase("ann", 1))
		}
		return false
	})
	require.Len(t, first, 3)
	require.Len(t, w.reports(nil), 1)
	require.Equal(t, Want("4"), sum(w))
}

// Case R2: a run that was cut short goes on to the same end.
func TestAvailableNowResumesToTheSameEnd(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, limit(1))
	w.Backfill()
	for i := range 3 {
		w.Land(fmt.Sprintf("%d.json", i), Purchase("ann", 1))
	}
	require.Len(t, w.reports(func(job.Progress) bool { return true }), 1)
	w.Land("late.json", Purchase("ann", 1))
	w.Reopen()
	require.Len(t, w.reports(nil), 2)
	require.Equal(t, Want("3"), sum(w))
	w.Once()
	require.Equal(t, Want("4"), sum(w))
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
			w.Land("b.json", lines(10)...)
			w.Land("c.json", lines(50)...)
			w.Land("a.json", lines(60)...)
			w.Purchases(1, Attributes{"order": Text(c.order), "max_bytes_per_epoch": Text("1000")})
			w.Put("stream.all", 1, Attributes{"sql": Text("SELECT v FROM purchases")})
			w.Put("sink.delta.all", 1, Attributes{"from": Text("stream.all"), "path": Text("lake")})
			w.Backfill()
			var files []int64
			for _, epoch := range w.Query("SELECT epoch, count(*) FROM purchases.files GROUP BY ALL ORDER BY ALL") {
				var e, n int64
				_, err := fmt.Sscanf(epoch, "%d|%d", &e, &n)
				require.NoError(t, err)
				files = append(files, n)
			}
			require.Equal(t, c.files, files)
			rows, version := w.Table("lake")
			require.Len(t, rows, 120)
			require.EqualValues(t, 1, version)
		})
	}
}

// lines are rows of 24 bytes or so.
func lines(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = Purchase("ann", 1)
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
		"ignore": {sum: "30", status: Want("overwritten|1")},
		"append": {sum: "41", status: Want("overwritten|1", "read|1")},
		"fail":   {sum: "30", status: Want("read|1"), fails: true},
	} {
		t.Run(policy, func(t *testing.T) {
			w := newWorld(t)
			w.Land("x.json", Purchase("ann", 10), Purchase("ann", 20))
			w.Purchases(1, Attributes{"on_overwrite": Text(policy)})
			w.Put("view.s", 1, Attributes{"sql": Text("SELECT sum(v) AS s FROM purchases")})
			w.Backfill()
			w.Land("x.json", Purchase("ann", 11))
			err := w.Host.Run(t.Context(), true, nil)
			var failure *job.Failure
			require.Equal(t, c.fails, errors.As(err, &failure), "%v", err)
			require.Equal(t, Want(c.sum), w.Query("FROM s"))
			require.Equal(t, c.status, w.Query("SELECT status, count(*) FROM purchases.files GROUP BY ALL"))
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
			w.Land("a.json", Purchase("ann", 1), `{"customer":`, Purchase("bob", 2))
			w.Land("b.json", Purchase("cy", 4))
			w.Purchases(1, Attributes{"on_malformed": Text(policy)})
			w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
			s := w.Backfill()
			require.EqualValues(t, 3, s.Sources[0].Rows)
			require.EqualValues(t, 1, s.Sources[0].Malformed)
			require.Equal(t, Want("ann|1|1", "bob|2|1", "cy|4|1"), w.Query("FROM totals"))
			require.Equal(t, Want("3"), w.Query("SELECT count(*) FROM purchases"), "malformed records stay out when the files are read again")
			aside := Want("1")
			if policy == "drop" {
				aside = Want("0")
			}
			require.Equal(t, aside, w.Query("SELECT count(*) FROM purchases.malformed"))
		})
	}
}

func TestMalformedRecordStopsOnlyItsPipeline(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.Path("other"), 0o755))
	w.Purchases(1, Attributes{"on_malformed": Text("fail")})
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Put("source.files.visits", 1, Attributes{"path": Text("other"), "format": Text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"page": Text("VARCHAR")})})
	w.Put("view.pages", 1, Attributes{"sql": Text("SELECT page, count(*) AS n FROM visits GROUP BY ALL")})
	w.Backfill()
	w.Land("bad.json", Purchase("ann", 1), `{"v":`)
	require.NoError(t, os.WriteFile(w.Path("other", "v.json"), []byte(`{"page":"/"}`+"\n"), 0o644))
	err := w.Host.Run(t.Context(), true, nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "purchases", failure.Relation)
	require.Contains(t, failure.Detail, "bad.json")
	require.Equal(t, Want("/|1"), w.Query("FROM pages"), "the other pipeline went on")
	require.Empty(t, w.Query("FROM totals"))
	require.Equal(t, Want("pending"), w.Query("SELECT status FROM purchases.files"), "nothing is committed")

	require.NoError(t, os.Remove(w.Path("landing", "bad.json")))
	w.Land("good.json", Purchase("ann", 5))
	w.Once()
	require.Equal(t, Want("ann|5|1"), w.Query("FROM totals"))
	require.Equal(t, Want("read", "vanished"), w.Query("SELECT status FROM purchases.files"))
}

func TestRunAfterAFailureReadsAllThereIs(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, Attributes{"on_malformed": Text("fail"), "max_files_per_epoch": cty.NumberIntVal(1)})
	w.Backfill()
	w.Land("a.json", Purchase("ann", 1))
	w.Land("b.json", `{"v":`)
	require.Error(t, w.Host.Run(t.Context(), true, nil))
	require.Equal(t, Want("1"), sum(w), "what came before is committed")
	w.Land("b.json", Purchase("ann", 2))
	w.Land("c.json", Purchase("ann", 4))
	w.Once()
	require.Equal(t, Want("7"), sum(w))
}

func TestFactsCountTheBacklog(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1))
	w.Purchases(1, nil)
	w.Backfill()
	w.Land("b.json", Purchase("ann", 1), Purchase("ann", 2))
	f, err := w.Host.Facts(t.Context())
	require.NoError(t, err)
	require.Equal(t, w.Host.ID(), f.RuntimeID)
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "purchases"}
	fact := f.Sources[source]
	require.EqualValues(t, 1, fact.Files)
	require.EqualValues(t, 1, fact.Rows)
	require.EqualValues(t, 1, fact.BacklogFiles)
	require.EqualValues(t, 50, fact.BacklogBytes)
	require.EqualValues(t, 1, f.Resources[source].Generation)
	require.Equal(t, Want("read"), w.Query("SELECT status FROM purchases.files"), "a look changes nothing")
}

func TestInferredColumns(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", `{"id":1,"at":"2026-05-01T10:00:00","name":"x"}`)
	w.Put("source.files.events", 1, Attributes{"path": Text("landing"), "format": Text("json"), "metadata": cty.ListVal([]cty.Value{Text("_file_name")})})
	w.Put("stream.named", 1, Attributes{"sql": Text("SELECT id, _file_name FROM events")})
	w.Put("sink.delta.named", 1, Attributes{"from": Text("stream.named"), "path": Text("lake")})
	w.Backfill()
	w.Land("b.json", `{"id":2,"at":"2026-05-01T10:00:00","name":"y"}`)
	w.Once()
	rows, _ := w.Table("lake")
	require.Equal(t, Want("1|a.json", "2|b.json"), rows)
	require.Equal(t, Want("1|a.json", "2|b.json"), w.Query("SELECT id, _file_name FROM events"))
}

func TestSecondProcessIsRefused(t *testing.T) {
	w := newWorld(t)
	_, err := host.Open(t.Context(), host.Options{DataDir: w.Path(".streamform"), ProjectDir: w.Dir, Definitions: w.Kinds, Now: time.Now})
	require.ErrorContains(t, err, "in use")
}
