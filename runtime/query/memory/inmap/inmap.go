// Package inmap keeps what operators remember in maps: what the store does, without the store, for tests.
package inmap

import (
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/query/memory"
)

// Memory is the memory of one operator.
type Memory struct {
	values map[string][]byte
	blocks [][]byte
	pieces map[string][]byte
}

// New is a memory of nothing.
func New() *Memory { return &Memory{values: map[string][]byte{}, pieces: map[string][]byte{}} }

// Read is memory.Memory's.
func (m *Memory) Read(n int, key func(int) []byte, fn func(int, []byte)) error {
	for i := range n {
		fn(i, m.values[string(key(i))])
	}
	return nil
}

// Scan is memory.Memory's, in the order of the keys.
func (m *Memory) Scan(fn func(key, value []byte) error) error {
	for _, k := range slices.Sorted(maps.Keys(m.values)) {
		if err := fn([]byte(k), m.values[k]); err != nil {
			return err
		}
	}
	return nil
}

// Blocks is memory.Memory's.
func (m *Memory) Blocks(fn func(block []byte) error) error {
	for _, b := range m.blocks {
		if err := fn(b); err != nil {
			return err
		}
	}
	return nil
}

// Pieces is memory.Memory's.
func (m *Memory) Pieces(names [][]byte) ([][]byte, error) {
	out := make([][]byte, len(names))
	for i, n := range names {
		out[i] = m.pieces[string(n)]
	}
	return out, nil
}

// Keep makes what an operator remembers part of the memory.
func (m *Memory) Keep(r memory.Remember) {
	r.Each(func(key, value []byte, _ int) { set(m.values, key, value) })
	for _, p := range r.Pieces {
		set(m.pieces, p.Name, p.Value)
	}
	m.blocks = append(m.blocks, r.Blocks...)
}

func set(in map[string][]byte, name, value []byte) {
	if value == nil {
		delete(in, string(name))
	} else {
		in[string(name)] = slices.Clone(value)
	}
}

// Len is how many keys there are.
func (m *Memory) Len() int64 { return int64(len(m.values)) }

// Size is how many keys and pieces there are, and how many bytes all takes.
func (m *Memory) Size() (number int, bytes int64) {
	for _, all := range []map[string][]byte{m.values, m.pieces} {
		for k, v := range all {
			bytes += int64(len(k) + len(v))
		}
	}
	for _, b := range m.blocks {
		bytes += int64(len(b))
	}
	return len(m.values) + len(m.pieces), bytes
}
