package snapshot

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// statsText writes a checkpoint's parsed statistics as the JSON text they stand for. What is NULL there, and what has no
// JSON form, is left out: a missing statistic means unknown.
func statsText(r row) string {
	var out bytes.Buffer
	writeMembers(&out, r)
	return out.String()
}

func writeMembers(out *bytes.Buffer, r row) {
	out.WriteByte('{')
	first := true
	for i, f := range r.values.DataType().(*arrow.StructType).Fields() {
		var value bytes.Buffer
		if !writeValue(&value, r.values.Field(i), r.at) {
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		name, _ := json.Marshal(f.Name)
		out.Write(name)
		out.WriteByte(':')
		out.Write(value.Bytes())
	}
	out.WriteByte('}')
}

// writeValue writes one value as JSON; it is false when there is nothing to write.
func writeValue(out *bytes.Buffer, values arrow.Array, i int) bool {
	if values.IsNull(i) {
		return false
	}
	switch v := values.(type) {
	case *array.Struct:
		writeMembers(out, row{values: v, at: i})
	case *array.Boolean:
		out.WriteString(strconv.FormatBool(v.Value(i)))
	case *array.Int8, *array.Int16, *array.Int32, *array.Int64:
		out.WriteString(values.ValueStr(i))
	case *array.Float32:
		return writeFloat(out, float64(v.Value(i)), 32)
	case *array.Float64:
		return writeFloat(out, v.Value(i), 64)
	case *array.Decimal128:
		out.WriteString(v.Value(i).ToString(v.DataType().(*arrow.Decimal128Type).Scale))
	case *array.Date32:
		writeText(out, v.Value(i).ToTime().Format("2006-01-02"))
	case *array.Timestamp:
		unit := v.DataType().(*arrow.TimestampType)
		layout := "2006-01-02T15:04:05.000000"
		if unit.TimeZone != "" {
			layout += "Z"
		}
		writeText(out, v.Value(i).ToTime(unit.Unit).UTC().Format(layout))
	case *array.String, *array.LargeString:
		writeText(out, textAt(values, i))
	default:
		return false
	}
	return true
}

func writeFloat(out *bytes.Buffer, f float64, bits int) bool {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return false
	}
	out.WriteString(strconv.FormatFloat(f, 'g', -1, bits))
	return true
}

func writeText(out *bytes.Buffer, text string) {
	quoted, _ := json.Marshal(text)
	out.Write(quoted)
}
