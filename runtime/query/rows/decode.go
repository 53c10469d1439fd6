package rows

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"
)

// Decoder builds record batches from row bytes.
type Decoder struct {
	builder *array.RecordBuilder
	columns []reader
	rows    int
}

// reader takes one value off src, appends it, and returns the rest.
type reader func(src []byte) ([]byte, error)

var errShort = errors.New("the row ends too early")

// NewDecoder prepares a schema. Rows must have been written by an Encoder of the same types. Batches lie in C's memory, since they
// are handed to C: release them.
func NewDecoder(schema *arrow.Schema) (*Decoder, error) {
	d := &Decoder{builder: array.NewRecordBuilder(mallocator.NewMallocator(), schema)}
	for i, f := range schema.Fields() {
		r, err := columnReader(d.builder.Field(i))
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
		d.columns = append(d.columns, r)
	}
	return d, nil
}

// Append decodes one row made of one or more parts in column order: a key and a value.
func (d *Decoder) Append(parts ...[]byte) error {
	part := 0
	for _, c := range d.columns {
		for part < len(parts)-1 && len(parts[part]) == 0 {
			part++
		}
		rest, err := c(parts[part])
		if err != nil {
			return fmt.Errorf("decoding a remembered row: %w", err)
		}
		parts[part] = rest
	}
	d.rows++
	return nil
}

// AppendNulls adds a row of NULLs.
func (d *Decoder) AppendNulls() {
	for i := range d.columns {
		d.builder.Field(i).AppendNull()
	}
	d.rows++
}

// Rows is how many rows were appended since the last batch.
func (d *Decoder) Rows() int { return d.rows }

// Batch hands over the rows appended so far and starts anew.
func (d *Decoder) Batch() arrow.RecordBatch {
	d.rows = 0
	return d.builder.NewRecordBatch()
}

// Release frees the builder.
func (d *Decoder) Release() { d.builder.Release() }

func present(b array.Builder, value reader) reader {
	return func(src []byte) ([]byte, error) {
		if len(src) == 0 {
			return nil, errShort
		}
		if src[0] == 0 {
			b.AppendNull()
			return src[1:], nil
		}
		return value(src[1:])
	}
}

func columnReader(b array.Builder) (reader, error) {
	switch b := b.(type) {
	case *array.ExtensionBuilder:
		return columnReader(b.StorageBuilder())
	case *array.NullBuilder:
		return present(b, func(src []byte) ([]byte, error) { b.AppendNull(); return src, nil }), nil
	case *array.BooleanBuilder:
		return present(b, fixed(1, func(v []byte) { b.Append(v[0] != 0) })), nil
	case *array.StringBuilder:
		return present(b, text(b.BinaryBuilder.Append)), nil
	case *array.LargeStringBuilder:
		return present(b, text(b.BinaryBuilder.Append)), nil
	case *array.BinaryBuilder:
		return present(b, text(b.Append)), nil
	case *array.StructBuilder:
		return structReader(b)
	case *array.MapBuilder:
		return mapReader(b)
	case *array.ListBuilder:
		return listReader(b, b.ValueBuilder(), func() { b.Append(true) })
	case *array.LargeListBuilder:
		return listReader(b, b.ValueBuilder(), func() { b.Append(true) })
	case *array.FixedSizeListBuilder:
		return arrayReader(b)
	}
	return numberReader(b)
}

func fixed(width int, set func([]byte)) reader {
	return func(src []byte) ([]byte, error) {
		if len(src) < width {
			return nil, errShort
		}
		set(src[:width])
		return src[width:], nil
	}
}

func text(set func([]byte)) reader {
	return func(src []byte) ([]byte, error) {
		n, used := binary.Uvarint(src)
		if used <= 0 || uint64(len(src)-used) < n {
			return nil, errShort
		}
		set(src[used : used+int(n)])
		return src[used+int(n):], nil
	}
}

