package memory

import "github.com/streamform/streamform/runtime/byhash"

// InOrder puts keys, and what belongs to each, into the order in which the store keeps them, which is that of their hashes: in that order they are
// found, changed and written fastest. The bytes are copied, so that they lie in that order as well.
func InOrder(keys, values [][]byte) {
	items, size := make([]byhash.Item, len(keys)), 0
	for i, key := range keys {
		items[i] = byhash.Item{Hash: byhash.Of(key), At: i}
		size += len(key) + len(values[i])
	}
	byhash.Sort(items, make([]byhash.Item, len(items)))
	buf := make([]byte, 0, size)
	place := func(b []byte) []byte {
		from := len(buf)
		buf = append(buf, b...)
		return buf[from:len(buf):len(buf)]
	}
	k, v := make([][]byte, len(keys)), make([][]byte, len(keys))
	for to, h := range items {
		k[to] = place(keys[h.At])
		v[to] = place(values[h.At])
	}
	copy(keys, k)
	copy(values, v)
}
