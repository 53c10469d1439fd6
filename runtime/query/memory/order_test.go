package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/query/memory"
)

// TestInOrder: keys come in the order of their hashes, each with its value, whether there are few or many.
func TestInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 30, 5000} {
		keys, values := make([][]byte, n), make([][]byte, n)
		for i := range keys {
			keys[i], values[i] = fmt.Append(nil, "key ", i), fmt.Append(nil, i)
		}
		memory.InOrder(keys, values)
		seen := map[string]bool{}
		for i, key := range keys {
			require.Equal(t, string(key), "key "+string(values[i]))
			require.True(t, i == 0 || byhash.Of(keys[i-1]) <= byhash.Of(key))
			seen[string(key)] = true
		}
		require.Len(t, seen, n)
	}
}

// TestEmptyValuesStay: a value without bytes is not one that is absent.
func TestEmptyValuesStay(t *testing.T) {
	values := [][]byte{{}}
	memory.InOrder([][]byte{{}}, values)
	require.NotNil(t, values[0])
}
