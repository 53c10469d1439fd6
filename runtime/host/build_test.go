package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
)

func TestNewViewLeavesOthersAlone(t *testing.T) {
	w := running(t)
	_, before := w.Table("lake/totals")
	w.Land("d.json", Purchase("dee", 16))
	w.Put("view.largest", 1, Attributes{"sql": Text("SELECT customer, max(v) AS m FROM valid GROUP BY ALL")})
	w.Put("sink.delta.largest", 1, Attributes{"from": Text("view.largest"), "path": Text("lake/largest")})
	s := w.Backfill()
	require.EqualValues(t, 4, s.Sources[0].Files, "three files again, and the new one once for all")
	rows, version := w.Table("lake/largest")
	require.Equal(t, Want("ann|4", "bob|8", "dee|16"), rows)
	require.EqualValues(t, 1, version, "everything at the cut-over, then the new file")
	_, after := w.Table("lake/totals")
	require.Equal(t, before+1, after, "only the new file")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1", "dee|16|1"), w.Query("FROM totals"))
}

func TestViewOnViewIsBuiltFromWhatIsHeld(t *testing.T) {
	w := running(t)
	for _, name := range []string{"a.json", "b.json"} {
		require.NoError(t, os.Remove(w.Path("landing", name)))
	}
	w.Put("view.big", 1, Attributes{"sql": Text("SELECT count(*) AS n, sum(total) AS t FROM totals WHERE total > 0")})
	w.Put("sink.delta.big", 1, Attributes{"from": Text("view.big"), "path": Text("lake/big")})
	w.Backfill()
	require.Equal(t, Want("2|15"), w.Query("FROM big"))
	w.Land("d.json", Purchase("ann", 100))
	w.Once()
	rows, _ := w.Table("lake/big")
	require.Equal(t, Want("2|115"), rows)
}

func TestReplayOfGoneFilesIsRefused(t *testing.T) {
	w := running(t)
	require.NoError(t, os.Remove(w.Path("landing", "b.json")))
	w.Put("view.largest", 1, Attributes{"sql": Text("SELECT customer, max(v) AS m FROM valid GROUP BY ALL")})
	_, err := w.Host.Backfill(t.Context(), nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Relation, "b.json")
	require.Contains(t, failure.Detail, "is gone")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), w.Query("FROM totals"), "the live view serves")
	require.NoError(t, w.Host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "largest"}))
	w.Land("d.json", Purchase("ann", 100))
	w.Once()
	require.Equal(t, Want("ann|105|3", "bob|10|2", "cy|-1|1"), w.Query("FROM totals"))
}

func TestChangedQueriesReplaceWhatSinksHad(t *testing.T) {
	w := running(t)
	_, before := w.Table("lake/valid")
	w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, v * 10 AS v FROM purchases WHERE v > 1")})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid")})
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Put("sink.delta.totals", 2, Attributes{"from": Text("view.totals"), "path": Text("lake/totals")})
	w.Backfill()
	valid, after := w.Table("lake/valid")
	require.Equal(t, Want("ann|40", "bob|20", "bob|80"), valid)
	require.Equal(t, before+1, after, "one commit replaces everything")
	sums, _ := w.Table("lake/totals")
	require.Equal(t, Want("ann|10|2", "bob|20|2", "cy|-2|1"), sums)
	w.Land("d.json", Purchase("ann", 3))
	w.Once()
	valid, _ = w.Table("lake/valid")
	require.Equal(t, Want("ann|40", "bob|20", "bob|80", "ann|30"), valid)
	sums, _ = w.Table("lake/totals")
	require.Equal(t, Want("ann|16|3", "bob|20|2", "cy|-2|1"), sums)
}

func TestStreamThatBecomesEmptyEmptiesItsSink(t *testing.T) {
	w := running(t)
	w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, v FROM purchases WHERE v > 1000")})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid")})
	w.Backfill()
	rows, _ := w.Table("lake/valid")
	require.Empty(t, rows)
}

