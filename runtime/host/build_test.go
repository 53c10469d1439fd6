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
	"github.com/streamform/streamform/runtime/job"
)

// running is a shop that has read three files.
func running(t *testing.T) *world {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4), purchase("cy", -1))
	w.land("c.json", purchase("bob", 8))
	w.shop()
	w.backfill()
	return w
}

func TestNewViewLeavesOthersAlone(t *testing.T) {
	w := running(t)
	_, before := w.table("lake/totals")
	w.land("d.json", purchase("dee", 16))
	w.put("view.largest", 1, attributes{"sql": text("SELECT customer, max(v) AS m FROM valid GROUP BY ALL")})
	w.put("sink.delta.largest", 1, attributes{"from": text("view.largest"), "path": text("lake/largest")})
	s := w.backfill()
	require.EqualValues(t, 4, s.Sources[0].Files, "three files again, and the new one once for all")
	rows, version := w.table("lake/largest")
	require.Equal(t, want("ann|4", "bob|8", "dee|16"), rows)
	require.EqualValues(t, 1, version, "everything at the cut-over, then the new file")
	_, after := w.table("lake/totals")
	require.Equal(t, before+1, after, "only the new file")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1", "dee|16|1"), w.query("FROM totals"))
}

func TestViewOnViewIsBuiltFromWhatIsHeld(t *testing.T) {
	w := running(t)
	for _, name := range []string{"a.json", "b.json"} {
		require.NoError(t, os.Remove(w.path("landing", name)))
	}
	w.put("view.big", 1, attributes{"sql": text("SELECT count(*) AS n, sum(total) AS t FROM totals WHERE total > 0")})
	w.put("sink.delta.big", 1, attributes{"from": text("view.big"), "path": text("lake/big")})
	w.backfill()
	require.Equal(t, want("2|15"), w.query("FROM big"))
	w.land("d.json", purchase("ann", 100))
	w.once()
	rows, _ := w.table("lake/big")
	require.Equal(t, want("2|115"), rows)
}

func TestReplayOfGoneFilesIsRefused(t *testing.T) {
	w := running(t)
	require.NoError(t, os.Remove(w.path("landing", "b.json")))
	w.put("view.largest", 1, attributes{"sql": text("SELECT customer, max(v) AS m FROM valid GROUP BY ALL")})
	_, err := w.host.Backfill(t.Context(), nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Relation, "b.json")
	require.Contains(t, failure.Detail, "is gone")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), w.query("FROM totals"), "the live view serves")
	require.NoError(t, w.host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "largest"}))
	w.land("d.json", purchase("ann", 100))
	w.once()
	require.Equal(t, want("ann|105|3", "bob|10|2", "cy|-1|1"), w.query("FROM totals"))
}

func TestChangedQueriesReplaceWhatSinksHad(t *testing.T) {
	w := running(t)
	_, before := w.table("lake/valid")
	w.put("stream.valid", 2, attributes{"sql": text("SELECT customer, v * 10 AS v FROM purchases WHERE v > 1")})
	w.put("sink.delta.valid", 2, attributes{"from": text("stream.valid"), "path": text("lake/valid")})
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.put("sink.delta.totals", 2, attributes{"from": text("view.totals"), "path": text("lake/totals")})
	w.backfill()
	valid, after := w.table("lake/valid")
	require.Equal(t, want("ann|40", "bob|20", "bob|80"), valid)
	require.Equal(t, before+1, after, "one commit replaces everything")
	sums, _ := w.table("lake/totals")
	require.Equal(t, want("ann|10|2", "bob|20|2", "cy|-2|1"), sums)
	w.land("d.json", purchase("ann", 3))
	w.once()
	valid, _ = w.table("lake/valid")
	require.Equal(t, want("ann|40", "bob|20", "bob|80", "ann|30"), valid)
	sums, _ = w.table("lake/totals")
	require.Equal(t, want("ann|16|3", "bob|20|2", "cy|-2|1"), sums)
}

