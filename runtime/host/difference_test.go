package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// given is how many rows a backfill gave each sink, by name.
func given(s host.Summary) map[string]int64 {
	out := map[string]int64{}
	for _, sink := range s.Sinks {
		out[sink.Addr.Name] = sink.Rows
	}
	return out
}

func TestReadersReceiveTheDifference(t *testing.T) {
	w := chain(t)
	versions := map[string]int64{}
	for _, dir := range []string{"valid", "totals", "large", "many"} {
		_, versions[dir] = w.Table("lake/" + dir)
	}
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(CASE customer WHEN 'cy' THEN v + 100 ELSE v END) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	s := w.Backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 2, "large": 1, "many": 2}, given(s), "cy|-1 became cy|99")
	require.Equal(t, Want("ann|5|2", "bob|10|2", "cy|99|1"), w.Query("FROM totals"))
	for dir, rows := range map[string][]string{"totals": Want("ann|5|2", "bob|10|2", "cy|99|1"), "large": Want("ann|5", "bob|10", "cy|99"), "many": Want("3|114")} {
		got, version := w.Table("lake/" + dir)
		require.Equal(t, rows, got, dir)
		require.Equal(t, versions[dir]+1, version, dir)
	}
	_, version := w.Table("lake/valid")
	require.Equal(t, versions["valid"], version)
	f := w.Facts()
	require.EqualValues(t, 2, f.Resources[Address(t, "view.totals")].Generation)
	require.EqualValues(t, 1, f.Resources[Address(t, "view.large")].Generation)
	w.Reopen()
	w.Land("d.json", Purchase("cy", 1), Purchase("dee", 7))
	w.Once()
	require.Equal(t, Want("4|222"), w.Query("FROM many"))
	rows, _ := w.Table("lake/many")
	require.Equal(t, Want("4|222"), rows)
	rows, _ = w.Table("lake/large")
	require.Equal(t, Want("ann|5", "bob|10", "cy|200", "dee|7"), rows)
}

// One of a thousand rows is another: one row is taken back and one inserted. Replaced without an edit, nothing is written.
func TestSinksAreGivenWhatDiffers(t *testing.T) {
	w := newWorld(t)
	var lines []string
	for i := range 1000 {
		lines = append(lines, Purchase(fmt.Sprintf("c%03d", i), i))
	}
	w.Land("a.json", lines...)
	w.Shop()
	w.Backfill()
	_, before := w.Table("lake/totals")
	w.Put("view.totals", 2, Attributes{"sql": Text(strings.Replace(totals, "sum(v)", "sum(CASE WHEN v = 77 THEN 78 ELSE v END)", 1))})
	s := w.Backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 2}, given(s))
	rows, after := w.Table("lake/totals")
	require.Len(t, rows, 1000)
	require.Contains(t, rows, "c077|78|1")
	require.Equal(t, before+1, after)
	w.Put("view.totals", 3, Attributes{"sql": Text(strings.Replace(totals, "sum(v)", "sum(CASE WHEN v = 77 THEN 78 ELSE v END)", 1))})
	s = w.Backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 0}, given(s))
	_, again := w.Table("lake/totals")
	require.Equal(t, after, again)
}

// What is built from a view that receives a difference waits until it has received it.
func TestBuiltOnWhatReceivesADifference(t *testing.T) {
	w := chain(t)
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.Put("view.best", 1, Attributes{"sql": Text("SELECT max(total) AS m FROM large")})
	w.Put("sink.delta.best", 1, Attributes{"from": Text("view.best"), "path": Text("lake/best")})
	w.Put("sink.delta.copy", 1, Attributes{"from": Text("view.large"), "path": Text("lake/copy")})
	w.Put("view.many", 2, Attributes{"sql": Text("SELECT count(*) AS n, sum(total) + 1 AS t FROM large")})
	s := w.Backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 6, "large": 4, "copy": 2, "best": 1, "many": 2}, given(s))
	for dir, rows := range map[string][]string{"best": Want("20"), "copy": Want("ann|10", "bob|20"), "many": Want("2|31"), "large": Want("ann|10", "bob|20")} {
		got, _ := w.Table("lake/" + dir)
		require.Equal(t, rows, got, dir)
	}
	require.Equal(t, Want("2|31"), w.Query("FROM many"))
	w.Land("d.json", Purchase("ann", 100))
	w.Once()
	rows, _ := w.Table("lake/many")
	require.Equal(t, Want("2|231"), rows)
}

