package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

const totals = "SELECT customer, sum(v) AS total, count(*) AS n FROM purchases GROUP BY ALL"

// shop is a stream and a view on one source, each delivered to a Delta table.
func (w *world) shop() {
	w.t.Helper()
	w.purchases(1, attributes{"max_files_per_epoch": cty.NumberIntVal(1)})
	w.put("stream.valid", 1, attributes{"sql": text("SELECT customer, v FROM purchases WHERE v > 0")})
	w.put("view.totals", 1, attributes{"sql": text(totals)})
	w.put("sink.delta.valid", 1, attributes{"from": text("stream.valid"), "path": text("lake/valid")})
	w.put("sink.delta.totals", 1, attributes{"from": text("view.totals"), "path": text("lake/totals")})
}

func TestFirstBackfillAndLaterFiles(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.land("b.json", purchase("ann", 4), purchase("cy", -1))
	w.shop()
	s := w.backfill()
	require.Len(t, s.Sources, 1)
	require.EqualValues(t, 2, s.Sources[0].Files)
	require.EqualValues(t, 4, s.Sources[0].Rows)
	valid, version := w.table("lake/valid")
	require.Equal(t, want("ann|1", "bob|2", "ann|4"), valid)
	require.EqualValues(t, 1, version, "one commit for each epoch")
	sums, _ := w.table("lake/totals")
	require.Equal(t, want("ann|5|2", "bob|2|1", "cy|-1|1"), sums)
	require.Equal(t, want("ann|5|2", "bob|2|1", "cy|-1|1"), w.query("FROM totals"))

	w.land("c.json", purchase("bob", 10))
	w.once()
	sums, version = w.table("lake/totals")
	require.Equal(t, want("ann|5|2", "bob|12|2", "cy|-1|1"), sums)
	w.once()
	_, again := w.table("lake/totals")
	require.Equal(t, version, again, "nothing new, nothing delivered")
	require.Equal(t, want("3"), w.query("SELECT count(*) FROM purchases.files WHERE status = 'read'"))
	require.Equal(t, want("4"), w.query("SELECT count(*) FROM valid"))
}
