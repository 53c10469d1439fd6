package memory

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// held is what an operator remembers, in maps.
type held struct{ values, pieces map[string][]byte }

func newHeld() *held { return &held{map[string][]byte{}, map[string][]byte{}} }

func (h *held) Read(n int, key func(int) []byte, fn func(int, []byte)) error {
	for i := range n {
		fn(i, h.values[string(key(i))])
	}
	return nil
}

func (h *held) Pieces(names [][]byte) ([][]byte, error) { return lookup(h.pieces, names), nil }

func lookup(in map[string][]byte, names [][]byte) [][]byte {
	out := make([][]byte, len(names))
	for i, n := range names {
		out[i] = in[string(n)]
	}
	return out
}

func (h *held) Scan(fn func(key, value []byte) error) error {
	for k, v := range h.values {
		if err := fn([]byte(k), v); err != nil {
			return err
		}
	}
	return nil
}

func (h *held) Blocks(func([]byte) error) error { return nil }

func (h *held) apply(t *testing.T, r Remember) {
	seen := map[string]bool{}
	for i, k := range r.Keys {
		require.False(t, seen["key"+string(k)], "a key is written once in an epoch")
		seen["key"+string(k)] = true
		put(h.values, k, r.Values[i])
	}
	for _, p := range r.Pieces {
		require.False(t, seen["piece"+string(p.Name)], "a piece is written once in an epoch")
		seen["piece"+string(p.Name)] = true
		put(h.pieces, p.Name, p.Value)
	}
}

func put(in map[string][]byte, name, value []byte) {
	if value == nil {
		delete(in, string(name))
	} else {
		in[string(name)] = slices.Clone(value)
	}
}

// TestMultimap: after any changes each key holds the bag of rows that a plain map would, in however many chunks.
func TestMultimap(t *testing.T) {
	for seed := range uint64(60) {
		g := rand.New(rand.NewPCG(seed, 5))
		mem, model := newHeld(), map[string][]string{}
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
			c := Change{Added: added, Removed: removed, Loaded: loaded}
			c.Run = anyRun(g, keys, width, c, model)
			r, err := m.Change(c)
			require.NoError(t, err, "seed %d epoch %d", seed, epoch)
			mem.apply(t, r)
			requireRows(t, m, keys, model)
		}
	}
}

// anyRun is sometimes a run of rows of the keys that do not change otherwise.
func anyRun(g *rand.Rand, keys []string, width int, c Change, model map[string][]string) *Rows {
	if g.IntN(3) > 0 {
		return nil
	}
	run := &Rows{}
	for range g.IntN(40) {
		k := keys[g.IntN(len(keys))]
		if len(c.Added[k])+len(c.Removed[k]) > 0 {
			continue
		}
		row := strings.Repeat("y", g.IntN(width)) + fmt.Sprint(g.IntN(3))
		run.Put([]byte(k), []byte(row))
		model[k] = append(model[k], row)
	}
	return run
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
	requireSame(t, m, keys, model)
}

// requireSame reads the rows in the other two ways.
func requireSame(t *testing.T, m Multimap, keys []string, model map[string][]string) {
	var want, all, each []string
	for _, k := range keys {
		want = append(want, model[k]...)
	}
	require.NoError(t, m.All(func(row []byte) error { all = append(all, string(row)); return nil }))
	require.NoError(t, m.Each(KeysOf(append(keys, "absent")), func(row []byte) error { each = append(each, string(row)); return nil }))
	for _, rows := range [][]string{want, all, each} {
		slices.Sort(rows)
	}
	require.Equal(t, want, all)
	require.Equal(t, want, each)
}

func TestMultimapRefusesWhatIsNotHeld(t *testing.T) {
	m := Multimap{Mem: newHeld()}
	_, err := m.Change(Change{Removed: map[string][][]byte{"k": {[]byte("row")}}})
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
