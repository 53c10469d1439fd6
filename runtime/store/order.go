package store

// hashed is the hash of a key and where the key is found: what is sorted instead of keys.
type hashed struct {
	hash uint64
	at   int
}

// sortHashed sorts by hash and keeps the order of equal hashes. scratch is as long
// as items. Sorting integers by their digits is several times cheaper than
// comparing through a function, and this is on the path of every commit.
func sortHashed(items, scratch []hashed) {
	for i := 1; i < len(items); i++ {
		if items[i-1].hash > items[i].hash {
			sortDigit(items, scratch, 56)
			return
		}
	}
}

func sortDigit(items, scratch []hashed, shift uint) {
	if len(items) <= 48 {
		insertionSort(items)
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
	if shift == 0 {
		return
	}
	for d := range 256 {
		if from, to := ends[d], ends[d+1]; to-from > 1 {
			sortDigit(items[from:to], scratch[from:to], shift-8)
		}
	}
}

func insertionSort(items []hashed) {
	for i := 1; i < len(items); i++ {
		x := items[i]
		j := i
		for ; j > 0 && items[j-1].hash > x.hash; j-- {
			items[j] = items[j-1]
		}
		items[j] = x
	}
}
