package stage

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
)

// mostFew is how many rows are written as Parquet without DuckDB: starting its writer costs more than writing them.
const mostFew = 4096

// few reports whether rows are written without DuckDB: few of them, of plain types, in a format without special wishes.
func few(t *duck.Table, format batch.Format) bool {
	if t.Rows() > mostFew || len(format.Options) != 1 || format.Options["compression"] != "zstd" {
		return false
	}
	return !slices.ContainsFunc(t.Schema().Fields(), func(f arrow.Field) bool { return !plain(f) })
}

// extensionKey is where Arrow has the name of a type that is kept as another one.
const extensionKey = "ARROW:extension:name"

// truth reports whether a column is a BOOLEAN, which DuckDB hands over as bytes.
func truth(f arrow.Field) bool {
	name, _ := f.Metadata.GetValue(extensionKey)
	return name == "arrow.bool8" && f.Type.ID() == arrow.INT8
}

// plain reports whether both libraries write a type alike.
func plain(f arrow.Field) bool {
	if truth(f) {
		return true
	}
	if f.Metadata.FindKey(extensionKey) >= 0 {
		return false
	}
	switch t := f.Type.(type) {
	case *arrow.Int8Type, *arrow.Int16Type, *arrow.Int32Type, *arrow.Int64Type, *arrow.Float32Type, *arrow.Float64Type,
		*arrow.StringType, *arrow.Date32Type, *arrow.Decimal128Type:
		return true
	case *arrow.TimestampType:
		return t.Unit == arrow.Microsecond && (t.TimeZone == "" || t.TimeZone == "UTC")
	}
	return false
}

// truths turns bytes into truth values.
func truths(column *array.Int8) arrow.Array {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range column.Len() {
		if column.IsNull(i) {
			b.AppendNull()
		} else {
			b.Append(column.Value(i) != 0)
		}
	}
	return b.NewArray()
}

// plainBatch is a batch with columns of types that Parquet has.
func plainBatch(b arrow.RecordBatch, schema *arrow.Schema) arrow.RecordBatch {
	columns := make([]arrow.Array, b.NumCols())
	for i, column := range b.Columns() {
		if columns[i] = column; truth(b.Schema().Field(i)) {
			columns[i] = truths(column.(*array.Int8))
			defer columns[i].Release()
		}
	}
	return array.NewRecordBatch(schema, columns, b.NumRows())
}

func plainSchema(s *arrow.Schema) *arrow.Schema {
	fields := s.Fields()
	for i, f := range fields {
		fields[i] = arrow.Field{Name: f.Name, Type: f.Type, Nullable: true}
		if truth(f) {
			fields[i].Type = arrow.FixedWidthTypes.Boolean
		}
	}
	return arrow.NewSchema(fields, nil)
}

// writeFew writes rows as a Parquet file, and tells their statistics as DuckDB does.
func writeFew(t *duck.Table, path string) (Written, error) {
	out := Written{Path: path, Rows: t.Rows(), Columns: map[string]map[string]string{}}
	schema := plainSchema(t.Schema())
	ranges := make([]extent, schema.NumFields())
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &buf, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd), parquet.WithDictionaryDefault(false),
		parquet.WithStoreDecimalAsInteger(true), parquet.WithCreatedBy("streamform")), pqarrow.NewArrowWriterProperties())
	if err != nil {
		return out, fmt.Errorf("writing %s: %w", path, err)
	}
	err = t.Batches(func(b arrow.RecordBatch) error {
		b = plainBatch(b, schema)
		defer b.Release()
		for i, column := range b.Columns() {
			ranges[i].take(column)
		}
		return w.WriteBuffered(b)
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = os.WriteFile(path, buf.Bytes(), 0o666)
	}
	if err != nil {
		return out, fmt.Errorf("writing %s: %w", path, err)
	}
	out.Bytes = int64(buf.Len())
	for i, f := range schema.Fields() {
		out.Columns[bound.Ident(f.Name)] = ranges[i].statistics(f.Type)
	}
	return out, nil
}

type decimal = decimal128.Num

// extent is where the values of a column lie.
type extent struct {
	nulls    int64
	nan      bool
	min, max any // of the array's own values; nil before the first
}

func (e *extent) take(column arrow.Array) {
	e.nulls += int64(column.NullN())
	for i := range column.Len() {
		if column.IsNull(i) {
			continue
		}
		switch a := column.(type) {
		case *array.Int8:
			widen(e, int64(a.Value(i)))
		case *array.Int16:
			widen(e, int64(a.Value(i)))
		case *array.Int32:
			widen(e, int64(a.Value(i)))
		case *array.Int64:
			widen(e, a.Value(i))
		case *array.Date32:
			widen(e, int64(a.Value(i)))
		case *array.Timestamp:
			widen(e, int64(a.Value(i)))
		case *array.Float32:
			e.float(float64(a.Value(i)))
		case *array.Float64:
			e.float(a.Value(i))
		case *array.String:
			widen(e, strings.Clone(a.Value(i)))
		case *array.Decimal128:
			if v := a.Value(i); e.min == nil {
				e.min, e.max = v, v
			} else if low, high := e.min.(decimal), e.max.(decimal); v.Less(low) {
				e.min = v
			} else if high.Less(v) {
				e.max = v
			}
		}
	}
}

func (e *extent) float(v float64) {
	if math.IsNaN(v) {
		e.nan = true
	} else {
		widen(e, v)
	}
}

func widen[T int64 | float64 | string](e *extent, v T) {
	if e.min == nil {
		e.min, e.max = v, v
		return
	}
	e.min, e.max = min(e.min.(T), v), max(e.max.(T), v)
}

// statistics are the extent in the form of COPY's RETURN_STATS. Bounds that have no plain text are left out.
func (e *extent) statistics(t arrow.DataType) map[string]string {
	out := map[string]string{"null_count": strconv.FormatInt(e.nulls, 10)}
	if e.nan {
		out["has_nan"] = "true"
	}
	for name, v := range map[string]any{"min": e.min, "max": e.max} {
		if text := text(t, v); text != "" || v == "" {
			out[name] = text
		}
	}
	return out
}

func text(t arrow.DataType, v any) string {
	switch v := v.(type) {
	case int64:
		switch t := t.(type) {
		case *arrow.Date32Type:
			return moment(time.Unix(v*24*60*60, 0), time.DateOnly)
		case *arrow.TimestampType:
			zone := ""
			if t.TimeZone != "" {
				zone = "+00"
			}
			return moment(time.UnixMicro(v), "2006-01-02 15:04:05.999999"+zone)
		}
		return strconv.FormatInt(v, 10)
	case float64:
		if math.IsInf(v, 0) {
			return ""
		}
		bits := 64
		if _, single := t.(*arrow.Float32Type); single {
			bits = 32
		}
		return strconv.FormatFloat(v, 'g', -1, bits)
	case string:
		return v
	case decimal:
		return v.ToString(t.(*arrow.Decimal128Type).Scale)
	}
	return ""
}

// moment is a point in time as text; empty where ISO 8601 has no year of four digits for it.
func moment(at time.Time, layout string) string {
	if at = at.UTC(); at.Year() < 1 || at.Year() > 9999 {
		return ""
	}
	return at.Format(layout)
}
