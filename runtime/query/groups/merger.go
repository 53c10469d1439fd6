package groups

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"github.com/streamform/streamform/runtime/query/partial"
)

// merger merges partials as they are remembered: it does to their bytes what Partial.Merge does in SQL.
type merger []column

// column is one partial.
type column struct {
	op    operation
	width int // bytes of a value; 0: text behind its length
	// decimal bounds a sum to 38 digits.
	decimal bool
	// less, for least and greatest, tells whether one value comes before another; ok is false where SQL is to say.
	less func(a, b []byte) (less, ok bool)
}

type operation int

const (
	add operation = iota
	addWide
	addDouble
	least
	greatest
	either
	both
)

// newMerger is a merger of partials of the given types; ok is false where one of them can be merged by SQL alone.
func newMerger(partials []partial.Partial, types []string) (m merger, ok bool) {
	for i, p := range partials {
		c, ok := columnOf(p.Kind, types[i])
		if !ok {
			return nil, false
		}
		m = append(m, c)
	}
	return m, true
}

func columnOf(kind, typ string) (c column, ok bool) {
	switch kind {
	case "count", "count_if", "sum":
		return sum(typ)
	case "min", "max":
		c, ok = ordered(typ)
		if c.op = least; kind == "max" {
			c.op = greatest
		}
		return c, ok
	case "bool_or":
		return column{op: either, width: 1}, typ == "BOOLEAN"
	case "bool_and":
		return column{op: both, width: 1}, typ == "BOOLEAN"
	}
	return c, false
}

func sum(typ string) (column, bool) {
	switch {
	case typ == "BIGINT":
		return column{op: add, width: 8}, true
	case typ == "HUGEINT":
		return column{op: addWide, width: 16}, true
	case typ == "DOUBLE":
		return column{op: addDouble, width: 8}, true
	case strings.HasPrefix(typ, "DECIMAL(38,"):
		return column{op: addWide, width: 16, decimal: true}, true
	}
	return column{}, false
}

// ordered are the types whose values have the order of their bytes or of the numbers in them.
func ordered(typ string) (column, bool) {
	switch typ {
	case "VARCHAR":
		return column{less: func(a, b []byte) (bool, bool) { return bytes.Compare(text(a), text(b)) < 0, true }}, true
	case "BIGINT", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "TIME":
		return column{width: 8, less: func(a, b []byte) (bool, bool) { return int64(le.Uint64(a)) < int64(le.Uint64(b)), true }}, true
	case "INTEGER", "DATE":
		return column{width: 4, less: func(a, b []byte) (bool, bool) { return int32(le.Uint32(a)) < int32(le.Uint32(b)), true }}, true
	case "SMALLINT":
		return column{width: 2, less: func(a, b []byte) (bool, bool) { return int16(le.Uint16(a)) < int16(le.Uint16(b)), true }}, true
	case "TINYINT":
		return column{width: 1, less: func(a, b []byte) (bool, bool) { return int8(a[0]) < int8(b[0]), true }}, true
	case "UBIGINT":
		return column{width: 8, less: func(a, b []byte) (bool, bool) { return le.Uint64(a) < le.Uint64(b), true }}, true
	case "UINTEGER":
		return column{width: 4, less: func(a, b []byte) (bool, bool) { return le.Uint32(a) < le.Uint32(b), true }}, true
	case "DOUBLE":
		return column{width: 8, less: func(a, b []byte) (bool, bool) {
			x, y := math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b))
			return x < y, x == x && y == y
		}}, true
	}
	return column{}, false
}

var le = binary.LittleEndian

// text is a text without its length.
func text(b []byte) []byte {
	_, used := binary.Uvarint(b)
	return b[used:]
}

// merge appends to dst the partials of a group that had old ones and got new ones. ok is false where SQL is to merge all: it has
// the message for a sum that does not fit its type, and for bytes that are damaged.
func (m merger) merge(dst, old, now []byte) (out []byte, ok bool) {
	for i := range m {
		c := &m[i]
		o, n := c.size(old), c.size(now)
		if o < 0 || n < 0 {
			return dst, false
		}
		switch {
		case o == 1:
			dst = append(dst, now[:n]...)
		case n == 1:
			dst = append(dst, old[:o]...)
		default:
			if dst, ok = c.combine(append(dst, 1), old[1:o], now[1:n]); !ok {
				return dst, false
			}
		}
		old, now = old[o:], now[n:]
	}
	return dst, true
}

// size is how many bytes the column's value at the beginning of b has, 1 for NULL; -1 for bytes that are too few.
func (c *column) size(b []byte) int {
	switch {
	case len(b) == 0:
		return -1
	case b[0] == 0:
		return 1
	case c.width > 0:
		if len(b) <= c.width {
			return -1
		}
		return 1 + c.width
	}
	n, used := binary.Uvarint(b[1:])
	if used <= 0 || n > uint64(len(b)-1-used) {
		return -1
	}
	return 1 + used + int(n)
}

// combine appends two values merged into one.
func (c *column) combine(dst, old, now []byte) ([]byte, bool) {
	switch c.op {
	case add:
		a, b := int64(le.Uint64(old)), int64(le.Uint64(now))
		return le.AppendUint64(dst, uint64(a+b)), (a+b < a) == (b < 0)
	case addWide:
		return c.wide(dst, old, now)
	case addDouble:
		sum := math.Float64frombits(le.Uint64(old)) + math.Float64frombits(le.Uint64(now))
		return le.AppendUint64(dst, math.Float64bits(sum)), !math.IsInf(sum, 0) && !math.IsNaN(sum)
	case either:
		return append(dst, old[0]|now[0]), true
	case both:
		return append(dst, old[0]&now[0]), true
	}
	a, b := now, old
	if c.op == greatest {
		a, b = old, now
	}
	picked, ok := c.less(a, b)
	if picked {
		return append(dst, now...), ok
	}
	return append(dst, old...), ok
}

// wide adds integers of 128 bits.
func (c *column) wide(dst, old, now []byte) ([]byte, bool) {
	low, carry := bits.Add64(le.Uint64(old), le.Uint64(now), 0)
	a, b := le.Uint64(old[8:]), le.Uint64(now[8:])
	high, _ := bits.Add64(a, b, carry)
	fits := (a^high)&(b^high)>>63 == 0 && (high != 1<<63 || low != 0)
	if c.decimal && fits {
		l, h := low, high
		if int64(h) < 0 {
			var borrow uint64
			l, borrow = bits.Sub64(0, l, 0)
			h, _ = bits.Sub64(0, h, borrow)
		}
		fits = h < digits38High || h == digits38High && l < digits38Low
	}
	return le.AppendUint64(le.AppendUint64(dst, low), high), fits
}

// 10^38, the first number with too many digits.
const (
	digits38High = 0x4b3b4ca85a86c47a
	digits38Low  = 0x098a224000000000
)

// integer is the whole number that partial i has in merged bytes.
func (m merger) integer(value []byte, i int) int64 {
	for j := range i {
		value = value[m[j].size(value):]
	}
	return int64(le.Uint64(value[1:]))
}