// What reads a rebuilt relation is rebuilt with it, even if nobody asks for that.
func TestRebuildSpreadsDownstream(t *testing.T) {
	w := running(t)
	w.Put("view.big", 1, Attributes{"sql": Text("SELECT sum(total) AS t FROM totals")})
	w.Put("sink.delta.big", 1, Attributes{"from": Text("view.big"), "path": Text("lake/big")})
	w.Backfill()
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) + 1 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Backfill()
	rows, _ := w.Table("lake/big")
	require.Equal(t, Want("17"), rows)
	sums, _ := w.Table("lake/totals")
	require.Equal(t, Want("ann|6|2", "bob|11|2", "cy|0|1"), sums)
}

func TestNewSinks(t *testing.T) {
	w := running(t)
	w.Put("sink.delta.more", 1, Attributes{"from": Text("view.totals"), "path": Text("lake/more")})
	w.Put("sink.delta.copy", 1, Attributes{"from": Text("stream.valid"), "path": Text("lake/copy")})
	w.Put("sink.delta.raw", 1, Attributes{"from": Text("source.files.purchases"), "path": Text("lake/raw")})
	w.Backfill()
	rows, version := w.Table("lake/more")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), rows)
	require.EqualValues(t, 0, version, "a view is handed over at once")
	rows, _ = w.Table("lake/copy")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8"), rows)
	rows, _ = w.Table("lake/raw")
	require.Len(t, rows, 5)
	w.Land("d.json", Purchase("ann", 3))
	w.Once()
	for dir, n := range map[string]int{"lake/more": 3, "lake/copy": 5, "lake/raw": 6} {
		rows, _ = w.Table(dir)
		require.Len(t, rows, n, dir)
	}
}

func TestMovedSinkIsWrittenAnew(t *testing.T) {
	w := running(t)
	w.Put("sink.delta.totals", 2, Attributes{"from": Text("view.totals"), "path": Text("lake/elsewhere")})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/elsewhere2")})
	w.Backfill()
	rows, _ := w.Table("lake/elsewhere")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), rows)
	rows, _ = w.Table("lake/elsewhere2")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8"), rows)
	rows, _ = w.Table("lake/totals")
	require.Len(t, rows, 3, "what was delivered stays")
}

func TestReplacedSource(t *testing.T) {
	w := running(t)
	require.NoError(t, os.MkdirAll(w.Path("other"), 0o755))
	require.NoError(t, os.WriteFile(w.Path("other", "x.json"), []byte(Purchase("zoe", 7)+"\n"), 0o644))
	w.Purchases(2, Attributes{"path": Text("other")})
	w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, v FROM purchases WHERE v > 0")})
	w.Put("view.totals", 2, Attributes{"sql": Text(totals)})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid")})
	w.Put("sink.delta.totals", 2, Attributes{"from": Text("view.totals"), "path": Text("lake/totals")})
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), w.Query("FROM totals"), "the former one serves until the cut-over")
	w.Backfill()
	require.Equal(t, Want("zoe|7|1"), w.Query("FROM totals"))
	rows, _ := w.Table("lake/valid")
	require.Equal(t, Want("zoe|7"), rows)
	rows, _ = w.Table("lake/totals")
	require.Equal(t, Want("zoe|7|1"), rows)
	require.Equal(t, Want("read|1"), w.Query("SELECT status, ordinal FROM purchases.files"))
}

func TestInPlaceChange(t *testing.T) {
	w := running(t)
	_, before := w.Table("lake/totals")
	w.Purchases(1, limit(2))
	s := w.Backfill()
	require.Empty(t, s.Sources, "nothing is built")
	for _, name := range []string{"d.json", "e.json"} {
		w.Land(name, Purchase("dee", 1))
	}
	w.Once()
	_, after := w.Table("lake/totals")
	require.Equal(t, before+1, after, "both files in one epoch")
}

