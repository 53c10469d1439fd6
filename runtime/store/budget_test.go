package store

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// crowded is a store whose keys are folded and do not fit into memory.
func crowded(t *testing.T) (*Store, [][]byte) {
	s := opened(t, Options{Dir: "data", FS: vfs.NewMem(), MemoryBudget: 256 << 10, manual: true})
	var keys [][]byte
	for from := range 10 {
		commit(t, s, func(b *Batch) {
			for i := range 1000 {
				keys = append(keys, fmt.Appendf(nil, "key %d", from*1000+i))
				b.Put(1, keys[len(keys)-1], make([]byte, 40))
			}
		})
		require.NoError(t, s.fold())
	}
	return s, keys
}

func (s *Store) remembers(keys [][]byte) int {
	n := 0
	t := s.table(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		hash := s.options.hash(key)
		if t.part(hash).find(hash, key) >= 0 {
			n++
		}
	}
	return n
}

// TestWhatWasReadStaysForTheCommit: several reads of one epoch do not push each other out; the commit may.
func TestWhatWasReadStaysForTheCommit(t *testing.T) {
	s, keys := crowded(t)
	view := s.View()
	var read [][]byte
	for i := range 20 {
		some := keys[i*30 : i*30+30]
		_, err := readKeys(view.Table(1), some)
		require.NoError(t, err)
		read = append(read, some...)
	}
	require.Equal(t, len(read), s.remembers(read))
	view.Close()
	require.Less(t, s.used.Load(), s.options.keyedBudget()/4*5)
	commit(t, s, func(b *Batch) { b.Put(1, []byte("key 1"), []byte("new")) })
	require.LessOrEqual(t, s.used.Load(), s.options.keyedBudget())
}

// TestReadingMuchMoreThanMemoryStaysNearTheBudget: without a commit between, too.
func TestReadingMuchMoreThanMemoryStaysNearTheBudget(t *testing.T) {
	s, keys := crowded(t)
	view := s.View()
	defer view.Close()
	for from := 0; from < len(keys); from += 100 {
		values, err := readKeys(view.Table(1), keys[from:from+100])
		require.NoError(t, err)
		require.NotNil(t, values[99])
		require.Less(t, s.used.Load(), s.options.keyedBudget()/4*5+64<<10)
	}
}

// TestFoldsAreWorthTheirWhile: little that waits is not folded, however short memory is.
func TestFoldsAreWorthTheirWhile(t *testing.T) {
	s, _ := crowded(t)
	require.Greater(t, s.used.Load(), s.options.keyedBudget()/2)
	commit(t, s, func(b *Batch) { b.Put(1, []byte("key 1"), []byte("new")) })
	s.used.Add(s.options.keyedBudget())
	require.False(t, s.due())
	commit(t, s, func(b *Batch) {
		for i := range 1000 {
			b.Put(1, fmt.Appendf(nil, "key %d", i), make([]byte, 50))
		}
	})
	require.True(t, s.due())
	s.used.Add(-s.options.keyedBudget())
}
