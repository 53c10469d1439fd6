package host_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
)

// TestRemembered: what operators hold is told by operator, and grows with the keys.
func TestRemembered(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1), purchase("bob", 2))
	w.shop()
	got, err := w.host.Remembered()
	require.NoError(t, err)
	require.Empty(t, got, "nothing serves yet")
	w.backfill()
	totals := addr.Resource{Block: addr.View, Name: "totals"}
	first, err := w.host.Remembered()
	require.NoError(t, err)
	require.Len(t, first, 2, "a stream and a view")
	require.EqualValues(t, 2, first[totals].Rows)
	require.Equal(t, w.puts[totals].Relation.Identity, first[totals].Identity)
	require.Len(t, first[totals].Operators, 1)
	require.Empty(t, first[addr.Resource{Block: addr.Stream, Name: "valid"}].Operators)

	w.land("b.json", purchase("cy", 1))
	w.once()
	w.reopen()
	second, err := w.host.Remembered()
	require.NoError(t, err)
	for id, size := range second[totals].Operators {
		require.EqualValues(t, 3, size.Keys)
		require.Greater(t, size.Bytes, first[totals].Operators[id].Bytes)
	}
}
