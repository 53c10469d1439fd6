package store

import (
	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// known is what a batch says of the former values of the keys it changes in a table.
type known struct {
	n      int    // changes it knows that of
	mixed  bool   // keys are out of order, or something else makes it necessary to look
	had    bool   // some keys had values
	commit uint64 // at which that was so
	keys   int64  // by so many the table grows
	bytes  int64
	gain   growth
}

// add takes the last change of a batch, and the one before it.
func (k *known) add(last []byhash.Item, key int, value []byte, was Former) {
	if len(last) > 1 && last[0].Hash >= last[1].Hash || k.n > 0 && k.commit != was.Commit || value == nil && was.Bytes < 0 {
		k.mixed = true
	}
	k.n++
	k.commit = was.Commit
	if was.Bytes >= 0 {
		k.had = true
		k.keys--
		k.bytes -= int64(key + was.Bytes)
	} else {
		k.gain.keys++
		k.gain.bytes += padded(record.VarintLen(key) + record.VarintLen(len(value)+1) + key + len(value))
	}
	if value != nil {
		k.keys++
		k.bytes += int64(key + len(value))
	}
}

// told takes from the batch what the table will have, and reports whether that is still so: then nothing has to be looked up.
func (p *prepared) told() bool {
	b, t := p.batch, p.next
	k := &b.known
	if k.n == 0 || k.n != len(b.keys) || k.mixed || b.dropped {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.old == nil && k.had || t.changed > k.commit {
		return false
	}
	p.items, p.gain = b.keys, k.gain
	p.keys, p.bytes = t.keys+k.keys, t.bytes+k.bytes
	return true
}
