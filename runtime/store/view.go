package store

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// View is the store as of one commit, while later commits go on. It must be closed
// before the store. Its methods may be called from any goroutine.
//
// Later commits keep the values they replace for as long as a view could read them,
// so a view that stays open costs memory for every key that changes meanwhile.
type View struct {
	s   *Store
	pin *pin
	err error
}

// pin is a commit that views look at.
type pin struct {
	commit  uint64
	views   int
	snap    *pebble.Snapshot  // named values and blocks
	tables  map[uint64]*keyed // tables dropped since; under Store.tablesMu
	changed []*keyed          // tables that keep something for this pin; under Store.mu
}

// View returns a view of the last commit. After a failed commit the view is of no
// use: its methods return the error.
func (s *Store) View() *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failure(); err != nil {
		return &View{s: s, err: err}
	}
	if n := len(s.pins); n > 0 && s.pins[n-1].commit == s.commit {
		s.pins[n-1].views++
		return &View{s: s, pin: s.pins[n-1]}
	}
	p := &pin{commit: s.commit, views: 1, snap: s.db.NewSnapshot(), tables: map[uint64]*keyed{}}
	s.pins = append(s.pins, p)
	return &View{s: s, pin: p}
}

// Commit is the number of the commit that the view shows.
func (v *View) Commit() uint64 {
	if v.pin == nil {
		return 0
	}
	return v.pin.commit
}

// Close releases the view; no method of it or its tables may be running or be
// called later. Closing twice is harmless.
func (v *View) Close() {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	p := v.pin
	if p == nil || v.err != nil {
		return
	}
	v.err = errors.New("the view is closed")
	if p.views--; p.views > 0 {
		return
	}
	v.s.pins = slices.DeleteFunc(v.s.pins, func(q *pin) bool { return q == p })
	for _, t := range p.changed {
		if t.unpin(p) && t.frozen != nil {
			_ = t.frozen.Close() // it only gives up a number
			t.release()
		}
	}
	_ = p.snap.Close()
}

// Meta returns a named value and whether it is there.
func (v *View) Meta(key string) ([]byte, bool, error) {
	if v.err != nil {
		return nil, false, v.err
	}
	value, closer, err := v.pin.snap.Get(metaKey(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", key, err)
	}
	return append([]byte{}, value...), true, closer.Close()
}

// MetaPrefix visits the named values whose key begins with prefix, in the order of
// their bytes, until fn returns an error; value is valid during the call only.
func (v *View) MetaPrefix(prefix string, fn func(key string, value []byte) error) error {
	low := metaKey(prefix)
	return v.each(low, after(low), func(k, value []byte) error { return fn(string(k[1:]), value) })
}

func (v *View) each(low, high []byte, fn func(k, value []byte) error) error {
	if v.err != nil {
		return v.err
	}
	it, err := v.pin.snap.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return fmt.Errorf("reading the store: %w", err)
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		var value []byte
		if value, err = it.ValueAndErr(); err == nil {
			err = fn(it.Key(), value)
		}
	}
	return errors.Join(err, it.Close())
}

// Table returns one table as the view sees it; a table never written is empty.
func (v *View) Table(id uint64) *Table { return &Table{v: v, id: id} }

// Table is the keyed data, the blocks and the pieces of one operator.
type Table struct {
	v  *View
	id uint64
}

// keyed is the table the view sees; nil when there is none.
func (t *Table) keyed() (*keyed, error) {
	if t.v.err != nil {
		return nil, t.v.err
	}
	s := t.v.s
	s.tablesMu.RLock()
	defer s.tablesMu.RUnlock()
	if k := t.v.pin.tables[t.id]; k != nil {
		return k, nil
	}
	return s.tables[t.id], nil
}

// Read visits the values of n different keys, in the order of the keys' hashes, each with its key's number; nil where there is none. A value is
// valid during the call only, and fn may not use the store.
func (t *Table) Read(n int, key func(i int) []byte, fn func(i int, value []byte)) error {
	k, err := t.keyed()
	if err != nil || n == 0 {
		return err
	}
	if k == nil {
		for i := range n {
			fn(i, nil)
		}
		return nil
	}
	s := t.v.s
	s.makeRoom()
	s.clock.Add(1)
	items := s.items.take(n)
	for i := range n {
		items = append(items, byhash.Item{Hash: s.options.hash(key(i)), At: i})
	}
	byhash.Sort(items)
	err = k.read(t.v.pin, items, key, fn)
	s.items.give(items)
	return err
}

