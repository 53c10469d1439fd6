package host_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
)

// given is how many rows a backfill gave each sink, by name.
func given(s host.Summary) map[string]int64 {
	out := map[string]int64{}
	for _, sink := range s.Sinks {
		out[sink.Addr.Name] = sink.Rows
	}
	return out
}

// chain is a running shop with views on views: totals, large of totals, count of large; each has a sink.
func chain(t *testing.T) *world {
	w := running(t)
	w.put("view.large", 1, attributes{"sql": text("SELECT customer, total FROM totals WHERE total > 0")})
	w.put("sink.delta.large", 1, attributes{"from": text("view.large"), "path": text("lake/large")})
	w.put("view.many", 1, attributes{"sql": text("SELECT count(*) AS n, sum(total) AS t FROM large")})
	w.put("sink.delta.many", 1, attributes{"from": text("view.many"), "path": text("lake/many")})
	w.backfill()
	require.Equal(t, want("2|15"), w.query("FROM many"))
	return w
}

func TestReadersReceiveTheDifference(t *testing.T) {
	w := chain(t)
	versions := map[string]int64{}
	for _, dir := range []string{"valid", "totals", "large", "many"} {
		_, versions[dir] = w.table("lake/" + dir)
	}
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(CASE customer WHEN 'cy' THEN v + 100 ELSE v END) AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	s := w.backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 2, "large": 1, "many": 2}, given(s), "cy|-1 became cy|99")
	require.Equal(t, want("ann|5|2", "bob|10|2", "cy|99|1"), w.query("FROM totals"))
	for dir, rows := range map[string][]string{"totals": want("ann|5|2", "bob|10|2", "cy|99|1"), "large": want("ann|5", "bob|10", "cy|99"), "many": want("3|114")} {
		got, version := w.table("lake/" + dir)
		require.Equal(t, rows, got, dir)
		require.Equal(t, versions[dir]+1, version, dir)
	}
	_, version := w.table("lake/valid")
	require.Equal(t, versions["valid"], version)
	f := w.facts()
	require.EqualValues(t, 2, f.Resources[address(t, "view.totals")].Generation)
	require.EqualValues(t, 1, f.Resources[address(t, "view.large")].Generation)
	w.reopen()
	w.land("d.json", purchase("cy", 1), purchase("dee", 7))
	w.once()
	require.Equal(t, want("4|222"), w.query("FROM many"))
	rows, _ := w.table("lake/many")
	require.Equal(t, want("4|222"), rows)
	rows, _ = w.table("lake/large")
	require.Equal(t, want("ann|5", "bob|10", "cy|200", "dee|7"), rows)
}

// One of a thousand rows is another: one row is taken back and one inserted. Replaced without an edit, nothing is written.
func TestSinksAreGivenWhatDiffers(t *testing.T) {
	w := newWorld(t)
	var lines []string
	for i := range 1000 {
		lines = append(lines, purchase(fmt.Sprintf("c%03d", i), i))
	}
	w.land("a.json", lines...)
	w.shop()
	w.backfill()
	_, before := w.table("lake/totals")
	w.put("view.totals", 2, attributes{"sql": text(strings.Replace(totals, "sum(v)", "sum(CASE WHEN v = 77 THEN 78 ELSE v END)", 1))})
	s := w.backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 2}, given(s))
	rows, after := w.table("lake/totals")
	require.Len(t, rows, 1000)
	require.Contains(t, rows, "c077|78|1")
	require.Equal(t, before+1, after)
	w.put("view.totals", 3, attributes{"sql": text(strings.Replace(totals, "sum(v)", "sum(CASE WHEN v = 77 THEN 78 ELSE v END)", 1))})
	s = w.backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 0}, given(s))
	_, again := w.table("lake/totals")
	require.Equal(t, after, again)
}

