// Package memory says what operators remember, and in which forms: values by key, rows by key in chunks, rows by content with their number.
package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Memory is what one operator remembered up to the last commit.
type Memory interface {
	// Get returns the values of the keys, nil where there is none.
	Get(keys [][]byte) ([][]byte, error)
	// Scan visits all keys in any order; key and value are valid during the call only.
	Scan(fn func(key, value []byte) error) error
	// Blocks visits the append-only blocks in the order they were appended.
	Blocks(fn func(block []byte) error) error
	// Pieces returns the values of the named pieces, nil where there is none. Names in the order of their bytes are found fastest.
	Pieces(names [][]byte) ([][]byte, error)
}

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
	Blocks   [][]byte // appended after the ones there are
	Pieces   []Piece
}

// Piece is a large value that is written once, and found by its name. A nil value forgets it.
type Piece struct{ Name, Value []byte }

// Counted changes the number of each row kept by content: rows, and by how much each occurrence moves its number. Rows may repeat.
func Counted(mem Memory, rows [][]byte, moves []int64) (Remember, error) {
	rows, moves = summed(rows, moves)
	old, err := mem.Get(rows)
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