func TestDelete(t *testing.T) {
	w := running(t)
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "totals"}
	require.NoError(t, w.Host.Delete(t.Context(), sink))
	require.NoError(t, w.Host.Delete(t.Context(), sink), "once more is no error")
	w.Land("d.json", Purchase("dee", 1))
	w.Once()
	rows, _ := w.Table("lake/totals")
	require.Len(t, rows, 3, "what was delivered stays, and nothing comes")
	require.Len(t, w.Query("FROM totals"), 4)
	require.NoError(t, w.Host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "totals"}))
	_, err := w.Host.Query(t.Context(), "FROM totals")
	require.ErrorContains(t, err, "totals")
	f, err := w.Host.Facts(t.Context())
	require.NoError(t, err)
	require.Len(t, f.Resources, 3)
}

// Two pipelines become one through a view that reads both, and two again when it goes.
func TestPipelinesJoinAndSplit(t *testing.T) {
	w := running(t)
	require.NoError(t, os.MkdirAll(w.Path("other"), 0o755))
	w.Put("source.files.visits", 1, Attributes{"path": Text("other"), "format": Text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"who": Text("VARCHAR")})})
	w.Put("view.visitors", 1, Attributes{"sql": Text("SELECT who, count(*) AS n FROM visits GROUP BY ALL")})
	w.Backfill()
	require.NoError(t, os.WriteFile(w.Path("other", "1.json"), []byte(`{"who":"ann"}`+"\n"), 0o644))
	w.Once()
	w.Put("view.joint", 1, Attributes{"sql": Text("SELECT (SELECT sum(n) FROM visitors) AS visits, (SELECT sum(total) FROM totals) AS total")})
	w.Backfill()
	require.Equal(t, Want("1|14"), w.Query("FROM joint"))
	require.NoError(t, os.WriteFile(w.Path("other", "2.json"), []byte(`{"who":"bob"}`+"\n"), 0o644))
	w.Once()
	require.Equal(t, Want("2|14"), w.Query("FROM joint"))
	require.NoError(t, w.Host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "joint"}))
	w.Land("d.json", Purchase("ann", 1))
	require.NoError(t, os.WriteFile(w.Path("other", "3.json"), []byte(`{"who":"bob"}`+"\n"), 0o644))
	w.Once()
	require.Equal(t, Want("ann|1", "bob|2"), w.Query("FROM visitors"))
	rows, _ := w.Table("lake/totals")
	require.Equal(t, Want("ann|6|3", "bob|10|2", "cy|-1|1"), rows)
}

func TestUnreadableFolderIsTheUsersToMend(t *testing.T) {
	w := running(t)
	require.NoError(t, os.Rename(w.Path("landing"), w.Path("gone")))
	err := w.Host.Run(t.Context(), true, nil)
	var failure *job.Failure
	require.True(t, errors.As(err, &failure), "%v", err)
	require.Contains(t, failure.Error(), filepath.Base(w.Path("landing")))
	require.NoError(t, os.Rename(w.Path("gone"), w.Path("landing")))
	w.Once()
}

// A pipeline that cannot be built does not keep the others from it, and is built once its input is mended.
func TestBackfillOfOnePipelineFails(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.Path("other"), 0o755))
	require.NoError(t, os.WriteFile(w.Path("other", "v.json"), []byte(`{"page":"/"}`+"\n"), 0o644))
	w.Land("a.json", Purchase("ann", 1), `{"v":`)
	w.Purchases(1, Attributes{"on_malformed": Text("fail")})
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Put("source.files.visits", 1, Attributes{"path": Text("other"), "format": Text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"page": Text("VARCHAR")})})
	w.Put("view.pages", 1, Attributes{"sql": Text("SELECT page, count(*) AS n FROM visits GROUP BY ALL")})
	s, err := w.Host.Backfill(t.Context(), nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "Malformed records", failure.Summary)
	require.Len(t, s.Relations, 2)
	require.Equal(t, Want("/|1"), w.Query("FROM pages"))
	w.Reopen()
	w.Land("a.json", Purchase("ann", 1))
	s = w.Backfill()
	require.Len(t, s.Sources, 1, "only what was not finished")
	require.Equal(t, Want("ann|1|1"), w.Query("FROM totals"))
}

