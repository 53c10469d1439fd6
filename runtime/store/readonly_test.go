package store

import (
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// untouched are the files of a folder with what would show a write; the lock's file is touched by taking the lock.
func untouched(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "LOCK" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[path] = info.ModTime().Format(time.RFC3339Nano) + " " + info.Mode().String()
		}
		return err
	}))
	return out
}

func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := opened(t, Options{Dir: dir, ReadOnly: true})
	require.NoError(t, s.Close(), "a new one is made")
	s = opened(t, Options{Dir: dir, manual: true})
	commit(t, s, func(b *Batch) { b.Put(1, []byte("a"), []byte("one")); b.SetMeta("m", []byte("meta")) })
	require.NoError(t, s.fold())
	commit(t, s, func(b *Batch) { b.Put(1, []byte("b"), []byte("two")) })
	id := s.ID()
	require.NoError(t, s.Close())
	before := untouched(t, dir)
	for range 3 {
		s = opened(t, Options{Dir: dir, ReadOnly: true})
		require.Equal(t, id, s.ID())
		require.Equal(t, "one", string(get(t, s, 1, "a")), "folded")
		require.Equal(t, "two", string(get(t, s, 1, "b")), "only in the log")
		b := s.NewBatch()
		b.Put(1, []byte("c"), []byte("three"))
		require.ErrorIs(t, s.Commit(b), ErrReadOnly)
		require.NoError(t, s.Close())
	}
	require.Equal(t, before, untouched(t, dir))
	s = opened(t, Options{Dir: dir})
	require.Equal(t, "two", string(get(t, s, 1, "b")))
	require.NoError(t, s.Close())
}
