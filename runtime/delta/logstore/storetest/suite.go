// Package storetest holds what every log store must pass, and a store that fails on purpose.
package storetest

import (
	"context"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Suite runs the tests that all stores pass, each on a fresh store.
func Suite(t *testing.T, open func(t *testing.T) logstore.Store) {
	t.Run("an object is written once", func(t *testing.T) { once(t, open(t)) })
	t.Run("one of many writers wins", func(t *testing.T) { exclusive(t, open(t)) })
	t.Run("listing starts after a name", func(t *testing.T) { listing(t, open(t)) })
	t.Run("ranges", func(t *testing.T) { ranges(t, open(t)) })
	t.Run("an ended context", func(t *testing.T) { ended(t, open(t)) })
	t.Run("overwriting", func(t *testing.T) { overwriting(t, open(t)) })
}

func once(t *testing.T, store logstore.Store) {
	ctx := context.Background()
	_, err := store.Get(ctx, "_delta_log/a.json")
	require.ErrorIs(t, err, fs.ErrNotExist)
	outcome, err := store.PutIfAbsent(ctx, "_delta_log/a.json", []byte("first"))
	require.NoError(t, err)
	require.Equal(t, logstore.Written, outcome)
	outcome, err = store.PutIfAbsent(ctx, "_delta_log/a.json", []byte("second"))
	require.NoError(t, err)
	require.Equal(t, logstore.Exists, outcome)
	body, err := store.Get(ctx, "_delta_log/a.json")
	require.NoError(t, err)
	require.Equal(t, "first", string(body))
}

func exclusive(t *testing.T, store logstore.Store) {
	const writers, names = 8, 20
	ctx := context.Background()
	won := make([][names]bool, writers)
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for n := range names {
				outcome, err := store.PutIfAbsent(ctx, fmt.Sprintf("d/%d", n), fmt.Append(nil, w))
				won[w][n] = err == nil && outcome == logstore.Written
			}
		})
	}
	group.Wait()
	for n := range names {
		body, err := store.Get(ctx, fmt.Sprintf("d/%d", n))
		require.NoError(t, err)
		for w := range writers {
			require.Equal(t, string(body) == fmt.Sprint(w), won[w][n], "object %d, writer %d", n, w)
		}
	}
}

func listing(t *testing.T, store logstore.Store) {
	ctx := context.Background()
	entries, err := store.List(ctx, "_delta_log", "")
	require.NoError(t, err)
	require.Empty(t, entries, "a folder that is not there is empty")
	for _, key := range []string{"_delta_log/b", "_delta_log/a", "_delta_log/c é", "_delta_log/sub/d", "e"} {
		_, err := store.PutIfAbsent(ctx, key, []byte(key))
		require.NoError(t, err)
	}
	for after, want := range map[string][]string{"": {"a", "b", "c é"}, "a": {"b", "c é"}, "aa": {"b", "c é"}, "c é": nil} {
		entries, err := store.List(ctx, "_delta_log", after)
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			names = append(names, e.Name)
			require.EqualValues(t, len("_delta_log/")+len(e.Name), e.Size)
			require.False(t, e.Modified.IsZero())
		}
		require.Equal(t, want, names, "after %q", after)
	}
}

func ranges(t *testing.T, store logstore.Store) {
	ctx := context.Background()
	_, err := store.PutIfAbsent(ctx, "x", []byte("0123456789"))
	require.NoError(t, err)
	for _, c := range []struct {
		offset, length int64
		want           string
	}{{0, 10, "0123456789"}, {3, 2, "34"}, {8, 5, "89"}, {10, 1, ""}, {2, 0, ""}} {
		got, err := store.GetRange(ctx, "x", c.offset, c.length)
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
	_, err = store.GetRange(ctx, "x", -1, 2)
	require.Error(t, err)
	_, err = store.GetRange(ctx, "y", 0, 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func ended(t *testing.T, store logstore.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	outcome, err := store.PutIfAbsent(ctx, "x", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, logstore.Failed, outcome)
	_, err = store.Get(ctx, "x")
	require.ErrorIs(t, err, context.Canceled)
	_, err = store.List(ctx, "", "")
	require.ErrorIs(t, err, context.Canceled)
}

func overwriting(t *testing.T, store logstore.Store) {
	over, ok := store.(logstore.Overwriter)
	if !ok {
		t.Skip("this store does not overwrite")
	}
	ctx := context.Background()
	for _, body := range []string{"one", "two", ""} {
		require.NoError(t, over.Put(ctx, "_delta_log/x", []byte(body)))
		got, err := store.Get(ctx, "_delta_log/x")
		require.NoError(t, err)
		require.Equal(t, body, string(got))
	}
	require.NoError(t, over.Delete(ctx, "_delta_log/x"))
	require.NoError(t, over.Delete(ctx, "_delta_log/x"), "deleting twice is fine")
	entries, err := store.List(ctx, "_delta_log", "")
	require.NoError(t, err)
	require.Empty(t, entries, "nothing is left behind")
}
