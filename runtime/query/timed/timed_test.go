package timed_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/temporal"
)

func timedColumns() batch.Schema {
	return batch.Schema{{Name: "seq", Type: "BIGINT"}, {Name: "id", Type: "BIGINT"}, {Name: "k", Type: "VARCHAR"}, {Name: "ts", Type: "TIMESTAMP"},
		{Name: "te", Type: "TIMESTAMP WITH TIME ZONE"}, {Name: "d", Type: "DATE"}, {Name: "dead", Type: "BOOLEAN"}}
}

func at(text string) int64 {
	m, err := time.Parse("2006-01-02 15:04:05.999999", text)
	if err != nil {
		panic(err)
	}
	return m.UnixMicro()
}

// rowsAt is what plain DuckDB gives for a view with the clock fixed.
func (w *world) rowsAt(name string, now int64) []string {
	text := time.UnixMicro(now).UTC().Format("2006-01-02 15:04:05.000000")
	fixed := map[string]string{}
	for _, n := range w.names {
		fixed[n] = strings.NewReplacer("{now}", "TIMESTAMPTZ '"+text+"+00'", "{local}", "TIMESTAMP '"+text+"'", "{today}", "DATE '"+text[:10]+"'").Replace(w.sql[n])
	}
	w.load()
	ctx := context.Background()
	for _, n := range w.names {
		require.NoError(w.t, w.oracle.Exec(ctx, "CREATE OR REPLACE TEMP VIEW "+n+" AS "+fixed[n]))
	}
	rows, err := w.oracle.Text(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "+name)
	require.NoError(w.t, err)
	return lines(rows)
}

// run is an epoch after which every view is as it should be.
func (w *world) run(files ...batch.File) *query.Result {
	r := w.epoch(files...)
	for _, name := range w.names {
		require.Equal(w.t, w.rowsAt(name, w.now), w.rows(name), "%s at %s: %s", name, time.UnixMicro(w.now).UTC(), w.sql[name])
	}
	return r
}

func event(seq, id int, ts string) string {
	return fmt.Sprintf(`{"seq": %d, "id": %d, "k": "a", "ts": "%s", "te": "%s", "d": "%s", "dead": false}`+"\n", seq, id, ts, ts, ts[:10])
}

func TestRowsLeaveAsTimePasses(t *testing.T) {
	w := newWorld(t, "SELECT id, k, ts FROM t WHERE ts > {now} - INTERVAL 7 DAY", "SELECT k, count(*) AS n FROM v0 GROUP BY k")
	w.now = at("2026-03-01 00:00:00")
	r := w.run(w.file("a", event(1, 1, "2026-02-20 00:00:00")+event(2, 2, "2026-02-23 12:00:00")+event(3, 3, "2026-02-28 06:00:00")+event(4, 4, "2026-03-05 00:00:00")))
	require.Equal(t, at("2026-03-02 12:00:00"), r.Due["v0"])
	w.now = r.Due["v0"] - 1
	r = w.run()
	require.Empty(t, r.Remember["v0"], "nothing is due")
	w.now = r.Due["v0"]
	r = w.run()
	require.Equal(t, batch.Counts{Deleted: 1}, r.Relations["v0"])
	require.Equal(t, batch.Counts{Inserted: 1, Deleted: 1}, r.Relations["v1"])
	require.Equal(t, at("2026-03-07 06:00:00"), r.Due["v0"])
	w.now = at("2026-04-01 00:00:00")
	r = w.run(w.file("b", event(5, 5, "2026-02-28 06:00:00")))
	require.Equal(t, batch.Counts{Deleted: 2}, r.Relations["v0"])
	require.Equal(t, temporal.Never, r.Due["v0"])
	require.EqualValues(t, 1, w.memories["v0/sf$op1"].Len(), "no row waits any more: only the clock is remembered")
}

func TestRowsArriveAsTimePasses(t *testing.T) {
	w := newWorld(t, "SELECT id FROM t WHERE ts <= {now}", "SELECT id FROM t WHERE {now} BETWEEN ts AND te + INTERVAL 1 DAY", "SELECT id FROM t WHERE d = {today}")
	w.now = at("2026-03-01 00:00:00")
	r := w.run(w.file("a", event(1, 1, "2026-03-01 00:00:00")+event(2, 2, "2026-03-01 00:00:01")+event(3, 3, "2026-03-08 00:00:00")))
	require.Equal(t, map[string]int64{"v0": at("2026-03-01 00:00:01"), "v1": at("2026-03-01 00:00:01"), "v2": at("2026-03-02 00:00:00")}, r.Due)
	for range 10 {
		w.now = min(w.due["v0"], w.due["v1"], w.due["v2"])
		if w.now == temporal.Never {
			break
		}
		w.run()
	}
	require.Equal(t, temporal.Never, w.now, "all rows are settled")
	require.EqualValues(t, 1, w.memories["v1/sf$op1"].Len())
}

// now() - INTERVAL 1 MONTH is cut to a month's last day, so that rows come back at midnight.
func TestMonthsEnd(t *testing.T) {
	w := newWorld(t, "SELECT id FROM t WHERE ts > {now} - INTERVAL 1 MONTH", "SELECT id FROM t WHERE d > {today} - INTERVAL 1 MONTH")
	w.now = at("2026-03-27 00:00:00")
	w.run(w.file("a", event(1, 1, "2026-02-28 12:00:00")+event(2, 2, "2026-02-28 00:00:00")+event(3, 3, "2026-02-27 23:59:59.999999")+event(4, 4, "2026-03-01 00:00:00")))
	var moments []string
	for w.due["v0"] != temporal.Never && len(moments) < 20 {
		w.now = w.due["v0"]
		moments = append(moments, time.UnixMicro(w.now).UTC().Format("01-02 15:04:05.999999"))
		before := w.rowsAt("v0", w.now-1)
		w.run()
		require.NotEqual(t, before, w.rowsAt("v0", w.now))
	}
	require.Equal(t, []string{"03-27 23:59:59.999999", "03-28 00:00:00", "03-28 12:00:00", "03-29 00:00:00", "03-29 12:00:00", "03-30 00:00:00", "03-30 12:00:00", "03-31 00:00:00",
		"03-31 12:00:00", "04-01 00:00:00"}, moments)
}

func TestClockStandsStillRatherThanBack(t *testing.T) {
	w := newWorld(t, "SELECT id FROM t WHERE ts > {now}")
	w.now = at("2026-03-02 00:00:00")
	w.run(w.file("a", event(1, 1, "2026-03-01 00:00:00")+event(2, 2, "2026-03-03 00:00:00")))
	w.now = at("2026-02-01 00:00:00")
	f := w.file("b", event(3, 3, "2026-03-01 12:00:00"))
	w.epoch(f)
	require.Equal(t, []string{"2"}, w.rows("v0"), "as of the last clock")
}

func TestNullAndInfinity(t *testing.T) {
	w := newWorld(t, "SELECT id FROM t WHERE ts > {now}", "SELECT id FROM t WHERE ts < {now}", "SELECT id FROM t WHERE d >= {today}", "SELECT id FROM t WHERE NOT (te > {now})",
		"SELECT id, ts FROM t WHERE coalesce(ts, TIMESTAMP 'infinity') > {now} AND d < {today}")
	w.now = at("2026-03-01 00:00:00")
	line := func(id int, ts, d string) string {
		return fmt.Sprintf(`{"seq": %d, "id": %d, "ts": %s, "te": %s, "d": %s}`+"\n", id, id, ts, ts, d)
	}
	w.run(w.file("a", line(1, "null", "null")+line(2, `"infinity"`, `"infinity"`)+line(3, `"-infinity"`, `"-infinity"`)+line(4, "null", `"2026-03-01"`)+line(5, `"infinity"`, `"2026-02-28"`)))
	for _, now := range []string{"2026-03-01 23:59:59", "2026-03-02 00:00:00", "2030-01-01 00:00:00"} {
		w.now = at(now)
		w.run()
	}
}

// intervals that conditions may hold.
func randomClock(rng *rand.Rand) string {
	intervals := []string{"INTERVAL 7 DAY", "INTERVAL 1 MONTH", "INTERVAL '36 hours'", "INTERVAL '1 month 3 days 5 hours'", "INTERVAL '2 months -1 day'", "INTERVAL 90 MINUTE"}
	clock := []string{"{now}", "{local}", "{today}", "CAST({now} AS DATE)", "date_trunc('week', {now})", "date_trunc('month', {local})"}[rng.IntN(6)]
	for range rng.IntN(3) {
		clock += []string{" - ", " + "}[rng.IntN(4)/3] + intervals[rng.IntN(len(intervals))]
	}
	return clock
}

// randomCondition is a condition over the columns that {ts}, {te} and {d} stand for.
func randomCondition(rng *rand.Rand) string {
	value := []string{"{ts}", "{te}", "{d}", "{ts} + INTERVAL 3 DAY", "greatest({ts}, {te})", "CAST({te} AS DATE)", "date_trunc('hour', {ts})"}[rng.IntN(7)]
	sign := []string{"<", "<=", ">", ">="}[rng.IntN(4)]
	switch rng.IntN(8) {
	case 3:
		return fmt.Sprintf("%[1]s - {ts} %[2]s INTERVAL '%[3]s%[4]d days %[3]s%[5]d hours'", []string{"{now}", "{local}"}[rng.IntN(2)], sign, []string{"", "-"}[rng.IntN(2)], rng.IntN(40), rng.IntN(30))
	case 4:
		return []string{"{today} - {d} < 9", "{d} - {today} BETWEEN 0 AND 20", "{now} - {te} <= INTERVAL 1 MONTH"}[rng.IntN(3)]
	case 0:
		return fmt.Sprintf("%s BETWEEN %s - INTERVAL 20 DAY AND %s", value, randomClock(rng), randomClock(rng))
	case 1:
		return fmt.Sprintf("%s %s %s AND {te} > %s", value, sign, randomClock(rng), randomClock(rng))
	case 2:
		return fmt.Sprintf("CAST({ts} AS DATE) = CAST(%s AS DATE)", randomClock(rng))
	}
	return fmt.Sprintf("%s %s %s", value, sign, randomClock(rng))
}

func overColumns(condition, ts, te, d string) string {
	return strings.NewReplacer("{ts}", ts, "{te}", te, "{d}", d).Replace(condition)
}

// randomViews are v0, the newest row of each id, which takes rows back, and filters by the time of all shapes over it and over the source.
func randomViews(rng *rand.Rand) []string {
	views := []string{"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1 AND NOT dead"}
	for range 5 {
		of := []string{"t", "v0"}[rng.IntN(2)]
		condition := randomCondition(rng)
		c := overColumns(condition, "a.ts", "a.te", "a.d")
		views = append(views, []string{
			"SELECT id, ts FROM " + of + " a WHERE " + c,
			"SELECT id, k, d FROM " + of + " a WHERE k <> 'b' AND " + c,
			"SELECT k, count(*) AS n, max(ts) AS m FROM " + of + " a WHERE " + c + " GROUP BY k",
			"SELECT a.id, b.seq FROM " + of + " a JOIN v0 b ON a.k = b.k WHERE " + c,
			"SELECT a.id, b.ts FROM v0 b LEFT JOIN (SELECT * FROM " + of + " a WHERE " + c + ") a ON a.id = b.id",
			"SELECT id FROM v0 WHERE EXISTS (SELECT 1 FROM " + of + " a WHERE a.k = v0.k AND " + c + ")",
			"SELECT k, min(te) AS te, max(ts) AS ts, max(d) AS d FROM " + of + " GROUP BY k HAVING " + overColumns(condition, "max(ts)", "min(te)", "max(d)"),
			"SELECT id FROM " + of + " a WHERE " + c + " UNION ALL SELECT seq FROM v0 a WHERE " + overColumns(randomCondition(rng), "a.ts", "a.te", "a.d"),
			"WITH w AS (SELECT * FROM " + of + " a WHERE " + c + ") SELECT x.id, y.id AS other FROM w x JOIN w y ON x.k = y.k AND x.id < y.id",
			"SELECT id, k FROM " + of + " a WHERE " + c + " QUALIFY row_number() OVER (PARTITION BY k ORDER BY seq) = 1",
		}[rng.IntN(10)])
	}
	return append(views, "SELECT count(*) AS n FROM v1")
}

func randomEvents(rng *rand.Rand, seq *int, now int64) string {
	var out strings.Builder
	for range rng.IntN(12) {
		*seq++
		stamp := func() string {
			if rng.IntN(12) == 0 {
				return "null"
			}
			m := time.UnixMicro(now).UTC().Add(time.Duration(rng.IntN(100*24)-50*24) * time.Hour)
			if rng.IntN(3) == 0 {
				m = time.Date(m.Year(), m.Month()+1, 1-rng.IntN(4), rng.IntN(2)*12, 0, 0, 0, time.UTC)
			}
			return m.Format(`"2006-01-02 15:04:05"`)
		}
		d := stamp()
		if d != "null" {
			d = d[:11] + `"`
		}
		fmt.Fprintf(&out, `{"seq": %d, "id": %d, "k": "%c", "ts": %s, "te": %s, "d": %s, "dead": %t}`+"\n", *seq, rng.IntN(20), 'a'+rune(rng.IntN(4)), stamp(), stamp(), d, rng.IntN(5) == 0)
	}
	return out.String()
}

// TestTemporalOracle: views that filter by the time equal plain DuckDB with the clock fixed, whatever comes: clocks near and far, at the moments that are due and right before
// them, new rows, rows taken back, restarts. Nothing changes before the moment that is due.
func TestTemporalOracle(t *testing.T) {
	for i := range *oracleWorlds {
		seed := *oracleSeed + i
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			views := randomViews(rng)
			w := newWorld(t, views...)
			w.now = at("2026-01-30 08:00:00") + rng.Int64N(86400e6*30)
			seq := 0
			for e := range 10 {
				var files []batch.File
				if text := randomEvents(rng, &seq, w.now); e == 0 || text != "" && rng.IntN(3) > 0 {
					files = append(files, w.file(fmt.Sprintf("f%d", e), text+event(seq+1, 99, "2026-02-28 12:00:00")))
					seq++
				}
				w.run(files...)
				next := w.nextClock(rng)
				for name, due := range w.due {
					if next < due {
						require.Equal(t, w.rowsAt(name, w.now), w.rowsAt(name, next), "%s is due at %s, but has changed before: %s", name, time.UnixMicro(due).UTC(), w.sql[name])
					}
				}
				w.now = next
				if rng.IntN(4) == 0 {
					w.restart()
				}
			}
		})
	}
}

