package memory

import (
	"bytes"
	"slices"

	"github.com/streamform/streamform/runtime/byhash"
)

// Rows are many encoded rows with their keys, all in one buffer.
type Rows struct {
	buf     []byte
	ends    []int   // of each key, and of the row behind it
	order   []place // see sorted
	sorting sorting
}

// Reset makes them no rows, and keeps their memory for others. It returns how many bytes that is.
func (r *Rows) Reset() int {
	r.buf, r.ends, r.order = r.buf[:0], r.ends[:0], nil
	s := &r.sorting
	return cap(r.buf) + cap(s.rows) + 8*(cap(r.ends)+cap(s.hashes)+2*cap(s.items))
}

// Expect makes room for the next rows, when all rows together will be so many; 0: that is not known.
func (r *Rows) Expect(next, all int) {
	n := r.Len()
	switch {
	case n == 0:
		r.Grow(max(next, all), 0)
	case all > n && cap(r.buf)-len(r.buf) < next*len(r.buf)/n*2:
		r.Grow(0, (all-n)*(len(r.buf)/n+1)*9/8)
	}
}

// Grow makes room for so many more rows of so many bytes.
func (r *Rows) Grow(rows, bytes int) {
	r.ends = slices.Grow(r.ends, 2*rows)
	r.buf = slices.Grow(r.buf, bytes)
}

// Add appends a row: key and row append their bytes to what they are given.
func (r *Rows) Add(key, row func([]byte) []byte) {
	r.buf = key(r.buf)
	r.ends = append(r.ends, len(r.buf))
	r.buf = row(r.buf)
	r.ends = append(r.ends, len(r.buf))
}

// Put appends a row.
func (r *Rows) Put(key, row []byte) {
	r.buf = append(r.buf, key...)
	r.ends = append(r.ends, len(r.buf))
	r.buf = append(r.buf, row...)
	r.ends = append(r.ends, len(r.buf))
}

// Len is how many rows there are; nil has none.
func (r *Rows) Len() int {
	if r == nil {
		return 0
	}
	return len(r.ends) / 2
}

// Bytes is how long all keys and rows are.
func (r *Rows) Bytes() int { return len(r.buf) }

func (r *Rows) start(i int) int {
	if i == 0 {
		return 0
	}
	return r.ends[2*i-1]
}

// Key is the key of row i.
func (r *Rows) Key(i int) []byte { return r.buf[r.start(i):r.ends[2*i]:r.ends[2*i]] }

// Row is row i without its key.
func (r *Rows) Row(i int) []byte { return r.buf[r.ends[2*i]:r.ends[2*i+1]:r.ends[2*i+1]] }

// Divide tells the numbers of the rows whose keys are known from those of the others; both ascend.
func (r *Rows) Divide(known func(key []byte) bool) (met, others []int) {
	for i := range r.Len() {
		if known(r.Key(i)) {
			met = append(met, i)
		} else {
			others = append(others, i)
		}
	}
	return met, others
}

// Only are some of the rows, by their numbers.
func (r *Rows) Only(rows []int) *Rows {
	if len(rows) == r.Len() {
		return r
	}
	out := &Rows{}
	out.Grow(len(rows), len(r.buf))
	for _, i := range rows {
		out.Put(r.Key(i), r.Row(i))
	}
	return out
}

// Split are the rows of the keys that has lists, by key, and those of all others, which come by key as well if there are less than many.
// further are rows of other keys still; nil: none.
func (r *Rows) Split(has map[string][][]byte, many int, further *Rows) (known map[string][][]byte, others *Rows) {
	if further.Len() >= many {
		return r.Grouped(), further
	}
	if r.Len() < many {
		known = r.Grouped()
		for i := range further.Len() {
			key := further.Key(i)
			known[string(key)] = append(known[string(key)], further.Row(i))
		}
		return known, nil
	}
	known, others = map[string][][]byte{}, &Rows{}
	others.Grow(r.Len()+further.Len(), len(r.buf))
	for i := range further.Len() {
		others.Put(further.Key(i), further.Row(i))
	}
	for i := range r.Len() {
		key := r.Key(i)
		if _, ok := has[string(key)]; ok {
			known[string(key)] = append(known[string(key)], r.Row(i))
		} else {
			others.Put(key, r.Row(i))
		}
	}
	return known, others
}

// place is where a row stands, with a hash of its key.
type place struct{ hash, row uint32 }

// hashOf decides where a key's rows lie in a run. Its values are stored: it must stay as it is.
func hashOf(key []byte) uint32 { return uint32(byhash.Of(key) >> 32) }

