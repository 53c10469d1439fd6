package scan

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// fit is how text becomes a value of a column's type. Where a cast would change it without a word, the value is read as a type that
// holds more, and looked at: cents that DECIMAL would round, a time of day that DATE would drop, an offset that TIMESTAMP would.
type fit struct {
	wide  string                // type to read the text as
	same  func(x string) string // SQL, TRUE where the column's type holds the value x; nil: wherever it can be cast
	value func(x string) string // SQL for the value x in the column's type
}

var decimalType = regexp.MustCompile(`^(?:DECIMAL|NUMERIC)\((\d+)(?:,\s*(\d+))?\)$`)

// moreDigits are the digits that are looked at behind those of a DECIMAL: what floating-point arithmetic leaves behind them is no loss.
const moreDigits = 6

func fitOf(t string) fit {
	cast := func(x string) string { return "CAST(" + x + " AS " + t + ")" }
	kind := strings.ToUpper(strings.TrimSpace(t))
	if d := decimalType.FindStringSubmatch(kind); d != nil {
		width, _ := strconv.Atoi(d[1])
		scale, _ := strconv.Atoi("0" + d[2])
		more := min(moreDigits, 38-width)
		if more <= 0 {
			return fit{wide: t, value: func(x string) string { return x }}
		}
		return fit{wide: fmt.Sprintf("DECIMAL(%d,%d)", width+more, scale+more), value: cast,
			same: func(x string) string { return fmt.Sprintf("%s = round(%s, %d)", x, x, scale) }}
	}
	switch kind {
	case "DATE":
		return fit{wide: "TIMESTAMP", value: cast, same: func(x string) string { return x + " = CAST(CAST(" + x + " AS DATE) AS TIMESTAMP)" }}
	case "TIME":
		return fit{wide: "TIMETZ", value: cast, same: func(x string) string { return x + " = CAST(CAST(" + x + " AS TIME) AS TIMETZ)" }}
	case "TIMESTAMP", "DATETIME", "TIMESTAMP WITHOUT TIME ZONE":
		return fit{wide: "TIMESTAMPTZ", value: func(x string) string {
			return "CASE WHEN isfinite(" + x + ") THEN make_timestamp(epoch_us(" + x + ")) ELSE CAST(" + x + " AS TIMESTAMP) END"
		}}
	}
	return fit{wide: t, value: func(x string) string { return x }}
}

// csvFit is fitOf for DuckDB's reader of CSV, which takes what is no time with a zone for NULL, without a word: it reads these as text.
func csvFit(t string) fit {
	f := fitOf(t)
	switch zoned := f.wide; strings.ToUpper(strings.TrimSpace(zoned)) {
	case "TIMETZ", "TIME WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE":
		cast := func(x string) string { return "CAST(" + x + " AS " + zoned + ")" }
		of := fit{wide: "VARCHAR", value: func(x string) string { return f.value(cast(x)) }}
		if f.same != nil {
			of.same = func(x string) string { return f.same(cast(x)) }
		}
		return of
	}
	return f
}

// strict is SQL for the value x, read as wide; it fails where the column's type does not hold it.
func (f fit) strict(x string) string {
	if f.same == nil {
		return f.value(x)
	}
	return "CASE WHEN " + x + " IS NULL THEN NULL WHEN " + f.same(x) + " THEN " + f.value(x) + " ELSE error('a value does not fit its column') END"
}

// loose is SQL for the value x, read as wide; NULL where the column's type does not hold it.
func (f fit) loose(x string) string {
	if f.same == nil {
		return "TRY(" + f.value(x) + ")"
	}
	return "TRY(CASE WHEN " + f.same(x) + " THEN " + f.value(x) + " END)"
}

// wide are the columns as they are read.
func wide(columns batch.Schema) batch.Schema {
	out := make(batch.Schema, len(columns))
	for i, c := range columns {
		out[i] = batch.Column{Name: c.Name, Type: fitOf(c.Type).wide}
	}
	return out
}

// fitted selects columns from what reads them as wide, under the given names, and what else is named.
func fitted(columns batch.Schema, names []string, from string, others ...string) string {
	list := make([]string, len(columns), len(columns)+len(others))
	for i, c := range columns {
		list[i] = fitOf(c.Type).strict(bound.Ident(names[i])) + " AS " + bound.Ident(c.Name)
	}
	return "(SELECT " + strings.Join(append(list, others...), ", ") + " FROM " + from + ")"
}
