// Package byhash puts keys in the order of their hashes, which is the order keyed data has in memory and on disk
package byhash

import "github.com/cespare/xxhash/v2"

// Of is the hash of a key. Its values are stored: it must stay as it is.
func Of(key []byte) uint64 { return xxhash.Sum64(key) }

// Item is the hash of a key and where the key is found: what is sorted instead of keys.
type Item struct {
	Hash uint64
	At   int
}

// few items are sorted by comparing them.
const few = 48

// Sort sorts by hash and keeps the order of equal hashes. Sorting integers by their digits is several times cheaper
// than comparing through a function, and this is on the path of every commit.
func Sort(items []Item) {
	if len(items) <= few {
		insert(items)
		return
	}
	for i := 1; i < len(items); i++ {
		if items[i-1].Hash > items[i].Hash {
			sortDigit(items, make([]Item, len(items)), 56)
			return
		}
	}
}

// sortDigit sorts by the digit of the hash at a shift, and those below it.
func sortDigit(items, scratch []Item, shift uint) {
	if len(items) <= few {
		insert(items)
		return
	}
	var ends [257]int
	for i := range items {
		ends[(items[i].Hash>>shift)&255+1]++
	}
	if ends[(items[0].Hash>>shift)&255+1] == len(items) { // they differ further down, if at all
		if shift > 0 {
			sortDigit(items, scratch, shift-8)
		}
		return
	}
	for d := 1; d < len(ends); d++ {
		ends[d] += ends[d-1]
	}
	next := ends
	for i := range items {
		d := (items[i].Hash >> shift) & 255
		scratch[next[d]] = items[i]
		next[d]++
	}
	copy(items, scratch)
	if shift == 0 {
		return
	}
	for d := range 256 {
		if from, to := ends[d], ends[d+1]; to-from > 1 {
			sortDigit(items[from:to], scratch[from:to], shift-8)
		}
	}
}

func insert(items []Item) {
	for i := 1; i < len(items); i++ {
		x := items[i]
		j := i
		for ; j > 0 && items[j-1].Hash > x.Hash; j-- {
			items[j] = items[j-1]
		}
		items[j] = x
	}
}
