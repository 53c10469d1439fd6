package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// prepared is what a commit will change in one table.
type prepared struct {
	id      uint64
	batch   *tableBatch
	dropped bool          // there is something to be dropped
	old     *keyed        // present table; nil when there is none
	next    *keyed        // the table after the commit: old, or a new one
	items   []byhash.Item // records that change something, in the order of their hashes, each key once
	keys    int64         // of the table afterwards
	bytes   int64
	gain    growth // the records of keys that it did not have
}

// changes says whether the table's keyed data is changed at all.
func (p *prepared) changes() bool { return p.dropped || len(p.items) > 0 }

func (p *prepared) key(at int) []byte {
	key, _ := record.Split(p.batch.records[at:])
	return key
}

// Commit makes the batch durable and visible, all or nothing, with one sync. After
// an error nothing of it is visible. When the write itself failed, it is not known
// whether the batch is on disk; then the store refuses all further work with the
// same error, and opening it again shows the batch whole or not at all.
func (s *Store) Commit(b *Batch) error {
	if b.err != nil {
		return fmt.Errorf("committing: %w", b.err)
	}
	if s.options.ReadOnly {
		return fmt.Errorf("committing: %w", ErrReadOnly)
	}
	b.err = errors.New("a batch is committed once only")
	if b.empty() {
		return nil
	}
	if err := s.roomFor(b.size); err != nil {
		b.err = nil
		return fmt.Errorf("committing: %w", err)
	}
	if err := s.waiting.forRoom(s); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	s.committing.Lock()
	err := s.commitBatch(b)
	s.committing.Unlock()
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	s.shrink()
	s.committed.Store(s.clock.Load())
	return nil
}

// keptBatch is how long a batch may be that Pebble keeps the memory of for the next one.
const keptBatch = 16 << 20

