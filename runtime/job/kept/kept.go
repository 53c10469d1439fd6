// Package kept holds the rows that sources admitted, epoch by epoch, in pieces of the store.
package kept

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/store"
)

// Part is what one epoch admitted of a source: the rows of the files with ordinals after From, up to To. It is decided by the epoch's
// commit, and kept or dropped as a whole.
type Part struct {
	From      int64          `json:"from"`
	To        int64          `json:"to"`
	Epoch     int64          `json:"epoch"`
	At        time.Time      `json:"at"` // of the commit
	Rows      int64          `json:"rows"`
	Bytes     int64          `json:"bytes"`           // as held
	Files     int64          `json:"files"`           // that were read
	FileBytes int64          `json:"file_bytes"`      // of them, as stored
	Unfit     bool           `json:"unfit,omitempty"` // values did not fit in their columns, and are NULL
	Columns   batch.Schema   `json:"columns"`
	Blocks    int            `json:"blocks"`          // of rows
	Sides     map[string]int `json:"sides,omitempty"` // blocks of rows that were set aside, by side relation
}

// Rows are the blocks of a part, as the query engine encodes them.
type Rows struct {
	Blocks [][]byte
	Sides  map[string][][]byte // by side relation
}

// key is that of a part in the store's named values; parts are found by where they begin.
func key(source string, from int64) string { return prefix(source) + fmt.Sprintf("%016x", from) }

func prefix(source string) string { return "kept/" + source + "/" }

// name is that of a block among a table's pieces. side is empty for the rows themselves.
func name(from int64, side string, n int) []byte {
	out := binary.BigEndian.AppendUint64(nil, uint64(from))
	out = append(append(out, side...), 0)
	return binary.BigEndian.AppendUint32(out, uint32(n))
}

// Write adds a part to a batch.
func Write(b *store.Batch, source string, table uint64, p Part, rows Rows) error {
	put := func(side string, blocks [][]byte) {
		for n, block := range blocks {
			b.PutPiece(table, name(p.From, side, n), block)
			p.Bytes += int64(len(block))
		}
	}
	put("", rows.Blocks)
	p.Blocks = len(rows.Blocks)
	for _, side := range slices.Sorted(maps.Keys(rows.Sides)) {
		if len(rows.Sides[side]) == 0 {
			continue
		}
		if p.Sides == nil {
			p.Sides = map[string]int{}
		}
		p.Sides[side] = len(rows.Sides[side])
		put(side, rows.Sides[side])
	}
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing what %s holds: %w", source, err)
	}
	b.SetMeta(key(source, p.From), data)
	return nil
}

// Find is the part that begins after an ordinal.
func Find(v *store.View, source string, from int64) (p Part, ok bool, err error) {
	data, ok, err := v.Meta(key(source, from))
	if err == nil && ok {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		return p, false, fmt.Errorf("reading what is held: %w", err)
	}
	return p, ok, nil
}

// Each visits the parts of a source in the order they were read.
func Each(v *store.View, source string, fn func(Part) error) error {
	return v.MetaPrefix(prefix(source), func(key string, value []byte) error {
		var p Part
		if err := json.Unmarshal(value, &p); err != nil {
			return fmt.Errorf("reading %s: %w", key, err)
		}
		return fn(p)
	})
}

// errEnough ends a visit early.
var errEnough = errors.New("enough")

// Expire drops the parts that were committed before a moment, and says how many rows these had.
func Expire(v *store.View, b *store.Batch, source string, table uint64, before time.Time) (rows int64, err error) {
	err = Each(v, source, func(p Part) error {
		if !p.At.Before(before) {
			return errEnough
		}
		rows += p.Rows
		drop := func(side string, blocks int) {
			for n := range blocks {
				b.PutPiece(table, name(p.From, side, n), nil)
			}
		}
		drop("", p.Blocks)
		for side, blocks := range p.Sides {
			drop(side, blocks)
		}
		b.DeleteMeta(key(source, p.From))
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return rows, err
}

// Forget removes what is said of a source's parts; the table with their rows is dropped by whoever has its number.
func Forget(v *store.View, b *store.Batch, source string) error {
	return v.MetaPrefix(prefix(source), func(key string, _ []byte) error {
		b.DeleteMeta(key)
		return nil
	})
}

// Read visits the blocks of a part: of its rows, or of one of its side relations.
func (p Part) Read(table *store.Table, side string, fn func(block []byte) error) error {
	blocks := p.Blocks
	if side != "" {
		blocks = p.Sides[side]
	}
	for n := range blocks {
		got, err := table.Pieces([][]byte{name(p.From, side, n)})
		if err != nil {
			return fmt.Errorf("reading rows that are held: %w", err)
		}
		if got[0] == nil {
			return fmt.Errorf("reading rows that are held: block %d of the files after %d is gone", n, p.From)
		}
		if err := fn(got[0]); err != nil {
			return err
		}
	}
	return nil
}

// Serves reports whether a part gives the rows that its files would give with these columns: it has all of them, and their types are those
// that the rows were read with, or hold the same values. A column that was declared later was never read.
func (p Part) Serves(columns batch.Schema) bool {
	types := map[string]string{}
	for _, c := range p.Columns {
		types[strings.ToLower(c.Name)] = c.Type
	}
	for _, c := range columns {
		was, has := types[strings.ToLower(c.Name)]
		if !has || was != c.Type && (p.Unfit || !exact(was, c.Type)) {
			return false
		}
	}
	return true
}

// exact reports whether reading a value as one type and converting it is the same as reading it as the other: numbers without fractions
// that the files could not have held more of.
func exact(was, is string) bool {
	whole := []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}
	a, b := slices.Index(whole, was), slices.Index(whole, is)
	if a >= 0 && b >= a {
		return true
	}
	var p, q, s, r int
	_, err := fmt.Sscanf(was+" "+is, "DECIMAL(%d,%d) DECIMAL(%d,%d)", &p, &s, &q, &r)
	return err == nil && r == s && q >= p
}

// Parts are in the order they were read.
type Parts []Part

// Has reports whether the rows of a file, by its ordinal, are among those of the parts.
func (all Parts) Has(ordinal int64) bool {
	_, found := slices.BinarySearchFunc(all, ordinal, func(p Part, ordinal int64) int {
		switch {
		case p.To < ordinal:
			return -1
		case p.From >= ordinal:
			return 1
		}
		return 0
	})
	return found
}

// Serving are the parts of a source that give what its files would give, with these columns.
func Serving(v *store.View, source string, columns batch.Schema) (all Parts, err error) {
	err = Each(v, source, func(p Part) error {
		if p.Serves(columns) {
			all = append(all, p)
		}
		return nil
	})
	return all, err
}
