package byhash_test

import (
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/byhash"
)

// TestSort: items come by hash, and those of equal hashes in the order they had, however few bits tell them apart.
func TestSort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 47, 48, 49, 1000, 20_000} {
		for _, mask := range []uint64{^uint64(0), 0xff, 0xff << 56, 0xffff << 24, 0} {
			items := make([]byhash.Item, n)
			for i := range items {
				items[i] = byhash.Item{Hash: r.Uint64() & mask, At: i}
			}
			want := append([]byhash.Item{}, items...)
			sort.SliceStable(want, func(i, j int) bool { return want[i].Hash < want[j].Hash })
			byhash.Sort(items)
			require.Equal(t, want, items)
		}
	}
}

// TestHashStays: hashes are stored.
func TestHashStays(t *testing.T) {
	require.EqualValues(t, uint64(0xef46db3751d8e999), byhash.Of(nil))
}