func (s *Store) commitBatch(b *Batch) error {
	if err := s.failure(); err != nil {
		return err
	}
	s.clock.Add(1)
	var all []*prepared
	for _, id := range b.order {
		p, err := s.prepare(id, b.tables[id])
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	number := s.commit + 1
	pb := s.db.NewBatchWithSize(int(b.size+b.size/8+256), pebble.WithMaxRetainedSizeBytes(keptBatch))
	keys, size := s.encode(pb, b, all, number)

	s.mu.Lock()
	defer s.mu.Unlock()
	before, err := s.priors(all)
	if err != nil {
		return errors.Join(err, pb.Close())
	}
	if err := s.apply(pb); err != nil {
		return s.fail(err)
	}
	for i, p := range all {
		s.install(p, before[i], number)
		s.items.give(p.batch.keys)
		s.records.give(p.batch.records)
	}
	s.commit = number
	s.waiting.add(keys, size)
	s.waiting.wakeWhenDue(&s.options)
	return pb.Close()
}

// prepare finds out which of a table's changes change anything, and what size the
// table will have.
func (s *Store) prepare(id uint64, b *tableBatch) (*prepared, error) {
	p := &prepared{id: id, batch: b, old: s.table(id)}
	p.dropped = b.dropped && p.old != nil
	p.next = p.old
	if p.dropped || p.old == nil {
		p.next = s.newKeyed(id, int64(len(b.keys)), int64(len(b.records)), true)
		p.next.keys, p.next.bytes = 0, 0
	}
	if p.told() {
		return p, nil
	}
	byhash.Sort(b.keys)
	p.items = lastOfEachKey(b)
	t := p.next
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.fill(p.items, p.key); err != nil {
		return nil, err
	}
	p.keys, p.bytes = t.keys, t.bytes
	// The records that stay are copied into the order of their hashes: everything later walks them in memory order.
	kept, ordered := p.items[:0], make([]byte, 0, len(b.records))
	for n, h := range p.items {
		if n%ahead == 0 {
			t.warm(p.items[n:])
		}
		key, value, length := record.Cut(b.records[h.At:])
		old := t.value(h.Hash, key)
		if old == nil && value == nil || old != nil && value != nil && bytes.Equal(old, value) {
			continue
		}
		if old != nil {
			p.keys--
			p.bytes -= int64(len(key) + len(old))
		}
		if value != nil {
			p.keys++
			p.bytes += int64(len(key) + len(value))
		}
		if old == nil {
			p.gain.keys++
			p.gain.bytes += padded(length)
		}
		kept = append(kept, byhash.Item{Hash: h.Hash, At: len(ordered)})
		ordered = append(ordered, b.records[h.At:h.At+length]...)
	}
	p.items, b.records = kept, ordered
	return p, nil
}

// value is the present value of a key that fill was asked for; nil when absent.
func (t *keyed) value(hash uint64, key []byte) []byte {
	p := t.part(hash)
	i := p.find(hash, key)
	if i < 0 {
		return nil
	}
	_, value := p.record(&p.slots[i])
	return value
}

// lastOfEachKey drops all but the last change of every key; b.keys is sorted.
func lastOfEachKey(b *tableBatch) []byhash.Item {
	items := b.keys[:0]
	for i, h := range b.keys {
		if !overruled(b, b.keys[i+1:], h) {
			items = append(items, h)
		}
	}
	return items
}

// overruled says whether a later change of the same key follows; later is what comes behind h.
func overruled(b *tableBatch, later []byhash.Item, h byhash.Item) bool {
	for _, l := range later {
		if l.Hash != h.Hash {
			return false
		}
		a, _ := record.Split(b.records[h.At:])
		if c, _ := record.Split(b.records[l.At:]); bytes.Equal(a, c) {
			return true
		}
	}
	return false
}

// encode writes a commit into a Pebble batch, and returns how many keys and bytes of changes it carries.
func (s *Store) encode(pb *pebble.Batch, b *Batch, all []*prepared, number uint64) (keys, size int64) {
	// Writing into a Pebble batch cannot fail.
	_ = pb.Set([]byte(keyCommit), binary.BigEndian.AppendUint64(nil, number), nil)
	for _, m := range b.meta {
		if m.remove {
			_ = pb.Delete(metaKey(m.key), nil)
		} else {
			_ = pb.Set(metaKey(m.key), m.value, nil)
		}
	}
	for _, p := range all {
		if p.batch.dropped {
			for _, prefix := range []byte{prefixBlock, prefixPiece} {
				low, high := span(prefix, p.id)
				_ = pb.DeleteRange(low, high, nil)
			}
		}
		for _, piece := range p.batch.pieces {
			if piece.value == nil {
				_ = pb.Delete(pieceKey(nil, p.id, piece.name), nil)
			} else {
				_ = pb.Set(pieceKey(nil, p.id, piece.name), piece.value, nil)
			}
		}
		for i, block := range p.batch.blocks {
			_ = pb.Set(blockKey(p.id, number, i), block, nil)
		}
		if p.changes() {
			size += int64(p.encode(pb, number))
			keys += int64(len(p.items))
		}
	}
	return keys, size
}

// encode writes the changes of one table, and returns the length.
func (p *prepared) encode(pb *pebble.Batch, number uint64) int {
	c := changes{dropped: p.dropped, keys: p.keys, bytes: p.bytes, n: len(p.items)}
	head := c.appendHead(nil)
	size := len(head) + len(p.batch.records) + 4
	key := changesKey(number, p.id)
	op := pb.SetDeferred(len(key), size)
	copy(op.Key, key)
	value := append(append(op.Value[:0], head...), p.batch.records...)
	appendSum(value)
	_ = op.Finish()
	return size
}

// priors returns, for every table, the values its changed keys have now, as one record
// after the other; nothing when no view is open.
func (s *Store) priors(all []*prepared) ([][]byte, error) {
	before := make([][]byte, len(all))
	for i, p := range all {
		if p.next != p.old || len(s.seeing(p)) == 0 {
			continue
		}
		t := p.next
		t.mu.Lock()
		err := t.fill(p.items, p.key)
		for _, h := range p.items {
			key := p.key(h.At)
			before[i] = record.Append(before[i], key, t.value(h.Hash, key))
		}
		t.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return before, nil
}

// seeing are the pins that see the present table of a number, or that there is none.
func (s *Store) seeing(p *prepared) []*pin {
	var pins []*pin
	s.tablesMu.RLock()
	defer s.tablesMu.RUnlock()
	for _, q := range s.pins {
		if q.tables[p.id] == nil {
			pins = append(pins, q)
		}
	}
	return pins
}
