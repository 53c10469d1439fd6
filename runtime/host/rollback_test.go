package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// kept is a running chain whose view totals keeps for a day what is replaced.
func kept(t *testing.T) *world {
	w := newWorld(t)
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return at }
	w.Later = func(d time.Duration) { at = at.Add(d) }
	w.Reopen()
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Land("b.json", Purchase("ann", 4), Purchase("cy", -1))
	w.Shop()
	w.window("view.totals", 1, totals)
	w.Put("view.large", 1, Attributes{"sql": Text("SELECT customer, total FROM totals WHERE total > 0")})
	w.Put("sink.delta.large", 1, Attributes{"from": Text("view.large"), "path": Text("lake/large")})
	w.Backfill()
	return w
}

// window puts a view that keeps what is replaced for a day.
func (w *world) window(name string, generation int64, sql string) {
	w.Put(name, generation, Attributes{"sql": Text(sql), "rollback_window": Text("24h")})
}

func (w *world) rollback(name string) []host.Resource {
	w.T.Helper()
	var restored []host.Resource
	_, err := w.Host.Rollback(w.T.Context(), Address(w.T, name), func(r []host.Resource) error {
		restored = r
		return nil
	}, nil)
	require.NoError(w.T, err)
	return restored
}

const tenfold = "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL"

func TestRollback(t *testing.T) {
	for name, carried := range map[string]bool{"replayed": false, "carried": true} {
		t.Run(name, func(t *testing.T) {
			w := kept(t)
			if carried {
				w.Keeping = Attributes{"rollback_window": Text("24h")}
				require.NotNil(t, w.Edit("view.totals", 2, tenfold).Carry)
			} else {
				w.window("view.totals", 2, tenfold)
			}
			w.Backfill()
			require.Equal(t, Want("ann|50", "bob|20"), w.Query("FROM large"))
			f := w.Facts().Resources[Address(t, "view.totals")]
			require.Len(t, f.Former, 1)
			require.EqualValues(t, 1, f.Former[0].Generation)
			w.Gone()
			w.Land("c.json", Purchase("ann", 100), Purchase("dee", 7))
			w.Once()
			w.Reopen()
			restored := w.rollback("view.totals")
			require.Len(t, restored, 1)
			require.EqualValues(t, 1, restored[0].Generation)
			require.Contains(t, string(restored[0].Value), totals)
			require.Equal(t, Want("ann|105|3", "bob|2|1", "cy|-1|1", "dee|7|1"), w.Query("FROM totals"))
			for dir, rows := range map[string][]string{"totals": Want("ann|105|3", "bob|2|1", "cy|-1|1", "dee|7|1"), "large": Want("ann|105", "bob|2", "dee|7")} {
				table, _ := w.Table("lake/" + dir)
				require.Equal(t, rows, table, dir)
			}
			w.Land("d.json", Purchase("bob", 1))
			w.Once()
			require.Equal(t, Want("ann|105", "bob|3", "dee|7"), w.Query("FROM large"))
			w.rollback("view.totals")
			require.Equal(t, Want("ann|1050", "bob|30", "dee|70"), w.Query("FROM large"), "and back again")
		})
	}
}

func TestWhatCannotBeRolledBack(t *testing.T) {
	w := kept(t)
	refused := func(name, why string) {
		t.Helper()
		_, err := w.Host.Rollback(t.Context(), Address(t, name), nil, nil)
		var user *connector.UserError
		require.ErrorAs(t, err, &user)
		require.Contains(t, user.Error(), why)
	}
	refused("view.totals", "No former generation")
	refused("view.none", "has no view.none")
	w.window("view.totals", 2, tenfold)
	w.Backfill()
	w.window("view.totals", 3, totals)
	refused("view.totals", "under way")
	w.Backfill()
	require.Len(t, w.Facts().Resources[Address(t, "view.totals")].Former, 2)
	w.Later(25 * time.Hour)
	refused("view.totals", "No former generation")
	require.Empty(t, w.Facts().Resources[Address(t, "view.totals")].Former)
}

// A stream that was restated goes back with its sink and what reads it; files that are read again must be there.
func TestRollbackOfARestatedStream(t *testing.T) {
	w := kept(t)
	w.Put("view.of", 1, Attributes{"sql": Text("SELECT customer, count(*) AS n FROM valid GROUP BY ALL"), "rollback_window": Text("24h")})
	w.Backfill()
	w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, v * 2 AS v FROM purchases WHERE v > 1")})
	w.Backfill()
	require.Equal(t, Want("ann|1", "bob|1"), w.Query("FROM of"))
	w.Land("c.json", Purchase("ann", 1))
	w.Once()
	restored := w.rollback("stream.valid")
	require.Len(t, restored, 3, "the stream, its sink, and the view on it")
	require.Equal(t, Want("ann|3", "bob|1"), w.Query("FROM of"))
	rows, _ := w.Table("lake/valid")
	require.Equal(t, Want("ann|1", "ann|1", "ann|4", "bob|2"), rows)
}

// Killed at any moment, the next rollback or backfill goes on.
func TestPowerCutsDuringRollback(t *testing.T) {
	w, c := crashable(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Shop()
	w.window("view.totals", 1, totals)
	w.Backfill()
	w.window("view.totals", 2, tenfold)
	w.Backfill()
	w.Land("b.json", Purchase("ann", 4))
	w.Once()
	before, after := Want("ann|50|2", "bob|20|1"), Want("ann|5|2", "bob|2|1")
	for i, m := range c.Shoot(func() { w.rollback("view.totals") }, crashes) {
		w.Cut(m)
		rows := w.Query("FROM totals")
		require.Contains(t, [][]string{before, after}, rows, "cut %d", i)
		if i%2 == 0 {
			w.Once()
		}
		if rows[0] == before[0] {
			require.NotEmpty(t, w.rollback("view.totals"), "cut %d", i)
		}
		w.Backfill()
		w.Once()
		require.Equal(t, after, w.Query("FROM totals"), "cut %d", i)
		table, _ := w.Table("lake/totals")
		require.Equal(t, after, table, "cut %d", i)
	}
}
