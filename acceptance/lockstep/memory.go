package lockstep

import (
	"maps"
	"slices"

	"github.com/streamform/streamform/runtime/query"
)

// memory is keyed data in a map: what the store does, without the store.
type memory struct {
	rows   map[string][]byte
	blocks [][]byte
}

// Get is query.Memory's.
func (m *memory) Get(keys [][]byte) ([][]byte, error) {
	out := make([][]byte, len(keys))
	for i, k := range keys {
		out[i] = m.rows[string(k)]
	}
	return out, nil
}

// Scan is query.Memory's, in the order of the keys.
func (m *memory) Scan(fn func(key, value []byte) error) error {
	for _, k := range slices.Sorted(maps.Keys(m.rows)) {
		if err := fn([]byte(k), m.rows[k]); err != nil {
			return err
		}
	}
	return nil
}

// Blocks is query.Memory's.
func (m *memory) Blocks(fn func(block []byte) error) error {
	for _, b := range m.blocks {
		if err := fn(b); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) keep(r query.Remember) {
	for i, k := range r.Keys {
		if r.Values[i] == nil {
			delete(m.rows, string(k))
		} else {
			m.rows[string(k)] = slices.Clone(r.Values[i])
		}
	}
	m.blocks = append(m.blocks, r.Blocks...)
}

func (m *memory) size() (keys int, bytes int64) {
	for k, v := range m.rows {
		bytes += int64(len(k) + len(v))
	}
	for _, b := range m.blocks {
		bytes += int64(len(b))
	}
	return len(m.rows), bytes
}
