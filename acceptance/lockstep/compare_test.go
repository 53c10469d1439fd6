package lockstep

import (
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/stretchr/testify/require"
)

// TestDiffer: order does not matter, multiplicity, NULL and exact values do, and doubles may be a little apart.
func TestDiffer(t *testing.T) {
	columns := batch.Schema{{Name: "k", Type: "VARCHAR"}, {Name: "d", Type: "DOUBLE"}, {Name: "m", Type: "DECIMAL(10,2)"}}
	row := func(k, d, m string) []string { return []string{k, d, m} }
	for _, tc := range []struct {
		name      string
		got, want [][]string
		says      string
	}{
		{name: "nothing"},
		{name: "another order", got: [][]string{row("a", "1", "1.00"), row("b", "2", "2.00")}, want: [][]string{row("b", "2", "2.00"), row("a", "1", "1.00")}},
		{name: "close doubles", got: [][]string{row("a", "1.0000000001", "1.00")}, want: [][]string{row("a", "1.0", "1.00")}},
		{name: "doubles apart", got: [][]string{row("a", "1.00001", "1.00")}, want: [][]string{row("a", "1.0", "1.00")}, says: "(a, 1.00001, 1.00)"},
		{name: "decimals are exact", got: [][]string{row("a", "1", "1.00")}, want: [][]string{row("a", "1", "1.01")}, says: "1.01"},
		{name: "null and zero", got: [][]string{row("a", null, "1.00")}, want: [][]string{row("a", "0", "1.00")}, says: "NULL"},
		{name: "nulls", got: [][]string{row("a", null, null)}, want: [][]string{row("a", null, null)}},
		{name: "one row twice", got: [][]string{row("a", "1", "1.00"), row("a", "1", "1.00")}, want: [][]string{row("a", "1", "1.00")}, says: "2 rows, plain DuckDB has 1"},
		{name: "a row missing", want: [][]string{row("a", "1", "1.00")}, says: "without a match is (a, 1, 1.00)"},
		{name: "not a number", got: [][]string{row("a", "nan", "1.00")}, want: [][]string{row("a", "1", "1.00")}, says: "nan"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := differ(columns, tc.got, tc.want)
			if tc.says == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.says)
		})
	}
}
