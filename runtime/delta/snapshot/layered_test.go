package snapshot

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/action"
)

// TestLayeredIsAMap does the same random steps to a layered map and a plain one; older clones must not change.
func TestLayeredIsAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var l layered[int]
	plain := map[action.FileKey]int{}
	type version struct {
		l     layered[int]
		plain map[action.FileKey]int
	}
	var old []version
	for step := range 20_000 {
		key := action.FileKey{Path: fmt.Sprint(random.IntN(4000))}
		switch {
		case random.IntN(3) == 0:
			l.remove(key)
			delete(plain, key)
		default:
			l.set(key, step)
			plain[key] = step
		}
		if step%500 == 0 {
			old = append(old, version{l: l, plain: maps.Clone(plain)})
			l = l.clone()
		}
		want, there := plain[key]
		got, ok := l.get(key)
		require.Equal(t, there, ok)
		require.Equal(t, want, got)
	}
	for _, v := range append(old, version{l, plain}) {
		require.Equal(t, v.plain, maps.Collect(v.l.all()))
	}
	require.NotEmpty(t, l.base, "it was merged on the way")
}
