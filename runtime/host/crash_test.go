package host_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/host"
	. "github.com/streamform/streamform/runtime/host/hosttest"
)

const crashes = 9

func TestPowerCutsDuringBackfill(t *testing.T) {
	w, c := crashable(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4), `{"customer"`, Purchase("cy", -1))
	w.Land("c.json", Purchase("bob", 8))
	w.Shop()
	for i, m := range c.Shoot(func() { w.Backfill() }, crashes) {
		w.Cut(m)
		w.Backfill()
		w.Once()
		valid, version := w.Table("lake/valid")
		require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8"), valid, "cut %d", i)
		require.EqualValues(t, 2, version, "cut %d: one version for each epoch", i)
		sums, _ := w.Table("lake/totals")
		require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), sums, "cut %d", i)
		require.Equal(t, sums, w.Query("FROM totals"))
		require.Equal(t, Want("1|read|2", "2|read|2", "3|read|1"), w.Query("SELECT ordinal, status, rows FROM purchases.files"))
		require.Equal(t, Want("1"), w.Query("SELECT count(*) FROM purchases.malformed"))
		f, err := w.Host.Facts(t.Context())
		require.NoError(t, err)
		for _, s := range f.Sources {
			require.EqualValues(t, 5, s.Rows, "counters are part of the commit")
			require.Zero(t, s.BacklogFiles)
		}
	}
}

func TestPowerCutsDuringRun(t *testing.T) {
	w, c := crashable(t)
	w.Land("a.json", Purchase("ann", 1))
	w.Shop()
	w.Backfill()
	for i := range 3 {
		w.Land(fmt.Sprintf("n%d.json", i), Purchase("ann", 1), Purchase("bob", 1))
	}
	for i, m := range c.Shoot(w.Once, crashes) {
		w.Cut(m)
		w.Once()
		w.Once()
		valid, version := w.Table("lake/valid")
		require.Len(t, valid, 7, "cut %d", i)
		require.EqualValues(t, 3, version, "cut %d", i)
		sums, _ := w.Table("lake/totals")
		require.Equal(t, Want("ann|4|4", "bob|3|3"), sums, "cut %d", i)
	}
}

// A rebuild is the old or the new generation, never a mix, and the next backfill finishes it.
func TestPowerCutsDuringRebuild(t *testing.T) {
	w, c := crashable(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4))
	w.Shop()
	w.Put("view.big", 1, Attributes{"sql": Text("SELECT max(total) AS m FROM totals")})
	w.Put("sink.delta.big", 1, Attributes{"from": Text("view.big"), "path": Text("lake/big")})
	w.Backfill()
	w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, -v AS v FROM purchases")})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid")})
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Put("sink.delta.totals", 2, Attributes{"from": Text("view.totals"), "path": Text("lake/totals")})
	w.Put("view.fresh", 1, Attributes{"sql": Text("SELECT customer, count(*) AS n FROM valid GROUP BY ALL")})
	w.Put("sink.delta.fresh", 1, Attributes{"from": Text("view.fresh"), "path": Text("lake/fresh")})
	before, after := Want("ann|5|2", "bob|2|1"), Want("ann|50|2", "bob|20|1")
	for i, m := range c.Shoot(func() { w.Backfill() }, crashes) {
		w.Cut(m)
		require.Contains(t, [][]string{before, after}, w.Query("FROM totals"), "cut %d", i)
		if sums, _ := w.Table("lake/totals"); len(sums) > 0 {
			require.Contains(t, [][]string{before, after}, sums, "cut %d", i)
		}
		w.Land("late.json")
		w.Backfill()
		w.Once()
		require.Equal(t, after, w.Query("FROM totals"), "cut %d", i)
		require.Equal(t, Want("50"), w.Query("FROM big"))
		for dir, rows := range map[string][]string{"lake/totals": after, "lake/valid": Want("ann|-1", "bob|-2", "ann|-4"),
			"lake/big": Want("50"), "lake/fresh": Want("ann|2", "bob|1")} {
			got, _ := w.Table(dir)
			require.Equal(t, rows, got, "cut %d: %s", i, dir)
		}
		require.NoError(t, os.Remove(w.Path("landing", "late.json")))
	}
}

func TestDeliveriesThatFail(t *testing.T) {
	for _, after := range []bool{false, true} {
		for _, times := range []int{1, 3, 4, 11} {
			t.Run(fmt.Sprintf("after %t %d times", after, times), func(t *testing.T) {
				w := newWorld(t)
				w.Land("a.json", Purchase("ann", 1))
				w.Land("b.json", Purchase("ann", 2))
				w.Shop()
				fault := &Fault{Times: times, Published: after}
				w.Shake(fault)
				_, err := w.Host.Backfill(t.Context(), nil)
				for fault.Times > 0 {
					require.ErrorIs(t, err, ErrUnreachable, "after four attempts the command ends")
					w.Reopen()
					_, err = w.Host.Backfill(t.Context(), nil)
				}
				if err != nil {
					require.ErrorIs(t, err, ErrUnreachable)
					w.Reopen()
				}
				w.Once()
				w.Once()
				valid, version := w.Table("lake/valid")
				require.Equal(t, Want("ann|1", "ann|2"), valid)
				require.EqualValues(t, 1, version)
				sums, _ := w.Table("lake/totals")
				require.Equal(t, Want("ann|3|2"), sums)
				for i, d := range w.Waited {
					require.Equal(t, time.Second<<(i%3), d)
				}
			})
		}
	}
}

