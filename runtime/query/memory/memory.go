// Package memory says what operators remember, and in which forms: values by key, rows by key in chunks, rows by content with their number.
package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Memory is what one operator remembered up to the last commit.
type Memory interface {
	Reader
	// Scan visits all keys in any order; key and value are valid during the call only.
	Scan(fn func(key, value []byte) error) error
	// Blocks visits the append-only blocks in the order they were appended.
	Blocks(fn func(block []byte) error) error
	// Pieces returns the values of the named pieces, nil where there is none. Names in the order of their bytes are found fastest.
	Pieces(names [][]byte) ([][]byte, error)
}

// Reader finds values by their keys.
type Reader interface {
	// Read visits the values of n different keys, each with its key's number, nil where there is none. Keys that come in the order of their hashes are
	// found fastest, and visited as they come. A value is valid during the call only, and fn may not use the memory.
	Read(n int, key func(i int) []byte, fn func(i int, value []byte)) error
}

// Get returns the values of the keys, nil where there is none.
func Get(mem Reader, keys [][]byte) ([][]byte, error) {
	values, size := make([][]byte, len(keys)), 0
	var room []byte // for many values at a time
	err := mem.Read(len(keys), func(i int) []byte { return keys[i] }, func(i int, value []byte) {
		if value == nil {
			return
		}
		if len(value) > cap(room)-len(room) || room == nil {
			room = make([]byte, 0, max(min(roomBytes, len(value)*(len(keys)-size)), len(value)))
		}
		from := len(room)
		room = append(room, value...)
		values[i] = room[from:len(room):len(room)]
		size++
	})
	return values, err
}

// roomBytes is how much memory values share: one of them keeps all of it.
const roomBytes = 32 << 10

// Empty reports whether nothing is remembered by key.
func Empty(mem Memory) (bool, error) {
	err := mem.Scan(func([]byte, []byte) error { return errSeen })
	if errors.Is(err, errSeen) {
		return false, nil
	}
	return err == nil, err
}

var errSeen = errors.New("a key is there")

// Remember is what one operator's memory gains in an epoch.
type Remember struct {
	Operator string
	Keys     [][]byte // unique within an epoch
	Values   [][]byte // nil deletes the key
	Changes  Changes  // of more keys, where they are many
	Blocks   [][]byte // appended after the ones there are
	Pieces   []Piece
}

// Len is how many keys change.
func (r *Remember) Len() int { return len(r.Keys) + r.Changes.Len() }

// Each visits the keys that change; see Changes.At.
func (r *Remember) Each(fn func(key, value []byte, was int)) {
	for i, key := range r.Keys {
		fn(key, r.Values[i], Unknown)
	}
	for i := range r.Changes.Len() {
		fn(r.Changes.At(i))
	}
}

// Piece is a large value that is written once, and found by its name. A nil value forgets it.
type Piece struct{ Name, Value []byte }

// Counted changes the number of each row kept by content: rows, and by how much each occurrence moves its number. Rows may repeat.
func Counted(mem Memory, rows [][]byte, moves []int64) (Remember, error) {
	rows, moves = summed(rows, moves)
	old, err := Get(mem, rows)
	if err != nil {
		return Remember{}, fmt.Errorf("reading rows: %w", err)
	}
	r := Remember{}
	for i, row := range rows {
		n := Count(old[i]) + moves[i]
		switch {
		case moves[i] == 0:
		case n < 0:
			return Remember{}, fmt.Errorf("a row that is not held was taken back")
		case n == 0:
			r.Keys, r.Values = append(r.Keys, row), append(r.Values, nil)
		default:
			r.Keys, r.Values = append(r.Keys, row), append(r.Values, binary.AppendUvarint(nil, uint64(n)))
		}
	}
	return r, nil
}

// summed adds up rows of equal bytes.
func summed(rows [][]byte, moves []int64) ([][]byte, []int64) {
	index := make(map[string]int, len(rows))
	var out [][]byte
	var sums []int64
	for i, row := range rows {
		at, ok := index[string(row)]
		if !ok {
			at = len(out)
			index[string(row)] = at
			out, sums = append(out, row), append(sums, 0)
		}
		sums[at] += moves[i]
	}
	return out, sums
}

// Count is how often a row kept by content is there.
func Count(value []byte) int64 {
	n, _ := binary.Uvarint(value)
	return int64(n)
}
