package render

import (
	"github.com/streamform/streamform/graph/plan"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// longest is the length of a longest common subsequence, by its definition.
func longest(a, b []int) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if a[0] == b[0] {
		return 1 + longest(a[1:], b[1:])
	}
	return max(longest(a[1:], b), longest(a, b[1:]))
}

func TestAlign(t *testing.T) {
	equal := func(x, y int) bool { return x == y }
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		list := func() []int {
			out := make([]int, r.IntN(8))
			for i := range out {
				out[i] = r.IntN(4)
			}
			return out
		}
		before, after := list(), list()
		var was, is []int
		common := 0
		for _, s := range align(before, after, equal) {
			if s.before >= 0 {
				was = append(was, s.before)
			}
			if s.after >= 0 {
				is = append(is, s.after)
			}
			if s.before >= 0 && s.after >= 0 {
				require.Equal(t, before[s.before], after[s.after])
				common++
			}
		}
		require.Equal(t, indexes(len(before)), was, "each element of the old list once, in order")
		require.Equal(t, indexes(len(after)), is)
		require.Equal(t, longest(before, after), common, "%v %v", before, after)
	}
}

func indexes(n int) []int {
	var out []int
	for i := range n {
		out = append(out, i)
	}
	return out
}

func TestAlignOfLongListsIsBounded(t *testing.T) {
	before, after := make([]int, 3000), make([]int, 3000)
	for i := range before {
		before[i], after[i] = i, -i
	}
	require.Len(t, align(before, after, func(x, y int) bool { return x == y }), 5999, "the first is the same, the rest is shown as replaced")
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 3_400_000: "3.4 MB", 999_960_000: "1.0 GB", 1 << 62: "4.6 EB"} {
		require.Equal(t, want, plan.FormatBytes(n))
	}
}
