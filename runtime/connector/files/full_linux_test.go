package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
)

// tiny mounts a file system of a few pages on a folder.
func tiny(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("a file system to fill cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// A disk that is full fails the epoch, which is tried again once there is room; readers see the old rows meanwhile.
func TestDiskFull(t *testing.T) {
	for _, mode := range []string{"append", "replace"} {
		t.Run(mode, func(t *testing.T) {
			dir := tiny(t)
			from := map[string]string{"append": "stream.x", "replace": "view.x"}[mode]
			s, err := openSink(t, dir, map[string]cty.Value{"from": cty.StringVal(from), "path": cty.StringVal("out"), "format": cty.StringVal("csv")})
			require.NoError(t, err)
			stager := &conformance.Stager{DB: duckdb(t)}
			deliver := func(epoch int64, rows string) error {
				st, err := s.Stage(context.Background(), delivery(epoch, rows), stager)
				if err == nil {
					_, err = s.Publish(context.Background(), st)
				}
				return err
			}
			require.NoError(t, deliver(1, "(SELECT 7 AS a)"))
			before := visibleText(t, dir)
			filler := filepath.Join(dir, "filler")
			require.NoError(t, os.WriteFile(filler, make([]byte, 200<<10), 0o666))
			big := "(SELECT (i * 7919 % 100003)::INTEGER AS a FROM range(40000) t(i))"
			err = deliver(2, big)
			require.Error(t, err)
			var user *connector.UserError
			require.False(t, errors.As(err, &user), "it is tried again: %v", err)
			require.Equal(t, before, visibleText(t, dir))
			require.NoError(t, os.Remove(filler))
			require.NoError(t, deliver(2, "(SELECT 8 AS a)"))
			require.NotEqual(t, before, visibleText(t, dir))
		})
	}
}

// visibleText is what readers of the folder find.
func visibleText(t *testing.T, dir string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "out", "*.csv"))
	require.NoError(t, err)
	text := ""
	for _, p := range visible(found) {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		text += filepath.Base(p) + "\n" + string(data)
	}
	return text
}
