package memory

import "github.com/cespare/xxhash/v2"

// hashed is a key's hash and its number.
type hashed struct {
	hash uint64
	at   int
}

// InOrder puts keys, and what belongs to each, into the order in which the store keeps them, which is that of their hashes: in that order they are
// found, changed and written fastest. The bytes are copied, so that they lie in that order as well.
func InOrder(keys, values [][]byte) {
	items, size := make([]hashed, len(keys)), 0
	for i, key := range keys {
		items[i] = hashed{xxhash.Sum64(key), i}
		size += len(key) + len(values[i])
	}
	sortHashed(items, make([]hashed, len(items)), 56)
	buf := make([]byte, 0, size)
	place := func(b []byte) []byte {
		from := len(buf)
		buf = append(buf, b...)
		return buf[from:len(buf):len(buf)]
	}
	k, v := make([][]byte, len(keys)), make([][]byte, len(keys))
	for to, h := range items {
		k[to] = place(keys[h.at])
		v[to] = place(values[h.at])
	}
	copy(keys, k)
	copy(values, v)
}

// sortHashed sorts by the digit of the hash at a shift, and those below it.
func sortHashed(items, scratch []hashed, shift uint) {
	if len(items) <= 48 {
		for i := 1; i < len(items); i++ {
			for j := i; j > 0 && items[j-1].hash > items[j].hash; j-- {
				items[j-1], items[j] = items[j], items[j-1]
			}
		}
		return
	}
	var ends [257]int
	for i := range items {
		ends[(items[i].hash>>shift)&255+1]++
	}
	for d := 1; d < len(ends); d++ {
		ends[d] += ends[d-1]
	}
	next := ends
	for i := range items {
		d := (items[i].hash >> shift) & 255
		scratch[next[d]] = items[i]
		next[d]++
	}
	copy(items, scratch)
	for d := range 256 {
		if from, to := ends[d], ends[d+1]; shift > 0 && to-from > 1 {
			sortHashed(items[from:to], scratch[from:to], shift-8)
		}
	}
}