// An edit that carries keyed data over, and one that is replayed, beside readers that receive the difference: the view, its
// reader and both tables show the former or the new rows, never a mix, and the next backfill finishes.
func TestPowerCutsDuringCutOverWithDifferences(t *testing.T) {
	for name, carried := range map[string]bool{"carried": true, "replayed": false} {
		t.Run(name, func(t *testing.T) {
			w, c := crashable(t)
			w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
			w.Land("b.json", Purchase("ann", 4))
			w.Shop()
			w.Put("view.big", 1, Attributes{"sql": Text("SELECT max(total) AS m, count(*) AS n FROM totals")})
			w.Put("sink.delta.big", 1, Attributes{"from": Text("view.big"), "path": Text("lake/big")})
			w.Backfill()
			sql := "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL"
			before, after := Want("ann|5|2", "bob|2|1"), Want("ann|50|2", "bob|20|1")
			shots := c.Shoot(func() {
				if carried {
					require.NotNil(t, w.Edit("view.totals", 2, sql).Carry)
				} else {
					w.Put("view.totals", 2, Attributes{"sql": Text(sql)})
				}
				w.Backfill()
			}, crashes)
			for i, m := range shots {
				w.Cut(m)
				rows := w.Query("FROM totals")
				require.Contains(t, [][]string{before, after}, rows, "cut %d", i)
				big := map[bool][]string{false: Want("5|2"), true: Want("50|2")}[rows[0] == after[0]]
				require.Equal(t, big, w.Query("FROM big"), "cut %d: the reader is where the view is", i)
				for dir, states := range map[string][][]string{"totals": {before, after}, "big": {Want("5|2"), Want("50|2")}} {
					table, _ := w.Table("lake/" + dir)
					require.Contains(t, states, table, "cut %d: %s", i, dir)
				}
				w.Land("late.json", Purchase("bob", 1))
				if i%2 == 0 { // what was begun finishes later: what serves goes on
					w.Once()
				}
				if carried {
					require.NoError(t, w.Host.Put(t.Context(), w.Puts[Address(t, "view.totals")]))
				} else {
					w.Put("view.totals", 2, Attributes{"sql": Text(sql)})
				}
				w.Backfill()
				w.Once()
				for dir, rows := range map[string][]string{"totals": Want("ann|50|2", "bob|30|2"), "big": Want("50|2")} {
					table, _ := w.Table("lake/" + dir)
					require.Equal(t, rows, table, "cut %d: %s", i, dir)
					require.Equal(t, rows, w.Query("FROM "+dir), "cut %d", i)
				}
				require.NoError(t, os.Remove(w.Path("landing", "late.json")))
			}
		})
	}
}

// A rebuild that fails leaves what serves as it is, and it goes on.
func TestFailingRebuildLeavesTheLiveOneServing(t *testing.T) {
	w := chain(t)
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(CAST(CASE WHEN v = 8 THEN 'x' ELSE v::VARCHAR END AS BIGINT)) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	_, err := w.Host.Backfill(t.Context(), nil)
	require.Error(t, err)
	require.Equal(t, Want("2|15"), w.Query("FROM many"))
	require.EqualValues(t, 2, w.Facts().Resources[Address(t, "view.totals")].Building, "the next plan sees it")
	require.EqualValues(t, 1, w.Facts().Resources[Address(t, "view.totals")].Generation)
	w.Land("d.json", Purchase("ann", 100))
	w.Once()
	require.Equal(t, Want("2|115"), w.Query("FROM many"))
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) AS total, count(*) AS n FROM purchases WHERE v > 1 GROUP BY ALL")})
	w.Backfill()
	require.Equal(t, Want("2|114"), w.Query("FROM many"))
}

// What a cut-over took is told once, however often staging had to be tried.
func TestRetriedCutOverIsCountedOnce(t *testing.T) {
	sums := func(fails int) (s host.Summary) {
		w := running(t)
		w.Shake(&Fault{Staging: fails, At: "sink.delta.totals"})
		w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/valid2")})
		w.Put("sink.delta.totals", 2, Attributes{"from": Text("view.totals"), "path": Text("lake/totals2")})
		s = w.Backfill()
		require.Len(t, w.Waited, fails)
		return s
	}
	once := sums(0)
	require.EqualValues(t, 5, once.Sources[0].Rows)
	require.EqualValues(t, 3, once.Sinks[0].HeldRows)
	for fails := 1; fails <= 3; fails++ {
		again := sums(fails)
		require.Equal(t, once.Sources, again.Sources)
		for i := range once.Sinks {
			require.Equal(t, once.Sinks[i].Work, again.Sinks[i].Work, once.Sinks[i].Addr)
			require.Equal(t, once.Sinks[i].Rows, again.Sinks[i].Rows)
		}
	}
}