// nextClock is a moment from now on: often right at the next moment that is due, or before it.
func (w *world) nextClock(rng *rand.Rand) int64 {
	due := temporal.Never
	for _, d := range w.due {
		due = min(due, d)
	}
	switch rng.IntN(5) {
	case 0, 1:
		if due != temporal.Never {
			return due - int64(rng.IntN(2))
		}
	case 2:
		return w.now
	case 3:
		return w.now + rng.Int64N(86400e6)
	}
	return w.now + rng.Int64N(86400e6*25)
}

// BenchmarkEpoch times epochs in which as many rows come as go, and such in which rows only go, of views that hold many.
func BenchmarkEpoch(b *testing.B) {
	rowsFrom := func(start int64, n int, every int64) string {
		var out strings.Builder
		for i := range n {
			out.WriteString(event(i, i, time.UnixMicro(start+int64(i)*every).UTC().Format("2006-01-02 15:04:05.000000")))
		}
		return out.String()
	}
	for _, held := range []int{10_000, 100_000, 1_000_000} {
		for _, rows := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%d/%d", held, rows), func(b *testing.B) {
				w := newWorld(b, "SELECT id, k, ts FROM t WHERE ts > {now} - INTERVAL 7 DAY")
				week := int64(7 * 86400e6)
				every := week / int64(held)
				w.now = at("2026-03-08 00:00:00")
				w.epoch(w.file("base", rowsFrom(w.now-week, held, every)))
				b.ResetTimer()
				for i := range b.N {
					b.StopTimer()
					w.now += every * int64(rows)
					f := w.file(fmt.Sprintf("f%d", i), rowsFrom(w.now-every*int64(rows), rows, every))
					b.StartTimer()
					r := w.epoch(f)
					require.EqualValues(b, rows, r.Relations["v0"].Deleted, "as many go")
				}
			})
		}
	}
}
