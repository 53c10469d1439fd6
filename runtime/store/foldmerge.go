package store

import (
	"bytes"
	"slices"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// inOrder is a copy of the records of changes, in the order of their hashes, in which they mostly are.
func (s *Store) inOrder(c changes) []byte {
	items, sorted := make([]byhash.Item, 0, c.n), true
	for at := 0; at < len(c.records); {
		key, _, n := record.Cut(c.records[at:])
		items = append(items, byhash.Item{Hash: s.options.hash(key), At: at})
		sorted = sorted && (len(items) < 2 || items[len(items)-2].Hash <= items[len(items)-1].Hash)
		at += n
	}
	if sorted {
		return slices.Clone(c.records)
	}
	byhash.Sort(items)
	out := make([]byte, 0, len(c.records))
	for _, h := range items {
		_, _, n := record.Cut(c.records[h.At:])
		out = append(out, c.records[h.At:h.At+n]...)
	}
	return out
}

// hashRange is how many hashes are merged at a time: some thousand records, which the processor's cache holds.
const hashRange = 1 << 56

// table writes the newest value of every key of one table: of the records of all commits those of one range of hashes after another.
func (w *foldWriter) table(id uint64, t *foldTable) error {
	rest := slices.Clone(t.parts)
	var records []byte
	var items []byhash.Item
	for low := uint64(0); ; low += hashRange {
		records, items = records[:0], items[:0]
		for i := range rest {
			for len(rest[i]) > 0 {
				key, _, n := record.Cut(rest[i])
				hash := w.s.options.hash(key)
				if hash-low >= hashRange {
					break
				}
				items = append(items, byhash.Item{Hash: hash, At: len(records)})
				records, rest[i] = append(records, rest[i][:n]...), rest[i][n:]
			}
		}
		byhash.Sort(items)
		if err := w.newest(id, records, items); err != nil || low+hashRange == 0 {
			return err
		}
	}
}

// newest writes the last of the changes of every key; items are in the order of hashes, and those of equal hashes oldest first.
func (w *foldWriter) newest(id uint64, records []byte, items []byhash.Item) error {
	for len(items) > 0 {
		n := 1
		for n < len(items) && items[n].Hash == items[0].Hash {
			n++
		}
		for _, h := range lastOfEach(records, items[:n]) {
			key, value := record.Split(records[h.At:])
			if err := w.add(id, h.Hash, key, value); err != nil {
				return err
			}
		}
		items = items[n:]
	}
	return nil
}

// lastOfEach reduces changes of equal hash, oldest first, to the last one of every key, in the order of keys.
func lastOfEach(records []byte, same []byhash.Item) []byhash.Item {
	if len(same) == 1 {
		return same
	}
	key := func(h byhash.Item) []byte {
		k, _ := record.Split(records[h.At:])
		return k
	}
	last := same[len(same)-1]
	if !slices.ContainsFunc(same, func(h byhash.Item) bool { return !bytes.Equal(key(h), key(last)) }) {
		return append(same[:0], last)
	}
	slices.SortStableFunc(same, func(a, b byhash.Item) int { return bytes.Compare(key(a), key(b)) })
	kept := same[:0]
	for i, h := range same {
		if i+1 == len(same) || !bytes.Equal(key(h), key(same[i+1])) {
			kept = append(kept, h)
		}
	}
	return kept
}
