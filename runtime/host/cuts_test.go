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

	. "github.com/streamform/streamform/runtime/host/hosttest"
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
			w.Purchases(1, limit(files))
			w.Put("stream.odd", 1, Attributes{"sql": Text("SELECT customer, v FROM purchases WHERE v % 2 = 1")})
			w.Put("view.grouped", 1, Attributes{"sql": Text(grouped)})
			w.Put("view.ranked", 1, Attributes{"sql": Text(ranked)})
			w.Put("view.overall", 1, Attributes{"sql": Text("SELECT sum(s) AS s, count(*) AS n FROM grouped")})
			for _, from := range []string{"stream.odd", "view.grouped", "view.ranked", "view.overall"} {
				_, name, _ := strings.Cut(from, ".")
				w.Put("sink.delta."+name, 1, Attributes{"from": Text(from), "path": Text("lake/" + from)})
			}
			w.Backfill()
			require.Equal(t, Want("NULL|0"), w.Query("FROM overall"), "an aggregate over nothing has a row")
			for i := range 7 {
				var rows []string
				for range rng.IntN(4) {
					rows = append(rows, Purchase(fmt.Sprint("c", rng.IntN(3)), rng.IntN(100)))
				}
				w.Land(fmt.Sprintf("%d.json", i), rows...)
			}
			w.reports(func(p job.Progress) bool { return rng.IntN(3) == 0 })
			w.Reopen()
			w.Once()
			w.Once()
			for from, sql := range map[string]string{"stream.odd": "SELECT customer, v FROM purchases WHERE v % 2 = 1", "view.grouped": grouped,
				"view.ranked": ranked, "view.overall": "SELECT sum(s), count(*) FROM (" + grouped + ")"} {
				_, name, _ := strings.Cut(from, ".")
				expected := w.Query(sql)
				got, _ := w.Table("lake/" + from)
				require.Equal(t, expected, got, from)
				require.Equal(t, expected, w.Query("FROM "+name), from)
			}
		})
	}
}

func TestProgressIsOneObjectForEachEpoch(t *testing.T) {
	w := newWorld(t)
	w.Purchases(1, limit(2))
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	w.Put("sink.delta.totals", 1, Attributes{"from": Text("view.totals"), "path": Text("lake")})
	w.Backfill()
	require.NoError(t, w.Host.Close())
	w.Now = func() time.Time { return time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC) }
	w.Open()
	w.Land("a.json", Purchase("ann", 1), `{"v"`)
	w.Land("b.json", Purchase("ann", 2), Purchase("bob", 4))
	w.Land("c.json", Purchase("bob", 8))
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
	w.Reopen()
	w.Land("d.json", Purchase("bob", 16))
	again := w.reports(nil)
	require.Equal(t, all[0].ID, again[0].ID, "stays over restarts")
	require.NotEqual(t, all[0].RunID, again[0].RunID)
	require.EqualValues(t, 3, again[0].BatchID)
}

func TestSourceWithManyFilesIsFollowedCheaply(t *testing.T) {
	w := newWorld(t)
	const n = 3000
	for i := range n {
		w.Land(fmt.Sprintf("%05d.json", i), Purchase("ann", 1))
	}
	w.Purchases(1, Attributes{"max_files_per_epoch": cty.NumberIntVal(n)})
	w.Put("view.totals", 1, Attributes{"sql": Text(totals)})
	s := w.Backfill()
	require.EqualValues(t, n, s.Sources[0].Files)
	require.Equal(t, Want(fmt.Sprintf("ann|%d|%d", n, n)), w.Query("FROM totals"))
	require.Equal(t, Want(fmt.Sprintf("%d|1|%d", n, n)), w.Query("SELECT count(*), min(ordinal), max(ordinal) FROM purchases.files"))
}

// An epoch that was committed and not reported, as its delivery failed or the process was killed, is reported by the next run:
// the sums over all reports are those of a run without mishap.
func TestLostProgressIsReportedOnce(t *testing.T) {
	for name, restarts := range map[string]int{"once": 1, "twice": 2} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Land("a.json", Purchase("ann", 1))
			w.Shop()
			w.Backfill()
			w.Shake(&Fault{Times: 4 * restarts})
			w.Land("b.json", Purchase("ann", 2), Purchase("bob", 4))
			w.Land("c.json", Purchase("cy", 3))
			var rows, files int64
			epochs := map[int64]int{}
			for {
				err := w.Host.Run(t.Context(), true, func(p job.Progress) {
					rows += p.NumInputRows
					files += p.Sources[0].Files
					epochs[p.BatchID]++
				})
				w.Reopen()
				if err == nil {
					break
				}
				require.ErrorIs(t, err, ErrUnreachable)
			}
			require.NoError(t, w.Host.Run(t.Context(), true, func(job.Progress) { require.Fail(t, "everything was reported") }))
			require.EqualValues(t, 3, rows)
			require.EqualValues(t, 2, files)
			require.Equal(t, map[int64]int{2: 1, 3: 1}, epochs)
		})
	}
}
