package host_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	. "github.com/streamform/streamform/runtime/host/hosttest"
)

func TestInspect(t *testing.T) {
	w := newWorld(t)
	w.Land("a.json", Purchase("ann", 1))
	w.Shop()
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "totals"}
	inspect := func(a addr.Resource, value []byte) connector.Inspection {
		got, err := w.Host.Inspect(t.Context(), a, value)
		require.NoError(t, err)
		return got
	}
	require.Empty(t, inspect(sink, nil), "nothing serves yet")
	w.Backfill()
	got := inspect(sink, nil)
	require.Contains(t, got.Place, w.Path("lake", "totals"))
	require.Empty(t, got.Drifts)
	values, err := w.Host.Values()
	require.NoError(t, err)
	require.Equal(t, got, inspect(sink, values[sink]))
	require.Contains(t, string(values[sink]), "lake/totals")
	require.NotEmpty(t, inspect(addr.Resource{Block: addr.Source, Type: "files", Name: "purchases"}, nil).Place)

	require.NoError(t, os.RemoveAll(w.Path("lake", "totals")))
	got = inspect(sink, nil)
	require.Equal(t, connector.DriftTargetGone, got.Drifts[0].Kind)
	require.Contains(t, got.Drifts[0].Detail, "version 0 was the last that streamform delivered")
	require.NoDirExists(t, w.Path("lake", "totals"), "looking makes nothing")
}
