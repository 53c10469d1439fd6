package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/host/looking"
)

func (w *world) move(pairs ...string) {
	w.t.Helper()
	moves := map[addr.Resource]addr.Resource{}
	for i := 0; i < len(pairs); i += 2 {
		from, err := addr.Parse(pairs[i])
		require.NoError(w.t, err)
		to, err := addr.Parse(pairs[i+1])
		require.NoError(w.t, err)
		moves[from] = to
	}
	for range 2 { // once more has no further effect
		require.NoError(w.t, w.host.Move(w.t.Context(), moves))
	}
}

func (w *world) facts() host.Facts {
	w.t.Helper()
	f, err := w.host.Facts(w.t.Context())
	require.NoError(w.t, err)
	return f
}

func address(t *testing.T, text string) addr.Resource {
	t.Helper()
	a, err := addr.Parse(text)
	require.NoError(t, err)
	return a
}

func TestMovedResourcesGoOn(t *testing.T) {
	w := running(t)
	_, before := w.table("lake/totals")
	w.move("view.totals", "view.sums", "sink.delta.totals", "sink.delta.sums")
	w.put("view.sums", 1, attributes{"sql": text("SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.put("sink.delta.sums", 1, attributes{"from": text("view.sums"), "path": text("lake/totals")})
	s := w.backfill()
	require.Empty(t, s.Sources, "nothing is read again")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|-1|1"), w.query("FROM sums"))
	w.land("d.json", purchase("ann", 16))
	w.reopen()
	w.once()
	rows, after := w.table("lake/totals")
	require.Equal(t, want("ann|21|3", "bob|10|2", "cy|-1|1"), rows)
	require.Equal(t, before+1, after)
	_, there := w.facts().Resources[address(t, "view.totals")]
	require.False(t, there)
	w.move("view.sums", "view.valid2", "sink.delta.sums", "sink.delta.totals")
	require.Error(t, w.host.Move(t.Context(), map[addr.Resource]addr.Resource{address(t, "sink.delta.valid"): address(t, "sink.delta.totals")}), "there is one")
	require.Error(t, w.host.Move(t.Context(), map[addr.Resource]addr.Resource{address(t, "view.valid2"): address(t, "stream.other")}))
}

// TestStreamBecomesView: until the view's rows are computed, also after a crash, what serves is the stream, which holds none.
func TestStreamBecomesView(t *testing.T) {
	w := running(t)
	require.NoError(t, w.host.Move(t.Context(), map[addr.Resource]addr.Resource{address(t, "stream.valid"): address(t, "view.valid")}))
	w.reopen()
	rows := want("ann|1", "bob|2", "ann|4", "bob|8")
	require.Equal(t, rows, w.query("FROM valid"))
	require.Zero(t, w.facts().Resources[address(t, "view.valid")].Rows)
	require.EqualValues(t, 1, w.facts().Resources[address(t, "view.valid")].Generation)
	before := w.query("FROM totals")
	w.put("view.valid", 2, attributes{"sql": text("SELECT * FROM purchases WHERE v > 0")})
	w.put("sink.delta.valid", 2, attributes{"from": text("view.valid"), "path": text("lake/valid")})
	w.reopen()
	require.Equal(t, rows, w.query("FROM valid"), "being computed is not yet computed")
	w.backfill()
	require.Equal(t, rows, w.query("FROM valid"))
	require.Equal(t, before, w.query("FROM totals"))
	require.EqualValues(t, 4, w.facts().Resources[address(t, "view.valid")].Rows)
	w.land("d.json", purchase("ann", 3))
	w.once()
	table, _ := w.table("lake/valid")
	rows = want(append(rows, "ann|3")...)
	require.Equal(t, rows, table)
	require.Equal(t, rows, w.query("FROM valid"))
	require.Contains(t, w.query("FROM totals"), "ann|8|3")
}

func TestKeptHistory(t *testing.T) {
	w := running(t)
	_, before := w.table("lake/valid")
	r := w.resource("stream.valid", 1, attributes{"sql": text("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")})
	r.Keep = true
	for range 2 {
		require.NoError(t, w.host.Put(t.Context(), r))
	}
	require.Empty(t, w.backfill().Sources)
	valid, version := w.table("lake/valid")
	require.Equal(t, want("ann|1", "bob|2", "ann|4", "bob|8"), valid)
	require.Equal(t, before, version)
	w.land("d.json", purchase("ann", 3))
	w.once()
	valid, _ = w.table("lake/valid")
	require.Equal(t, want("ann|1", "bob|2", "ann|4", "bob|8", "ann|300"), valid)
	f := w.facts().Resources[address(t, "stream.valid")]
	require.EqualValues(t, 1, f.Generation)
	require.Zero(t, f.Building)
	require.EqualValues(t, 5, f.Delivered)
	require.Len(t, f.Boundaries, 1)
	require.EqualValues(t, 3, f.Boundaries[0].Epoch)
	require.NotEqual(t, f.Boundaries[0].Was, f.Boundaries[0].Is)
	w.reopen()
	require.Len(t, w.facts().Resources[address(t, "stream.valid")].Boundaries, 1)
}

// TestKeptHistoryIsReplayed: what is computed from a stream later, and what a query shows of it, are the rows it gave: up to the
// boundary by the query of then, with NULL for columns it did not have.
func TestKeptHistoryIsReplayed(t *testing.T) {
	w := running(t)
	keep := func(sql string) {
		r := w.resource("stream.valid", 1, attributes{"sql": text(sql)})
		r.Keep = true
		require.NoError(t, w.host.Put(t.Context(), r))
		require.Empty(t, w.backfill().Sources)
	}
	keep("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")
	w.land("d.json", purchase("ann", 3), purchase("bob", 6))
	w.once()
	keep("SELECT customer, v, v + 1 AS next FROM purchases WHERE v > 5")
	w.land("e.json", purchase("ann", 5), purchase("cy", 7))
	w.once()
	all := want("ann|1|NULL", "bob|2|NULL", "ann|4|NULL", "bob|8|NULL", "ann|300|NULL", "bob|600|NULL", "cy|7|8")
	require.Equal(t, all, w.query("SELECT customer, v, next FROM valid"))
	w.reopen()
	require.Equal(t, all, w.query("SELECT customer, v, next FROM valid"))
	w.put("view.later", 1, attributes{"sql": text("SELECT customer, v, next FROM valid WHERE v > 0")})
	w.put("view.sums", 1, attributes{"sql": text("SELECT customer, sum(v) AS s, count(next) AS n FROM valid GROUP BY ALL")})
	w.backfill()
	require.Equal(t, all, w.query("FROM later"))
	require.Equal(t, want("ann|305|0", "bob|610|0", "cy|7|1"), w.query("FROM sums"))
	w.land("f.json", purchase("cy", 9))
	w.once()
	require.Equal(t, want("ann|305|0", "bob|610|0", "cy|16|2"), w.query("FROM sums"))
}

func TestFactsTellWhatIsLost(t *testing.T) {
	w := running(t)
	w.now = nil
	source := address(t, "source.files.purchases")
	f := w.facts().Sources[source]
	require.Equal(t, looking.Lost{}, f.Lost)
	require.NoError(t, os.Remove(w.path("landing", "b.json")))
	w.land("c.json", purchase("bob", 8), purchase("bob", 9))
	f = w.facts().Sources[source]
	require.EqualValues(t, 1, f.Lost.Missing)
	require.EqualValues(t, 1, f.Lost.Changed)
	require.EqualValues(t, 3, f.Lost.Rows)
	require.Contains(t, f.Lost.Example, "b.json")
	rate := w.facts().Resources[address(t, "view.totals")].Rate
	require.Positive(t, rate.RowsPerSecond)
	require.Greater(t, rate.BytesPerSecond, rate.RowsPerSecond)
}