func TestStreamThatBecomesEmptyEmptiesItsSink(t *testing.T) {
	w := running(t)
	w.put("stream.valid", 2, attributes{"sql": text("SELECT customer, v FROM purchases WHERE v > 1000")})
	w.put("sink.delta.valid", 2, attributes{"from": text("stream.valid"), "path": text("lake/valid")})
	w.backfill()
	rows, _ := w.table("lake/valid")
	require.Empty(t, rows)
}

// What reads a rebuilt relation is rebuilt with it, even if nobody asks for that.
func TestRebuildSpreadsDownstream(t *testing.T) {
	w := running(t)
	w.put("view.big", 1, attributes{"sql": text("SELECT sum(total) AS t FROM totals")})
	w.put("sink.delta.big", 1, attributes{"from": text("view.big"), "path": text("lake/big")})
	w.backfill()
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(v) + 1 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.backfill()
	rows, _ := w.table("lake/big")
	require.Equal(t, want("17"), rows)
	sums, _ := w.table("lake/totals")
	require.Equal(t, want("ann|6|2", "bob|11|2", "cy|0|1"), sums)
}

func TestNewSinks(t *testing.T) {
	w := running(t)
	w.put("sink.delta.more", 1, attributes{"from": text("view.totals"), "path": text("lake/more")})
	w.put("sink.delta.copy", 1, attributes{"from": text("stream.valid"), "path": text("lake/copy")})
	w.put("sink.delta.raw", 1, attributes{"from": text("source.files.purchases"), "path": text("lake/raw")})
	w.backfill()
	rows, version := w.table("lake/more")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), rows)
	require.EqualValues(t, 0, version, "a view is handed over at once")
	rows, _ = w.table("lake/copy")
	require.Equal(t, want("ann|1", "bob|2", "ann|4", "bob|8"), rows)
	rows, _ = w.table("lake/raw")
	require.Len(t, rows, 5)
	w.land("d.json", purchase("ann", 3))
	w.once()
	for dir, n := range map[string]int{"lake/more": 3, "lake/copy": 5, "lake/raw": 6} {
		rows, _ = w.table(dir)
		require.Len(t, rows, n, dir)
	}
}

func TestMovedSinkIsWrittenAnew(t *testing.T) {
	w := running(t)
	w.put("sink.delta.totals", 2, attributes{"from": text("view.totals"), "path": text("lake/elsewhere")})
	w.put("sink.delta.valid", 2, attributes{"from": text("stream.valid"), "path": text("lake/elsewhere2")})
	w.backfill()
	rows, _ := w.table("lake/elsewhere")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), rows)
	rows, _ = w.table("lake/elsewhere2")
	require.Equal(t, want("ann|1", "bob|2", "ann|4", "bob|8"), rows)
	rows, _ = w.table("lake/totals")
	require.Len(t, rows, 3, "what was delivered stays")
}

func TestReplacedSource(t *testing.T) {
	w := running(t)
	require.NoError(t, os.MkdirAll(w.path("other"), 0o755))
	require.NoError(t, os.WriteFile(w.path("other", "x.json"), []byte(purchase("zoe", 7)+"\n"), 0o644))
	w.purchases(2, attributes{"path": text("other")})
	w.put("stream.valid", 2, attributes{"sql": text("SELECT customer, v FROM purchases WHERE v > 0")})
	w.put("view.totals", 2, attributes{"sql": text(totals)})
	w.put("sink.delta.valid", 2, attributes{"from": text("stream.valid"), "path": text("lake/valid")})
	w.put("sink.delta.totals", 2, attributes{"from": text("view.totals"), "path": text("lake/totals")})
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), w.query("FROM totals"), "the former one serves until the cut-over")
	w.backfill()
	require.Equal(t, want("zoe|7|1"), w.query("FROM totals"))
	rows, _ := w.table("lake/valid")
	require.Equal(t, want("zoe|7"), rows)
	rows, _ = w.table("lake/totals")
	require.Equal(t, want("zoe|7|1"), rows)
	require.Equal(t, want("read|1"), w.query("SELECT status, ordinal FROM purchases.files"))
}

