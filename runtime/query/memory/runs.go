package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Runs hold the rows that large epochs added. A run is written once, as pieces: its rows are sorted by the hash of their keys and
// cut into parts, one for each of 2^bits equal ranges of hashes, so that a key's part is known without an index.
//
//	key 0xfe, prefix                  → the runs there are: see runList
//	piece prefix, id, part            → chunk 0 of a part; id has 8 bytes, part and chunk 4, big-endian
//	piece prefix, id, part, chunk     → further chunks of a large one
//
// A chunk is the number of its rows, for each of them the hash and the end of its record as 32 bits, and the records: the length of the key, key, row.
// Before chunk 0 stands the number of chunks, and the first hash of each further one. All numbers are varints but the 32-bit ones, which are little-endian.
const listMark = 0xfe

const (
	partBytes  = 4 << 10  // a part has about so many
	chunkLimit = 64 << 10 // a larger part is cut
	mergeBytes = 96 << 20 // runs of more are left as they are
	sameLevel  = 8        // so many runs of one size become one
)

// run is one of the runs there are.
type run struct{ id, bits, rows, bytes uint64 }

// runList is what is known of all runs: the flags, the next run's id, and the runs as they came.
type runList struct {
	next    uint64
	shelves bool // some rows lie on shelves, too
	covered bool // some shelves say that rows of their key in runs do not count any more
	runs    []run
}

func (m Multimap) listEntry() []byte { return []byte{listMark, m.Prefix} }

// list reads which runs there are; none where no epoch was large.
func (m Multimap) list() (runList, error) {
	v, err := Get(m.Mem, [][]byte{m.listEntry()})
	if err != nil {
		return runList{}, fmt.Errorf("reading keyed data: %w", err)
	}
	if v[0] == nil {
		return runList{shelves: true}, nil
	}
	return decodeList(v[0])
}

func (l runList) encode() []byte {
	flags := uint64(0)
	if l.shelves {
		flags |= 1
	}
	if l.covered {
		flags |= 2
	}
	out := binary.AppendUvarint(binary.AppendUvarint(nil, l.next), flags)
	for _, r := range l.runs {
		for _, n := range []uint64{r.id, r.bits, r.rows, r.bytes} {
			out = binary.AppendUvarint(out, n)
		}
	}
	return out
}

func decodeList(v []byte) (runList, error) {
	var numbers []uint64
	for len(v) > 0 {
		n, used := binary.Uvarint(v)
		if used <= 0 {
			return runList{}, errDamaged
		}
		numbers, v = append(numbers, n), v[used:]
	}
	if len(numbers)%4 != 2 {
		return runList{}, errDamaged
	}
	l := runList{next: numbers[0], shelves: numbers[1]&1 != 0, covered: numbers[1]&2 != 0}
	for n := numbers[2:]; len(n) > 0; n = n[4:] {
		if n[1] > 32 {
			return runList{}, errDamaged
		}
		l.runs = append(l.runs, run{n[0], n[1], n[2], n[3]})
	}
	return l, nil
}

func (m Multimap) partName(id uint64, part uint32) []byte {
	name := append(make([]byte, 0, 17), m.Prefix)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(name, id), part)
}

func chunkName(part []byte, chunk int) []byte {
	return binary.BigEndian.AppendUint32(bytes.Clone(part), uint32(chunk))
}

// partOf is where the rows of a hash lie.
func (r run) partOf(hash uint32) uint32 { return uint32(uint64(hash) >> (32 - r.bits)) }

// writeRun writes rows as a run. The rows stay in use.
func (m Multimap) writeRun(out *Remember, rows *Rows, id uint64) run {
	r := run{id: id, rows: uint64(rows.Len()), bytes: uint64(rows.Bytes())}
	for r.bits < 24 && r.bytes>>r.bits > partBytes {
		r.bits++
	}
	w := runWriter{rows: rows, out: out}
	for places := rows.sorted(); len(places) > 0; {
		part, n := r.partOf(places[0].hash), 1
		for n < len(places) && r.partOf(places[n].hash) == part {
			n++
		}
		w.part(m.partName(id, part), places[:n])
		places = places[n:]
	}
	return r
}

