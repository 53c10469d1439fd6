package host_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/host/looking"
	"github.com/streamform/streamform/runtime/job"
)

// keeping is a shop whose source keeps its rows, with two files read, one of which has a malformed record and a value that does not fit.
func keeping(w *world, keep string) {
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4), `{"customer"`, `{"customer":"cy","v":"many"}`)
	w.Purchases(1, Attributes{"keep": Text(keep)})
	w.Put("stream.valid", 1, Attributes{"sql": Text("SELECT customer, v FROM purchases WHERE v > 0")})
	w.Put("view.totals", 1, Attributes{"sql": Text("SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Backfill()
}

// derived puts what cannot be made of what the views remember.
func derived(w *world) {
	w.Put("view.most", 1, Attributes{"sql": Text("SELECT customer, max(v) AS most FROM valid GROUP BY ALL")})
	w.Put("view.broken", 1, Attributes{"sql": Text("SELECT count(*) AS n FROM purchases.malformed")})
	w.Put("sink.delta.raw", 1, Attributes{"from": Text("source.files.purchases"), "path": Text("lake/raw")})
}

func source(w *world) looking.SourceFact {
	return w.Facts().Sources[Address(w.T, "source.files.purchases")]
}

func TestHeldRowsStandInForFiles(t *testing.T) {
	for _, gone := range []bool{false, true} {
		t.Run(fmt.Sprint(gone), func(t *testing.T) {
			w := newWorld(t)
			keeping(w, "all")
			if gone {
				require.NoError(t, os.RemoveAll(w.Path("landing")))
				require.NoError(t, os.MkdirAll(w.Path("landing"), 0o755))
				require.Zero(t, source(w).Lost)
			}
			derived(w)
			did := w.Backfill()
			for _, s := range did.Sources {
				require.Zero(t, s.Files, "no file is read again")
			}
			require.Equal(t, Want("ann|4", "bob|2"), w.Query("FROM most"))
			require.Equal(t, Want("1"), w.Query("FROM broken"))
			rows, _ := w.Table("lake/raw")
			require.Equal(t, Want("ann|1", "ann|4", "bob|2", "cy|NULL"), rows)
			require.Equal(t, rows, w.Query("FROM purchases"))
			require.Equal(t, Want("ann|1", "ann|4", "bob|2"), w.Query("FROM valid"))
			w.Land("c.json", Purchase("bob", 16))
			w.Once()
			require.Equal(t, Want("ann|4", "bob|16"), w.Query("FROM most"))
			rows, _ = w.Table("lake/raw")
			require.Equal(t, Want("ann|1", "ann|4", "bob|16", "bob|2", "cy|NULL"), rows)
			f := source(w)
			require.EqualValues(t, 5, f.Kept.Rows)
			require.EqualValues(t, 3, f.Kept.Files)
			require.Positive(t, f.Kept.Stored)
		})
	}
}

// Rows are held from the epoch on in which a source begins to keep them; what was read before is read from its files.
func TestRowsAreHeldFromThenOn(t *testing.T) {
	for _, gone := range []string{"c.json", "a.json"} {
		t.Run(gone, func(t *testing.T) {
			w := newWorld(t)
			keeping(w, "none")
			require.Zero(t, source(w).Kept)
			w.Purchases(1, Attributes{"keep": Text("all")})
			w.Land("c.json", Purchase("bob", 16))
			w.Once()
			require.EqualValues(t, 1, source(w).Kept.Rows)
			require.NoError(t, os.Remove(w.Path("landing", gone)))
			derived(w)
			if gone == "a.json" {
				require.EqualValues(t, 1, source(w).Lost.Missing)
				_, err := w.Host.Backfill(t.Context(), nil)
				var failure *job.Failure
				require.ErrorAs(t, err, &failure)
				require.Contains(t, failure.Detail, "is gone")
				return
			}
			require.Zero(t, source(w).Lost)
			did := w.Backfill()
			require.EqualValues(t, 2, did.Sources[0].Files)
			require.EqualValues(t, 4-1+1, did.Sources[0].Rows, "of files")
			require.Equal(t, Want("ann|4", "bob|16"), w.Query("FROM most"))
			rows, _ := w.Table("lake/raw")
			require.Equal(t, Want("ann|1", "ann|4", "bob|16", "bob|2", "cy|NULL"), rows)
		})
	}
}

// A duration counts from the commit; what is older goes with the next epoch.
func TestHeldRowsExpire(t *testing.T) {
	w := newWorld(t)
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return now }
	w.Reopen()
	keeping(w, "30d")
	now = now.Add(29 * 24 * time.Hour)
	w.Land("c.json", Purchase("bob", 16))
	w.Once()
	require.EqualValues(t, 5, source(w).Kept.Rows)
	now = now.Add(48 * time.Hour)
	w.Land("d.json", Purchase("bob", 32))
	w.Once()
	f := source(w)
	require.EqualValues(t, 2, f.Kept.Rows)
	require.NoError(t, os.Remove(w.Path("landing", "c.json")))
	derived(w)
	w.Backfill()
	require.Equal(t, Want("ann|4", "bob|32"), w.Query("FROM most"))
	now = now.Add(48 * time.Hour)
	w.Purchases(1, Attributes{"keep": Text("1d")})
	w.Land("e.json", Purchase("bob", 64))
	w.Once()
	require.EqualValues(t, 1, source(w).Kept.Rows, "a shorter duration holds from the next epoch on")
	w.Purchases(1, Attributes{"keep": Text("none")})
	require.Zero(t, source(w).Kept)
	require.EqualValues(t, 1, source(w).Lost.Missing)
}

// What an epoch admits is held with its commit, once.
func TestPowerCutsWhileRowsAreHeld(t *testing.T) {
	w, c := crashable(t)
	start := func() { keeping(w, "all") }
	rest := func() {
		w.Backfill()
		w.Once()
	}
	for i, m := range c.Shoot(start, crashes) {
		w.Cut(m)
		keeping(w, "all")
		rest()
		require.EqualValues(t, 4, source(w).Kept.Rows, "cut %d", i)
		require.Equal(t, Want("ann|1", "ann|4", "bob|2", "cy|NULL"), w.Query("FROM purchases"), "cut %d", i)
	}
}

// A build from held rows goes on after a power cut.
func TestPowerCutsDuringBuildFromHeldRows(t *testing.T) {
	w, c := crashable(t)
	keeping(w, "all")
	require.NoError(t, os.RemoveAll(w.Path("landing")))
	require.NoError(t, os.MkdirAll(w.Path("landing"), 0o755))
	build := func() {
		derived(w)
		w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, min(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
		w.Backfill()
		w.Once()
	}
	for i, m := range c.Shoot(build, crashes) {
		w.Cut(m)
		build()
		require.Equal(t, Want("ann|4", "bob|2"), w.Query("FROM most"), "cut %d", i)
		require.Equal(t, Want("ann|1|2", "bob|2|1", "cy|NULL|1"), w.Query("FROM totals"), "cut %d", i)
		rows, _ := w.Table("lake/raw")
		require.Equal(t, Want("ann|1", "ann|4", "bob|2", "cy|NULL"), rows, "cut %d", i)
		require.EqualValues(t, 4, source(w).Kept.Rows, "cut %d", i)
	}
}
