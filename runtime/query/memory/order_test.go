package memory_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/query/memory"
)

// TestInOrder: rows come in the order of their keys' hashes, each with its key, whether there are few or many, long or short.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 30, 1024, 1025, 30_000} {
		rows := &memory.Rows{}
		for i := range n {
			rows.Put(fmt.Append(nil, "key ", i), bytes.Repeat([]byte{byte(i)}, i%5))
		}
		rows.InOrder()
		require.Equal(t, n, rows.Len())
		seen := map[string]bool{}
		for i := range n {
			var number int
			_, err := fmt.Sscanf(string(rows.Key(i)), "key %d", &number)
			require.NoError(t, err)
			require.Equal(t, bytes.Repeat([]byte{byte(number)}, number%5), rows.Row(i))
			require.True(t, i == 0 || byhash.Of(rows.Key(i-1)) <= byhash.Of(rows.Key(i)))
			seen[string(rows.Key(i))] = true
		}
		require.Len(t, seen, n)
	}
}

// TestChanges: what is put is found again; an empty value is not one that is taken away.
func TestChanges(t *testing.T) {
	var c memory.Changes
	c.Put([]byte("a"), []byte("value"), memory.Absent)
	c.Put([]byte("b"), nil, 7)
	c.Put(nil, []byte{}, memory.Unknown)
	require.Equal(t, 3, c.Len())
	for i, want := range []struct {
		key, value []byte
		was        int
	}{{[]byte("a"), []byte("value"), memory.Absent}, {[]byte("b"), nil, 7}, {[]byte{}, []byte{}, memory.Unknown}} {
		key, value, was := c.At(i)
		require.Equal(t, want.key, key)
		require.Equal(t, want.value, value)
		require.Equal(t, want.was, was)
	}
	rows := &memory.Rows{}
	rows.Put([]byte("k"), []byte("v"))
	set := memory.Set(rows, memory.Absent)
	key, value, was := set.At(0)
	require.Equal(t, "k v -1", fmt.Sprintf("%s %s %d", key, value, was))
}
