package memory

import (
	"bytes"
	"fmt"
)

// together is how many parts are read at a time.
const together = 256

// wanted are the keys of one part, by their numbers from and to, and what was read of it.
type wanted struct {
	name     []byte
	from, to int
	firsts   []uint32
	chunks   [][]byte
}

// find visits the rows that a run has of some keys, each with the number of its key.
func (m Multimap) find(r run, keys Keys, fn func(key int, row []byte) error) error {
	var parts []wanted
	for i := 0; i < keys.Len(); {
		part, j := r.partOf(keys.hashes[i]), i+1
		for j < keys.Len() && r.partOf(keys.hashes[j]) == part {
			j++
		}
		parts = append(parts, wanted{name: m.partName(r.id, part), from: i, to: j})
		i = j
	}
	for ; len(parts) > 0; parts = parts[min(together, len(parts)):] {
		some := parts[:min(together, len(parts))]
		if err := m.read(some, keys); err != nil {
			return err
		}
		for _, p := range some {
			if err := p.match(keys, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// read fetches what is needed of the parts.
func (m Multimap) read(parts []wanted, keys Keys) error {
	names := make([][]byte, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	values, err := m.Mem.Pieces(names)
	if err != nil {
		return fmt.Errorf("reading keyed data: %w", err)
	}
	var more [][]byte
	var where []func([]byte)
	for i, v := range values {
		if v == nil {
			continue
		}
		p := &parts[i]
		if p.firsts, v, err = splitHead(v); err != nil {
			return err
		}
		p.chunks = make([][]byte, len(p.firsts)+1)
		p.chunks[0] = v
		for c := range p.firsts {
			if p.needs(c, keys) {
				more = append(more, chunkName(p.name, c+1))
				where = append(where, func(v []byte) { p.chunks[c+1] = v })
			}
		}
	}
	if len(more) == 0 {
		return nil
	}
	if values, err = m.Mem.Pieces(more); err != nil {
		return fmt.Errorf("reading keyed data: %w", err)
	}
	for i, v := range values {
		if v == nil {
			return errDamaged
		}
		where[i](v)
	}
	return nil
}

// needs reports whether further chunk c may have rows of the keys.
func (p *wanted) needs(c int, keys Keys) bool {
	if keys.hashes[p.to-1] < p.firsts[c] {
		return false
	}
	return c+1 == len(p.firsts) || keys.hashes[p.from] <= p.firsts[c+1]
}

// match visits the rows of the keys in the chunks that were read. Keys and rows are in the same order.
func (p *wanted) match(keys Keys, fn func(key int, row []byte) error) error {
	k := p.from
	for _, v := range p.chunks {
		if v == nil {
			continue
		}
		c, err := openChunk(v)
		if err != nil {
			return err
		}
		for i := 0; k < p.to; {
			if i = c.seek(i, keys.hashes[k]); i == c.n {
				break
			}
			if h := c.hash(i); h > keys.hashes[k] {
				k++
				continue
			}
			key, row, err := c.row(i)
			if err != nil {
				return err
			}
			switch d := bytes.Compare(key, keys.keys[k]); {
			case d > 0:
				k++
			case d < 0:
				i++
			default:
				if err := fn(k, row); err != nil {
					return err
				}
				i++
			}
		}
	}
	return nil
}

// eachPart visits all chunks of the given runs, with the number of their run among these, and their names.
func (m Multimap) eachPart(runs []run, fn func(run int, name []byte, c chunkReader) error) error {
	for n, r := range runs {
		for part := uint64(0); part < 1<<r.bits; part += together {
			var names [][]byte
			for i := part; i < min(part+together, 1<<r.bits); i++ {
				names = append(names, m.partName(r.id, uint32(i)))
			}
			if err := m.chunks(names, func(name []byte, c chunkReader) error { return fn(n, name, c) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// chunks visits all chunks of the parts of the given names, each with its own name.
func (m Multimap) chunks(names [][]byte, fn func(name []byte, c chunkReader) error) error {
	values, err := m.Mem.Pieces(names)
	if err != nil {
		return fmt.Errorf("reading keyed data: %w", err)
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		firsts, v, err := splitHead(v)
		if err != nil {
			return err
		}
		all, own := [][]byte{v}, [][]byte{names[i]}
		if len(firsts) > 0 {
			var more [][]byte
			for c := range firsts {
				more = append(more, chunkName(names[i], c+1))
			}
			further, err := m.Mem.Pieces(more)
			if err != nil {
				return fmt.Errorf("reading keyed data: %w", err)
			}
			all, own = append(all, further...), append(own, more...)
		}
		for j, v := range all {
			c, err := openChunk(v)
			if err != nil {
				return err
			}
			if err := fn(own[j], c); err != nil {
				return err
			}
		}
	}
	return nil
}

// Each visits all rows of many keys, in any order. A row is valid during the call only.
func (m Multimap) Each(keys Keys, fn func(row []byte) error) error {
	l, err := m.list()
	if err != nil {
		return err
	}
	covers := make([]uint64, keys.Len())
	if l.shelves {
		for from := 0; from < keys.Len(); from += together {
			if err := m.eachShelf(keys.keys[from:min(from+together, keys.Len())], covers[from:], fn); err != nil {
				return err
			}
		}
	}
	for _, r := range l.runs {
		err := m.find(r, keys, func(key int, row []byte) error {
			if r.id < covers[key] {
				return nil
			}
			return fn(row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachShelf visits the rows of some keys' shelves, and notes what these cover.
func (m Multimap) eachShelf(keys [][]byte, covers []uint64, fn func(row []byte) error) error {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = string(k)
	}
	shelves, err := m.heads(names)
	if err == nil {
		err = m.fetch(shelves, true)
	}
	if err != nil {
		return err
	}
	for i, k := range names {
		s := shelves[k]
		if s == nil {
			continue
		}
		covers[i] = s.cover
		if err := s.Rows(fn); err != nil {
			return err
		}
	}
	return nil
}
