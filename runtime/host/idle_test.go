package host_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/job"
)

// written is the size and the time of last change of every file of the runtime and of its sinks.
func (w *world) written() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	for _, dir := range []string{".streamform", "lake"} {
		require.NoError(w.t, filepath.WalkDir(w.path(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			files[path] = fmt.Sprint(info.Size(), info.ModTime())
			return err
		}))
	}
	require.NotEmpty(w.t, files)
	return files
}

// TestNothingNewWritesNothing: a pipeline that looks for files and finds none does not touch the disk; one that finds some does.
func TestNothingNewWritesNothing(t *testing.T) {
	w, _ := clocked(t, "12:00:00")
	w.visits()
	w.land("a.json", visit("ann", "2026-05-01 11:50:00"))
	w.backfill()
	advance := w.wait
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ticks, epochs := 0, 0
	var before, idle, after map[string]string
	w.wait = func(ctx context.Context, d time.Duration) error {
		switch ticks++; ticks {
		case 3:
			before = w.written()
		case 23:
			idle = w.written()
			w.land("b.json", visit("bob", "2026-05-01 11:51:00"))
		case 26:
			after = w.written()
			stop()
		}
		return advance(ctx, d)
	}
	w.reopen()
	require.NoError(t, w.host.Run(ctx, false, func(p job.Progress) {
		if p.NumInputRows > 0 {
			epochs++
		}
	}))
	require.GreaterOrEqual(t, ticks, 26)
	require.Equal(t, before, idle)
	require.NotEqual(t, idle, after)
	require.Equal(t, 1, epochs)
	require.Equal(t, want("ann|1", "bob|1"), w.query("FROM counts"))
}
