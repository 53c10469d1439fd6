package store

import (
	"sort"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/streamform/streamform/runtime/byhash"
	"github.com/streamform/streamform/runtime/store/record"
)

// keyed is the keyed data of one table: a directory of partitions by the top bits
// of the key's hash. A partition splits in two when it grows, so no step of growth
// costs more than one partition.
type keyed struct {
	mu    sync.Mutex
	store *Store
	id    uint64
	depth uint8        // the directory has 1<<depth places
	parts []*partition // a partition of lesser depth stands in several places
	keys  int64        // as of the last commit
	bytes int64        // of these keys and their values
	// emptied is the commit that dropped what was there before; until it is folded,
	// what Pebble has under k is not this table's. changed is the last commit that wrote here.
	emptied uint64
	changed uint64
	// pinned has the pins that see another table than the present one, and how many keys they see.
	pinned map[*pin]int64
	warmed uint32 // of no use but to make the compiler keep the reads of warm
	// frozen is set when the table was dropped while views could read it.
	frozen *pebble.Snapshot
}

// partition holds the entries whose hash begins with its prefix: all of them when
// entries.whole, else those written since the last fold and some that were read.
type partition struct {
	entries
	from    uint64 // lowest hash
	depth   uint8
	misses  int    // keys fetched one by one since the partition was last whole
	touched uint64 // the store's clock when last used
	counted int64  // bytes in the store's account
	undo    []undo
}

// undo is what a pinned commit sees instead of the present entries.
type undo struct {
	pin *pin
	was entries
}

const maxDepth = 16 // bounds the directory where hashes are too alike to be split

// newKeyed returns a table with room for so many keys and bytes; whole says that Pebble has nothing of it.
func (s *Store) newKeyed(id uint64, keys, size int64, whole bool) *keyed {
	t := &keyed{store: s, id: id, keys: keys, bytes: size, pinned: map[*pin]int64{}}
	for t.depth < maxDepth && (keys>>t.depth > int64(s.options.partitionKeys)/2 || (keys*8+size)>>t.depth > s.options.partitionBytes/2) {
		t.depth++
	}
	t.parts = make([]*partition, 1<<t.depth)
	for i := range t.parts {
		p := &partition{depth: t.depth, from: uint64(i) << (64 - t.depth)}
		p.whole, p.skip = whole, t.depth
		t.parts[i] = p
	}
	return t
}

// last is the highest hash of the partition.
func (p *partition) last() uint64 { return p.from + (1<<(64-p.depth) - 1) }

func (t *keyed) part(hash uint64) *partition { return t.parts[hash>>(64-t.depth)] }

// ahead is how many keys are looked up together.
const ahead = 32

// warm reads what looking up these few keys will read. The reads of different keys do
// not wait for each other here, so a chain of cache misses per key becomes one for all;
// in tables larger than the cache this halves the cost of a lookup. Each loop reads what
// the one before it has brought: a search that does not end where it begins is
// mispredicted, and would wait for memory before the next one could begin.
func (t *keyed) warm(items []byhash.Item) {
	var refs [ahead]uint32
	var parts [ahead]*partition
	items = items[:min(len(items), ahead)]
	sum := uint32(0)
	for j, item := range items {
		p := t.part(item.Hash)
		if parts[j] = p; len(p.slots) > 0 {
			sum ^= p.slots[p.home(item.Hash)].ref
		}
	}
	for j, item := range items {
		if p := parts[j]; len(p.slots) > 0 {
			refs[j] = p.seek(item.Hash)
		}
	}
	for j := range items {
		if ref := refs[j]; ref != 0 {
			arena, at := parts[j].arena, int(ref-1)*recordAlign
			sum ^= uint32(arena[at]) ^ uint32(arena[min(at+lineBytes/2, len(arena)-1)])
		}
	}
	t.warmed = sum
}

// lineBytes is what the processor reads at a time; a record of less than half of it may still lie in two lines.
const lineBytes = 64

// each visits every partition once, in the order of hashes. The visitor may not split.
func (t *keyed) each(fn func(p *partition)) {
	for i := 0; i < len(t.parts); {
		p := t.parts[i]
		fn(p)
		i += 1 << (t.depth - p.depth)
	}
}

// touch brings the account up to date after a partition was used, and splits it when it has grown too large.
func (t *keyed) touch(p *partition) {
	p.touched = t.store.clock.Load()
	t.account(p)
	if t.large(p, growth{}) {
		t.split(p)
	}
}

// growth is how many keys, and bytes of records, a partition is going to gain.
type growth struct{ keys, bytes int }

// share is the part of n of all items.
func (g growth) share(n, all int) growth {
	part := func(of int) int { return int(int64(of) * int64(n) / int64(max(all, 1))) }
	return growth{part(g.keys), part(g.bytes)}
}