type runWriter struct {
	rows *Rows
	out  *Remember
}

// part writes the rows of one part.
func (w *runWriter) part(name []byte, places []place) {
	var chunks [][]place
	size, from := 0, 0
	for i, p := range places {
		n := 10 + len(w.rows.Key(int(p.row))) + len(w.rows.Row(int(p.row)))
		if size += n; size > chunkLimit && i > from {
			chunks, from, size = append(chunks, places[from:i]), i, n
		}
	}
	chunks = append(chunks, places[from:])
	head := binary.AppendUvarint(nil, uint64(len(chunks)))
	for _, c := range chunks[1:] {
		head = binary.LittleEndian.AppendUint32(head, c[0].hash)
	}
	for i, c := range chunks {
		if i == 0 {
			w.out.Pieces = append(w.out.Pieces, Piece{name, w.chunk(head, c)})
		} else {
			w.out.Pieces = append(w.out.Pieces, Piece{chunkName(name, i), w.chunk(nil, c)})
		}
	}
}

func (w *runWriter) chunk(head []byte, places []place) []byte {
	size := len(head) + 5
	for _, p := range places {
		size += 13 + len(w.rows.Key(int(p.row))) + len(w.rows.Row(int(p.row)))
	}
	out := append(make([]byte, 0, size), head...)
	out = binary.AppendUvarint(out, uint64(len(places)))
	at := len(out)
	out = out[:at+8*len(places)]
	records := len(out)
	for i, p := range places {
		key := w.rows.Key(int(p.row))
		out = append(binary.AppendUvarint(out, uint64(len(key))), key...)
		out = append(out, w.rows.Row(int(p.row))...)
		binary.LittleEndian.PutUint32(out[at+8*i:], p.hash)
		binary.LittleEndian.PutUint32(out[at+8*i+4:], uint32(len(out)-records))
	}
	return out
}

var errDamaged = fmt.Errorf("reading keyed data: a damaged run")

// chunkReader reads the rows of one chunk.
type chunkReader struct {
	n       int
	index   []byte // hash and end of each record
	records []byte
}

func openChunk(v []byte) (chunkReader, error) {
	n, used := binary.Uvarint(v)
	if used <= 0 || uint64(len(v)-used)/8 < n {
		return chunkReader{}, errDamaged
	}
	c := chunkReader{n: int(n), index: v[used : used+8*int(n)], records: v[used+8*int(n):]}
	if n > 0 && c.end(c.n-1) != len(c.records) {
		return chunkReader{}, errDamaged
	}
	return c, nil
}

func (c chunkReader) hash(i int) uint32 { return binary.LittleEndian.Uint32(c.index[8*i:]) }

func (c chunkReader) end(i int) int { return int(binary.LittleEndian.Uint32(c.index[8*i+4:])) }

// row is the key and the row of record i.
func (c chunkReader) row(i int) (key, row []byte, err error) {
	from, to := 0, c.end(i)
	if i > 0 {
		from = c.end(i - 1)
	}
	if from > to || to > len(c.records) {
		return nil, nil, errDamaged
	}
	record := c.records[from:to]
	n, used := binary.Uvarint(record)
	if used <= 0 || uint64(len(record)-used) < n {
		return nil, nil, errDamaged
	}
	return record[used : used+int(n)], record[used+int(n):], nil
}

// seek is the first record at or behind from whose hash is not below the given one.
func (c chunkReader) seek(from int, hash uint32) int {
	step := 1
	for from+step < c.n && c.hash(from+step) < hash {
		from, step = from+step, 2*step
	}
	low, high := from, min(from+step, c.n)
	for low < high {
		if mid := (low + high) / 2; c.hash(mid) < hash {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

// splitHead takes the number of chunks, and where the further ones begin, off chunk 0.
func splitHead(v []byte) (firsts []uint32, chunk []byte, err error) {
	n, used := binary.Uvarint(v)
	if used <= 0 || n == 0 || uint64(len(v)-used)/4 < n-1 {
		return nil, nil, errDamaged
	}
	v = v[used:]
	for range n - 1 {
		firsts, v = append(firsts, binary.LittleEndian.Uint32(v)), v[4:]
	}
	return firsts, v, nil
}
