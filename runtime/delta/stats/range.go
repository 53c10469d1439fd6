package stats

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
)

// Range is a condition on one column: its value lies between Min and Max, both included, or is NULL.
type Range struct {
	Column []string // logical name; longer for members of structs
	Min    *string  // in DuckDB's text form; nil: no lower bound
	Max    *string
	Null   Nulls
}

// Nulls says what a Range makes of NULL.
type Nulls int

// What a Range makes of NULL.
const (
	NotNull  Nulls = iota // no NULL lies in the range
	OrNull                // NULL lies in the range too
	OnlyNull              // nothing else does
)

// MayHold tells whether a file may have rows in all of the ranges. It keeps a file unless a match is impossible: what is
// unknown, missing or malformed keeps it.
func (t Table) MayHold(file action.Add, ranges []Range) bool {
	parsed := parse(file)
	for _, r := range ranges {
		if !t.mayHold(file, parsed, r) {
			return false
		}
	}
	return true
}

func (t Table) mayHold(file action.Add, known known, r Range) bool {
	field, names, ok := t.find(r.Column)
	if !ok {
		return true
	}
	if len(r.Column) == 1 && containsFold(t.Partitions, field.Name) {
		return partitionHolds(file, field, names[0], r)
	}
	nulls, nullsKnown := known.nulls(names)
	if field.Type.Name == schema.Void {
		return r.Null != NotNull
	}
	if r.Null != NotNull && (!nullsKnown || nulls > 0) {
		return true
	}
	if r.Null == OnlyNull {
		return false
	}
	if nullsKnown && known.rows != nil && nulls == *known.rows {
		return false
	}
	low, high := known.bounds(names)
	return overlaps(field.Type, interval{low: low, high: high, wide: true}, r)
}

// find resolves a column's path to its field and physical path.
func (t Table) find(column []string) (schema.Field, []string, bool) {
	fields, names := t.Schema, []string(nil)
	for i, part := range column {
		f, ok := fields.Field(part)
		if !ok {
			return schema.Field{}, nil, false
		}
		names = append(names, schema.Schema{f}.Physical(t.Mode)[0].Name)
		if i == len(column)-1 {
			return f, names, true
		}
		fields = f.Type.Fields
	}
	return schema.Field{}, nil, false
}

func partitionHolds(file action.Add, field schema.Field, name string, r Range) bool {
	value, ok := file.PartitionValues[name]
	if !ok {
		return true
	}
	value = schema.NormalPartition(value)
	if value == nil {
		return r.Null != NotNull
	}
	return r.Null != OnlyNull && overlaps(field.Type, interval{low: value, high: value}, r)
}

// interval is where a file's values lie. Wide says that a timestamp's upper end may have been cut to the millisecond,
// and that NaN is in no bound.
type interval struct {
	low, high *string
	wide      bool
}

// overlaps tells whether a range and a file's values can meet.
func overlaps(t schema.Type, have interval, r Range) bool {
	if have.high != nil && r.Min != nil && !(have.wide && floating(t)) {
		high, ok := order(t, *have.high)
		low, ok2 := order(t, *r.Min)
		if have.wide && (t.Name == schema.Timestamp || t.Name == schema.TimestampNTZ) && ok {
			high.number.Add(high.number, big.NewRat(1000, 1))
		}
		if ok && ok2 && high.less(low) {
			return false
		}
	}
	if have.low != nil && r.Max != nil {
		low, ok := order(t, *have.low)
		high, ok2 := order(t, *r.Max)
		if ok && ok2 && high.less(low) {
			return false
		}
	}
	return true
}

func floating(t schema.Type) bool { return t.Name == schema.Float || t.Name == schema.Double }

// ordered is a value with its order: a number, or else a text.
type ordered struct {
	number *big.Rat
	text   string
}

func (a ordered) less(b ordered) bool {
	if a.number != nil && b.number != nil {
		return a.number.Cmp(b.number) < 0
	}
	return a.text < b.text
}

// order reads a value's text as its type orders it; ok is false for what has no place in an order.
func order(t schema.Type, text string) (ordered, bool) {
	switch t.Name {
	case schema.String:
		return ordered{text: text}, true
	case schema.Date:
		at, err := time.Parse(time.DateOnly, text)
		return ordered{number: new(big.Rat).SetInt64(at.Unix())}, err == nil
	case schema.Timestamp, schema.TimestampNTZ:
		at, ok := anyInstant(text)
		return ordered{number: new(big.Rat).SetInt64(at.UnixMicro())}, ok
	case schema.Long, schema.Integer, schema.Short, schema.Byte, schema.Decimal:
		if !modest(text) {
			return ordered{}, false
		}
		n, ok := new(big.Rat).SetString(text)
		return ordered{number: n}, ok
	case schema.Float, schema.Double:
		f, err := strconv.ParseFloat(text, 64)
		n := new(big.Rat).SetFloat64(f)
		return ordered{number: n}, err == nil && n != nil
	}
	return ordered{}, false
}

// modest tells whether a text is a number whose exact value is not absurdly long.
func modest(text string) bool {
	_, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	n, err := strconv.Atoi(exponent)
	return jsonNumber(text) && (!scientific || err == nil && n > -100 && n < 100)
}

// anyInstant reads a timestamp as DuckDB or a Delta log writes it.
func anyInstant(text string) (time.Time, bool) {
	if at, ok := instant(text); ok {
		return at, true
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

// known is what a file's statistics say.
type known struct {
	rows           *int64
	exactNulls     bool
	min, max, null map[string]json.RawMessage
}

func parse(file action.Add) known {
	var text struct {
		NumRecords  *int64                     `json:"numRecords"`
		TightBounds *bool                      `json:"tightBounds"`
		Min         map[string]json.RawMessage `json:"minValues"`
		Max         map[string]json.RawMessage `json:"maxValues"`
		Null        map[string]json.RawMessage `json:"nullCount"`
	}
	if json.Unmarshal([]byte(file.Stats), &text) != nil {
		return known{}
	}
	tight := file.DeletionVector == nil && (text.TightBounds == nil || *text.TightBounds)
	return known{rows: text.NumRecords, exactNulls: tight, min: text.Min, max: text.Max, null: text.Null}
}

// Rows is the number of physical rows that a file's statistics state; ok is false when they do not.
func Rows(file action.Add) (rows int64, ok bool) {
	k := parse(file)
	if k.rows == nil {
		return 0, false
	}
	return *k.rows, true
}

// nulls is a column's number of NULLs. Where bounds are not tight, only 0 and all rows are known for sure.
func (k known) nulls(names []string) (int64, bool) {
	var n int64
	if json.Unmarshal(descend(k.null, names), &n) != nil {
		return 0, false
	}
	if !k.exactNulls && n != 0 && (k.rows == nil || n != *k.rows) {
		return 0, false
	}
	return n, true
}

func (k known) bounds(names []string) (low, high *string) {
	return bound(descend(k.min, names)), bound(descend(k.max, names))
}

func descend(members map[string]json.RawMessage, names []string) json.RawMessage {
	for _, n := range names[:len(names)-1] {
		var inner map[string]json.RawMessage
		if json.Unmarshal(members[n], &inner) != nil {
			return nil
		}
		members = inner
	}
	return members[names[len(names)-1]]
}

// bound is a bound's text: of a JSON text or of a number as it stands.
func bound(raw json.RawMessage) *string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = strings.TrimSpace(string(raw))
	}
	return &text
}
