package rows

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// anyType is a random type as DuckDB hands it over, of at most the given depth.
func anyType(r *rand.Rand, depth int) arrow.DataType {
	plain := []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us, arrow.FixedWidthTypes.Time64us,
		&arrow.Decimal128Type{Precision: 38, Scale: 3}, &arrow.FixedSizeBinaryType{ByteWidth: 16}, arrow.FixedWidthTypes.MonthDayNanoInterval, arrow.Null}
	if depth == 0 || r.IntN(3) > 0 {
		return plain[r.IntN(len(plain))]
	}
	switch r.IntN(4) {
	case 0:
		return arrow.StructOf(arrow.Field{Name: "a", Type: anyType(r, depth-1), Nullable: true}, arrow.Field{Name: "b", Type: anyType(r, depth-1), Nullable: true})
	case 1:
		return arrow.MapOf(arrow.BinaryTypes.String, anyType(r, depth-1))
	case 2:
		return arrow.FixedSizeListOf(3, anyType(r, depth-1))
	}
	return arrow.ListOf(anyType(r, depth-1))
}

func fill(r *rand.Rand, b array.Builder) {
	if _, isNull := b.(*array.NullBuilder); isNull || r.IntN(4) == 0 {
		b.AppendNull()
		return
	}
	n := r.Int64N(1 << 40)
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
	case *array.Float64Builder:
		b.Append([]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 0.1, -7}[n%6])
	case *array.Float32Builder:
		b.Append([]float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), 0.1}[n%4])
	case *array.StringBuilder:
		b.Append([]string{"", "é", "日本", string(make([]byte, 300))}[n%4])
	case *array.BinaryBuilder:
		b.Append([][]byte{{}, {0, 1}, {255}}[n%3])
	case *array.FixedSizeBinaryBuilder:
		b.Append(binary.BigEndian.AppendUint64(make([]byte, 8), uint64(n)))
	case *array.Decimal128Builder:
		b.Append(decimal128.New(n-1<<39, uint64(n)))
	case *array.MonthDayNanoIntervalBuilder:
		b.Append(arrow.MonthDayNanoInterval{Months: int32(n % 5), Days: int32(n % 3), Nanoseconds: n})
	default:
		fillMore(r, b, n)
	}
}

func fillMore(r *rand.Rand, b array.Builder, n int64) {
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(r, b.FieldBuilder(i))
		}
	case *array.MapBuilder:
		b.Append(true)
		for range n % 3 {
			b.KeyBuilder().(*array.StringBuilder).Append("k")
			fill(r, b.ItemBuilder())
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range 3 {
			fill(r, b.ValueBuilder())
		}
	case *array.ListBuilder:
		b.Append(true)
		for range n % 4 {
			fill(r, b.ValueBuilder())
		}
	default:
		fillNumber(b, n)
	}
}

func fillNumber(b array.Builder, n int64) {
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Int64Builder:
		b.Append(n - 1<<39)
	case *array.Uint8Builder:
		b.Append(uint8(n))
	case *array.Uint16Builder:
		b.Append(uint16(n))
	case *array.Uint32Builder:
		b.Append(uint32(n))
	case *array.Uint64Builder:
		b.Append(uint64(n))
	case *array.Date32Builder:
		b.Append(arrow.Date32(n))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	case *array.Time64Builder:
		b.Append(arrow.Time64(n))
	}
}

// batch makes random rows of random types.
func batch(seed uint64) arrow.RecordBatch {
	r := rand.New(rand.NewPCG(seed, 3))
	var fields []arrow.Field
	for range 1 + r.IntN(4) {
		fields = append(fields, arrow.Field{Name: "c", Type: anyType(r, 2), Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	for range r.IntN(20) {
		for i := range fields {
			fill(r, b.Field(i))
		}
	}
	return b.NewRecordBatch()
}

func encode(t *testing.T, b arrow.RecordBatch) [][]byte {
	e, err := NewEncoder(b, Span(0, int(b.NumCols())))
	require.NoError(t, err)
	out := make([][]byte, b.NumRows())
	for i := range out {
		out[i] = e.Append(nil, i)
	}
	return out
}

// TestRoundTrip: rows decode to rows that encode to the same bytes, cut into key and value anywhere between columns.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(2000) {
		b := batch(seed)
		first := encode(t, b)
		d, err := NewDecoder(b.Schema())
		require.NoError(t, err, b.Schema())
		cut := int(seed) % (int(b.NumCols()) + 1)
		key, err := NewEncoder(b, Span(0, cut))
		require.NoError(t, err)
		for i, row := range first {
			at := len(key.Append(nil, i))
			require.NoError(t, d.Append(row[:at:at], row[at:]), b.Schema())
		}
		require.Equal(t, first, encode(t, d.Batch()), "seed %d: %s", seed, b.Schema())
	}
}

// TestSigns: keys have the bytes of what SQL takes as equal, values keep their signs.
func TestSigns(t *testing.T) {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues([]float64{0, math.Copysign(0, -1), math.NaN(), math.Copysign(math.NaN(), -1), math.Float64frombits(0xfff8000000000004)}, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil)
	batch := array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 5)
	rows := encode(t, batch)
	require.NotEqual(t, rows[0], rows[1])
	require.NotEqual(t, rows[2], rows[3])
	require.Equal(t, rows[3], rows[4], "no more of a NaN is kept than SQL shows")
	e, err := NewKeyEncoder(batch, []int{0})
	require.NoError(t, err)
	key := func(i int) []byte { return e.Append(nil, i) }
	require.Equal(t, rows[0], key(0))
	require.Equal(t, key(0), key(1))
	require.Equal(t, key(2), key(3))
	require.Equal(t, key(2), key(4))
}

// FuzzDamaged: a decoder reports damaged bytes, and does not fail in another way.
func FuzzDamaged(f *testing.F) {
	for seed := range uint64(40) {
		for _, row := range encode(&testing.T{}, batch(seed)) {
			f.Add(seed, row)
			f.Add(seed, append(bytes.Clone(row[:len(row)/2]), 0xff, 0xff, 0x01))
			break
		}
	}
	f.Fuzz(func(t *testing.T, seed uint64, row []byte) {
		b := batch(seed % 400)
		d, err := NewDecoder(b.Schema())
		require.NoError(t, err)
		if d.Append(row) != nil {
			return
		}
		encode(t, d.Batch())
	})
}
