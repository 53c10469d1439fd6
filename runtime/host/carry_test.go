package host_test

import (
	"encoding/json"
	"maps"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// edit puts another query, carried over as far as comparing it with the former one allows.
func (w *world) edit(name string, generation int64, sql string) evolve.Evolution {
	w.t.Helper()
	a := address(w.t, name)
	before, held := w.programs[a], evolve.Held{}
	attrs := attributes{"sql": text(sql)}
	maps.Copy(attrs, w.keeping)
	r := w.resource(name, generation, attrs)
	for other := range w.programs {
		held[other.Name] = other.Block == addr.View
	}
	e := evolve.Compare(before, w.programs[a], held)
	if e.Carry != nil {
		data, err := json.Marshal(e.Carry)
		require.NoError(w.t, err)
		r.Carry = data
	}
	require.NoError(w.t, w.host.Put(w.t.Context(), r))
	w.puts[a] = r
	return e
}

// gone removes what was read, so that nothing can be read again.
func (w *world) gone() {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(w.path("landing")))
	require.NoError(w.t, os.MkdirAll(w.path("landing"), 0o755))
}

func TestCarriedKeyedData(t *testing.T) {
	for name, c := range map[string]struct {
		view, before, after string
		rows, later         []string
		sinks               map[string]int64
	}{
		"what stands above an aggregate": {"view.totals", totals, "SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL HAVING count(*) > 1",
			want("ann|10|2", "bob|20|2"), want("ann|210|3", "bob|20|2"), map[string]int64{"totals": 5, "valid": 0, "best": 2}},
		"a column added": {"view.totals", totals, "SELECT customer, sum(v) AS total, count(*) AS n, avg(v) AS a FROM purchases GROUP BY ALL",
			want("ann|5|2|2.5", "bob|10|2|5.0", "cy|-1|1|-1.0"), want("ann|105|3|35.0", "bob|10|2|5.0", "cy|-1|1|-1.0"), map[string]int64{"valid": 0, "best": 0, "totals": 6}},
		"a group removed": {"view.totals", totals, "SELECT 'all' AS customer, sum(v) AS total, count(*) AS n FROM purchases",
			want("all|14|5"), want("all|114|6"), map[string]int64{"totals": 4, "valid": 0, "best": 2}},
		"rows held by key": {"view.totals", "SELECT customer, v AS total, 1 AS n FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 1",
			"SELECT customer, v AS total, 1 AS n FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 2",
			want("ann|4|1", "ann|1|1", "bob|8|1", "bob|2|1", "cy|-1|1"), want("ann|100|1", "ann|4|1", "bob|8|1", "bob|2|1", "cy|-1|1"), map[string]int64{"totals": 2, "valid": 0, "best": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.land("a.json", purchase("ann", 1), purchase("bob", 2))
			w.land("b.json", purchase("ann", 4), purchase("cy", -1))
			w.land("c.json", purchase("bob", 8))
			w.shop()
			w.put("view.totals", 1, attributes{"sql": text(c.before)})
			w.put("view.best", 1, attributes{"sql": text("SELECT max(total) AS m FROM totals")})
			w.put("sink.delta.best", 1, attributes{"from": text("view.best"), "path": text("lake/best")})
			w.backfill()
			w.gone()
			e := w.edit(c.view, 2, c.after)
			require.NotNil(t, e.Carry, e.Reason)
			s := w.backfill()
			require.Zero(t, s.Sources[0].Files, "nothing is read")
			require.Equal(t, c.rows, w.query("FROM totals"))
			rows, _ := w.table("lake/totals")
			require.Equal(t, c.rows, rows)
			require.Equal(t, c.sinks, given(s))
			require.EqualValues(t, len(c.rows), w.facts().Resources[address(t, "view.totals")].Rows)
			w.reopen()
			w.land("d.json", purchase("ann", 100))
			w.once()
			require.Equal(t, c.later, w.query("FROM totals"))
			rows, _ = w.table("lake/totals")
			require.Equal(t, c.later, rows)
		})
	}
}

// Two edits of views on each other: the second takes over what the first has changed.
func TestCarriedOneAfterAnother(t *testing.T) {
	w := chain(t)
	w.gone()
	require.NotNil(t, w.edit("view.totals", 2, "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL").Carry)
	require.NotNil(t, w.edit("view.many", 2, "SELECT count(*) AS n, sum(total) + 1 AS t FROM large").Carry)
	w.put("view.best", 1, attributes{"sql": text("SELECT max(total) AS m FROM totals")})
	s := w.backfill()
	require.Zero(t, s.Sources[0].Files)
	require.Equal(t, want("2|151"), w.query("FROM many"))
	require.Equal(t, want("100"), w.query("FROM best"))
	rows, _ := w.table("lake/many")
	require.Equal(t, want("2|151"), rows)
	w.land("d.json", purchase("cy", 2))
	w.once()
	require.Equal(t, want("3|161"), w.query("FROM many"))
}

// What is built from a view that takes over keyed data reads its new rows.
func TestBuiltOnWhatIsCarried(t *testing.T) {
	w := chain(t)
	w.edit("view.totals", 2, "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL")
	w.put("view.largest", 1, attributes{"sql": text("SELECT t.customer, t.total, p.v FROM totals t JOIN purchases p ON t.customer = p.customer AND p.v > 3")})
	w.put("sink.delta.largest", 1, attributes{"from": text("view.largest"), "path": text("lake/largest")})
	w.put("sink.delta.again", 1, attributes{"from": text("view.totals"), "path": text("lake/again")})
	w.backfill()
	rows, _ := w.table("lake/largest")
	require.Equal(t, want("ann|50|4", "bob|100|8"), rows)
	rows, _ = w.table("lake/again")
	require.Equal(t, want("ann|50|2", "bob|100|2", "cy|-10|1"), rows)
}