// sorted returns the rows in the order of their keys' hashes, rows of one key together and in the order they came.
func (r *Rows) sorted() []place {
	if len(r.order) == r.Len() {
		return r.order
	}
	places := make([]place, r.Len())
	for i := range places {
		places[i] = place{hashOf(r.Key(i)), uint32(i)}
	}
	sortPlaces(places)
	for i := 0; i < len(places); {
		j := i + 1
		for j < len(places) && places[j].hash == places[i].hash {
			j++
		}
		if j-i > 1 {
			r.sortByKey(places[i:j])
		}
		i = j
	}
	r.order = places
	return places
}

// Grouped are the rows by key.
func (r *Rows) Grouped() map[string][][]byte {
	out := make(map[string][][]byte, r.Len())
	for i := range r.Len() {
		key := r.Key(i)
		out[string(key)] = append(out[string(key)], r.Row(i))
	}
	return out
}

// sortByKey puts rows of keys that share a hash in order; mostly they share the key as well.
func (r *Rows) sortByKey(places []place) {
	first := r.Key(int(places[0].row))
	for _, p := range places[1:] {
		if !bytes.Equal(first, r.Key(int(p.row))) {
			slices.SortStableFunc(places, func(a, b place) int { return bytes.Compare(r.Key(int(a.row)), r.Key(int(b.row))) })
			return
		}
	}
}

// sortPlaces sorts by hash, keeping the order of equal ones: three passes over 11 bits each.
func sortPlaces(places []place) {
	spare := make([]place, len(places))
	from, to := places, spare
	for _, shift := range []uint{0, 11, 22} {
		var counts [2048]int
		for _, p := range from {
			counts[p.hash>>shift&2047]++
		}
		at := 0
		for i, n := range counts {
			counts[i], at = at, at+n
		}
		for _, p := range from {
			bucket := p.hash >> shift & 2047
			to[counts[bucket]] = p
			counts[bucket]++
		}
		from, to = to, from
	}
	copy(places, from)
}

// Keys are different keys in the order of their hashes.
type Keys struct {
	hashes []uint32
	keys   [][]byte
}

// Keys are the keys of the rows.
func (r *Rows) Keys() Keys {
	var out Keys
	for _, p := range r.sorted() {
		out.next(p.hash, r.Key(int(p.row)))
	}
	return out
}

// next adds a key that is not before the last one.
func (k *Keys) next(hash uint32, key []byte) {
	if n := len(k.keys); n > 0 && k.hashes[n-1] == hash && bytes.Equal(k.keys[n-1], key) {
		return
	}
	k.hashes, k.keys = append(k.hashes, hash), append(k.keys, key)
}

// Len is how many keys there are.
func (k Keys) Len() int { return len(k.keys) }

// Each visits the keys in order.
func (k Keys) Each(fn func(key []byte) error) error {
	for _, key := range k.keys {
		if err := fn(key); err != nil {
			return err
		}
	}
	return nil
}

// Only are those keys that want wants.
func (k Keys) Only(want func(key []byte) bool) Keys {
	var out Keys
	for i, key := range k.keys {
		if want(key) {
			out.next(k.hashes[i], key)
		}
	}
	return out
}

// Strings are the keys in order.
func (k Keys) Strings() []string {
	out := make([]string, len(k.keys))
	for i, key := range k.keys {
		out[i] = string(key)
	}
	return out
}

// KeysOf puts keys in order, each once.
func KeysOf(keys []string) Keys {
	rows := &Rows{}
	for _, k := range keys {
		rows.Put([]byte(k), nil)
	}
	return rows.Keys()
}

// Join returns the keys that either has.
func (k Keys) Join(other Keys) Keys {
	var out Keys
	i, j := 0, 0
	for i < k.Len() && j < other.Len() {
		if k.before(i, other, j) {
			out.next(k.hashes[i], k.keys[i])
			i++
		} else {
			out.next(other.hashes[j], other.keys[j])
			j++
		}
	}
	for ; i < k.Len(); i++ {
		out.next(k.hashes[i], k.keys[i])
	}
	for ; j < other.Len(); j++ {
		out.next(other.hashes[j], other.keys[j])
	}
	return out
}

func (k Keys) before(i int, other Keys, j int) bool {
	if k.hashes[i] != other.hashes[j] {
		return k.hashes[i] < other.hashes[j]
	}
	return bytes.Compare(k.keys[i], other.keys[j]) < 0
}
