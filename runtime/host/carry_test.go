package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

func TestCarriedKeyedData(t *testing.T) {
	for name, c := range map[string]struct {
		view, before, after string
		rows, later         []string
		sinks               map[string]int64
	}{
		"what stands above an aggregate": {"view.totals", totals, "SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL HAVING count(*) > 1",
			Want("ann|10|2", "bob|20|2"), Want("ann|210|3", "bob|20|2"), map[string]int64{"totals": 5, "valid": 0, "best": 2}},
		"a column added": {"view.totals", totals, "SELECT customer, sum(v) AS total, count(*) AS n, avg(v) AS a FROM purchases GROUP BY ALL",
			Want("ann|5|2|2.5", "bob|10|2|5.0", "cy|-1|1|-1.0"), Want("ann|105|3|35.0", "bob|10|2|5.0", "cy|-1|1|-1.0"), map[string]int64{"valid": 0, "best": 0, "totals": 6}},
		"a group removed": {"view.totals", totals, "SELECT 'all' AS customer, sum(v) AS total, count(*) AS n FROM purchases",
			Want("all|14|5"), Want("all|114|6"), map[string]int64{"totals": 4, "valid": 0, "best": 2}},
		"rows held by key": {"view.totals", "SELECT customer, v AS total, 1 AS n FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 1",
			"SELECT customer, v AS total, 1 AS n FROM purchases QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 2",
			Want("ann|4|1", "ann|1|1", "bob|8|1", "bob|2|1", "cy|-1|1"), Want("ann|100|1", "ann|4|1", "bob|8|1", "bob|2|1", "cy|-1|1"), map[string]int64{"totals": 2, "valid": 0, "best": 0}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
			w.Land("b.json", Purchase("ann", 4), Purchase("cy", -1))
			w.Land("c.json", Purchase("bob", 8))
			w.Shop()
			w.Put("view.totals", 1, Attributes{"sql": Text(c.before)})
			w.Put("view.best", 1, Attributes{"sql": Text("SELECT max(total) AS m FROM totals")})
			w.Put("sink.delta.best", 1, Attributes{"from": Text("view.best"), "path": Text("lake/best")})
			w.Backfill()
			w.Gone()
			e := w.Edit(c.view, 2, c.after)
			require.NotNil(t, e.Carry, e.Reason)
			s := w.Backfill()
			require.Zero(t, s.Sources[0].Files, "nothing is read")
			require.Equal(t, c.rows, w.Query("FROM totals"))
			rows, _ := w.Table("lake/totals")
			require.Equal(t, c.rows, rows)
			require.Equal(t, c.sinks, given(s))
			require.EqualValues(t, len(c.rows), w.Facts().Resources[Address(t, "view.totals")].Rows)
			w.Reopen()
			w.Land("d.json", Purchase("ann", 100))
			w.Once()
			require.Equal(t, c.later, w.Query("FROM totals"))
			rows, _ = w.Table("lake/totals")
			require.Equal(t, c.later, rows)
		})
	}
}

// Two edits of views on each other: the second takes over what the first has changed.
func TestCarriedOneAfterAnother(t *testing.T) {
	w := chain(t)
	w.Gone()
	require.NotNil(t, w.Edit("view.totals", 2, "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL").Carry)
	require.NotNil(t, w.Edit("view.many", 2, "SELECT count(*) AS n, sum(total) + 1 AS t FROM large").Carry)
	w.Put("view.best", 1, Attributes{"sql": Text("SELECT max(total) AS m FROM totals")})
	s := w.Backfill()
	require.Zero(t, s.Sources[0].Files)
	require.Equal(t, Want("2|151"), w.Query("FROM many"))
	require.Equal(t, Want("100"), w.Query("FROM best"))
	rows, _ := w.Table("lake/many")
	require.Equal(t, Want("2|151"), rows)
	w.Land("d.json", Purchase("cy", 2))
	w.Once()
	require.Equal(t, Want("3|161"), w.Query("FROM many"))
}

// What is built from a view that takes over keyed data reads its new rows.
func TestBuiltOnWhatIsCarried(t *testing.T) {
	w := chain(t)
	w.Edit("view.totals", 2, "SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL")
	w.Put("view.largest", 1, Attributes{"sql": Text("SELECT t.customer, t.total, p.v FROM totals t JOIN purchases p ON t.customer = p.customer AND p.v > 3")})
	w.Put("sink.delta.largest", 1, Attributes{"from": Text("view.largest"), "path": Text("lake/largest")})
	w.Put("sink.delta.again", 1, Attributes{"from": Text("view.totals"), "path": Text("lake/again")})
	w.Backfill()
	rows, _ := w.Table("lake/largest")
	require.Equal(t, Want("ann|50|4", "bob|100|8"), rows)
	rows, _ = w.Table("lake/again")
	require.Equal(t, Want("ann|50|2", "bob|100|2", "cy|-10|1"), rows)
}
