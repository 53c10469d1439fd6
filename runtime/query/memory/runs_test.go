package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRuns: many keys in many runs, some of one key with more rows than a part holds, are found again; runs of one size become one.
func TestRuns(t *testing.T) {
	g := rand.New(rand.NewPCG(3, 9))
	mem, model := newHeld(), map[string][]string{}
	m := Multimap{Mem: mem, Prefix: 1}
	var keys []string
	for epoch := range 11 {
		run := &Rows{}
		for range 4000 {
			k, row := fmt.Sprint(g.IntN(3000)), fmt.Sprint(epoch, " a row that takes some room ", g.IntN(1000))
			if g.IntN(3) == 0 {
				k = "hot"
			}
			if len(model[k]) == 0 {
				keys = append(keys, k)
			}
			run.Put([]byte(k), []byte(row))
			model[k] = append(model[k], row)
		}
		r, err := m.Change(Change{Run: run})
		require.NoError(t, err)
		mem.apply(t, r)
		if epoch%3 == 0 {
			requireRows(t, m, keys, model)
		}
	}
	l, err := m.list()
	require.NoError(t, err)
	require.Less(t, len(l.runs), 6)
	require.False(t, l.shelves)
	lose(t, m, keys[:500], model)
	requireRows(t, m, keys, model)
	one := m
	one.Prefix = 2
	requireRows(t, one, keys, nil)
}

// lose takes a row from each of some keys.
func lose(t *testing.T, m Multimap, keys []string, model map[string][]string) {
	removed := map[string][][]byte{}
	for _, k := range keys {
		removed[k] = [][]byte{[]byte(model[k][0])}
		model[k] = model[k][1:]
	}
	r, err := m.Change(Change{Removed: removed})
	require.NoError(t, err)
	m.Mem.(*held).apply(t, r)
}

// TestKeysWithOneHash: keys that share a hash are told apart.
func TestKeysWithOneHash(t *testing.T) {
	byHash := map[uint32]string{}
	var a, b string
	for i := 0; a == ""; i++ {
		k := fmt.Sprint("key ", i)
		if other, ok := byHash[hashOf([]byte(k))]; ok {
			a, b = other, k
		}
		byHash[hashOf([]byte(k))] = k
	}
	mem := newHeld()
	m := Multimap{Mem: mem}
	run, model := &Rows{}, map[string][]string{}
	for i := range 20 {
		k := []string{a, b}[i%2]
		run.Put([]byte(k), []byte{byte(i)})
		model[k] = append(model[k], string([]byte{byte(i)}))
	}
	require.Equal(t, 2, run.Keys().Len())
	r, err := m.Change(Change{Run: run})
	require.NoError(t, err)
	mem.apply(t, r)
	requireRows(t, m, []string{a, b}, model)
	shelves, err := m.Load([]string{a})
	require.NoError(t, err)
	require.Len(t, shelves, 1)
	require.Len(t, shelves[a].run, 10)
}

// TestKeys: joined keys are those of both, each once, in order.
func TestKeys(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		both := map[string]bool{}
		var sides [2][]string
		for s := range sides {
			for range g.IntN(8) {
				k := fmt.Sprint(g.IntN(10))
				both[k] = true
				sides[s] = append(sides[s], k)
			}
		}
		joined := KeysOf(sides[0]).Join(KeysOf(sides[1]))
		require.Len(t, joined.keys, len(both))
		require.True(t, slices.IsSorted(joined.hashes))
	}
}

// FuzzRun: damaged parts and lists are errors.
func FuzzRun(f *testing.F) {
	mem := newHeld()
	run := &Rows{}
	run.Put([]byte("k"), []byte("row"))
	r, err := Multimap{Mem: mem}.Change(Change{Run: run})
	require.NoError(f, err)
	f.Add(byte(0), r.Values[0])
	f.Add(byte(1), r.Pieces[0].Value)
	f.Fuzz(func(t *testing.T, which byte, value []byte) {
		damaged := newHeld()
		damaged.apply(t, r)
		if len(value) == 0 {
			value = []byte{}
		}
		if which == 0 {
			damaged.values[string(r.Keys[0])] = value
		} else {
			damaged.pieces[string(r.Pieces[0].Name)] = value
		}
		m := Multimap{Mem: damaged}
		n := 0
		count := func(row []byte) error { n += len(row); return nil }
		_ = m.Each(KeysOf([]string{"k", ""}), count)
		if which == 1 { // a list may tell of very many parts
			_ = m.All(count)
		}
	})
}
