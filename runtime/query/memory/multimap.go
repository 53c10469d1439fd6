package memory

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// Multimap keeps many rows per key in keyed data. Rows that a small epoch adds lie on their key's shelf: in chunks numbered
// from 0, the entry prefix, key, chunk number → rows, each behind its length as a varint. Chunk 0 begins with
// twice the number of chunks; one more says that a run's number follows, and that what older runs have of the key does not count any
// more. Adding a row touches the last chunk and chunk 0 only. Rows that a large epoch adds lie in runs.
type Multimap struct {
	Mem    Memory
	Prefix byte // of its entries, among those of the operator
}

// chunkBytes is the size from which a chunk is left alone.
const chunkBytes = 2048

func (m Multimap) entry(key string, chunk uint64) []byte {
	out := binary.AppendUvarint([]byte{m.Prefix}, uint64(len(key)))
	return binary.AppendUvarint(append(out, key...), chunk)
}

// Shelf is the rows of one key, as far as they were read.
type Shelf struct {
	count  uint64            // chunks there are
	cover  uint64            // runs before this one do not count
	chunks map[uint64][]byte // rows only, without what chunk 0 begins with
	run    [][]byte          // rows of runs
}

// head is what chunk 0 begins with.
func (s *Shelf) head() []byte {
	if s.cover == 0 {
		return binary.AppendUvarint(nil, 2*s.count)
	}
	return binary.AppendUvarint(binary.AppendUvarint(nil, 2*s.count+1), s.cover)
}

// openShelf parses chunk 0.
func openShelf(v []byte) (*Shelf, error) {
	n, used := binary.Uvarint(v)
	if used <= 0 {
		return nil, errChunk
	}
	s := &Shelf{count: n / 2}
	v = v[used:]
	if n%2 == 1 {
		if s.cover, used = binary.Uvarint(v); used <= 0 {
			return nil, errChunk
		}
		v = v[used:]
	}
	s.chunks = map[uint64][]byte{0: v}
	return s, nil
}

var errChunk = errors.New("reading keyed data: a damaged chunk")

