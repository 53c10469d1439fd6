package events

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// TestBothSidesGiveTheSameRows runs every query over few events, in epochs of a quarter of them.
func TestBothSidesGiveTheSameRows(t *testing.T) {
	s := workload.Settings{Cache: t.TempDir(), Threads: 2}
	data := input.Nexmark{Cache: s.Cache, Events: 4000, Chunk: 1000}
	lines := data
	lines.Lines = true
	var cases []workload.Case
	for _, name := range []string{"q2", "q4", "q9", "q13", "q16", "q17", "q18"} {
		cases = append(cases, over(s, name, data, ""), over(s, name, lines, ""))
	}
	for _, c := range cases {
		require.NoError(t, c.Input(t.Context()))
		got, err := c.Ours(t.Context(), t.TempDir())
		require.NoError(t, err, c.Name)
		want, err := c.Bound(t.Context(), t.TempDir())
		require.NoError(t, err, c.Name)
		require.True(t, plain.Same(got.Result, want.Result), "%s: %s, one shot %s", c.Name, got.Result, want.Result)
		require.Positive(t, got.Cost.CPU)
	}
}

func TestCasesAreNamedByTheirEpochs(t *testing.T) {
	s := workload.Settings{Cache: t.TempDir(), Full: true}
	w := windows(s)
	require.Equal(t, "q12, epochs of 1 M", w.Cases[0].Name)
	require.Equal(t, "q5, epochs of 10 k", w.Cases[len(w.Cases)-1].Name)
	every := all(s)
	require.Len(t, every.Cases, 48)
	require.Equal(t, "q0, epochs of 1 M", every.Cases[0].Name)
	require.Equal(t, "q0, NDJSON, epochs of 250 k", every.Cases[24].Name)
	require.Equal(t, "Parquet", every.Cases[23].Group)
	require.Equal(t, "NDJSON", every.Cases[47].Group)
	require.Equal(t, "1.5 k", short(1500))
}

// TestFastestForms: every form that serves as a lower bound belongs to a query.
func TestFastestForms(t *testing.T) {
	require.Len(t, fastest(), 11)
	for name := range fastest() {
		q, sql := find(name)
		require.NotEmpty(t, sql, name)
		require.NotEqual(t, q.SQL, sql, name)
	}
}
