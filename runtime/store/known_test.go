package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/byhash"
)

// lookedUp is a table that is changed by those who have looked at it.
type lookedUp struct {
	s      *Store
	values map[string]string
}

// epoch gives random keys new values or none, some of them changed meanwhile by someone else, who does not look.
func (m lookedUp) epoch(t *testing.T, r *rand.Rand, elsewhere, shuffled bool) {
	view := m.s.View()
	defer view.Close()
	var keys [][]byte
	seen := map[string]bool{}
	for range 1 + r.IntN(300) {
		if k := fmt.Sprint("key ", r.IntN(600)); !seen[k] {
			keys, seen[k] = append(keys, []byte(k)), true
		}
	}
	items := make([]byhash.Item, len(keys))
	for i, k := range keys {
		items[i] = byhash.Item{Hash: byhash.Of(k), At: i}
	}
	if !shuffled {
		byhash.Sort(items)
	}
	if elsewhere {
		b := m.s.NewBatch()
		for _, k := range keys[:len(keys)/2] {
			if r.IntN(2) == 0 {
				delete(m.values, string(k))
				b.Delete(1, k)
			} else {
				m.values[string(k)] = "other"
				b.Put(1, k, []byte("other"))
			}
		}
		require.NoError(t, m.s.Commit(b))
	}
	old, err := readKeys(view.Table(1), keys)
	require.NoError(t, err)
	b := m.s.NewBatch()
	for _, h := range items {
		k := keys[h.At]
		was := Former{Commit: view.Commit(), Bytes: -1}
		if old[h.At] != nil {
			was.Bytes = len(old[h.At])
		}
		switch {
		case was.Bytes >= 0 && r.IntN(3) == 0:
			b.Replace(1, k, nil, was)
			delete(m.values, string(k))
		case was.Bytes < 0 && r.IntN(20) == 0 && shuffled:
			b.Replace(1, k, nil, was) // of what is not there
			delete(m.values, string(k))
		default:
			v := fmt.Sprint(r.IntN(1 << r.IntN(40)))
			b.Replace(1, k, []byte(v), was)
			m.values[string(k)] = v
		}
	}
	require.NoError(t, m.s.Commit(b))
}

// TestWhatIsKnownIsNotLookedUp: changes that say what keys had give the same table, and the same account of it, as those that are looked up; also
// where they are wrong by the time of the commit, or out of order.
func TestWhatIsKnownIsNotLookedUp(t *testing.T) {
	o := Options{Dir: t.TempDir(), MemoryBudget: 1 << 20, partitionKeys: 50, foldKeys: 500}
	s, err := Open(o)
	require.NoError(t, err)
	m, r := lookedUp{s, map[string]string{}}, rand.New(rand.NewPCG(3, 4))
	for i := range 200 {
		m.epoch(t, r, r.IntN(4) == 0, r.IntN(4) == 0)
		if i%40 == 39 {
			b := m.s.NewBatch()
			b.DropTable(1)
			if i%80 == 79 {
				require.NoError(t, m.s.Commit(b))
				b = m.s.NewBatch()
			}
			clear(m.values)
			b.Replace(1, []byte("only"), []byte("one"), Former{Commit: m.s.commit, Bytes: -1})
			m.values["only"] = "one"
			require.NoError(t, m.s.Commit(b))
		}
		if i%50 == 49 {
			require.NoError(t, m.s.Close())
			m.s, err = Open(o)
			require.NoError(t, err)
		}
		m.check(t)
	}
	require.NoError(t, m.s.Close())
}

func (m lookedUp) check(t *testing.T) {
	v := m.s.View()
	defer v.Close()
	found, size := map[string]string{}, 0
	require.NoError(t, v.Table(1).Scan(func(key, value []byte) error {
		found[string(key)] = string(value)
		size += len(key) + len(value)
		return nil
	}))
	require.Equal(t, m.values, found)
	require.EqualValues(t, len(found), v.Table(1).Len())
	require.EqualValues(t, size, v.Table(1).Size())
}
