package store

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKeysStayNearTheirPlaces: keys are put in the order of their places, so a table that is too small for all of them crowds at its beginning, and every
// key is then searched for behind all others. It has its room first: in a new table, in one that grows, and in one read back.
func TestKeysStayNearTheirPlaces(t *testing.T) {
	o := Options{Dir: t.TempDir(), MemoryBudget: 1 << 30, partitionKeys: 20_000, manual: true}
	s, err := Open(o)
	require.NoError(t, err)
	put := func(from, to int) {
		b := s.NewBatch()
		for i := from; i < to; i++ {
			b.Put(1, binary.BigEndian.AppendUint64(nil, uint64(i)), []byte("value"))
		}
		require.NoError(t, s.Commit(b))
		near(t, s.table(1))
	}
	put(0, 50_000)
	put(50_000, 150_000)
	put(150_000, 151_000)
	view := s.View()
	put(100_000, 250_000)
	view.Close()
	require.NoError(t, s.fold())
	require.NoError(t, s.Close())
	s, err = Open(o)
	require.NoError(t, err)
	n := 0
	v := s.View()
	require.NoError(t, v.Table(1).Scan(func(key, value []byte) error { n++; return nil }))
	v.Close()
	require.Equal(t, 250_000, n)
	near(t, s.table(1))
	require.NoError(t, s.Close())
}

// TestReplayHasItsRoomFirst: what lies in the log is put into memory at opening with few looks for each key. Without room for all of them
// beforehand, keys that come in the order of their places search behind all others.
func TestReplayHasItsRoomFirst(t *testing.T) {
	o := Options{Dir: t.TempDir(), MemoryBudget: 1 << 30, manual: true}
	s, err := Open(o)
	require.NoError(t, err)
	const keys = 60_000 // less than make a partition split: splits would hide it
	b := s.NewBatch()
	for i := range keys {
		b.Put(1, binary.BigEndian.AppendUint64(nil, uint64(i)), []byte("value"))
	}
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
	s, err = Open(o)
	require.NoError(t, err)
	probes := 0
	s.table(1).each(func(p *partition) { probes += p.probes })
	require.GreaterOrEqual(t, probes, keys)
	require.Less(t, probes, 8*keys)
	require.NoError(t, s.Close())
}

// near checks how far keys lie behind their places.
func near(t *testing.T, k *keyed) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.each(func(p *partition) {
		all := []*entries{&p.entries}
		for i := range p.undo {
			all = append(all, &p.undo[i].was)
		}
		for _, e := range all {
			far := 0
			for i := range e.slots {
				if s := &e.slots[i]; s.ref != 0 {
					far += (i - int(e.home(s.hash))) & (len(e.slots) - 1)
				}
			}
			require.LessOrEqual(t, far, 8*e.used+64, "%d keys in %d places", e.used, len(e.slots))
		}
	})
}