func numberReader(b array.Builder) (reader, error) {
	le := binary.LittleEndian
	switch b := b.(type) {
	case *array.Int8Builder:
		return present(b, fixed(1, func(v []byte) { b.Append(int8(v[0])) })), nil
	case *array.Uint8Builder:
		return present(b, fixed(1, func(v []byte) { b.Append(v[0]) })), nil
	case *array.Int16Builder:
		return present(b, fixed(2, func(v []byte) { b.Append(int16(le.Uint16(v))) })), nil
	case *array.Uint16Builder:
		return present(b, fixed(2, func(v []byte) { b.Append(le.Uint16(v)) })), nil
	case *array.Int32Builder:
		return present(b, fixed(4, func(v []byte) { b.Append(int32(le.Uint32(v))) })), nil
	case *array.Uint32Builder:
		return present(b, fixed(4, func(v []byte) { b.Append(le.Uint32(v)) })), nil
	case *array.Int64Builder:
		return present(b, fixed(8, func(v []byte) { b.Append(int64(le.Uint64(v))) })), nil
	case *array.Uint64Builder:
		return present(b, fixed(8, func(v []byte) { b.Append(le.Uint64(v)) })), nil
	case *array.Float32Builder:
		return present(b, fixed(4, func(v []byte) { b.Append(math.Float32frombits(le.Uint32(v))) })), nil
	case *array.Float64Builder:
		return present(b, fixed(8, func(v []byte) { b.Append(math.Float64frombits(le.Uint64(v))) })), nil
	case *array.FixedSizeBinaryBuilder:
		width := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		return present(b, fixed(width, b.Append)), nil
	case *array.Decimal128Builder:
		return present(b, fixed(16, func(v []byte) {
			b.Append(decimal128.New(int64(le.Uint64(v[8:])), le.Uint64(v)))
		})), nil
	case *array.MonthDayNanoIntervalBuilder:
		return present(b, fixed(16, func(v []byte) {
			b.Append(arrow.MonthDayNanoInterval{
				Months: int32(le.Uint32(v)), Days: int32(le.Uint32(v[4:])), Nanoseconds: int64(le.Uint64(v[8:]))})
		})), nil
	}
	return timeReader(b)
}

func timeReader(b array.Builder) (reader, error) {
	le := binary.LittleEndian
	switch b := b.(type) {
	case *array.Date32Builder:
		return present(b, fixed(4, func(v []byte) { b.Append(arrow.Date32(le.Uint32(v))) })), nil
	case *array.TimestampBuilder:
		return present(b, fixed(8, func(v []byte) { b.Append(arrow.Timestamp(le.Uint64(v))) })), nil
	case *array.Time64Builder:
		return present(b, fixed(8, func(v []byte) { b.Append(arrow.Time64(le.Uint64(v))) })), nil
	case *array.Time32Builder:
		return present(b, fixed(4, func(v []byte) { b.Append(arrow.Time32(le.Uint32(v))) })), nil
	}
	return nil, fmt.Errorf("values of type %s cannot be remembered", b.Type())
}

func structReader(b *array.StructBuilder) (reader, error) {
	fields := make([]reader, b.NumField())
	for i := range fields {
		r, err := columnReader(b.FieldBuilder(i))
		if err != nil {
			return nil, err
		}
		fields[i] = r
	}
	return present(b, func(src []byte) ([]byte, error) {
		b.Append(true)
		var err error
		for _, f := range fields {
			if src, err = f(src); err != nil {
				return nil, err
			}
		}
		return src, nil
	}), nil
}

func listReader(b, values array.Builder, begin func()) (reader, error) {
	item, err := columnReader(values)
	if err != nil {
		return nil, err
	}
	return present(b, func(src []byte) ([]byte, error) {
		n, used := binary.Uvarint(src)
		if used <= 0 {
			return nil, errShort
		}
		begin()
		return repeat(src[used:], n, item)
	}), nil
}

// arrayReader reads lists that are all of one length.
func arrayReader(b *array.FixedSizeListBuilder) (reader, error) {
	item, err := columnReader(b.ValueBuilder())
	if err != nil {
		return nil, err
	}
	length := uint64(b.Type().(*arrow.FixedSizeListType).Len())
	return present(b, func(src []byte) ([]byte, error) {
		n, used := binary.Uvarint(src)
		if used <= 0 || n != length {
			return nil, errShort
		}
		b.Append(true)
		return repeat(src[used:], n, item)
	}), nil
}

func repeat(src []byte, n uint64, item reader) ([]byte, error) {
	var err error
	for range n {
		if src, err = item(src); err != nil {
			return nil, err
		}
	}
	return src, nil
}

// mapReader reads what a list of (key, value) structs wrote: a present byte before each pair.
func mapReader(b *array.MapBuilder) (reader, error) {
	key, err := columnReader(b.KeyBuilder())
	if err != nil {
		return nil, err
	}
	value, err := columnReader(b.ItemBuilder())
	if err != nil {
		return nil, err
	}
	pair := func(src []byte) ([]byte, error) {
		if len(src) < 2 || src[1] == 0 { // a key is never NULL
			return nil, errShort
		}
		rest, err := key(src[1:])
		if err != nil {
			return nil, err
		}
		return value(rest)
	}
	return present(b, func(src []byte) ([]byte, error) {
		n, used := binary.Uvarint(src)
		if used <= 0 {
			return nil, errShort
		}
		b.Append(true)
		return repeat(src[used:], n, pair)
	}), nil
}
