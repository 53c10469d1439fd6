package query_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

// measured runs one epoch and returns what each operator did, by relation and operator.
func measured(t *testing.T, w *world, exact bool, files ...batch.File) map[string]query.Measured {
	t.Helper()
	w.measure = exact
	r, err := w.epoch(files...)
	require.NoError(t, err)
	out := map[string]query.Measured{}
	for _, m := range r.Operators {
		out[m.Relation+"/"+m.Operator] = m
	}
	return out
}

// TestMeasured: with Measure every operator's rows are exact, and what it remembered is counted.
func TestMeasured(t *testing.T) {
	w := newWorld(t, batch.Schema{{Name: "k", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}})
	defer w.close()
	c := newCompiler(t)
	for _, r := range []struct{ name, sql string }{
		{"kept", `SELECT k, n FROM t WHERE n > 0`},
		{"sums", `SELECT k, sum(n) AS s FROM kept GROUP BY k`},
		{"ranked", `SELECT *, rank() OVER (PARTITION BY s % 2 ORDER BY k) AS r FROM sums`},
		{"some", `SELECT k FROM t LIMIT 2`},
	} {
		_, err := w.relation(c, r.name, r.sql, r.name == "kept")
		require.NoError(t, err)
	}
	first := measured(t, w, true, w.file("a.json", `{"k":"a","n":1}
{"k":"a","n":3}
{"k":"b","n":2}
{"k":"c","n":-1}
`))
	require.EqualValues(t, 4, first["t/scan"].RowsOut)
	require.Positive(t, first["t/scan"].Bytes)
	require.EqualValues(t, 4, first["kept/result"].RowsIn)
	require.EqualValues(t, 3, first["kept/result"].RowsOut)
	require.Zero(t, first["kept/result"].Updated, "a stream remembers nothing")
	sums := first["sums/sf$op1"]
	require.Equal(t, []int64{3, 2, 2, 0}, []int64{sums.RowsIn, sums.RowsOut, sums.Updated, sums.Removed})
	require.Positive(t, sums.Bytes)
	require.EqualValues(t, 2, first["sums/result"].RowsIn)
	require.EqualValues(t, 2, first["ranked/sf$op1"].RowsOut)
	require.EqualValues(t, 4, first["some/result"].RowsIn)
	require.EqualValues(t, 2, first["some/result"].RowsOut)
	for name, m := range first {
		require.GreaterOrEqual(t, m.Time.Nanoseconds(), int64(0), name)
	}

	// One group changes: its old row goes, its new one comes.
	second := measured(t, w, true, w.file("b.json", `{"k":"b","n":1}`))
	sums = second["sums/sf$op1"]
	require.Equal(t, []int64{1, 2, 1}, []int64{sums.RowsIn, sums.RowsOut, sums.Updated})

	// Without Measure nothing more is counted than the epoch needs, and rows that are counted are right.
	third := measured(t, w, false, w.file("c.json", `{"k":"d","n":1}`))
	require.Len(t, third, len(first))
	require.EqualValues(t, 1, third["sums/sf$op1"].Updated)
	for name, m := range third {
		require.Contains(t, []int64{-1, 0, 1, 2}, m.RowsOut, fmt.Sprint(name, m))
	}
}
