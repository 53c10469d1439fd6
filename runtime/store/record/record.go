// Package record is how a key and its value lie in memory and in commits
//
// A record is uvarint(len(key)), uvarint(len(value)+1) or 0 for an absent value, key, value.
package record

import "encoding/binary"

// Split returns key and value of a record; they point into it. A nil value is absent, an empty one is not nil.
func Split(record []byte) (key, value []byte) {
	key, value, _ = Cut(record)
	return key, value
}

// Cut parses one record without padding and returns its length, too.
func Cut(record []byte) (key, value []byte, length int) {
	klen, n := Varint(record)
	vlen, m := Varint(record[n:])
	from := n + m
	to := from + klen
	key = record[from:to:to]
	if vlen == 0 {
		return key, nil, to
	}
	end := to + vlen - 1
	return key, record[to:end:end], end
}

// Varint reads a varint, and returns how many bytes it has.
func Varint(b []byte) (int, int) {
	if b[0] < 0x80 {
		return int(b[0]), 1
	}
	v, n := binary.Uvarint(b)
	return int(v), n
}

// VarintLen is how many bytes a varint has.
func VarintLen(v int) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// Len is the length of a record without padding; value nil is absent.
func Len(key, value []byte) int {
	if value == nil {
		return VarintLen(len(key)) + 1 + len(key)
	}
	return VarintLen(len(key)) + VarintLen(len(value)+1) + len(key) + len(value)
}

// Append appends a record without padding; value nil is absent.
func Append(to, key, value []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(key)))
	if value == nil {
		return append(append(to, 0), key...)
	}
	to = binary.AppendUvarint(to, uint64(len(value)+1))
	return append(append(to, key...), value...)
}
