// Package rows turns Arrow columns into row bytes and back: the format of keyed data.
package rows

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Encoder writes rows of one record batch. A row is its columns one after the
// other: a byte 0 for NULL, or a byte 1 and the value; fixed-width values in
// little-endian, text and lists behind their length as a varint. A row and its key form are of equal length.
type Encoder struct {
	columns []appender
}

type appender func(dst []byte, i int) []byte

// NewEncoder prepares the given columns of a batch: rows that are the same have equal bytes. Values keep the sign of zero and of NaN.
func NewEncoder(batch arrow.RecordBatch, columns []int) (*Encoder, error) {
	return newEncoder(batch, columns, form{sameNaN64, sameNaN32})
}

// Span are the columns from one up to before another.
func Span(from, to int) []int {
	out := make([]int, 0, to-from)
	for c := from; c < to; c++ {
		out = append(out, c)
	}
	return out
}

// NewKeyEncoder is NewEncoder for keys: what SQL groups together has equal bytes, 0.0 and -0.0 those of 0.0, and every NaN.
func NewKeyEncoder(batch arrow.RecordBatch, columns []int) (*Encoder, error) {
	return newEncoder(batch, columns, form{canonical64, canonical32})
}

func newEncoder(batch arrow.RecordBatch, columns []int, f form) (*Encoder, error) {
	e := &Encoder{}
	for _, c := range columns {
		a, err := f.columnAppender(batch.Column(c))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", batch.ColumnName(c), err)
		}
		e.columns = append(e.columns, a)
	}
	return e, nil
}

// Append adds row i to dst.
func (e *Encoder) Append(dst []byte, i int) []byte {
	for _, c := range e.columns {
		dst = c(dst, i)
	}
	return dst
}

// nullable puts the presence byte before a value.
func nullable(a arrow.Array, value appender) appender {
	if a.NullN() == 0 {
		return func(dst []byte, i int) []byte { return value(append(dst, 1), i) }
	}
	return func(dst []byte, i int) []byte {
		if a.IsNull(i) {
			return append(dst, 0)
		}
		return value(append(dst, 1), i)
	}
}

// form is what becomes of floating-point values.
type form struct {
	double func(float64) float64
	float  func(float32) float32
}

func (f form) columnAppender(a arrow.Array) (appender, error) {
	if ext, ok := a.(array.ExtensionArray); ok {
		return f.columnAppender(ext.Storage())
	}
	switch a := a.(type) {
	case *array.Null:
		return func(dst []byte, _ int) []byte { return append(dst, 0) }, nil
	case *array.Float64:
		return nullable(a, func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f.double(a.Value(i))))
		}), nil
	case *array.Float32:
		return nullable(a, func(dst []byte, i int) []byte {
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(f.float(a.Value(i))))
		}), nil
	case *array.Boolean:
		return nullable(a, func(dst []byte, i int) []byte {
			if a.Value(i) {
				return append(dst, 1)
			}
			return append(dst, 0)
		}), nil
	case *array.String:
		return nullable(a, func(dst []byte, i int) []byte { return appendText(dst, a.Value(i)) }), nil
	case *array.LargeString:
		return nullable(a, func(dst []byte, i int) []byte { return appendText(dst, a.Value(i)) }), nil
	case *array.Binary:
		return nullable(a, func(dst []byte, i int) []byte { return appendText(dst, a.ValueString(i)) }), nil
	case *array.LargeBinary:
		return nullable(a, func(dst []byte, i int) []byte { return appendText(dst, a.ValueString(i)) }), nil
	case *array.Struct:
		return f.structAppender(a)
	case array.ListLike:
		return f.listAppender(a)
	}
	return fixedAppender(a)
}

func canonical64(f float64) float64 {
	if f == 0 {
		return 0
	}
	if math.IsNaN(f) {
		return math.NaN()
	}
	return f
}

func canonical32(f float32) float32 {
	if f == 0 {
		return 0
	}
	if f != f {
		return float32(math.NaN())
	}
	return f
}

// sameNaN64 keeps of a NaN its sign, which SQL shows, and not what else may lie in its bits.
func sameNaN64(f float64) float64 {
	if math.IsNaN(f) {
		return math.Copysign(math.NaN(), f)
	}
	return f
}

func sameNaN32(f float32) float32 {
	if f != f {
		return float32(math.Copysign(math.NaN(), float64(f)))
	}
	return f
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// fixedAppender copies values of a fixed width as they lie in memory.
func fixedAppender(a arrow.Array) (appender, error) {
	fw, ok := a.DataType().(arrow.FixedWidthDataType)
	if !ok || len(a.Data().Buffers()) < 2 {
		return nil, fmt.Errorf("values of type %s cannot be remembered", a.DataType())
	}
	if fw.BitWidth()%8 != 0 || a.DataType().ID() == arrow.DICTIONARY {
		return nil, fmt.Errorf("values of type %s cannot be remembered", a.DataType())
	}
	width, offset := fw.BitWidth()/8, a.Data().Offset()
	var raw []byte
	if buf := a.Data().Buffers()[1]; buf != nil {
		raw = buf.Bytes()
	}
	return nullable(a, func(dst []byte, i int) []byte {
		at := (offset + i) * width
		return append(dst, raw[at:at+width]...)
	}), nil
}

func (f form) structAppender(a *array.Struct) (appender, error) {
	fields := make([]appender, a.NumField())
	for i := range fields {
		in, err := f.columnAppender(a.Field(i))
		if err != nil {
			return nil, err
		}
		fields[i] = in
	}
	return nullable(a, func(dst []byte, i int) []byte {
		for _, f := range fields {
			dst = f(dst, i)
		}
		return dst
	}), nil
}

func (f form) listAppender(a array.ListLike) (appender, error) {
	items, err := f.columnAppender(a.ListValues())
	if err != nil {
		return nil, err
	}
	return nullable(a, func(dst []byte, i int) []byte {
		from, to := a.ValueOffsets(i)
		dst = binary.AppendUvarint(dst, uint64(to-from))
		for j := from; j < to; j++ {
			dst = items(dst, int(j))
		}
		return dst
	}), nil
}
