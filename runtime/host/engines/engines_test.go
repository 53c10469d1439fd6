package engines

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query"
)

func TestSharesStayWithinTheBudget(t *testing.T) {
	for _, memory := range []int64{256 << 20, 1 << 30, 64 << 30} {
		s := Divide(memory)
		require.Less(t, s.Store+s.Pipelines+s.Queries, memory)
		require.Positive(t, min(s.Store, s.Pipelines, s.Queries))
		require.LessOrEqual(t, HeapLimit(memory)+s.Pipelines+s.Queries, memory)
	}
}

func TestHalfOfTheMachine(t *testing.T) {
	require.EqualValues(t, 6<<30, halfOf("MemTotal:       12582912 kB\nMemFree:         1 kB\n"))
	require.EqualValues(t, 1<<30, halfOf("MemFree: 3 kB\nMemTotal: 1024 kB\n"), "not less than the least")
	require.EqualValues(t, 2<<30, halfOf("nothing known"))
	require.GreaterOrEqual(t, DefaultMemory(), int64(1<<30))
}

func TestTheEngineAtHandServesQueriesWithTheSameFolders(t *testing.T) {
	ctx, here, there := t.Context(), t.TempDir(), t.TempDir()
	p := New(Options{Memory: 1 << 30, Threads: 1, TempDir: t.TempDir()})
	first, err := p.Borrow(ctx, []string{here, there, here})
	require.NoError(t, err)
	second, err := p.Borrow(ctx, []string{here, there})
	require.NoError(t, err)
	require.NotSame(t, first.Engine, second.Engine, "two queries at once")
	require.NoError(t, first.Return())
	again, err := p.Borrow(ctx, []string{there, here})
	require.NoError(t, err)
	require.Same(t, first.Engine, again.Engine)
	require.NoError(t, again.Return())
	other, err := p.Borrow(ctx, []string{here})
	require.NoError(t, err)
	require.NotSame(t, first.Engine, other.Engine, "it may reach less")
	require.NoError(t, other.Return())
	require.NoError(t, p.Close())
	require.NoError(t, second.Return(), "closed at once")
	require.Nil(t, p.idle)
	e, err := p.Open(ctx, []string{here}, 3)
	require.NoError(t, err)
	rows, err := e.Select(ctx, query.Reading{SQL: "SELECT current_setting('memory_limit') AS m"})
	require.NoError(t, err)
	cells, err := rows.Next()
	require.NoError(t, err)
	require.Equal(t, "72.0 MiB", cells[0].Text, "three quarters of a third of the pipelines' share; the last quarter is for small epochs")
	require.NoError(t, rows.Close())
	require.NoError(t, e.Close())
}
