package store

import (
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// Batch collects the changes of one commit. Later changes win over earlier ones. It copies what it is given.
type Batch struct {
	b   *pebble.Batch
	seq uint32
}

// NewBatch returns an empty batch. A batch is used by one goroutine and committed at most once.
func (s *Store) NewBatch() *Batch { return &Batch{b: s.db.NewBatch()} }

// Put sets the value of a key. An empty value is not an absent one.
func (b *Batch) Put(table uint64, key, value []byte) {
	_ = b.b.Set(append(tableKey('k', table), key...), value, nil)
}

// Delete removes a key; removing an absent key is harmless.
func (b *Batch) Delete(table uint64, key []byte) {
	_ = b.b.Delete(append(tableKey('k', table), key...), nil)
}

// AppendBlock adds a block behind the table's blocks.
func (b *Batch) AppendBlock(table uint64, block []byte) {
	b.seq++
	_ = b.b.Set(binary.BigEndian.AppendUint32(tableKey('a', table), b.seq), block, nil)
}

// DropTable removes all keys and blocks the table has so far; the number may be used again, also in the same batch.
func (b *Batch) DropTable(table uint64) {
	_ = b.b.DeleteRange(tableKey('k', table), tableKey('k', table+1), nil)
	_ = b.b.DeleteRange(tableKey('a', table), tableKey('a', table+1), nil)
}

// SetMeta sets a small named value: a position, an outbox entry.
func (b *Batch) SetMeta(key string, value []byte) { _ = b.b.Set([]byte("m"+key), value, nil) }

// DeleteMeta removes a named value; removing an absent one is harmless.
func (b *Batch) DeleteMeta(key string) { _ = b.b.Delete([]byte("m"+key), nil) }

// Commit makes the batch durable and visible, all or nothing. After an error nothing of it is visible.
func (s *Store) Commit(b *Batch) error {
	if err := s.db.Apply(b.b, pebble.Sync); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

func tableKey(kind byte, table uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte{kind}, table)
}
