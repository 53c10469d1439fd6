package store

import (
	"fmt"
	"slices"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// Batch collects the changes of one commit. Later changes win over earlier ones. It
// copies what it is given, but for pieces, which must stay as they are until the commit. A batch is used by one goroutine and committed at most once.
type Batch struct {
	store  *Store
	tables map[uint64]*tableBatch
	order  []uint64 // tables as first mentioned
	meta   []metaChange
	size   int64
	err    error
	last   *tableBatch // the table of the last call
	lastID uint64
}

type tableBatch struct {
	dropped bool
	known   known
	blocks  [][]byte
	pieces  []piece
	keys    []byhash.Item // at is the offset of a record in records
	records []byte
}

// piece is one change of a piece; no value removes it.
type piece struct{ name, value []byte }

type metaChange struct {
	key    string
	value  []byte
	remove bool
}

const (
	maxRecord = 1 << 30         // bytes of one key and value, or of one block
	maxBatch  = 3_500 * 1 << 20 // bytes of one commit; Pebble ends at 4 GiB
)

// NewBatch returns an empty batch.
func (s *Store) NewBatch() *Batch {
	return &Batch{store: s, tables: map[uint64]*tableBatch{}}
}

// Put sets the value of a key. An empty value is not an absent one.
func (b *Batch) Put(table uint64, key, value []byte) {
	if value == nil {
		value = []byte{}
	}
	b.change(table, key, value)
}

// Former is what a key had at a commit: a value of so many bytes, or none where Bytes is less than 0.
type Former struct {
	Commit uint64
	Bytes  int
}

// Replace is Put, or Delete where value is nil, by one who has looked what the key had at a commit, and changes it: where all changes of a table come so, in
// the order of the keys' hashes, and nobody else has changed the table since that commit, it needs not be looked up again.
func (b *Batch) Replace(table uint64, key, value []byte, was Former) {
	t := b.table(table)
	n := len(t.keys)
	if b.change(table, key, value); len(t.keys) > n {
		t.known.add(t.keys[max(n-1, 0):], len(key), value, was)
	}
}

// Expect makes room for changes of so many keys in a table, with keys and values of so many bytes.
func (b *Batch) Expect(table uint64, keys, bytes int) {
	t := b.table(table)
	if bytes += 4 * keys; t.keys == nil && t.records == nil {
		t.keys, t.records = b.store.items.take(keys), b.store.records.take(bytes)
	}
	t.keys, t.records = slices.Grow(t.keys, keys), slices.Grow(t.records, bytes)
}

// Delete removes a key; removing an absent key is harmless.
func (b *Batch) Delete(table uint64, key []byte) { b.change(table, key, nil) }

func (b *Batch) change(table uint64, key, value []byte) {
	if !b.grow(len(key) + len(value)) {
		return
	}
	t := b.table(table)
	if n := record.Len(key, value); n > cap(t.records)-len(t.records) {
		t.records = slices.Grow(t.records, max(n, len(t.records))) // twice as large: append's quarter copies too often
	}
	t.keys = append(t.keys, byhash.Item{Hash: b.store.options.hash(key), At: len(t.records)})
	t.records = record.Append(t.records, key, value)
}

// AppendBlock adds a block behind the blocks the table has.
func (b *Batch) AppendBlock(table uint64, block []byte) {
	if b.grow(len(block)) {
		t := b.table(table)
		t.blocks = append(t.blocks, append([]byte{}, block...))
	}
}

// PutPiece sets a piece: a value that is found by its name as a key's is, but is written once and never held in memory.
// It suits large values that are seldom replaced. A nil value removes the piece.
func (b *Batch) PutPiece(table uint64, name, value []byte) {
	if b.grow(len(name) + len(value)) {
		t := b.table(table)
		t.pieces = append(t.pieces, piece{name, value})
	}
}

// DropTable removes all keys, blocks and pieces the table has so far; its number may be
// used again, also later in the same batch.
func (b *Batch) DropTable(table uint64) { *b.table(table) = tableBatch{dropped: true} }

// CopyTable puts all keys, blocks and pieces of a table, as a view sees it, into another one.
func (b *Batch) CopyTable(to uint64, from *Table) error {
	err := from.Scan(func(key, value []byte) error {
		b.Put(to, key, value)
		return nil
	})
	if err != nil {
		return fmt.Errorf("copying a table: %w", err)
	}
	err = from.Blocks(func(block []byte) error {
		b.AppendBlock(to, block)
		return nil
	})
	if err != nil {
		return fmt.Errorf("copying a table: %w", err)
	}
	err = from.EachPiece(func(name, value []byte) error {
		b.PutPiece(to, slices.Clone(name), slices.Clone(value))
		return nil
	})
	if err != nil {
		return fmt.Errorf("copying a table: %w", err)
	}
	return nil
}

// SetMeta sets a small named value: a position, an outbox entry.
func (b *Batch) SetMeta(key string, value []byte) {
	if b.grow(len(key) + len(value)) {
		b.meta = append(b.meta, metaChange{key: key, value: append([]byte{}, value...)})
	}
}

// DeleteMeta removes a named value; removing an absent one is harmless.
func (b *Batch) DeleteMeta(key string) {
	b.meta = append(b.meta, metaChange{key: key, remove: true})
}

func (b *Batch) empty() bool { return len(b.tables) == 0 && len(b.meta) == 0 }

// grow says whether the batch can take so many bytes more; Commit reports it when not.
func (b *Batch) grow(n int) bool {
	b.size += int64(n)
	if n > maxRecord {
		b.err = fmt.Errorf("one value has %d bytes, the most is %d", n, maxRecord)
	} else if b.size > maxBatch {
		b.err = fmt.Errorf("one commit has more than %d MiB: let an epoch read less", maxBatch>>20)
	}
	return b.err == nil
}

func (b *Batch) table(id uint64) *tableBatch {
	if b.last != nil && b.lastID == id {
		return b.last
	}
	t := b.tables[id]
	if t == nil {
		t = &tableBatch{}
		b.tables[id] = t
		b.order = append(b.order, id)
	}
	b.last, b.lastID = t, id
	return t
}
