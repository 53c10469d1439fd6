package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/byhash"
)

// model is what a store must hold, in plain maps.
type model struct {
	tables map[uint64]map[string]string
	blocks map[uint64][]string
	pieces map[uint64]map[string]string
	meta   map[string]string
}

func newModel() *model {
	return &model{tables: map[uint64]map[string]string{}, blocks: map[uint64][]string{}, pieces: map[uint64]map[string]string{}, meta: map[string]string{}}
}

func (m *model) clone() *model {
	c := newModel()
	for id, t := range m.tables {
		c.tables[id] = map[string]string{}
		for k, v := range t {
			c.tables[id][k] = v
		}
	}
	for id, b := range m.blocks {
		c.blocks[id] = append([]string(nil), b...)
	}
	for id, p := range m.pieces {
		c.pieces[id] = maps.Clone(p)
	}
	for k, v := range m.meta {
		c.meta[k] = v
	}
	return c
}

// both applies the same random change to a batch and to a model.
type both struct {
	r *rand.Rand
	b *Batch
	m *model
	// keys is how many different keys there are in a table.
	keys int
}

func (w both) key() []byte {
	n := w.r.IntN(w.keys)
	switch n {
	case 0:
		return []byte{}
	case 1:
		return bytes.Repeat([]byte("long"), 5000)
	}
	return fmt.Appendf(nil, "key %d", n)
}

func (w both) value() []byte {
	switch w.r.IntN(20) {
	case 0:
		return nil
	case 1:
		return bytes.Repeat([]byte{byte(w.r.IntN(256))}, w.r.IntN(30_000))
	}
	return fmt.Appendf(nil, "value %d", w.r.IntN(1000))
}

func (w both) change(tables int) {
	id := uint64(w.r.IntN(tables))
	switch n := w.r.IntN(200); {
	case n < 120:
		k, v := w.key(), w.value()
		w.b.Put(id, k, v)
		if w.m.tables[id] == nil {
			w.m.tables[id] = map[string]string{}
		}
		w.m.tables[id][string(k)] = string(v)
	case n < 170:
		k := w.key()
		w.b.Delete(id, k)
		delete(w.m.tables[id], string(k))
	case n < 175:
		w.piece(id)
	case n < 180:
		v := w.value()
		w.b.AppendBlock(id, v)
		w.m.blocks[id] = append(w.m.blocks[id], string(v))
	case n < 190:
		k, v := fmt.Sprintf("position/%d", w.r.IntN(10)), w.value()
		w.b.SetMeta(k, v)
		w.m.meta[k] = string(v)
	case n < 199:
		k := fmt.Sprintf("position/%d", w.r.IntN(10))
		w.b.DeleteMeta(k)
		delete(w.m.meta, k)
	default:
		w.b.DropTable(id)
		delete(w.m.tables, id)
		delete(w.m.blocks, id)
		delete(w.m.pieces, id)
	}
}

func (w both) piece(id uint64) {
	name, v := fmt.Sprintf("piece %d", w.r.IntN(4)), w.value()
	w.b.PutPiece(id, []byte(name), v)
	if w.m.pieces[id] == nil {
		w.m.pieces[id] = map[string]string{}
	}
	if v == nil {
		delete(w.m.pieces[id], name)
	} else {
		w.m.pieces[id][name] = string(v)
	}
}

