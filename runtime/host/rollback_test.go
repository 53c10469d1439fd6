package host_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
)

// kept is a running chain whose view totals keeps for a day what is replaced.
func kept(t *testing.T) *world {
	w := newWorld(t)
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	w.now = func() time.Time { return at }
	w.later = func(d time.Duration) { at = at.Add(d) }
	w.reopen()
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4), purchase("cy", -1))
	w.shop()
	w.window("view.totals", 1, totals)
	w.put("view.large", 1, attributes{"sql": text("SELECT customer, total FROM totals WHERE total > 0")})
	w.put("sink.delta.large", 1, attributes{"from": text("view.large"), "path": text("lake/large")})
	w.backfill()
	return w
}

// window puts a view that keeps what is replaced for a day.
func (w *world) window(name string, generation int64, sql string) {
	w.put(name, generation, attributes{"sql": text(sql), "rollback_window": text("24h")})
}

func (w *world) rollback(name string) []host.Resource {
	w.t.Helper()
	var restored []host.Resource
	_, err := w.host.Rollback(w.t.Context(), address(w.t, name), func(r []host.Resource) error {
		restored = r
		return nil
	}, nil)
	require.NoError(w.t, err)
	return restored
}

const tenfold = "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL"

func TestRollback(t *testing.T) {
	for name, carried := range map[string]bool{"replayed": false, "carried": true} {
		t.Run(name, func(t *testing.T) {
			w := kept(t)
			if carried {
				w.keeping = attributes{"rollback_window": text("24h")}
				require.NotNil(t, w.edit("view.totals", 2, tenfold).Carry)
			} else {
				w.window("view.totals", 2, tenfold)
			}
			w.backfill()
			require.Equal(t, want("ann|50", "bob|20"), w.query("FROM large"))
			f := w.facts().Resources[address(t, "view.totals")]
			require.Len(t, f.Former, 1)
			require.EqualValues(t, 1, f.Former[0].Generation)
			w.gone()
			w.land("c.json", purchase("ann", 100), purchase("dee", 7))
			w.once()
			w.reopen()
			restored := w.rollback("view.totals")
			require.Len(t, restored, 1)
			require.EqualValues(t, 1, restored[0].Generation)
			require.Contains(t, string(restored[0].Value), totals)
			require.Equal(t, want("ann|105|3", "bob|2|1", "cy|-1|1", "dee|7|1"), w.query("FROM totals"))
			for dir, rows := range map[string][]string{"totals": want("ann|105|3", "bob|2|1", "cy|-1|1", "dee|7|1"), "large": want("ann|105", "bob|2", "dee|7")} {
				table, _ := w.table("lake/" + dir)
				require.Equal(t, rows, table, dir)
			}
			w.land("d.json", purchase("bob", 1))
			w.once()
			require.Equal(t, want("ann|105", "bob|3", "dee|7"), w.query("FROM large"))
			w.rollback("view.totals")
			require.Equal(t, want("ann|1050", "bob|30", "dee|70"), w.query("FROM large"), "and back again")
		})
	}
}

func TestWhatCannotBeRolledBack(t *testing.T) {
	w := kept(t)
	refused := func(name, why string) {
		t.Helper()
		_, err := w.host.Rollback(t.Context(), address(t, name), nil, nil)
		var user *connector.UserError
		require.ErrorAs(t, err, &user)
		require.Contains(t, user.Error(), why)
	}
	refused("view.totals", "No former generation")
	refused("view.none", "has no view.none")
	w.window("view.totals", 2, tenfold)
	w.backfill()
	w.window("view.totals", 3, totals)
	refused("view.totals", "under way")
	w.backfill()
	require.Len(t, w.facts().Resources[address(t, "view.totals")].Former, 2)
	w.later(25 * time.Hour)
	refused("view.totals", "No former generation")
	require.Empty(t, w.facts().Resources[address(t, "view.totals")].Former)
}

// A stream that was restated goes back with its sink and what reads it; files that are read again must be there.
func TestRollbackOfARestatedStream(t *testing.T) {
	w := kept(t)
	w.put("view.of", 1, attributes{"sql": text("SELECT customer, count(*) AS n FROM valid GROUP BY ALL"), "rollback_window": text("24h")})
	w.backfill()
	w.put("stream.valid", 2, attributes{"sql": text("SELECT customer, v * 2 AS v FROM purchases WHERE v > 1")})
	w.backfill()
	require.Equal(t, want("ann|1", "bob|1"), w.query("FROM of"))
	w.land("c.json", purchase("ann", 1))
	w.once()
	restored := w.rollback("stream.valid")
	require.Len(t, restored, 3, "the stream, its sink, and the view on it")
	require.Equal(t, want("ann|3", "bob|1"), w.query("FROM of"))
	rows, _ := w.table("lake/valid")
	require.Equal(t, want("ann|1", "ann|1", "ann|4", "bob|2"), rows)
}

// Killed at any moment, the next rollback or backfill goes on.
func TestPowerCutsDuringRollback(t *testing.T) {
	w, c := crashable(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.shop()
	w.window("view.totals", 1, totals)
	w.backfill()
	w.window("view.totals", 2, tenfold)
	w.backfill()
	w.land("b.json", purchase("ann", 4))
	w.once()
	before, after := want("ann|50|2", "bob|20|1"), want("ann|5|2", "bob|2|1")
	for i, m := range c.shoot(func() { w.rollback("view.totals") }, crashes) {
		w.cut(m)
		rows := w.query("FROM totals")
		require.Contains(t, [][]string{before, after}, rows, "cut %d", i)
		if i%2 == 0 {
			w.once()
		}
		if rows[0] == before[0] {
			require.NotEmpty(t, w.rollback("view.totals"), "cut %d", i)
		}
		w.backfill()
		w.once()
		require.Equal(t, after, w.query("FROM totals"), "cut %d", i)
		table, _ := w.table("lake/totals")
		require.Equal(t, after, table, "cut %d", i)
	}
}
