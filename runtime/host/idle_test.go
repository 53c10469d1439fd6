package host_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/job"
)

// written is the size and the time of last change of every file of the runtime and of its sinks.
func (w *world) written() map[string]string {
	w.T.Helper()
	files := map[string]string{}
	for _, dir := range []string{".streamform", "lake"} {
		require.NoError(w.T, filepath.WalkDir(w.Path(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			files[path] = fmt.Sprint(info.Size(), info.ModTime())
			return err
		}))
	}
	require.NotEmpty(w.T, files)
	return files
}

// TestNothingNewWritesNothing: a pipeline that looks for files and finds none does not touch the disk; one that finds some does.
func TestNothingNewWritesNothing(t *testing.T) {
	w, _ := clocked(t, "12:00:00")
	w.visits()
	w.Land("a.json", visit("ann", "2026-05-01 11:50:00"))
	w.Backfill()
	advance := w.Wait
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ticks, epochs := 0, 0
	var before, idle, after map[string]string
	w.Wait = func(ctx context.Context, d time.Duration) error {
		switch ticks++; ticks {
		case 3:
			before = w.written()
		case 23:
			idle = w.written()
			w.Land("b.json", visit("bob", "2026-05-01 11:51:00"))
		case 26:
			after = w.written()
			stop()
		}
		return advance(ctx, d)
	}
	w.Reopen()
	require.NoError(t, w.Host.Run(ctx, false, func(p job.Progress) {
		if p.NumInputRows > 0 {
			epochs++
		}
	}))
	require.GreaterOrEqual(t, ticks, 26)
	require.Equal(t, before, idle)
	require.NotEqual(t, idle, after)
	require.Equal(t, 1, epochs)
	require.Equal(t, Want("ann|1", "bob|1"), w.Query("FROM counts"))
}
