package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
)

func TestInspect(t *testing.T) {
	w := newWorld(t)
	w.land("a.json", purchase("ann", 1))
	w.shop()
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "totals"}
	inspect := func(a addr.Resource, value []byte) connector.Inspection {
		got, err := w.host.Inspect(t.Context(), a, value)
		require.NoError(t, err)
		return got
	}
	require.Empty(t, inspect(sink, nil), "nothing serves yet")
	w.backfill()
	got := inspect(sink, nil)
	require.Contains(t, got.Place, w.path("lake", "totals"))
	require.Empty(t, got.Drifts)
	values, err := w.host.Values()
	require.NoError(t, err)
	require.Equal(t, got, inspect(sink, values[sink]))
	require.Contains(t, string(values[sink]), "lake/totals")
	require.NotEmpty(t, inspect(addr.Resource{Block: addr.Source, Type: "files", Name: "purchases"}, nil).Place)

	require.NoError(t, os.RemoveAll(w.path("lake", "totals")))
	got = inspect(sink, nil)
	require.Equal(t, connector.DriftTargetGone, got.Drifts[0].Kind)
	require.Contains(t, got.Drifts[0].Detail, "version 0 was the last that streamform delivered")
	require.NoDirExists(t, w.path("lake", "totals"), "looking makes nothing")
}
