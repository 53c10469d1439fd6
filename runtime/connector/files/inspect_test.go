package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/files"
)

// TestInspect follows links: what a path stands for changes when its link does.
func TestInspect(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := files.SourceDefinition()
	value, errs := d.Kind.Complete(cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal("landing/*.json"), "format": cty.StringVal("json")}))
	require.Empty(t, errs)
	cfg, err := d.Kind.Bind(value)
	require.NoError(t, err)
	source, err := d.Source(t.Context(), cfg, connector.Env{Dir: dir})
	require.NoError(t, err)
	place := func() string {
		got, err := source.(connector.Inspector).Inspect(t.Context(), connector.Delivered{})
		require.NoError(t, err)
		require.Empty(t, got.Drifts)
		return got.Place
	}
	require.Empty(t, place())
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.Symlink(name, filepath.Join(dir, "landing")))
		require.Equal(t, filepath.Join(dir, name), place())
		require.NoError(t, os.Remove(filepath.Join(dir, "landing")))
	}
}
