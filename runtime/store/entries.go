package store

import (
	"bytes"
	"math/bits"

	"github.com/streamform/streamform/runtime/store/record"
)

// entries is an open-addressing hash table from byte keys to byte values. Neither
// slots nor arena hold Go pointers, so the garbage collector has nothing to follow
// however many keys there are.
//
// A key's place follows the order of hashes: what is looked up in that order lies in
// that order, in the slots and, since a rebuild writes records as they stand there,
// mostly in the arena. Keys that are looked up together then share cache lines. The
// price: many keys put in that order need their room first, see expect, or they crowd
// the beginning of a table that is to grow.
//
// Records in the arena are padded to 8 bytes. An absent value says "known not to
// be there", which matters where memory covers only a part of the keys.
type entries struct {
	slots   []slot
	arena   []byte
	used    int // slots in use, absent values included
	live    int // present values
	garbage int // arena bytes no slot refers to
	probes  int // slots that find has looked at: what it costs that keys crowd

	// whole says that these are all keys there are. Then an absent value is needed
	// only until commit folded reaches its commit: until then, eviction must keep it.
	whole  bool
	folded uint32

	skip  uint8 // bits that all hashes have in common at their top
	shift uint8 // how far the next bits are to be shifted to become a place
}

// slot is one place of the table. seq is the commit that last wrote the entry,
// cut to 32 bits.
type slot struct {
	hash uint64
	ref  uint32 // 0: free; else arena offset / 8 + 1
	seq  uint32
}

const (
	slotBytes   = 16
	recordAlign = 8
	minSlots    = 8
)

// size is the memory held, in bytes.
func (e *entries) size() int64 { return int64(len(e.slots))*slotBytes + int64(cap(e.arena)) }

// home is the place where the search for a hash begins; there must be slots.
func (e *entries) home(hash uint64) uint64 { return hash << e.skip >> e.shift }

// find returns the slot index of a key, or -1.
func (e *entries) find(hash uint64, key []byte) int {
	if len(e.slots) == 0 {
		return -1
	}
	mask := uint64(len(e.slots) - 1)
	for i := e.home(hash); ; i = (i + 1) & mask {
		e.probes++
		s := &e.slots[i]
		if s.ref == 0 {
			return -1
		}
		if s.hash == hash && bytes.Equal(e.key(s), key) {
			return int(i)
		}
	}
}

// seek returns the first record of a hash, 0 where there is none; there must be slots.
func (e *entries) seek(hash uint64) uint32 {
	mask := uint64(len(e.slots) - 1)
	i := e.home(hash)
	for e.slots[i].ref != 0 && e.slots[i].hash != hash {
		i = (i + 1) & mask
	}
	return e.slots[i].ref
}

// key is the key of a used slot; it points into the arena.
func (e *entries) key(s *slot) []byte {
	b := e.arena[uint64(s.ref-1)*recordAlign:]
	klen, n := record.Varint(b)
	_, m := record.Varint(b[n:])
	return b[n+m : n+m+klen : n+m+klen]
}

// record is the key and value of a used slot; they point into the arena. A nil
// value is absent, an empty one is not nil.
func (e *entries) record(s *slot) (key, value []byte) {
	return record.Split(e.arena[uint64(s.ref-1)*recordAlign:])
}

func padded(n int) int { return (n + recordAlign - 1) &^ (recordAlign - 1) }

// put sets the value of a key; nil marks it absent.
func (e *entries) put(hash uint64, key, value []byte, seq uint32) {
	if i := e.find(hash, key); i >= 0 {
		e.update(&e.slots[i], value, seq)
		return
	}
	e.expect(1, 0)
	e.insert(slot{hash: hash, ref: e.write(key, value), seq: seq}, value != nil)
}

// update replaces the value of a used slot, in place where it fits.
func (e *entries) update(s *slot, value []byte, seq uint32) {
	s.seq = seq
	key, old := e.record(s)
	if old != nil && value != nil && len(old) == len(value) {
		copy(old, value)
		return
	}
	if old != nil {
		e.live--
	}
	if value != nil {
		e.live++
	}
	was, now := padded(record.Len(key, old)), padded(record.Len(key, value))
	sameHeader := record.Len(key, old)-len(old) == record.Len(key, value)-len(value)
	if now <= was && sameHeader {
		at := int(s.ref-1) * recordAlign
		record.Append(e.arena[at:at:at+was], key, value)
		e.garbage += was - now
		return
	}
	e.garbage += was
	s.ref = e.write(key, value)
	if e.garbage > 4096 && e.garbage*2 > len(e.arena) {
		e.rebuild(e.needed, 1, 0)
	}
}

// expect makes room for so many more keys, with records of so many bytes in all.
func (e *entries) expect(keys, size int) {
	if (e.used+keys)*4 > len(e.slots)*3 {
		e.rebuild(e.needed, keys, size)
	}
}

func (e *entries) needed(s *slot, present bool) bool {
	return present || !e.whole || newer(s.seq, e.folded)
}

// newer says whether commit a came after commit b. An entry more than 2^31 commits
// old is taken for new, which only keeps it in memory longer.
func newer(a, b uint32) bool { return int32(a-b) > 0 }

// write appends a record to the arena and returns its reference. key may point
// into the arena.
func (e *entries) write(key, value []byte) uint32 {
	at := len(e.arena)
	e.arena = record.Append(e.arena, key, value)
	for len(e.arena)%recordAlign != 0 {
		e.arena = append(e.arena, 0)
	}
	return uint32(at/recordAlign) + 1
}

func (e *entries) insert(s slot, present bool) {
	mask := uint64(len(e.slots) - 1)
	i := e.home(s.hash)
	for e.slots[i].ref != 0 {
		i = (i + 1) & mask
	}
	e.slots[i] = s
	e.used++
	if present {
		e.live++
	}
}

// rebuild makes the table anew without garbage, with room for more keys and bytes, keeping
// the entries keep says yes to.
func (e *entries) rebuild(keep func(s *slot, present bool) bool, more, bytes int) {
	count, size := 0, 0
	for i := range e.slots {
		s := &e.slots[i]
		if s.ref == 0 {
			continue
		}
		key, value := e.record(s)
		if !keep(s, value != nil) {
			s.ref = 0
			continue
		}
		count++
		size += padded(record.Len(key, value))
	}
	fresh := entries{whole: e.whole, folded: e.folded, skip: e.skip, probes: e.probes}
	fresh.reserve(count+more, size+bytes)
	e.each(func(s *slot, key, value []byte) {
		fresh.insert(slot{s.hash, fresh.write(key, value), s.seq}, value != nil)
	})
	*e = fresh
}

// reserve makes room in an empty table for a number of keys and bytes of records.
func (e *entries) reserve(count, size int) {
	slots := minSlots
	for slots*2 < count*3 {
		slots *= 2
	}
	e.slots, e.shift = make([]slot, slots), uint8(64-bits.TrailingZeros(uint(slots)))
	if size > 0 {
		e.arena = make([]byte, 0, size+size/8)
	}
}

// each visits all entries; key and value point into the arena.
func (e *entries) each(fn func(s *slot, key, value []byte)) {
	for i := range e.slots {
		if s := &e.slots[i]; s.ref != 0 {
			key, value := e.record(s)
			fn(s, key, value)
		}
	}
}