func TestInPlaceChange(t *testing.T) {
	w := running(t)
	_, before := w.table("lake/totals")
	w.purchases(1, limit(2))
	s := w.backfill()
	require.Empty(t, s.Sources, "nothing is built")
	for _, name := range []string{"d.json", "e.json"} {
		w.land(name, purchase("dee", 1))
	}
	w.once()
	_, after := w.table("lake/totals")
	require.Equal(t, before+1, after, "both files in one epoch")
}

func TestDelete(t *testing.T) {
	w := running(t)
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "totals"}
	require.NoError(t, w.host.Delete(t.Context(), sink))
	require.NoError(t, w.host.Delete(t.Context(), sink), "once more is no error")
	w.land("d.json", purchase("dee", 1))
	w.once()
	rows, _ := w.table("lake/totals")
	require.Len(t, rows, 3, "what was delivered stays, and nothing comes")
	require.Len(t, w.query("FROM totals"), 4)
	require.NoError(t, w.host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "totals"}))
	_, err := w.host.Query(t.Context(), "FROM totals")
	require.ErrorContains(t, err, "totals")
	f, err := w.host.Facts(t.Context())
	require.NoError(t, err)
	require.Len(t, f.Resources, 3)
}

// Two pipelines become one through a view that reads both, and two again when it goes.
func TestPipelinesJoinAndSplit(t *testing.T) {
	w := running(t)
	require.NoError(t, os.MkdirAll(w.path("other"), 0o755))
	w.put("source.files.visits", 1, attributes{"path": text("other"), "format": text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"who": text("VARCHAR")})})
	w.put("view.visitors", 1, attributes{"sql": text("SELECT who, count(*) AS n FROM visits GROUP BY ALL")})
	w.backfill()
	require.NoError(t, os.WriteFile(w.path("other", "1.json"), []byte(`{"who":"ann"}`+"\n"), 0o644))
	w.once()
	w.put("view.joint", 1, attributes{"sql": text("SELECT (SELECT sum(n) FROM visitors) AS visits, (SELECT sum(total) FROM totals) AS total")})
	w.backfill()
	require.Equal(t, want("1|14"), w.query("FROM joint"))
	require.NoError(t, os.WriteFile(w.path("other", "2.json"), []byte(`{"who":"bob"}`+"\n"), 0o644))
	w.once()
	require.Equal(t, want("2|14"), w.query("FROM joint"))
	require.NoError(t, w.host.Delete(t.Context(), addr.Resource{Block: addr.View, Name: "joint"}))
	w.land("d.json", purchase("ann", 1))
	require.NoError(t, os.WriteFile(w.path("other", "3.json"), []byte(`{"who":"bob"}`+"\n"), 0o644))
	w.once()
	require.Equal(t, want("ann|1", "bob|2"), w.query("FROM visitors"))
	rows, _ := w.table("lake/totals")
	require.Equal(t, want("ann|6|3", "bob|10|2", "cy|-1|1"), rows)
}

func TestUnreadableFolderIsTheUsersToMend(t *testing.T) {
	w := running(t)
	require.NoError(t, os.Rename(w.path("landing"), w.path("gone")))
	err := w.host.Run(t.Context(), true, nil)
	var failure *job.Failure
	require.True(t, errors.As(err, &failure), "%v", err)
	require.Contains(t, failure.Error(), filepath.Base(w.path("landing")))
	require.NoError(t, os.Rename(w.path("gone"), w.path("landing")))
	w.once()
}

