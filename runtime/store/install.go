package store

import "github.com/streamform/streamform/runtime/store/record"

// install makes a durable change of one table visible. before are the former values
// of the changed keys, for the views that are open. It needs mu.
func (s *Store) install(p *prepared, before []byte, commit uint64) {
	if !p.changes() {
		return
	}
	pins := s.seeing(p)
	if p.dropped {
		s.retire(p, pins)
		pins = nil
		p.next.emptied = commit
	}
	t := p.next
	if t != p.old {
		// Readers find the new table only now, complete but for the entries below,
		// which no view may see yet: pins begin their undo first.
		t.mu.Lock()
		s.tablesMu.Lock()
		s.tables[p.id] = t
		s.tablesMu.Unlock()
	} else {
		t.mu.Lock()
	}
	defer t.mu.Unlock()
	for _, at := range pins {
		t.pinTable(at)
	}
	for rest := p.items; len(rest) > 0; {
		q, n := t.widen(rest, len(p.items), p.gain)
		for _, at := range pins {
			q.undoFor(at).expect(n, 0)
		}
		for i, h := range rest[:n] {
			if i%ahead == 0 {
				t.warm(rest[i:n])
			}
			key, value := record.Split(p.batch.records[h.At:])
			if len(pins) > 0 {
				before = rememberNext(q, pins, h.Hash, key, before)
			}
			t.set(q, h.Hash, key, value, uint32(commit))
		}
		t.touch(q)
		rest = rest[n:]
	}
	t.keys, t.bytes, t.changed = p.keys, p.bytes, commit
}

// rememberNext keeps the next of the former values for the pins, and returns the rest.
// A table that did not exist has none: its keys were absent.
func rememberNext(q *partition, pins []*pin, hash uint64, key, before []byte) []byte {
	var old []byte
	if len(before) > 0 {
		var n int
		_, old, n = record.Cut(before)
		before = before[n:]
	}
	for _, at := range pins {
		q.remember(at, hash, key, old)
	}
	return before
}

// pinTable begins to keep what a pin sees of the table.
func (t *keyed) pinTable(at *pin) {
	if _, ok := t.pinned[at]; !ok {
		t.pinned[at] = t.keys
		at.changed = append(at.changed, t)
	}
}

// retire takes a dropped table away from later readers. Views that are open go on
// reading it, with a Pebble snapshot for what memory has forgotten.
func (s *Store) retire(p *prepared, pins []*pin) {
	t := p.old
	t.mu.Lock()
	defer t.mu.Unlock()
	s.tablesMu.Lock()
	defer s.tablesMu.Unlock()
	delete(s.tables, p.id)
	if len(pins) == 0 && len(t.pinned) == 0 {
		t.release()
		return
	}
	t.frozen = s.db.NewSnapshot()
	for _, at := range pins {
		at.tables[p.id] = t
		t.pinTable(at)
	}
}

// release takes the table out of the store's account of memory.
func (t *keyed) release() {
	t.each(func(p *partition) {
		t.store.used.Add(-p.counted)
		p.counted = 0
	})
}
