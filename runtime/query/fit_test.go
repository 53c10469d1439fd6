package query_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
)

// fits are values as JSON has them, and what becomes of them in a column; "" where the column's type does not hold them.
func fits() []struct{ column, value, want string } {
	return []struct{ column, value, want string }{
		{"DECIMAL(10,2)", `12.34`, "12.34"},
		{"DECIMAL(10,2)", `12.345`, ""}, // not rounded
		{"DECIMAL(10,2)", `"12.345"`, ""},
		{"DECIMAL(10,2)", `-0.005`, ""},
		{"DECIMAL(10,2)", `"1e2"`, "100.00"},
		{"DECIMAL(10,2)", `12.340`, "12.34"},
		{"DECIMAL(10,2)", `0.30000000000000004`, "0.30"}, // what floating point leaves behind
		{"DECIMAL(10,2)", `99999999.99`, "99999999.99"},
		{"DECIMAL(10,2)", `100000000`, ""},
		{"DECIMAL(38,2)", `"123456789012345678901234567890.12"`, "123456789012345678901234567890.12"},
		{"DATE", `"2024-02-29"`, "2024-02-29"},
		{"DATE", `"2024-02-29T00:00:00"`, "2024-02-29"},
		{"DATE", `"2024-02-29T10:00:00"`, ""}, // the time of day would be gone
		{"DATE", `"2024-02-30"`, ""},
		{"TIME", `"10:11:12.5"`, "10:11:12.5"},
		{"TIME", `"10:11:12+02"`, ""},
		{"TIMESTAMP", `"2024-01-01T00:00:00+02:00"`, "2023-12-31 22:00:00"}, // UTC
		{"TIMESTAMP", `"2024-01-01T00:00:00-05:30"`, "2024-01-01 05:30:00"},
		{"TIMESTAMP", `"2024-01-01T00:00:00Z"`, "2024-01-01 00:00:00"},
		{"TIMESTAMP", `"2024-01-01 08:15:00.123456"`, "2024-01-01 08:15:00.123456"},
		{"TIMESTAMP", `"2024-01-01"`, "2024-01-01 00:00:00"},
		{"TIMESTAMP", `"infinity"`, "infinity"},
		{"TIMESTAMP", `"2024-13-01"`, ""},
		{"TIMESTAMPTZ", `"2024-01-01T00:00:00+02:00"`, "2023-12-31 22:00:00+00"},
		{"TIMESTAMPTZ", `"2024-13-01T00:00:00Z"`, ""},
		{"TIMESTAMPTZ", `"yesterday"`, ""},
		{"BIGINT", `9007199254740993`, "9007199254740993"},
		{"BIGINT", `9223372036854775808`, ""},
		{"BIGINT", `"n/a"`, ""},
	}
}

// TestValuesFitOrAreRescued reads each value in a file of its own, where the whole file fits or does not, and beside a record that
// cannot be read, where each value is looked at; as JSON, and, as plain text, as CSV. It is the same value each time.
func TestValuesFitOrAreRescued(t *testing.T) {
	c := newCompiler(t)
	columns := batch.Schema{{Name: "k", Type: "BIGINT"}}
	names := map[string]string{}
	var texts []string
	for _, f := range fits() {
		if names[f.column] == "" {
			names[f.column] = fmt.Sprintf("v%d", len(names))
			columns = append(columns, batch.Column{Name: names[f.column], Type: f.column})
			texts = append(texts, "CAST("+names[f.column]+" AS VARCHAR)")
		}
	}
	for _, format := range []string{"json", "csv"} {
		w := newWorldBeside(t, columns, nil)
		defer w.close()
		w.scan.Format.Name = format
		_, err := w.relation(c, "r", "SELECT k, coalesce("+strings.Join(texts, ", ")+") AS v FROM t", false)
		require.NoError(t, err)
		var want []string
		for i, f := range fits() {
			record := fmt.Sprintf("{\"k\":%d,%q:%s}\n", i, names[f.column], f.value)
			broken := "{\"k\":\n"
			if format == "csv" {
				record = fmt.Sprintf("k,%s\n%d,%s\n", names[f.column], i, strings.Trim(f.value, `"`))
				broken = "1,2,3,4\n"
			}
			fit, rescued := f.want, int64(0)
			if f.want == "" {
				fit, rescued = "NULL", 1
			}
			r, err := w.epoch(w.file(fmt.Sprintf("%d.%s", i, format), record))
			require.NoError(t, err)
			require.Equal(t, rescued, r.Inputs[0].Rescued, "%s: %s in %s", format, f.value, f.column)
			r, err = w.epoch(w.file(fmt.Sprintf("beside-%d.%s", i, format), record+broken))
			require.NoError(t, err)
			require.Equal(t, rescued, r.Inputs[0].Rescued, "%s: %s in %s, beside a broken record", format, f.value, f.column)
			want = append(want, fmt.Sprintf("%d|%s", i, fit), fmt.Sprintf("%d|%s", i, fit))
		}
		slices.Sort(want)
		require.Equal(t, want, w.rows("SELECT * FROM r"), format)
	}
}
