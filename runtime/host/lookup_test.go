package host_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// TestQueriesByKey asks for keys of a view, between epochs and after a restart, alone and beside other relations.
func TestQueriesByKey(t *testing.T) {
	w := newWorld(t)
	var lines []string
	for i := range 2000 {
		lines = append(lines, Purchase(fmt.Sprint("c", i%1000), i))
	}
	w.Land("a.json", lines...)
	w.Purchases(1, nil)
	w.Put("view.totals", 1, Attributes{"sql": Text("SELECT customer, count(*) AS n, max(v) AS top FROM purchases GROUP BY customer")})
	w.Put("stream.all", 1, Attributes{"sql": Text("SELECT customer, v FROM purchases")})
	w.Backfill()
	check := func() {
		t.Helper()
		require.Equal(t, Want("c7|2|1007"), w.Query("SELECT * FROM totals WHERE customer = 'c7'"))
		require.Equal(t, Want("c7|2|1007", "c8|2|1008"), w.Query("SELECT * FROM Totals WHERE customer IN ('c8', 'c7', 'nobody')"))
		require.Empty(t, w.Query("SELECT * FROM totals WHERE customer = 'nobody'"))
		require.Equal(t, Want("1000"), w.Query("SELECT count(*) FROM totals"), "an engine that answered by key answers for all")
		require.Equal(t, Want("7|2", "1007|2"), w.Query("SELECT a.v, t.n FROM \"all\" a JOIN totals t USING (customer) WHERE customer = 'c7'"))
		require.Equal(t, Want("1000"), w.Query("SELECT (SELECT count(*) FROM totals) FROM totals WHERE customer = 'c7'"))
	}
	check()
	w.Reopen()
	check()
	w.Land("b.json", Purchase("c7", 5000), Purchase("nobody", 1))
	w.Once()
	require.Equal(t, Want("c7|3|5000"), w.Query("SELECT * FROM totals WHERE customer = 'c7'"))
	require.Equal(t, Want("nobody|1|1"), w.Query("SELECT * FROM totals WHERE customer = 'nobody'"))
}

func TestAViewAppliedAnewIsNotTakenForTheOldOne(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("ann", 2))
	w.Purchases(1, nil)
	w.Put("view.totals", 1, Attributes{"sql": Text("SELECT customer, count(*) AS n FROM purchases GROUP BY customer")})
	w.Backfill()
	require.Equal(t, Want("ann|2"), w.Query("SELECT * FROM totals WHERE customer = 'ann'"))
	w.Put("view.totals", 2, Attributes{"sql": Text("SELECT v AS customer, count(*) AS n FROM purchases GROUP BY v")})
	w.Backfill()
	require.Equal(t, Want("2|1"), w.Query("SELECT * FROM totals WHERE customer = 2"))
}
