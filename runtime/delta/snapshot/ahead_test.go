package snapshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// unlisted is a local store that cannot list while refuse is set.
type unlisted struct {
	*logstore.Local
	refuse bool
}

var errListed = errors.New("a listing was asked for")

func (u *unlisted) List(ctx context.Context, dir, after string) ([]logstore.Entry, error) {
	if u.refuse {
		return nil, errListed
	}
	return u.Local.List(ctx, dir, after)
}

// version writes a table commit that adds a file; the first makes the table.
func version(t *testing.T, store logstore.Store, v int64, file string) {
	t.Helper()
	body := ""
	if v == 0 {
		body = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}` + "\n" + `{"metaData":{"id":"m","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":[],"configuration":{}}}` + "\n"
	}
	body += fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}`, file)
	outcome, err := store.PutIfAbsent(t.Context(), logstore.CommitKey(v), []byte(body))
	require.NoError(t, err)
	require.Equal(t, logstore.Written, outcome)
}

// TestFewVersionsAreFoundWithoutListing: what a commit costs does not grow with the log.
func TestFewVersionsAreFoundWithoutListing(t *testing.T) {
	store := &unlisted{Local: logstore.NewLocal(t.TempDir())}
	version(t, store, 0, "f0")
	s, err := snapshot.Load(t.Context(), store, snapshot.Latest)
	require.NoError(t, err)
	store.refuse = true
	for v := int64(1); v < 10; v += 3 {
		same, err := snapshot.Advance(t.Context(), store, s, snapshot.Latest)
		require.NoError(t, err)
		require.Same(t, s, same)
		for more := v; more < v+3; more++ {
			version(t, store, more, fmt.Sprintf("f%d", more))
		}
		newest, err := s.Newest(t.Context(), store)
		require.NoError(t, err)
		require.False(t, newest)
		at, err := snapshot.Advance(t.Context(), store, s, v)
		require.NoError(t, err)
		require.Equal(t, v, at.Version)
		s, err = snapshot.Advance(t.Context(), store, s, snapshot.Latest)
		require.NoError(t, err)
		require.Equal(t, v+2, s.Version)
		require.Len(t, s.Files(), int(v)+3)
		newest, err = s.Newest(t.Context(), store)
		require.NoError(t, err)
		require.True(t, newest)
	}
	for v := int64(10); v < 30; v++ {
		version(t, store, v, fmt.Sprintf("f%d", v))
	}
	_, err = snapshot.Advance(t.Context(), store, s, snapshot.Latest)
	require.ErrorIs(t, err, errListed, "many versions")
	store.refuse = false
	s, err = snapshot.Advance(t.Context(), store, s, snapshot.Latest)
	require.NoError(t, err)
	require.EqualValues(t, 29, s.Version)
}

// TestLogsThatDoNotContinue: a replaced table and a gap are noticed without a listing, too.
func TestLogsThatDoNotContinue(t *testing.T) {
	dir := t.TempDir()
	store := &unlisted{Local: logstore.NewLocal(dir)}
	version(t, store, 0, "f0")
	s, err := snapshot.Load(t.Context(), store, snapshot.Latest)
	require.NoError(t, err)
	version(t, store, 1, "f1")
	version(t, store, 2, "f2")
	require.NoError(t, os.Remove(filepath.Join(dir, logstore.CommitKey(1))))
	_, err = snapshot.Advance(t.Context(), store, s, snapshot.Latest)
	require.ErrorContains(t, err, "not contiguous")
	_, err = s.Newest(t.Context(), store)
	require.NoError(t, err)

	require.NoError(t, os.RemoveAll(filepath.Join(dir, logstore.LogDir)))
	version(t, store, 0, "another table's file")
	next, err := snapshot.Advance(t.Context(), store, s, snapshot.Latest)
	require.NoError(t, err)
	require.Len(t, next.Files(), 1)
	require.Equal(t, "another table's file", next.Files()[0].Path)
	newest, err := s.Newest(t.Context(), store)
	require.NoError(t, err)
	require.False(t, newest)
}

// TestFollowingATableDoesNotCostAllItsFiles: a version more takes what it adds, not a list of what was there.
func TestFollowingATableDoesNotCostAllItsFiles(t *testing.T) {
	const files = 5000
	store := logstore.NewLocal(t.TempDir())
	version(t, store, 0, "f0")
	var body []byte
	for i := range files {
		body = fmt.Appendf(body, `{"add":{"path":"g%d","partitionValues":{},"size":1,"modificationTime":1,"dataChange":true}}`+"\n", i)
	}
	_, err := store.PutIfAbsent(t.Context(), logstore.CommitKey(1), body)
	require.NoError(t, err)
	s, err := snapshot.Load(t.Context(), store, snapshot.Latest)
	require.NoError(t, err)
	advance := func(v int64) uint64 {
		version(t, store, v, fmt.Sprintf("f%d", v))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err = snapshot.Advance(t.Context(), store, s, snapshot.Latest)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return after.TotalAlloc - before.TotalAlloc
	}
	advance(2) // files move to what snapshots share
	require.Less(t, advance(3), uint64(100*files))
	require.Len(t, s.Files(), files+3)
	require.Same(t, &s.Files()[0], &s.Files()[0], "they are listed once")
}
