// Package weight estimates how many rows an operator remembers, without reading all of them.
package weight

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
)

// Memory is what one operator remembers, and how much that is.
type Memory interface {
	memory.Memory
	Len() int64 // keys
}

// sample is how many entries, or blocks, are looked at; where there are more, the rest is taken to be like them. Entries are
// visited in the order of a hash, so that they are any.
const (
	sampleEntries = 20_000
	sampleBlocks  = 64
)

var errEnough = errors.New("enough was seen")

// Rows estimates how many rows, or groups, following a carry reads of an operator.
func Rows(mem Memory, n evolve.Need) (int64, error) {
	switch n.Store {
	case evolve.Groups:
		return mem.Len(), nil
	case evolve.InOrder:
		return inBlocks(mem)
	}
	entries, rows := int64(0), int64(0)
	err := mem.Scan(func(key, value []byte) error {
		if entries == sampleEntries {
			return errEnough
		}
		entries++
		if n.Store == evolve.ByContent {
			rows += memory.Count(value)
			return nil
		}
		return memory.Multimap{Mem: one{key: key, value: value}, Prefix: byte(n.Input)}.All(func([]byte) error {
			rows++
			return nil
		})
	})
	if errors.Is(err, errEnough) {
		rows, err = int64(float64(rows)/float64(entries)*float64(mem.Len())), nil
	}
	runs := int64(0)
	if err == nil && n.Store == evolve.ByKey {
		runs, _, err = memory.Multimap{Mem: mem, Prefix: byte(n.Input)}.InRuns()
	}
	if err != nil {
		return 0, fmt.Errorf("counting what an operator holds: %w", err)
	}
	return rows + runs, nil
}

// inBlocks counts the rows of a few blocks, and the bytes of all.
func inBlocks(mem memory.Memory) (int64, error) {
	seen, rows, bytes, all := 0, int64(0), int64(0), int64(0)
	err := mem.Blocks(func(block []byte) error {
		all += int64(len(block))
		if seen++; seen > sampleBlocks {
			return nil
		}
		n, err := table.BlockRows(block)
		rows, bytes = rows+n, bytes+int64(len(block))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("counting what an operator holds: %w", err)
	}
	if seen > sampleBlocks {
		rows = int64(float64(rows) / float64(bytes) * float64(all))
	}
	return rows, nil
}

// one is a memory of a single entry.
type one struct{ key, value []byte }

func (o one) Read(n int, key func(int) []byte, fn func(int, []byte)) error {
	for i := range n {
		if bytes.Equal(key(i), o.key) {
			fn(i, o.value)
		} else {
			fn(i, nil)
		}
	}
	return nil
}

func (o one) Scan(fn func(key, value []byte) error) error { return fn(o.key, o.value) }

func (o one) Pieces(names [][]byte) ([][]byte, error) { return make([][]byte, len(names)), nil }

func (o one) Blocks(func([]byte) error) error { return nil }