func (t *keyed) read(at *pin, items []byhash.Item, key func(int) []byte, fn func(i int, value []byte)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.fill(items, key); err != nil {
		return err
	}
	for n, h := range items {
		if n%ahead == 0 {
			t.warm(items[n:])
		}
		p, k := t.part(h.Hash), key(h.At)
		e := &p.entries
		i := -1
		if was := p.undoOf(at); was != nil {
			if i = was.find(h.Hash, k); i >= 0 {
				e = was
			}
		}
		if i < 0 {
			i = e.find(h.Hash, k)
		}
		var value []byte
		if i >= 0 {
			_, value = e.record(&e.slots[i])
		}
		fn(h.At, value)
	}
	return nil
}

// copier copies values into few large pieces of memory.
type copier struct {
	room []byte
	keys int // how many values there may be
}

func (c *copier) copy(value []byte) []byte {
	if value == nil {
		return nil
	}
	if c.room == nil || len(value) > cap(c.room)-len(c.room) {
		c.room = make([]byte, 0, max(min(32<<10, len(value)*c.keys), len(value)))
	}
	n := len(c.room)
	c.room = append(c.room, value...)
	return c.room[n:len(c.room):len(c.room)]
}

// Scan visits all keys in any order until fn returns an error; key and value are
// valid during the call only. fn may use the store.
func (t *Table) Scan(fn func(key, value []byte) error) error {
	k, err := t.keyed()
	if k == nil || err != nil {
		return err
	}
	s := t.v.s
	s.clock.Add(1)
	var buffer []byte
	for from, last := uint64(0), uint64(0); last != ^uint64(0); from = last + 1 {
		k.mu.Lock()
		buffer, last, err = k.collect(from, t.v.pin, buffer[:0])
		k.mu.Unlock()
		if err != nil {
			return err
		}
		s.shrink()
		for rest := buffer; len(rest) > 0; {
			key, value, n := record.Cut(rest)
			if err := fn(key, value); err != nil {
				return err
			}
			rest = rest[n:]
		}
	}
	return nil
}

// Blocks visits the blocks in the order they were appended until fn returns an
// error; block is valid during the call only.
func (t *Table) Blocks(fn func(block []byte) error) error {
	low, high := span(prefixBlock, t.id)
	return t.v.each(low, high, func(_, block []byte) error { return fn(block) })
}

// Pieces returns the values of the named pieces, nil where there is none; names in the order of their bytes are found fastest.
func (t *Table) Pieces(names [][]byte) ([][]byte, error) {
	values := make([][]byte, len(names))
	if t.v.err != nil || len(names) == 0 {
		return values, t.v.err
	}
	low, high := span(prefixPiece, t.id)
	it, err := t.v.pin.snap.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return nil, fmt.Errorf("reading the store: %w", err)
	}
	c := copier{keys: len(names)}
	var at []byte
	for i, name := range names {
		at = pieceKey(at[:0], t.id, name)
		there := it.Valid() && bytes.Equal(it.Key(), at) || it.SeekGE(at) && bytes.Equal(it.Key(), at)
		if !there {
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return nil, errors.Join(fmt.Errorf("reading the store: %w", err), it.Close())
		}
		values[i] = c.copy(present(value))
		it.Next()
	}
	return values, it.Close()
}

// EachPiece visits all pieces in the order of their names until fn returns an error; name and value are valid during the call only.
func (t *Table) EachPiece(fn func(name, value []byte) error) error {
	low, high := span(prefixPiece, t.id)
	return t.v.each(low, high, func(k, value []byte) error { return fn(k[pieceKeyHead:], value) })
}

// Len is the number of keys.
func (t *Table) Len() int64 {
	k, err := t.keyed()
	if k == nil || err != nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n, ok := k.pinned[t.v.pin]; ok {
		return n
	}
	return k.keys
}

// Size is how many bytes the keys and their values take together, as of the last commit; blocks and pieces are not counted.
func (t *Table) Size() int64 {
	k, err := t.keyed()
	if k == nil || err != nil {
		return 0
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bytes
}
