package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
)

// TestAnalyze reads what is pending, once, and tells exactly what every operator did.
func TestAnalyze(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1))
	w.Shop()
	w.Backfill()
	w.Land("b.json", Purchase("ann", 2), Purchase("bob", 4), Purchase("bob", -1))
	var all []job.Progress
	analyze := func() {
		t.Helper()
		all = nil
		require.NoError(t, w.Host.Analyze(t.Context(), func(p job.Progress) { all = append(all, p) }))
	}
	analyze()
	require.Len(t, all, 1)
	rows := map[string][2]int64{}
	for _, m := range all[0].Operators {
		rows[m.Relation+"/"+m.Operator] = [2]int64{m.RowsIn, m.RowsOut}
		require.Positive(t, m.Time, m.Operator)
	}
	require.Equal(t, map[string][2]int64{"purchases/" + query.ScanID: {0, 3}, "valid/" + query.ResultID: {3, 2}, "totals/sf$op1": {3, 3}, "totals/" + query.ResultID: {3, 3}}, rows,
		"the old and the new row of ann, and the new one of bob")
	require.Equal(t, Want("ann|3|2", "bob|3|2"), w.Query("FROM totals"), "what was analyzed is committed")
	analyze()
	require.Empty(t, all, "nothing was pending")
}
