package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// base reads the folded keys of one table; its iterator is made when first needed.
type base struct {
	t  *keyed
	it *pebble.Iterator
	at []byte // scratch for seek keys
}

func (b *base) iterator() (*pebble.Iterator, error) {
	if b.it != nil {
		return b.it, nil
	}
	var reader pebble.Reader = b.t.store.db
	if b.t.frozen != nil {
		reader = b.t.frozen
	}
	low, high := span(prefixFolded, b.t.id)
	it, err := reader.NewIter(&pebble.IterOptions{LowerBound: low, UpperBound: high})
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	b.it = it
	return it, nil
}

// close reports what went wrong while reading, too.
func (b *base) close(err error) error {
	if b.it == nil {
		return err
	}
	if e := b.it.Close(); e != nil {
		err = errors.Join(err, fmt.Errorf("reading keyed data: %w", e))
	}
	return err
}

// each visits the folded keys of one partition in order.
func (b *base) each(p *partition, fn func(hash uint64, key, value []byte)) error {
	it, err := b.iterator()
	if err != nil {
		return err
	}
	b.at = foldedKey(b.at[:0], b.t.id, p.from, nil)
	for ok := it.SeekGE(b.at); ok; ok = it.Next() {
		hash, key := splitFoldedKey(it.Key())
		if hash > p.last() {
			break
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return fmt.Errorf("reading keyed data: %w", err)
		}
		fn(hash, key, present(value))
	}
	return it.Error()
}

// get returns one folded value, nil when absent; ascending keys are found fastest.
func (b *base) get(hash uint64, key []byte) ([]byte, error) {
	it, err := b.iterator()
	if err != nil {
		return nil, err
	}
	b.at = foldedKey(b.at[:0], b.t.id, hash, key)
	// By prefix, so that filters spare the levels that do not have the key.
	if !it.SeekPrefixGE(b.at) || string(it.Key()) != string(b.at) {
		return nil, it.Error()
	}
	value, err := it.ValueAndErr()
	return present(value), err
}

// present makes an empty value one that is not nil.
func present(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

// fill makes memory answer for the given keys, which are in the order of their
// hashes: afterwards a key that is not found is absent. It needs the table's lock.
func (t *keyed) fill(items []byhash.Item, key func(at int) []byte) error {
	b := base{t: t}
	for len(items) > 0 {
		p := t.part(items[0].Hash)
		n := 1
		for n < len(items) && items[n].Hash <= p.last() {
			n++
		}
		if !p.whole {
			if err := t.fillPart(&b, p, items[:n], key); err != nil {
				return b.close(err)
			}
		}
		t.touch(p)
		items = items[n:]
	}
	return b.close(nil)
}

func (t *keyed) fillPart(b *base, p *partition, items []byhash.Item, key func(at int) []byte) error {
	missing := 0
	for _, h := range items {
		if p.find(h.Hash, key(h.At)) < 0 {
			missing++
		}
	}
	if missing == 0 {
		return nil
	}
	p.misses += missing
	if t.worthLoading(p, missing) {
		return t.load(b, p)
	}
	folded := uint32(t.store.folded.Load())
	p.expect(missing, 0)
	for _, h := range items {
		k := key(h.At)
		if p.find(h.Hash, k) >= 0 {
			continue
		}
		value, err := b.get(h.Hash, k)
		if err != nil {
			return fmt.Errorf("reading keyed data: %w", err)
		}
		t.set(p, h.Hash, k, value, folded)
	}
	return nil
}

// worthLoading weighs one pass over a partition (about 0.1–0.3 µs per key) against
// seeking key by key (1–3 µs). Where the budget is used up, loading pushes something
// else out and must pay within this very call.
func (t *keyed) worthLoading(p *partition, missing int) bool {
	keys := t.keys >> p.depth
	if int64(missing)*8 >= keys {
		return true
	}
	return t.room(p) && int64(p.misses)*32 >= keys
}

// room says whether a whole partition still fits into the budget.
func (t *keyed) room(p *partition) bool {
	return t.store.used.Load()+(t.bytes+t.keys*40)>>p.depth <= t.store.options.keyedBudget()
}

// load completes a partition from what is folded. What is in memory already is newer.
func (t *keyed) load(b *base, p *partition) error {
	folded := uint32(t.store.folded.Load())
	if all := int(t.keys >> p.depth); all > p.used {
		p.expect((all-p.used)*9/8+1, int(t.bytes>>p.depth))
	}
	err := b.each(p, func(hash uint64, key, value []byte) {
		if p.find(hash, key) < 0 {
			t.set(p, hash, key, value, folded)
		}
	})
	if err == nil {
		p.whole, p.misses = true, 0
	}
	return err
}

// collect appends the records of the partition that begins at hash from, as a pin
// sees them, and returns its highest hash. It needs the table's lock.
func (t *keyed) collect(from uint64, at *pin, to []byte) ([]byte, uint64, error) {
	b := base{t: t}
	p := t.part(from)
	if !p.whole && t.room(p) {
		if err := t.load(&b, p); err != nil {
			return to, 0, b.close(err)
		}
		t.touch(p)
		p = t.part(from)
	}
	was := p.undoOf(at)
	hidden := func(hash uint64, key []byte) bool { return was != nil && was.find(hash, key) >= 0 }
	p.each(func(s *slot, key, value []byte) {
		if value != nil && !hidden(s.hash, key) {
			to = record.Append(to, key, value)
		}
	})
	var err error
	if !p.whole {
		err = b.each(p, func(hash uint64, key, value []byte) {
			if p.find(hash, key) < 0 && !hidden(hash, key) {
				to = record.Append(to, key, value)
			}
		})
	}
	if was != nil {
		was.each(func(_ *slot, key, value []byte) {
			if value != nil {
				to = record.Append(to, key, value)
			}
		})
	}
	return to, p.last(), b.close(err)
}