// A reader that the edited view no longer suits is built anew, and its sink receives what differs.
func TestReadersThatCannotReceive(t *testing.T) {
	for name, c := range map[string]struct {
		edit string
		rows []string
	}{
		"a column it reads has another type": {"SELECT customer, CAST(sum(v) AS DOUBLE) AS total, count(*) AS n FROM purchases GROUP BY ALL", Want("ann|5", "bob|10")},
		"rows are never taken back now":      {"SELECT customer, v AS total, 1 AS n FROM purchases", Want("ann|1", "ann|4", "bob|2", "bob|8")},
		"a column it does not read is gone":  {"SELECT customer, sum(v) AS total FROM purchases GROUP BY ALL", Want("ann|5", "bob|10")},
		"columns are in another order":       {"SELECT count(*) AS n, sum(v) AS total, customer FROM purchases GROUP BY ALL", Want("ann|5", "bob|10")},
	} {
		t.Run(name, func(t *testing.T) {
			w := chain(t)
			w.Put("view.totals", 2, Attributes{"sql": Text(c.edit)})
			if strings.Contains(name, "type") { // so have theirs
				w.Put("view.large", 2, Attributes{"sql": Text("SELECT customer, total FROM totals WHERE total > 0")})
				w.Put("view.many", 2, Attributes{"sql": Text("SELECT count(*) AS n, sum(total) AS t FROM large")})
			}
			w.Backfill()
			rows := w.Query("SELECT customer, CAST(total AS INTEGER) FROM large")
			require.Equal(t, c.rows, rows)
			w.Land("d.json", Purchase("ann", 100))
			w.Reopen()
			w.Once()
			require.Equal(t, Want("115"), w.Query("SELECT CAST(t AS INTEGER) FROM many"))
			all, _ := w.Table("lake/totals")
			require.Len(t, all, len(w.Query("FROM totals")))
			large, _ := w.Table("lake/large")
			require.Equal(t, w.Query("FROM large"), large)
		})
	}
}

// A replaced source begins anew: what reads it is built with it.
func TestReplacedSourceReachesEverything(t *testing.T) {
	w := chain(t)
	w.Land("b.json", Purchase("ann", 5), Purchase("cy", -1))
	w.Purchases(2, nil)
	w.Backfill()
	require.Equal(t, Want("2|16"), w.Query("FROM many"))
	for dir, rows := range map[string][]string{"valid": Want("ann|1", "ann|5", "bob|2", "bob|8"), "totals": Want("ann|6|2", "bob|10|2", "cy|-1|1"), "many": Want("2|16")} {
		got, _ := w.Table("lake/" + dir)
		require.Equal(t, rows, got, dir)
	}
	_, ok := w.Facts().Resources[addr.Resource{Block: addr.View, Name: "many"}]
	require.True(t, ok)
}

// A view gets another column: its table gets it in place, with NULL in the rows of before, and these are corrected by the
// difference. A column that is gone, or has another type, is more than a table can take in: it is written anew.
func TestSinksTakeInColumns(t *testing.T) {
	for name, c := range map[string]struct {
		sql     string
		rows    []string
		inPlace bool
		given   int64
	}{
		"added": {"SELECT customer, sum(v) AS total, count(*) AS n, max(v) AS most FROM purchases GROUP BY ALL", Want("ann|5|2|4", "bob|10|2|8", "cy|-1|1|-1"), true, 6},
		"added, often NULL": {"SELECT customer, sum(v) AS total, count(*) AS n, CASE WHEN count(*) < 2 THEN 1 END AS few FROM purchases GROUP BY ALL",
			Want("ann|5|2|NULL", "bob|10|2|NULL", "cy|-1|1|1"), true, 2},
		"gone": {"SELECT customer, sum(v) AS total FROM purchases GROUP BY ALL", Want("ann|5", "bob|10", "cy|-1"), false, 6},
		"another type": {"SELECT customer, sum(v) AS total, CAST(count(*) AS VARCHAR) AS n FROM purchases GROUP BY ALL",
			Want("ann|5|2", "bob|10|2", "cy|-1|1"), false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := running(t)
			w.Put("view.totals", 2, Attributes{"sql": Text(c.sql)})
			s := w.Backfill()
			for _, sink := range s.Sinks {
				if sink.Addr.Name == "totals" {
					require.Equal(t, c.inPlace, sink.Class == "", "written anew only where it cannot take the columns in")
				}
			}
			require.Equal(t, c.given, given(s)["totals"])
			rows, _ := w.Table("lake/totals")
			require.Equal(t, c.rows, rows)
			w.Reopen()
			w.Land("d.json", Purchase("dee", 1))
			w.Once()
			rows, _ = w.Table("lake/totals")
			require.Equal(t, w.Query("FROM totals"), rows)
		})
	}
}