// What is built from a view that receives a difference waits until it has received it.
func TestBuiltOnWhatReceivesADifference(t *testing.T) {
	w := chain(t)
	w.put("view.totals", 2, attributes{"sql": text("SELECT customer, sum(v) * 2 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
	w.put("view.best", 1, attributes{"sql": text("SELECT max(total) AS m FROM large")})
	w.put("sink.delta.best", 1, attributes{"from": text("view.best"), "path": text("lake/best")})
	w.put("sink.delta.copy", 1, attributes{"from": text("view.large"), "path": text("lake/copy")})
	w.put("view.many", 2, attributes{"sql": text("SELECT count(*) AS n, sum(total) + 1 AS t FROM large")})
	s := w.backfill()
	require.Equal(t, map[string]int64{"valid": 0, "totals": 6, "large": 4, "copy": 2, "best": 1, "many": 2}, given(s))
	for dir, rows := range map[string][]string{"best": want("20"), "copy": want("ann|10", "bob|20"), "many": want("2|31"), "large": want("ann|10", "bob|20")} {
		got, _ := w.table("lake/" + dir)
		require.Equal(t, rows, got, dir)
	}
	require.Equal(t, want("2|31"), w.query("FROM many"))
	w.land("d.json", purchase("ann", 100))
	w.once()
	rows, _ := w.table("lake/many")
	require.Equal(t, want("2|231"), rows)
}

// A reader that the edited view no longer suits is built anew, and its sink receives what differs.
func TestReadersThatCannotReceive(t *testing.T) {
	for name, c := range map[string]struct {
		edit string
		rows []string
	}{
		"a column it reads has another type": {"SELECT customer, CAST(sum(v) AS DOUBLE) AS total, count(*) AS n FROM purchases GROUP BY ALL", want("ann|5", "bob|10")},
		"rows are never taken back now":      {"SELECT customer, v AS total, 1 AS n FROM purchases", want("ann|1", "ann|4", "bob|2", "bob|8")},
		"a column it does not read is gone":  {"SELECT customer, sum(v) AS total FROM purchases GROUP BY ALL", want("ann|5", "bob|10")},
		"columns are in another order":       {"SELECT count(*) AS n, sum(v) AS total, customer FROM purchases GROUP BY ALL", want("ann|5", "bob|10")},
	} {
		t.Run(name, func(t *testing.T) {
			w := chain(t)
			w.put("view.totals", 2, attributes{"sql": text(c.edit)})
			if strings.Contains(name, "type") { // so have theirs
				w.put("view.large", 2, attributes{"sql": text("SELECT customer, total FROM totals WHERE total > 0")})
				w.put("view.many", 2, attributes{"sql": text("SELECT count(*) AS n, sum(total) AS t FROM large")})
			}
			w.backfill()
			rows := w.query("SELECT customer, CAST(total AS INTEGER) FROM large")
			require.Equal(t, c.rows, rows)
			w.land("d.json", purchase("ann", 100))
			w.reopen()
			w.once()
			require.Equal(t, want("115"), w.query("SELECT CAST(t AS INTEGER) FROM many"))
			all, _ := w.table("lake/totals")
			require.Len(t, all, len(w.query("FROM totals")))
			large, _ := w.table("lake/large")
			require.Equal(t, w.query("FROM large"), large)
		})
	}
}

// A replaced source begins anew: what reads it is built with it.
func TestReplacedSourceReachesEverything(t *testing.T) {
	w := chain(t)
	w.land("b.json", purchase("ann", 5), purchase("cy", -1))
	w.purchases(2, nil)
	w.backfill()
	require.Equal(t, want("2|16"), w.query("FROM many"))
	for dir, rows := range map[string][]string{"valid": want("ann|1", "ann|5", "bob|2", "bob|8"), "totals": want("ann|6|2", "bob|10|2", "cy|-1|1"), "many": want("2|16")} {
		got, _ := w.table("lake/" + dir)
		require.Equal(t, rows, got, dir)
	}
	_, ok := w.facts().Resources[addr.Resource{Block: addr.View, Name: "many"}]
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
		"added": {"SELECT customer, sum(v) AS total, count(*) AS n, max(v) AS most FROM purchases GROUP BY ALL", want("ann|5|2|4", "bob|10|2|8", "cy|-1|1|-1"), true, 6},
		"added, often NULL": {"SELECT customer, sum(v) AS total, count(*) AS n, CASE WHEN count(*) < 2 THEN 1 END AS few FROM purchases GROUP BY ALL",
			want("ann|5|2|NULL", "bob|10|2|NULL", "cy|-1|1|1"), true, 2},
		"gone": {"SELECT customer, sum(v) AS total FROM purchases GROUP BY ALL", want("ann|5", "bob|10", "cy|-1"), false, 6},
		"another type": {"SELECT customer, sum(v) AS total, CAST(count(*) AS VARCHAR) AS n FROM purchases GROUP BY ALL",
			want("ann|5|2", "bob|10|2", "cy|-1|1"), false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			w := running(t)
			w.put("view.totals", 2, attributes{"sql": text(c.sql)})
			s := w.backfill()
			for _, sink := range s.Sinks {
				if sink.Addr.Name == "totals" {
					require.Equal(t, c.inPlace, sink.Class == "", "written anew only where it cannot take the columns in")
				}
			}
			require.Equal(t, c.given, given(s)["totals"])
			rows, _ := w.table("lake/totals")
			require.Equal(t, c.rows, rows)
			w.reopen()
			w.land("d.json", purchase("dee", 1))
			w.once()
			rows, _ = w.table("lake/totals")
			require.Equal(t, w.query("FROM totals"), rows)
		})
	}
}
