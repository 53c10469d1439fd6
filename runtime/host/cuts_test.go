package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/runtime/job"
)

// Whatever the limits and restarts, views and sinks equal the batch result over the same files.
func TestCutsDoNotMatter(t *testing.T) {
	const grouped = "SELECT customer, count(*) AS n, sum(v) AS s, min(v) AS low, max(v) AS high FROM purchases GROUP BY ALL"
	const ranked = "SELECT customer, v, row_number() OVER (PARTITION BY customer ORDER BY v, customer) AS r FROM purchases"
	for _, files := range []int64{1, 2, 3, 1000} {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(files), 1))
			w := newWorld(t)
			w.purchases(1, limit(files))
			w.put("stream.odd", 1, attributes{"sql": text("SELECT customer, v FROM purchases WHERE v % 2 = 1")})
			w.put("view.grouped", 1, attributes{"sql": text(grouped)})
			w.put("view.ranked", 1, attributes{"sql": text(ranked)})
			w.put("view.overall", 1, attributes{"sql": text("SELECT sum(s) AS s, count(*) AS n FROM grouped")})
			for _, from := range []string{"stream.odd", "view.grouped", "view.ranked", "view.overall"} {
				_, name, _ := strings.Cut(from, ".")
				w.put("sink.delta."+name, 1, attributes{"from": text(from), "path": text("lake/" + from)})
			}
			w.backfill()
			require.Equal(t, want("NULL|0"), w.query("FROM overall"), "an aggregate over nothing has a row")
			for i := range 7 {
				var rows []string
				for range rng.IntN(4) {
					rows = append(rows, purchase(fmt.Sprint("c", rng.IntN(3)), rng.IntN(100)))
				}
				w.land(fmt.Sprintf("%d.json", i), rows...)
			}
			w.reports(func(p job.Progress) bool { return rng.IntN(3) == 0 })
			w.reopen()
			w.once()
			w.once()
			for from, sql := range map[string]string{"stream.odd": "SELECT customer, v FROM purchases WHERE v % 2 = 1", "view.grouped": grouped,
				"view.ranked": ranked, "view.overall": "SELECT sum(s), count(*) FROM (" + grouped + ")"} {
				_, name, _ := strings.Cut(from, ".")
				expected := w.query(sql)
				got, _ := w.table("lake/" + from)
				require.Equal(t, expected, got, from)
				require.Equal(t, expected, w.query("FROM "+name), from)
			}
		})
	}
}

func TestProgressIsOneObjectForEachEpoch(t *testing.T) {
	w := newWorld(t)
	w.purchases(1, limit(2))
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.put("sink.delta.totals", 1, attributes{"from": text("view.totals"), "path": text("lake")})
	w.backfill()
	require.NoError(t, w.host.Close())
	w.now = func() time.Time { return time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC) }
	w.open()
	w.land("a.json", purchase("ann", 1), `{"v"`)
	w.land("b.json", purchase("ann", 2), purchase("bob", 4))
	w.land("c.json", purchase("bob", 8))
	all := w.reports(nil)
	require.Len(t, all, 2)
	data, err := json.Marshal(all[0])
	require.NoError(t, err)
	uuids := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)
	require.Equal(t, `{"id":"ID","runId":"ID","name":"source.files.purchases","timestamp":"2026-05-01T10:00:00.000Z","batchId":1,"batchDuration":0,`+
		`"numInputRows":3,"durationMs":{"addBatch":0,"commitOffsets":0,"latestOffset":0,"triggerExecution":0,"walCommit":0},`+
		`"stateOperators":[{"operatorName":"aggregate","numRowsTotal":2,"numRowsUpdated":2,"allUpdatesTimeMs":0,"numRowsRemoved":0,"allRemovalsTimeMs":0,"commitTimeMs":0,`+
		`"memoryUsedBytes":BYTES,"numRowsDroppedByWatermark":0,"numShufflePartitions":1,"numStateStoreInstances":1,"customMetrics":{"numRowsIn":3,"numRowsOut":2},`+
		`"relation":"view.totals","operatorId":"sf$op1"}],`+
		`"sources":[{"description":"source.files.purchases","startOffset":{"ordinal":0},"endOffset":{"ordinal":2},"latestOffset":{"ordinal":3},"numInputRows":3,`+
		`"metrics":{"numBytesOutstanding":"25","numFilesOutstanding":"1"}}],"sink":{"description":"sink.delta.totals","numOutputRows":2},`+
		`"streamform":{"epoch":1,"generation":{"view.totals":1},"waitReason":"limit","files":2,"bytes":80,`+
		`"sinks":[{"address":"sink.delta.totals","numOutputRows":2,"outboxEpochs":0,"receipt":{"version":0}}],`+
		`"relations":[{"address":"source.files.purchases","rows_read":4,"rows_out":3,"malformed":1},{"address":"view.totals","rows_out":2,"malformed":0}]}}`,
		regexp.MustCompile(`("memoryUsedBytes":)[1-9]\d*`).ReplaceAllString(uuids.ReplaceAllString(string(data), "ID"), "${1}BYTES"))
	require.Equal(t, all[0].ID, all[1].ID)
	require.Equal(t, all[0].RunID, all[1].RunID)
	require.Nil(t, all[1].Streamform.WaitReason)
	w.reopen()
	w.land("d.json", purchase("bob", 16))
	again := w.reports(nil)
	require.Equal(t, all[0].ID, again[0].ID, "stays over restarts")
	require.NotEqual(t, all[0].RunID, again[0].RunID)
	require.EqualValues(t, 3, again[0].BatchID)
}

func TestSourceWithManyFilesIsFollowedCheaply(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	for i := range n {
		w.land(fmt.Sprintf("%05d.json", i), purchase("ann", 1))
	}
	w.purchases(1, attributes{"max_files_per_epoch": cty.NumberIntVal(n)})
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	s := w.backfill()
	require.EqualValues(t, n, s.Sources[0].Files)
	require.Equal(t, want(fmt.Sprintf("ann|%d|%d", n, n)), w.query("FROM totals"))
	require.Equal(t, want(fmt.Sprintf("%d|1|%d", n, n)), w.query("SELECT count(*), min(ordinal), max(ordinal) FROM purchases.files"))
}

// An epoch that was committed and not reported, as its delivery failed or the process was killed, is reported by the next run:
// the sums over all reports are those of a run without mishap.
func TestLostProgressIsReportedOnce(t *testing.T) {
	for name, restarts := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.land("a.json", purchase("ann", 1))
			w.shop()
			w.backfill()
			fails := 4 * restarts
			w.shake(&fails, false)
			w.land("b.json", purchase("ann", 2), purchase("bob", 4))
			w.land("c.json", purchase("cy", 3))
			var rows, files int64
			epochs := map[int64]int{}
			for {
				err := w.host.Run(t.Context(), true, func(p job.Progress) {
					rows += p.NumInputRows
					files += p.Sources[0].Files
					epochs[p.BatchID]++
				})
				w.reopen()
				if err == nil {
					break
				}
				require.ErrorIs(t, err, errUnreachable)
			}
			require.NoError(t, w.host.Run(t.Context(), true, func(job.Progress) { require.Fail(t, "everything was reported") }))
			require.EqualValues(t, 3, rows)
			require.EqualValues(t, 2, files)
			require.Equal(t, map[int64]int{2: 1, 3: 1}, epochs)
		})
	}
}
