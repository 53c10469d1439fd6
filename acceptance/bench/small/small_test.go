package small

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/workload"
)

// TestEpochsOfOneRow runs a case with keyed data and a sink, and its bound.
func TestEpochsOfOneRow(t *testing.T) {
	one := single{settings: workload.Settings{Threads: 1}, address: "view.result", sql: "SELECT k, count(*) AS n FROM t GROUP BY k", sink: true, syncs: 2, warm: 2, timed: 5}
	got, err := one.ours(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Len(t, got.Numbers, 3)
	require.Positive(t, got.Numbers[0].Value)
	bound, err := one.bound(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Positive(t, bound.Cost.Wall)
	require.Len(t, All(workload.Settings{})[0].Cases, 4)
}
