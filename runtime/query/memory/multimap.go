package memory

import (
	"encoding/binary"
	"fmt"
)

// Multimap keeps many rows per key in keyed data. A key's rows lie in chunks, numbered
// from 0: the entry prefix, key, chunk number → rows, each behind its length as a varint. Chunk 0 begins with
// the number of chunks. Adding a row touches the last chunk and chunk 0 only.
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

// Shelf is the chunks of one key, as far as they were read.
type Shelf struct {
	count  uint64            // chunks there are
	chunks map[uint64][]byte // rows only, without the count
}

// heads reads chunk 0 of each key; a key without rows has no shelf.
func (m Multimap) heads(keys []string) (map[string]*Shelf, error) {
	entries := make([][]byte, len(keys))
	for i, k := range keys {
		entries[i] = m.entry(k, 0)
	}
	values, err := m.Mem.Get(entries)
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	out := make(map[string]*Shelf, len(keys))
	for i, v := range values {
		if v == nil {
			continue
		}
		n, used := binary.Uvarint(v)
		if used <= 0 {
			return nil, fmt.Errorf("reading keyed data: a damaged chunk")
		}
		out[keys[i]] = &Shelf{count: n, chunks: map[uint64][]byte{0: v[used:]}}
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
	values, err := m.Mem.Get(entries)
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

// Load reads all rows of the keys.
func (m Multimap) Load(keys []string) (map[string]*Shelf, error) {
	shelves, err := m.heads(keys)
	if err != nil {
		return nil, err
	}
	return shelves, m.fetch(shelves, true)
}

// Rows visits the rows of a shelf whose chunks are all there.
func (s *Shelf) Rows(fn func(row []byte) error) error {
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
			return fmt.Errorf("reading keyed data: a damaged chunk")
		}
		if err := fn(chunk[used : used+int(n)]); err != nil {
			return err
		}
		chunk = chunk[used+int(n):]
	}
	return nil
}

// Change adds and removes rows. loaded holds the shelves that were read whole already; others are read as far as is needed.
func (m Multimap) Change(added, removed map[string][][]byte, loaded map[string]*Shelf) (Remember, error) {
	r := &Remember{}
	var grow, shrink []string
	for k := range added {
		if len(removed[k]) == 0 {
			grow = append(grow, k)
		}
	}
	for k := range removed {
		shrink = append(shrink, k)
	}
	if err := m.grow(r, grow, added, loaded); err != nil {
		return Remember{}, err
	}
	return *r, m.shrink(r, shrink, added, removed)
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
		if s == nil {
			m.put(r, k, added[k])
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
		r.Keys = append(r.Keys, m.entry(key, 0))
		r.Values = append(r.Values, append(binary.AppendUvarint(nil, last+1), first...))
	}
}

// put writes a key's rows anew.
func (m Multimap) put(r *Remember, key string, rows [][]byte) {
	m.append(r, key, &Shelf{count: 1, chunks: map[uint64][]byte{0: nil}}, rows)
}

// shrink rewrites keys that lose rows.
func (m Multimap) shrink(r *Remember, keys []string, added, removed map[string][][]byte) error {
	shelves, err := m.Load(keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		gone := map[string]int{}
		for _, row := range removed[k] {
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
		count := uint64(0)
		if s := shelves[k]; s != nil {
			count = s.count
			if err := s.Rows(drop); err != nil {
				return err
			}
		}
		for _, row := range added[k] {
			if err := drop(row); err != nil {
				return err
			}
		}
		for _, n := range gone {
			if n > 0 {
				return fmt.Errorf("a row that is not held was taken back")
			}
		}
		m.rewrite(r, k, count, keep)
	}
	return nil
}

func (m Multimap) rewrite(r *Remember, key string, had uint64, rows [][]byte) {
	written := uint64(0)
	if len(rows) > 0 {
		before := len(r.Keys)
		m.put(r, key, rows)
		written = uint64(len(r.Keys) - before)
	}
	for c := written; c < had; c++ {
		r.Keys, r.Values = append(r.Keys, m.entry(key, c)), append(r.Values, nil)
	}
}

// All visits the rows of all keys, in any order. A row is valid during the call only.
func (m Multimap) All(fn func(row []byte) error) error {
	return m.Mem.Scan(func(entry, chunk []byte) error {
		if len(entry) == 0 || entry[0] != m.Prefix {
			return nil
		}
		size, used := binary.Uvarint(entry[1:])
		if used <= 0 || uint64(len(entry)-1-used) <= size {
			return fmt.Errorf("reading keyed data: a damaged key")
		}
		if n, _ := binary.Uvarint(entry[1+used+int(size):]); n == 0 {
			_, used := binary.Uvarint(chunk)
			if used <= 0 {
				return fmt.Errorf("reading keyed data: a damaged chunk")
			}
			chunk = chunk[used:]
		}
		return eachRow(chunk, fn)
	})
}
