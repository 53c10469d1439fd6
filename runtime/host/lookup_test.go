package host_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQueriesByKey asks for keys of a view, between epochs and after a restart, alone and beside other relations.
func TestQueriesByKey(t *testing.T) {
	w := newWorld(t)
	var lines []string
	for i := range 2000 {
		lines = append(lines, purchase(fmt.Sprint("c", i%1000), i))
	}
	w.land("a.json", lines...)
	w.purchases(1, nil)
	w.put("view.totals", 1, attributes{"sql": text("SELECT customer, count(*) AS n, max(v) AS top FROM purchases GROUP BY customer")})
	w.put("stream.all", 1, attributes{"sql": text("SELECT customer, v FROM purchases")})
	w.backfill()
	check := func() {
		t.Helper()
		require.Equal(t, want("c7|2|1007"), w.query("SELECT * FROM totals WHERE customer = 'c7'"))
		require.Equal(t, want("c7|2|1007", "c8|2|1008"), w.query("SELECT * FROM Totals WHERE customer IN ('c8', 'c7', 'nobody')"))
		require.Empty(t, w.query("SELECT * FROM totals WHERE customer = 'nobody'"))
		require.Equal(t, want("1000"), w.query("SELECT count(*) FROM totals"), "an engine that answered by key answers for all")
		require.Equal(t, want("7|2", "1007|2"), w.query("SELECT a.v, t.n FROM \"all\" a JOIN totals t USING (customer) WHERE customer = 'c7'"))
		require.Equal(t, want("1000"), w.query("SELECT (SELECT count(*) FROM totals) FROM totals WHERE customer = 'c7'"))
	}
	check()
	w.reopen()
	check()
	w.land("b.json", purchase("c7", 5000), purchase("nobody", 1))
	w.once()
	require.Equal(t, want("c7|3|5000"), w.query("SELECT * FROM totals WHERE customer = 'c7'"))
	require.Equal(t, want("nobody|1|1"), w.query("SELECT * FROM totals WHERE customer = 'nobody'"))
}

func TestAViewAppliedAnewIsNotTakenForTheOldOne(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), purchase("ann", 2))
	w.purchases(1, nil)
	w.put("view.totals", 1, attributes{"sql": text("SELECT customer, count(*) AS n FROM purchases GROUP BY customer")})
	w.backfill()
	require.Equal(t, want("ann|2"), w.query("SELECT * FROM totals WHERE customer = 'ann'"))
	w.put("view.totals", 2, attributes{"sql": text("SELECT v AS customer, count(*) AS n FROM purchases GROUP BY v")})
	w.backfill()
	require.Equal(t, want("2|1"), w.query("SELECT * FROM totals WHERE customer = 2"))
}