// Progress never goes back, and ends at what there is in all.
func TestBackfillReportsProgress(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.json", "b.json", "c.json"} {
		w.Land(name, Purchase("ann", 1))
	}
	w.Shop()
	var all []host.Progress
	_, err := w.Host.Backfill(t.Context(), func(p host.Progress) { all = append(all, p) })
	require.NoError(t, err)
	last := all[len(all)-1]
	require.EqualValues(t, 3, last.Files)
	require.EqualValues(t, 3, last.TotalFiles)
	require.EqualValues(t, 75, last.Bytes)
	require.EqualValues(t, 75, last.TotalBytes)
	require.EqualValues(t, 3, last.Rows)
	require.Len(t, last.Relations, 2)
	for i := 1; i < len(all); i++ {
		require.GreaterOrEqual(t, all[i].Files, all[i-1].Files)
	}
}

// An apply deletes first: cut short there, what names the deleted trigger still runs.
func TestTriggerThatIsGone(t *testing.T) {
	w := newWorld(t)
	w.Put("trigger.processing_time.live", 1, Attributes{"interval": Text("10s")})
	w.Purchases(1, Attributes{"trigger": Text("trigger.processing_time.live")})
	w.Backfill()
	require.NoError(t, w.Host.Delete(t.Context(), addr.Resource{Block: addr.Trigger, Type: "processing_time", Name: "live"}))
	w.Land("a.json", Purchase("ann", 1))
	w.Once()
	require.Equal(t, Want("1"), w.Query("SELECT count(*) FROM purchases"))
}

// Putting the same twice, or a newer value over one that was never built, changes nothing that serves.
func TestPutAgain(t *testing.T) {
	w := running(t)
	next := Attributes{"sql": Text("SELECT customer, max(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")}
	w.Put("view.totals", 2, next)
	w.Put("view.totals", 2, next)
	f, err := w.Host.Facts(t.Context())
	require.NoError(t, err)
	view := addr.Resource{Block: addr.View, Name: "totals"}
	require.EqualValues(t, 1, f.Resources[view].Generation)
	require.EqualValues(t, 2, f.Resources[view].Building)
	w.Put("view.totals", 3, Attributes{"sql": Text("SELECT customer, min(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Reopen()
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), w.Query("FROM totals"))
	w.Backfill()
	require.Equal(t, Want("ann|1|2", "bob|2|2", "cy|-1|1"), w.Query("FROM totals"))
	rows, _ := w.Table("lake/totals")
	require.Equal(t, Want("ann|1|2", "bob|2|2", "cy|-1|1"), rows)
	f, err = w.Host.Facts(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, f.Resources[view].Generation)
	require.Zero(t, f.Resources[view].Building)

	// Back to what serves: what was to be built is forgotten.
	w.Put("view.totals", 4, Attributes{"sql": Text(totals)})
	w.Put("view.totals", 3, Attributes{"sql": Text("SELECT customer, min(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Backfill()
	require.Equal(t, Want("ann|1|2", "bob|2|2", "cy|-1|1"), w.Query("FROM totals"))
}

// A view on a side relation that is created later sees what was set aside before.
func TestViewOnWhatWasSetAside(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1), `{"v":`)
	w.Land("b.json.gz", "not gzip at all")
	w.Purchases(1, nil)
	w.Backfill()
	before := w.Query("SELECT count(*) FROM purchases.malformed")
	require.Equal(t, Want("2"), before)
	w.Put("view.bad", 1, Attributes{"sql": Text("SELECT _reason, count(*) AS n FROM purchases.malformed GROUP BY ALL")})
	w.Backfill()
	require.Equal(t, Want("2"), w.Query("SELECT CAST(sum(n) AS BIGINT) FROM bad"))
	require.Equal(t, before, w.Query("SELECT count(*) FROM purchases.malformed"), "nothing is set aside twice")
	w.Land("c.json", `{"w"`)
	w.Once()
	require.Equal(t, Want("3"), w.Query("SELECT CAST(sum(n) AS BIGINT) FROM bad"))
}