// large says whether a partition is to be split, once it has grown.
func (t *keyed) large(p *partition, g growth) bool {
	o := &t.store.options
	return (p.live+g.keys > o.partitionKeys || int64(len(p.arena)-p.garbage+g.bytes) > o.partitionBytes && p.used+g.keys > 1) && p.depth < maxDepth
}

// widen makes room for items, which are in the order of hashes, before they are put: where the first of them belongs. It returns
// how many of the items that place is for.
func (t *keyed) widen(items []byhash.Item, all int, g growth) (p *partition, n int) {
	for {
		p = t.part(items[0].Hash)
		n = sort.Search(len(items), func(i int) bool { return items[i].Hash > p.last() })
		gain := g.share(n, all)
		if n < 2 || !t.large(p, gain) {
			p.expect(gain.keys+gain.keys/8+1, gain.bytes)
			return p, n
		}
		t.split(p)
	}
}

func (t *keyed) account(p *partition) {
	size := p.size()
	for i := range p.undo {
		size += p.undo[i].was.size()
	}
	t.store.used.Add(size - p.counted)
	p.counted = size
}

func (t *keyed) split(p *partition) {
	if p.depth == t.depth {
		parts := make([]*partition, 2*len(t.parts))
		for i, q := range t.parts {
			parts[2*i], parts[2*i+1] = q, q
		}
		t.parts = parts
		t.depth++
	}
	bit := uint64(1) << (63 - p.depth)
	low := &partition{from: p.from, depth: p.depth + 1, misses: p.misses / 2}
	high := &partition{from: p.from | bit, depth: p.depth + 1, misses: p.misses / 2}
	low.entries, high.entries = p.entries.split(bit)
	for _, u := range p.undo {
		a, b := u.was.split(bit)
		low.undo = append(low.undo, undo{u.pin, a})
		high.undo = append(high.undo, undo{u.pin, b})
	}
	for _, half := range []*partition{low, high} {
		for i := half.from >> (64 - t.depth); i <= half.last()>>(64-t.depth); i++ {
			t.parts[i] = half
		}
	}
	t.store.used.Add(-p.counted)
	t.touch(low)
	t.touch(high)
}

// split divides the entries by one bit of their hashes.
func (e *entries) split(bit uint64) (low, high entries) {
	var counts, sizes [2]int
	side := func(hash uint64) int {
		if hash&bit == 0 {
			return 0
		}
		return 1
	}
	e.each(func(s *slot, key, value []byte) {
		counts[side(s.hash)]++
		sizes[side(s.hash)] += padded(record.Len(key, value))
	})
	var halves [2]entries
	for i := range halves {
		halves[i] = entries{whole: e.whole, folded: e.folded, skip: e.skip + 1}
		halves[i].reserve(counts[i]+1, sizes[i])
	}
	e.each(func(s *slot, key, value []byte) {
		h := &halves[side(s.hash)]
		h.insert(slot{s.hash, h.write(key, value), s.seq}, value != nil)
	})
	return halves[0], halves[1]
}

// set writes one entry; nil is absent.
func (t *keyed) set(p *partition, hash uint64, key, value []byte, seq uint32) {
	p.folded = uint32(t.store.folded.Load())
	p.put(hash, key, value, seq)
}

// evict forgets the entries of a partition that Pebble has, too.
func (t *keyed) evict(p *partition, folded uint64) {
	if t.emptied > folded {
		return
	}
	dirty := 0
	for i := range p.slots {
		if s := &p.slots[i]; s.ref != 0 && newer(s.seq, uint32(folded)) {
			dirty++
		}
	}
	if dirty == p.used {
		return
	}
	p.whole, p.misses = false, 0
	p.rebuild(func(s *slot, _ bool) bool { return newer(s.seq, uint32(folded)) }, 1, 0)
	t.account(p)
}

// undoOf is what a pin sees instead of the partition's entries; nil when it sees them.
func (p *partition) undoOf(at *pin) *entries {
	for i := range p.undo {
		if p.undo[i].pin == at {
			return &p.undo[i].was
		}
	}
	return nil
}

// undoFor is undoOf, made where there is none.
func (p *partition) undoFor(at *pin) *entries {
	if p.undoOf(at) == nil {
		p.undo = append(p.undo, undo{pin: at, was: entries{skip: p.skip}})
	}
	return p.undoOf(at)
}

// remember keeps the value a key had for a pin, unless an earlier commit already did.
func (p *partition) remember(at *pin, hash uint64, key, value []byte) {
	was := p.undoFor(at)
	if was.find(hash, key) < 0 {
		was.put(hash, key, value, 0)
	}
}

// unpin forgets what was kept for a pin, and says whether no pin reads the table any more.
func (t *keyed) unpin(at *pin) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pinned, at)
	t.each(func(p *partition) {
		for i := range p.undo {
			if p.undo[i].pin == at {
				p.undo = append(p.undo[:i:i], p.undo[i+1:]...)
				t.account(p)
				return
			}
		}
	})
	return len(t.pinned) == 0
}
