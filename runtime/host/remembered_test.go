package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// TestRemembered: what operators hold is told by operator, and grows with the keys.
func TestRemembered(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1), Purchase("bob", 2))
	w.Shop()
	got, err := w.Host.Remembered()
	require.NoError(t, err)
	require.Empty(t, got, "nothing serves yet")
	w.Backfill()
	totals := addr.Resource{Block: addr.View, Name: "totals"}
	first, err := w.Host.Remembered()
	require.NoError(t, err)
	require.Len(t, first, 2, "a stream and a view")
	require.EqualValues(t, 2, first[totals].Rows)
	require.Equal(t, w.Puts[totals].Relation.Identity, first[totals].Identity)
	require.Len(t, first[totals].Operators, 1)
	require.Empty(t, first[addr.Resource{Block: addr.Stream, Name: "valid"}].Operators)

	w.Land("b.json", Purchase("cy", 1))
	w.Once()
	w.Reopen()
	second, err := w.Host.Remembered()
	require.NoError(t, err)
	for id, size := range second[totals].Operators {
		require.EqualValues(t, 3, size.Keys)
		require.Greater(t, size.Bytes, first[totals].Operators[id].Bytes)
	}
}
