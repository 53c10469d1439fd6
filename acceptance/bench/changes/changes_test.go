package changes

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/workload"
	"github.com/streamform/streamform/acceptance/tpch"
)

// TestAQueryIsComparedAtTheEnd runs one query over few rows and two changes.
func TestAQueryIsComparedAtTheEnd(t *testing.T) {
	i := slices.IndexFunc(tpch.Queries(), func(q tpch.Query) bool { return q.Name == "q4" })
	r := refresh{settings: workload.Settings{Threads: 2}, scale: 0.001, query: tpch.Queries()[i], shares: []float64{0.1}, repeats: 1}
	out, err := r.run(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Len(t, out.Numbers, 3)
	require.Equal(t, "10 %, ms cpu", out.Numbers[0].Name)
	require.Len(t, All(workload.Settings{})[0].Cases, 22)
}
