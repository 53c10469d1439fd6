package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// View is the store as of one commit, while later commits go on. It must be closed before the store.
type View struct{ snap *pebble.Snapshot }

// View returns a view of the last commit.
func (s *Store) View() *View { return &View{snap: s.db.NewSnapshot()} }

// Close releases the view; no method of it or its tables may be running or called later.
func (v *View) Close() { _ = v.snap.Close() }

// Meta returns a named value and whether it is there.
func (v *View) Meta(key string) ([]byte, bool, error) {
	value, err := v.get([]byte("m" + key))
	return value, value != nil, err
}

func (v *View) get(key []byte) ([]byte, error) {
	value, c, err := v.snap.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return append([]byte{}, value...), c.Close()
}

// MetaPrefix visits the named values whose key begins with prefix, in order; value is valid during the call only.
func (v *View) MetaPrefix(prefix string, fn func(key string, value []byte) error) error {
	low := []byte("m" + prefix)
	return v.each(low, after(low), func(k, value []byte) error { return fn(string(k[1:]), value) })
}

func after(prefix []byte) []byte {
	up := append([]byte{}, prefix...)
	for i := len(up) - 1; i >= 0; i-- {
		if up[i]++; up[i] != 0 {
			return up[:i+1]
		}
	}
	return nil
}

func (v *View) each(low, up []byte, fn func(k, value []byte) error) error {
	it, err := v.snap.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: up})
	if err != nil {
		return err
	}
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		err = fn(it.Key(), it.Value())
	}
	return errors.Join(err, it.Close())
}

// Table returns one table as the view sees it; a table never written is empty.
func (v *View) Table(id uint64) *Table { return &Table{v: v, id: id} }

// Table is the keyed data and the blocks of one operator.
type Table struct {
	v  *View
	id uint64
}

// Get returns the values of the keys, in their order; nil where there is none.
func (t *Table) Get(keys [][]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	for i, k := range keys {
		v, err := t.v.get(append(tableKey('k', t.id), k...))
		if err != nil {
			return nil, err
		}
		values[i] = v
	}
	return values, nil
}

// Scan visits all keys in any order; key and value are valid during the call only.
func (t *Table) Scan(fn func(key, value []byte) error) error {
	return t.v.each(tableKey('k', t.id), tableKey('k', t.id+1), func(k, v []byte) error { return fn(k[9:], v) })
}

// Blocks visits the blocks in the order they were appended; block is valid during the call only.
func (t *Table) Blocks(fn func(block []byte) error) error {
	return t.v.each(tableKey('a', t.id), tableKey('a', t.id+1), func(_, v []byte) error { return fn(v) })
}

// Len is the number of keys.
func (t *Table) Len() (n int64) {
	_ = t.Scan(func(_, _ []byte) error { n++; return nil })
	return n
}
