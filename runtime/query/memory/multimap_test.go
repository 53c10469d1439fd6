package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// keyedMap is keyed data in a map.
type keyedMap map[string][]byte

func (m keyedMap) Get(keys [][]byte) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = m[string(k)]
	}
	return out, nil
}

func (m keyedMap) Scan(fn func(key, value []byte) error) error {
	for k, v := range m {
		if err := fn([]byte(k), v); err != nil {
			return err
		}
	}
	return nil
}

func (m keyedMap) Blocks(func([]byte) error) error { return nil }

func (m keyedMap) apply(t *testing.T, r Remember) {
	seen := map[string]bool{}
	for i, k := range r.Keys {
		require.False(t, seen[string(k)], "a key is written once in an epoch")
		seen[string(k)] = true
		if r.Values[i] == nil {
			delete(m, string(k))
		} else {
			m[string(k)] = slices.Clone(r.Values[i])
		}
	}
}

// TestMultimap: after any changes each key holds the bag of rows that a plain map would, in however many chunks.
func TestMultimap(t *testing.T) {
	for seed := range uint64(60) {
		g := rand.New(rand.NewPCG(seed, 5))
		mem, model := keyedMap{}, map[string][]string{}
		keys := []string{"", "a", "ab", strings.Repeat("k", 300), "\x00\x01"}
		width := []int{3, 700, 5000}[g.IntN(3)]
		for epoch := range 25 {
			m := Multimap{Mem: mem, Prefix: byte(seed % 2)}
			added, removed := map[string][][]byte{}, map[string][][]byte{}
			for range g.IntN(6) {
				k := keys[g.IntN(len(keys))]
				if rows := model[k]; len(rows) > 0 && g.IntN(3) > 0 {
					i := g.IntN(len(rows))
					removed[k] = append(removed[k], []byte(rows[i]))
					model[k] = slices.Delete(rows, i, i+1)
					continue
				}
				row := strings.Repeat("x", g.IntN(width)) + fmt.Sprint(g.IntN(3))
				added[k], model[k] = append(added[k], []byte(row)), append(model[k], row)
			}
			loaded := map[string]*Shelf{}
			if g.IntN(2) == 0 {
				var err error
				loaded, err = m.Load(keys)
				require.NoError(t, err)
			}
			r, err := m.Change(added, removed, loaded)
			require.NoError(t, err, "seed %d epoch %d", seed, epoch)
			mem.apply(t, r)
			requireRows(t, m, keys, model)
		}
	}
}

func requireRows(t *testing.T, m Multimap, keys []string, model map[string][]string) {
	shelves, err := m.Load(keys)
	require.NoError(t, err)
	for _, k := range keys {
		got := []string{}
		if s := shelves[k]; s != nil {
			require.NoError(t, s.Rows(func(row []byte) error { got = append(got, string(row)); return nil }))
		}
		want := append([]string{}, model[k]...)
		slices.Sort(got)
		slices.Sort(want)
		require.Equal(t, want, got, "key %q", k)
	}
}

func TestMultimapRefusesWhatIsNotHeld(t *testing.T) {
	m := Multimap{Mem: keyedMap{}}
	_, err := m.Change(nil, map[string][][]byte{"k": {[]byte("row")}}, nil)
	require.Error(t, err)
}

// FuzzChunk: a damaged chunk is an error.
func FuzzChunk(f *testing.F) {
	f.Add([]byte("\x03abc\x00"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a"))
	f.Fuzz(func(t *testing.T, chunk []byte) {
		n := 0
		if err := eachRow(chunk, func(row []byte) error { n += len(row); return nil }); err == nil {
			require.LessOrEqual(t, n, len(chunk))
		}
	})
}
