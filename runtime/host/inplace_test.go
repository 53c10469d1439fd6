package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/host/looking"
)

func TestMovedResourcesGoOn(t *testing.T) {
	w := running(t)
	_, before := w.Table("lake/totals")
	w.Move("view.totals", "view.sums", "sink.delta.totals", "sink.delta.sums")
	w.Put("view.sums", 1, Attributes{"sql": Text("SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Put("sink.delta.sums", 1, Attributes{"from": Text("view.sums"), "path": Text("lake/totals")})
	s := w.Backfill()
	require.Empty(t, s.Sources, "nothing is read again")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|-1|1"), w.Query("FROM sums"))
	w.Land("d.json", Purchase("ann", 16))
	w.Reopen()
	w.Once()
	rows, after := w.Table("lake/totals")
	require.Equal(t, Want("ann|21|3", "bob|10|2", "cy|-1|1"), rows)
	require.Equal(t, before+1, after)
	_, there := w.Facts().Resources[Address(t, "view.totals")]
	require.False(t, there)
	w.Move("view.sums", "view.valid2", "sink.delta.sums", "sink.delta.totals")
	require.Error(t, w.Host.Move(t.Context(), map[addr.Resource]addr.Resource{Address(t, "sink.delta.valid"): Address(t, "sink.delta.totals")}), "there is one")
	require.Error(t, w.Host.Move(t.Context(), map[addr.Resource]addr.Resource{Address(t, "view.valid2"): Address(t, "stream.other")}))
}

// TestStreamBecomesView: until the view's rows are computed, also after a crash, what serves is the stream, which holds none.
func TestStreamBecomesView(t *testing.T) {
	w := running(t)
	require.NoError(t, w.Host.Move(t.Context(), map[addr.Resource]addr.Resource{Address(t, "stream.valid"): Address(t, "view.valid")}))
	w.Reopen()
	rows := Want("ann|1", "bob|2", "ann|4", "bob|8")
	require.Equal(t, rows, w.Query("FROM valid"))
	require.Zero(t, w.Facts().Resources[Address(t, "view.valid")].Rows)
	require.EqualValues(t, 1, w.Facts().Resources[Address(t, "view.valid")].Generation)
	before := w.Query("FROM totals")
	w.Put("view.valid", 2, Attributes{"sql": Text("SELECT * FROM purchases WHERE v > 0")})
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("view.valid"), "path": Text("lake/valid")})
	w.Reopen()
	require.Equal(t, rows, w.Query("FROM valid"), "being computed is not yet computed")
	w.Backfill()
	require.Equal(t, rows, w.Query("FROM valid"))
	require.Equal(t, before, w.Query("FROM totals"))
	require.EqualValues(t, 4, w.Facts().Resources[Address(t, "view.valid")].Rows)
	w.Land("d.json", Purchase("ann", 3))
	w.Once()
	table, _ := w.Table("lake/valid")
	rows = Want(append(rows, "ann|3")...)
	require.Equal(t, rows, table)
	require.Equal(t, rows, w.Query("FROM valid"))
	require.Contains(t, w.Query("FROM totals"), "ann|8|3")
}

func TestKeptHistory(t *testing.T) {
	w := running(t)
	_, before := w.Table("lake/valid")
	r := w.Resource("stream.valid", 1, Attributes{"sql": Text("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")})
	r.Keep = true
	for range 2 {
		require.NoError(t, w.Host.Put(t.Context(), r))
	}
	require.Empty(t, w.Backfill().Sources)
	valid, version := w.Table("lake/valid")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8"), valid)
	require.Equal(t, before, version)
	w.Land("d.json", Purchase("ann", 3))
	w.Once()
	valid, _ = w.Table("lake/valid")
	require.Equal(t, Want("ann|1", "bob|2", "ann|4", "bob|8", "ann|300"), valid)
	f := w.Facts().Resources[Address(t, "stream.valid")]
	require.EqualValues(t, 1, f.Generation)
	require.Zero(t, f.Building)
	require.EqualValues(t, 5, f.Delivered)
	require.Len(t, f.Boundaries, 1)
	require.EqualValues(t, 3, f.Boundaries[0].Epoch)
	require.NotEqual(t, f.Boundaries[0].Was, f.Boundaries[0].Is)
	w.Reopen()
	require.Len(t, w.Facts().Resources[Address(t, "stream.valid")].Boundaries, 1)
}

// TestKeptHistoryIsReplayed: what is computed from a stream later, and what a query shows of it, are the rows it gave: up to the
// boundary by the query of then, with NULL for columns it did not have.
func TestKeptHistoryIsReplayed(t *testing.T) {
	w := running(t)
	keep := func(sql string) {
		r := w.Resource("stream.valid", 1, Attributes{"sql": Text(sql)})
		r.Keep = true
		require.NoError(t, w.Host.Put(t.Context(), r))
		require.Empty(t, w.Backfill().Sources)
	}
	keep("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")
	w.Land("d.json", Purchase("ann", 3), Purchase("bob", 6))
	w.Once()
	keep("SELECT customer, v, v + 1 AS next FROM purchases WHERE v > 5")
	w.Land("e.json", Purchase("ann", 5), Purchase("cy", 7))
	w.Once()
	all := Want("ann|1|NULL", "bob|2|NULL", "ann|4|NULL", "bob|8|NULL", "ann|300|NULL", "bob|600|NULL", "cy|7|8")
	require.Equal(t, all, w.Query("SELECT customer, v, next FROM valid"))
	w.Reopen()
	require.Equal(t, all, w.Query("SELECT customer, v, next FROM valid"))
	w.Put("view.later", 1, Attributes{"sql": Text("SELECT customer, v, next FROM valid WHERE v > 0")})
	w.Put("view.sums", 1, Attributes{"sql": Text("SELECT customer, sum(v) AS s, count(next) AS n FROM valid GROUP BY ALL")})
	w.Backfill()
	require.Equal(t, all, w.Query("FROM later"))
	require.Equal(t, Want("ann|305|0", "bob|610|0", "cy|7|1"), w.Query("FROM sums"))
	w.Land("f.json", Purchase("cy", 9))
	w.Once()
	require.Equal(t, Want("ann|305|0", "bob|610|0", "cy|16|2"), w.Query("FROM sums"))
}

func TestFactsTellWhatIsLost(t *testing.T) {
	w := running(t)
	w.Now = nil
	source := Address(t, "source.files.purchases")
	f := w.Facts().Sources[source]
	require.Equal(t, looking.Lost{}, f.Lost)
	require.NoError(t, os.Remove(w.Path("landing", "b.json")))
	w.Land("c.json", Purchase("bob", 8), Purchase("bob", 9))
	f = w.Facts().Sources[source]
	require.EqualValues(t, 1, f.Lost.Missing)
	require.EqualValues(t, 1, f.Lost.Changed)
	require.EqualValues(t, 3, f.Lost.Rows)
	require.Contains(t, f.Lost.Example, "b.json")
	rate := w.Facts().Resources[Address(t, "view.totals")].Rate
	require.Positive(t, rate.RowsPerSecond)
	require.Greater(t, rate.BytesPerSecond, rate.RowsPerSecond)
}

// A sink that is written anew is given the rows that a stream gave by a former query as they were, with those of now, in one commit.
func TestSinksWrittenAnewHoldRowsOfFormerQueries(t *testing.T) {
	w := running(t)
	keep := func(sql string) {
		r := w.Resource("stream.valid", 1, Attributes{"sql": Text(sql)})
		r.Keep = true
		require.NoError(t, w.Host.Put(t.Context(), r))
	}
	keep("SELECT customer, v * 100 AS v FROM purchases WHERE v > 0")
	w.Land("d.json", Purchase("dee", 3), Purchase("eve", -3))
	w.Once()
	keep("SELECT upper(customer) AS customer, v FROM purchases WHERE v < 0")
	w.Land("e.json", Purchase("dee", 3), Purchase("eve", -3))
	w.Once()
	want := Want("ann|1", "bob|2", "ann|4", "bob|8", "dee|300", "EVE|-3")
	rows, _ := w.Table("lake/valid")
	require.Equal(t, want, rows)
	w.Put("sink.delta.valid", 2, Attributes{"from": Text("stream.valid"), "path": Text("lake/elsewhere")})
	w.Put("sink.files.copy", 1, Attributes{"from": Text("stream.valid"), "path": Text("lake/files"), "format": Text("json")})
	s := w.Backfill()
	require.EqualValues(t, 6, given(s)["valid"])
	rows, version := w.Table("lake/elsewhere")
	require.Equal(t, want, rows)
	require.EqualValues(t, 0, version, "one commit")
	w.Land("f.json", Purchase("fay", -1))
	w.Once()
	rows, _ = w.Table("lake/elsewhere")
	require.Equal(t, Want(append(want, "FAY|-1")...), rows)
}