// heads reads chunk 0 of each key; a key without rows has no shelf.
func (m Multimap) heads(keys []string) (map[string]*Shelf, error) {
	entries := make([][]byte, len(keys))
	for i, k := range keys {
		entries[i] = m.entry(k, 0)
	}
	values, err := Get(m.Mem, entries)
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	out := make(map[string]*Shelf, len(keys))
	for i, v := range values {
		if v == nil {
			continue
		}
		if out[keys[i]], err = openShelf(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// fetch reads further chunks: all, or the last of each key.
func (m Multimap) fetch(shelves map[string]*Shelf, all bool) error {
	var entries [][]byte
	var where []func([]byte)
	for key, s := range shelves {
		from := uint64(1)
		if !all && s.count > 1 {
			from = s.count - 1
		}
		for c := from; c < s.count; c++ {
			if _, ok := s.chunks[c]; ok {
				continue
			}
			entries = append(entries, m.entry(key, c))
			where = append(where, func(v []byte) { s.chunks[c] = v })
		}
	}
	if len(entries) == 0 {
		return nil
	}
	values, err := Get(m.Mem, entries)
	if err != nil {
		return fmt.Errorf("reading keyed data: %w", err)
	}
	for i, v := range values {
		if v == nil {
			return fmt.Errorf("reading keyed data: a chunk is missing")
		}
		where[i](v)
	}
	return nil
}

// Load is LoadKeys of keys in any order.
func (m Multimap) Load(keys []string) (map[string]*Shelf, error) { return m.LoadKeys(KeysOf(keys)) }

// LoadKeys reads all rows of the keys. A key that is not in the result has none.
func (m Multimap) LoadKeys(keys Keys) (map[string]*Shelf, error) {
	l, err := m.list()
	if err != nil {
		return nil, err
	}
	shelves := map[string]*Shelf{}
	if l.shelves {
		if shelves, err = m.heads(keys.Strings()); err != nil {
			return nil, err
		}
		if err := m.fetch(shelves, true); err != nil || len(l.runs) == 0 {
			return shelves, err
		}
	}
	for _, r := range l.runs {
		err := m.find(r, keys, func(i int, row []byte) error {
			key := string(keys.keys[i])
			s := shelves[key]
			if s == nil {
				s = &Shelf{}
				shelves[key] = s
			}
			if r.id >= s.cover {
				s.run = append(s.run, row)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return shelves, nil
}

// Rows visits the rows of a shelf whose chunks are all there.
func (s *Shelf) Rows(fn func(row []byte) error) error {
	for _, row := range s.run {
		if err := fn(row); err != nil {
			return err
		}
	}
	for c := range s.count {
		if err := eachRow(s.chunks[c], fn); err != nil {
			return err
		}
	}
	return nil
}

func eachRow(chunk []byte, fn func(row []byte) error) error {
	for len(chunk) > 0 {
		n, used := binary.Uvarint(chunk)
		if used <= 0 || uint64(len(chunk)-used) < n {
			return errChunk
		}
		if err := fn(chunk[used : used+int(n)]); err != nil {
			return err
		}
		chunk = chunk[used+int(n):]
	}
	return nil
}

// Change is what an epoch adds to rows by key and takes from them.
type Change struct {
	Added, Removed map[string][][]byte
	Loaded         map[string]*Shelf // that were read whole already; others are read as far as is needed
	Run            *Rows             // added as a run; its keys are not among the others. nil: none
}

// Change says what is to be remembered in the place of what there is.
func (m Multimap) Change(c Change) (Remember, error) {
	l, err := m.list()
	if err != nil {
		return Remember{}, err
	}
	r, was := &Remember{}, l.encode()
	if c.Run != nil && c.Run.Len() > 0 {
		if err := m.add(r, &l, c.Run); err != nil {
			return Remember{}, err
		}
	}
	var grow, shrink []string
	for k := range c.Added {
		if len(c.Removed[k]) == 0 {
			grow = append(grow, k)
		}
	}
	for k := range c.Removed {
		shrink = append(shrink, k)
	}
	if err := m.grow(r, grow, c.Added, c.Loaded); err != nil {
		return Remember{}, err
	}
	if err := m.shrink(r, &l, shrink, c); err != nil {
		return Remember{}, err
	}
	l.shelves = l.shelves || len(grow) > 0 || len(shrink) > 0
	if now := l.encode(); len(l.runs) > 0 && !bytes.Equal(was, now) {
		r.Keys, r.Values = append(r.Keys, m.listEntry()), append(r.Values, now)
	}
	return *r, nil
}

func (m Multimap) grow(r *Remember, keys []string, added map[string][][]byte, loaded map[string]*Shelf) error {
	shelves := map[string]*Shelf{}
	var unknown []string
	for _, k := range keys {
		if s, ok := loaded[k]; ok {
			shelves[k] = s
		} else {
			unknown = append(unknown, k)
		}
	}
	read, err := m.heads(unknown)
	if err != nil {
		return err
	}
	if err := m.fetch(read, false); err != nil {
		return err
	}
	for _, k := range keys {
		s := shelves[k]
		if s == nil {
			s = read[k]
		}
		if s == nil || s.count == 0 {
			m.put(r, k, s, added[k])
			continue
		}
		m.append(r, k, s, added[k])
	}
	return nil
}

// append adds rows behind a shelf's last chunk.
func (m Multimap) append(r *Remember, key string, s *Shelf, rows [][]byte) {
	last := s.count - 1
	current := append([]byte(nil), s.chunks[last]...)
	first := s.chunks[0]
	flush := func() {
		if last == 0 {
			first = current
			return
		}
		r.Keys, r.Values = append(r.Keys, m.entry(key, last)), append(r.Values, current)
	}
	for _, row := range rows {
		if len(current) >= chunkBytes {
			flush()
			last, current = last+1, nil
		}
		current = append(binary.AppendUvarint(current, uint64(len(row))), row...)
	}
	flush()
	if last == 0 || last+1 != s.count {
		head := (&Shelf{count: last + 1, cover: s.cover}).head()
		r.Keys = append(r.Keys, m.entry(key, 0))
		r.Values = append(r.Values, append(head, first...))
	}
}

// put writes a key's rows anew; was is the shelf there is, if any, which only says what it covers.
func (m Multimap) put(r *Remember, key string, was *Shelf, rows [][]byte) {
	s := &Shelf{count: 1, chunks: map[uint64][]byte{0: nil}}
	if was != nil {
		s.cover = was.cover
	}
	m.append(r, key, s, rows)
}

// shrink rewrites keys that lose rows.
func (m Multimap) shrink(r *Remember, l *runList, keys []string, c Change) error {
	shelves, err := m.Load(keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		gone := map[string]int{}
		for _, row := range c.Removed[k] {
			gone[string(row)]++
		}
		var keep [][]byte
		drop := func(row []byte) error {
			if gone[string(row)] > 0 {
				gone[string(row)]--
			} else {
				keep = append(keep, row)
			}
			return nil
		}
		s := shelves[k]
		if s == nil {
			s = &Shelf{}
		}
		if err := s.Rows(drop); err != nil {
			return err
		}
		for _, row := range c.Added[k] {
			if err := drop(row); err != nil {
				return err
			}
		}
		for _, n := range gone {
			if n > 0 {
				return fmt.Errorf("a row that is not held was taken back")
			}
		}
		if len(s.run) > 0 {
			s.cover, l.covered = l.next, true
		}
		m.rewrite(r, k, s, keep)
	}
	return nil
}

// rewrite puts rows in the place of a shelf's chunks. One that covers runs stays when it has no rows.
func (m Multimap) rewrite(r *Remember, key string, s *Shelf, rows [][]byte) {
	written := uint64(0)
	switch {
	case len(rows) > 0:
		before := len(r.Keys)
		m.put(r, key, s, rows)
		written = uint64(len(r.Keys) - before)
	case s.cover > 0:
		r.Keys, r.Values = append(r.Keys, m.entry(key, 0)), append(r.Values, (&Shelf{cover: s.cover}).head())
		written = 1
	}
	for c := written; c < s.count; c++ {
		r.Keys, r.Values = append(r.Keys, m.entry(key, c)), append(r.Values, nil)
	}
}

// All visits the rows of all keys, in any order. A row is valid during the call only.
func (m Multimap) All(fn func(row []byte) error) error {
	l, err := m.list()
	if err != nil {
		return err
	}
	covers, err := m.covers(l)
	if err != nil {
		return err
	}
	if err := m.counting(l.runs, covers, func(_, row []byte) error { return fn(row) }); err != nil {
		return err
	}
	return m.Mem.Scan(func(entry, value []byte) error {
		if len(entry) == 0 || entry[0] != m.Prefix {
			return nil
		}
		_, chunk, err := parseEntry(entry)
		if err != nil {
			return err
		}
		if chunk == 0 {
			s, err := openShelf(value)
			if err != nil {
				return err
			}
			value = s.chunks[0]
		}
		return eachRow(value, fn)
	})
}

// parseEntry takes the entry of a shelf's chunk apart.
func parseEntry(entry []byte) (key []byte, chunk uint64, err error) {
	size, used := binary.Uvarint(entry[1:])
	if used <= 0 || uint64(len(entry)-1-used) <= size {
		return nil, 0, fmt.Errorf("reading keyed data: a damaged key")
	}
	key = entry[1+used : 1+used+int(size)]
	chunk, _ = binary.Uvarint(entry[1+used+int(size):])
	return key, chunk, nil
}