// contents reads a view completely, by scans.
func contents(v *View, tables int) (*model, error) {
	m := newModel()
	for id := range uint64(tables) {
		t := v.Table(id)
		err := t.Scan(func(k, value []byte) error {
			if m.tables[id] == nil {
				m.tables[id] = map[string]string{}
			}
			if _, twice := m.tables[id][string(k)]; twice {
				return fmt.Errorf("table %d: key %q twice", id, k)
			}
			m.tables[id][string(k)] = string(value)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n := t.Len(); n != int64(len(m.tables[id])) {
			return nil, fmt.Errorf("table %d: Len is %d, scanned %d", id, n, len(m.tables[id]))
		}
		err = t.Blocks(func(b []byte) error {
			m.blocks[id] = append(m.blocks[id], string(b))
			return nil
		})
		if err != nil {
			return nil, err
		}
		m.pieces[id] = map[string]string{}
		if err := t.EachPiece(func(name, value []byte) error { m.pieces[id][string(name)] = string(value); return nil }); err != nil {
			return nil, err
		}
	}
	err := v.MetaPrefix("", func(k string, value []byte) error { m.meta[k] = string(value); return nil })
	return m, err
}

// differs tells the first difference between two models, or nothing.
func differs(want, got *model, tables int) string {
	for id := range uint64(tables) {
		for k, v := range want.tables[id] {
			if w, ok := got.tables[id][k]; !ok || w != v {
				return fmt.Sprintf("table %d key %.20q: want %.20q, got %.20q (there: %v)", id, k, v, w, ok)
			}
		}
		for k := range got.tables[id] {
			if _, ok := want.tables[id][k]; !ok {
				return fmt.Sprintf("table %d key %.20q: not wanted", id, k)
			}
		}
		if a, b := want.blocks[id], got.blocks[id]; fmt.Sprintf("%q", a) != fmt.Sprintf("%q", b) {
			return fmt.Sprintf("table %d: want %d blocks, got %d or others", id, len(a), len(b))
		}
		if a, b := fmt.Sprintf("%q", want.pieces[id]), fmt.Sprintf("%q", got.pieces[id]); a != b && len(want.pieces[id])+len(got.pieces[id]) > 0 {
			return fmt.Sprintf("table %d: want pieces %.200s, got %.200s", id, a, b)
		}
	}
	if a, b := fmt.Sprint(want.meta), fmt.Sprint(got.meta); a != b {
		return fmt.Sprintf("meta: want %.200s, got %.200s", a, b)
	}
	return ""
}

// agree checks a view against a model, by scans and by random gets.
func agree(t *testing.T, v *View, w both, tables int) {
	t.Helper()
	if w.r.IntN(2) == 0 {
		got, err := contents(v, tables)
		require.NoError(t, err)
		require.Empty(t, differs(w.m, got, tables))
	}
	for id := range uint64(tables) {
		var keys [][]byte
		for range w.r.IntN(50) {
			keys = append(keys, w.key())
		}
		values, err := readKeys(v.Table(id), keys)
		require.NoError(t, err)
		require.Len(t, values, len(keys))
		for i, k := range keys {
			want, there := w.m.tables[id][string(k)]
			require.Equal(t, there, values[i] != nil, "table %d key %.20q", id, k)
			require.Equal(t, want, string(values[i]), "table %d key %.20q", id, k)
		}
	}
	for id := range uint64(tables) {
		names := [][]byte{[]byte("piece 3"), []byte("piece 0"), []byte("piece 1"), []byte("piece"), []byte("piece 2")}
		values, err := v.Table(id).Pieces(names)
		require.NoError(t, err)
		for i, name := range names {
			want, there := w.m.pieces[id][string(name)]
			require.Equal(t, there, values[i] != nil, "table %d %s", id, name)
			require.Equal(t, want, string(values[i]), "table %d %s", id, name)
		}
	}
	for n := range 10 {
		k := fmt.Sprintf("position/%d", n)
		value, there, err := v.Meta(k)
		require.NoError(t, err)
		want, wanted := w.m.meta[k]
		require.Equal(t, wanted, there)
		require.Equal(t, want, string(value))
	}
}

// held is a view kept open, and what it must go on to show.
type held struct {
	view *View
	want *model
}

func randomOptions(r *rand.Rand, fs vfs.FS) Options {
	o := Options{Dir: "data", FS: fs, MemoryBudget: int64(1) << (15 + r.IntN(12))}
	o.partitionKeys = 4 << r.IntN(10)
	o.partitionBytes = 1 << (10 + r.IntN(10))
	o.foldKeys = int64(10) << r.IntN(8)
	o.manual = r.IntN(2) == 0
	return o
}

func TestStoreEqualsMap(t *testing.T) {
	for _, test := range []struct {
		name string
		keys int
		hash func([]byte) uint64
	}{
		{"many keys", 1000, nil},
		{"few keys", 20, nil},
		{"keys whose hashes collide", 200, func(k []byte) uint64 { return byhash.Of(k) & 3 << 62 }},
		{"all hashes equal", 30, func([]byte) uint64 { return ^uint64(0) }},
	} {
		for seed := range uint64(4) {
			t.Run(fmt.Sprintf("%s/%d", test.name, seed), func(t *testing.T) {
				w := both{r: rand.New(rand.NewPCG(seed, 1)), m: newModel(), keys: test.keys}
				runModel(t, w, test.hash)
			})
		}
	}
}

func runModel(t *testing.T, w both, hash func([]byte) uint64) {
	const tables = 4
	fs := vfs.NewMem()
	open := func() *Store {
		o := randomOptions(w.r, fs)
		o.hash = hash
		s, err := Open(o)
		require.NoError(t, err)
		return s
	}
	s := open()
	var views []held
	release := func(all bool) {
		for len(views) > 0 && (all || len(views) > 3) {
			i := w.r.IntN(len(views))
			old := w
			old.m = views[i].want
			agree(t, views[i].view, old, tables)
			views[i].view.Close()
			views = append(views[:i], views[i+1:]...)
		}
	}
	for range 50 {
		w.b = s.NewBatch()
		for range w.r.IntN(2 * w.keys) {
			w.change(tables)
		}
		require.NoError(t, s.Commit(w.b))
		switch w.r.IntN(8) {
		case 0:
			views = append(views, held{s.View(), w.m.clone()})
			release(false)
		case 1:
			if s.options.manual { // else the background does it, and one at a time is the rule
				require.NoError(t, s.fold())
			}
		case 2:
			release(true)
			require.NoError(t, s.Close())
			s = open()
		default:
			v := s.View()
			agree(t, v, w, tables)
			v.Close()
		}
	}
	release(true)
	require.NoError(t, s.Close())
}

func TestScanStopsAtError(t *testing.T) {
	s, err := Open(Options{Dir: "data", FS: vfs.NewMem()})
	require.NoError(t, err)
	b := s.NewBatch()
	for i := range 100 {
		b.Put(1, fmt.Appendf(nil, "%d", i), []byte("v"))
	}
	require.NoError(t, s.Commit(b))
	v := s.View()
	stop := errors.New("stop")
	n := 0
	require.ErrorIs(t, v.Table(1).Scan(func(_, _ []byte) error { n++; return stop }), stop)
	require.Equal(t, 1, n)
	v.Close()
	require.NoError(t, s.Close())
}