// A pipeline that cannot be built does not keep the others from it, and is built once its input is mended.
func TestBackfillOfOnePipelineFails(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.MkdirAll(w.path("other"), 0o755))
	require.NoError(t, os.WriteFile(w.path("other", "v.json"), []byte(`{"page":"/"}`+"\n"), 0o644))
	w.land("a.json", purchase("ann", 1), `{"v":`)
	w.purchases(1, attributes{"on_malformed": text("fail")})
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.put("source.files.visits", 1, attributes{"path": text("other"), "format": text("json"),
		"columns": cty.MapVal(map[string]cty.Value{"page": text("VARCHAR")})})
	w.put("view.pages", 1, attributes{"sql": text("SELECT page, count(*) AS n FROM visits GROUP BY ALL")})
	s, err := w.host.Backfill(t.Context(), nil)
	var failure *job.Failure
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "Malformed records", failure.Summary)
	require.Len(t, s.Relations, 2)
	require.Equal(t, want("/|1"), w.query("FROM pages"))
	w.reopen()
	w.land("a.json", purchase("ann", 1))
	s = w.backfill()
	require.Len(t, s.Sources, 1, "only what was not finished")
	require.Equal(t, want("ann|1|1"), w.query("FROM totals"))
}

// Progress never goes back, and ends at what there is in all.
func TestBackfillReportsProgress(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a.json", "b.json", "c.json"} {
		w.land(name, purchase("ann", 1))
	}
	w.shop()
	var all []host.Progress
	_, err := w.host.Backfill(t.Context(), func(p host.Progress) { all = append(all, p) })
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
	w.put("trigger.processing_time.live", 1, attributes{"interval": text("10s")})
	w.purchases(1, attributes{"trigger": text("trigger.processing_time.live")})
	w.backfill()
	require.NoError(t, w.host.Delete(t.Context(), addr.Resource{Block: addr.Trigger, Type: "processing_time", Name: "live"}))
	w.land("a.json", purchase("ann", 1))
	w.once()
	require.Equal(t, want("1"), w.query("SELECT count(*) FROM purchases"))
}

// Putting the same twice, or a newer value over one that was never built, changes nothing that serves.
func TestPutAgain(t *testing.T) {
	w := running(t)
	next := attributes{"sql": text("SELECT customer, max(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")}
	w.put("view.totals", 2, next)
	w.put("view.totals", 2, next)
	f, err := w.host.Facts(t.Context())
	require.NoError(t, err)
	view := addr.Resource{Block: addr.View, Name: "totals"}
	require.EqualValues(t, 1, f.Resources[view].Generation)
	require.EqualValues(t, 2, f.Resources[view].Building)
	w.put("view.totals", 3, attributes{"sql": text("SELECT customer, min(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.reopen()
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), w.query("FROM totals"))
	w.backfill()
	require.Equal(t, want("ann|1|2", "bob|2|2", "cy|-1|1"), w.query("FROM totals"))
	rows, _ := w.table("lake/totals")
	require.Equal(t, want("ann|1|2", "bob|2|2", "cy|-1|1"), rows)
	f, err = w.host.Facts(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, f.Resources[view].Generation)
	require.Zero(t, f.Resources[view].Building)

	// Back to what serves: what was to be built is forgotten.
	w.put("view.totals", 4, attributes{"sql": text(totals)})
	w.put("view.totals", 3, attributes{"sql": text("SELECT customer, min(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.backfill()
	require.Equal(t, want("ann|1|2", "bob|2|2", "cy|-1|1"), w.query("FROM totals"))
}

// A view on a side relation that is created later sees what was set aside before.
func TestViewOnWhatWasSetAside(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), `{"v":`)
	w.land("b.json.gz", "not gzip at all")
	w.purchases(1, nil)
	w.backfill()
	before := w.query("SELECT count(*) FROM purchases.malformed")
	require.Equal(t, want("2"), before)
	w.put("view.bad", 1, attributes{"sql": text("SELECT _reason, count(*) AS n FROM purchases.malformed GROUP BY ALL")})
	w.backfill()
	require.Equal(t, want("2"), w.query("SELECT CAST(sum(n) AS BIGINT) FROM bad"))
	require.Equal(t, before, w.query("SELECT count(*) FROM purchases.malformed"), "nothing is set aside twice")
	w.land("c.json", `{"w"`)
	w.once()
	require.Equal(t, want("3"), w.query("SELECT CAST(sum(n) AS BIGINT) FROM bad"))
}
