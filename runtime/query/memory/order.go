package memory

import (
	"encoding/binary"
	"slices"

	"github.com/streamform/streamform/runtime/byhash"
)

// manyInOrder is how many rows are divided by their hashes before they are sorted: what is sorted together should fit into the processor's cache.
const manyInOrder = 1024

// headBytes are the lengths of a key and its row, in front of them.
const headBytes = 8

// sorting is memory that InOrder works in.
type sorting struct {
	hashes []uint64
	items  []byhash.Item
	rows   []byte
	read   byte // of no use but to make the compiler keep reads
}

// lineBytes is what the processor reads at a time.
const lineBytes = 64

func (s *sorting) room(n, bytes int) {
	s.hashes, s.items, s.rows = slices.Grow(s.hashes[:0], n)[:n], slices.Grow(s.items[:0], n)[:n], slices.Grow(s.rows[:0], bytes)[:bytes]
}

// InOrder puts the rows into the order of their keys' hashes, which is that of the store: in this order keys are found, changed and written fastest.
func (r *Rows) InOrder() {
	n, shift := r.Len(), uint(64)
	if n > manyInOrder {
		shift = 56
	}
	s, ends := &r.sorting, make([]struct{ rows, bytes int }, 1+1<<(64-shift))
	s.room(n, len(r.buf)+n*headBytes)
	hashes, items, spare := s.hashes, s.items, s.rows
	for i := range n {
		hashes[i] = byhash.Of(r.Key(i))
		e := &ends[hashes[i]>>shift+1]
		e.rows++
		e.bytes += headBytes + r.ends[2*i+1] - r.start(i)
	}
	for p := 1; p < len(ends); p++ {
		ends[p].rows += ends[p-1].rows
		ends[p].bytes += ends[p-1].bytes
	}
	// Rows are read as they stand and written part by part, then read within a part and written as they will stand.
	for i, hash := range hashes {
		next := &ends[hash>>shift]
		items[next.rows] = byhash.Item{Hash: hash, At: next.bytes}
		start, key, end := r.start(i), r.ends[2*i], r.ends[2*i+1]
		to := spare[next.bytes:]
		binary.LittleEndian.PutUint32(to, uint32(key-start))
		binary.LittleEndian.PutUint32(to[4:], uint32(end-key))
		next.rows++
		next.bytes += headBytes + copy(to[headBytes:], r.buf[start:end])
	}
	r.buf, r.ends, r.order = r.buf[:0], r.ends[:0], nil
	from, begin := 0, 0
	for _, part := range ends[:len(ends)-1] { // which ends where the next one began
		byhash.Sort(items[from:part.rows])
		for ; begin < part.bytes; begin += lineBytes { // in one go, which costs less than one by one in another order
			s.read ^= spare[begin]
		}
		for _, item := range items[from:part.rows] {
			b := spare[item.At:]
			key, row := int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))
			start := len(r.buf)
			r.buf = append(r.buf, b[headBytes:headBytes+key+row]...)
			r.ends = append(r.ends, start+key, start+key+row)
		}
		from = part.rows
	}
}
