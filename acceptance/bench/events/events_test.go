package events

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

// TestBothSidesGiveTheSameRows runs every query over few events, in epochs of a quarter of them.
func TestBothSidesGiveTheSameRows(t *testing.T) {
	s := workload.Settings{Cache: t.TempDir(), Threads: 2}
	for _, name := range []string{"q2", "q4", "q13", "q16", "q17", "q18"} {
		c := line(s, name, 4000, 1000, "")
		require.NoError(t, c.Input(t.Context()))
		got, err := c.Ours(t.Context(), t.TempDir())
		require.NoError(t, err, name)
		want, err := c.Bound(t.Context(), t.TempDir())
		require.NoError(t, err, name)
		require.True(t, plain.Same(got.Result, want.Result), "%s: %s, one shot %s", name, got.Result, want.Result)
		require.Positive(t, got.Cost.CPU)
	}
}

func TestCasesAreNamedByTheirEpochs(t *testing.T) {
	s := workload.Settings{Cache: t.TempDir(), Full: true}
	w := windows(s)
	require.Equal(t, "q12, epochs of 1 M", w.Cases[0].Name)
	require.Equal(t, "q5, epochs of 10 k", w.Cases[len(w.Cases)-1].Name)
	require.Len(t, all(s).Cases, 24)
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
