package stats_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

func column(name, duckdb string) schema.Field {
	t, err := schema.ParseDuckDB(duckdb)
	if err != nil {
		panic(err)
	}
	return schema.Field{Name: name, Type: t, Nullable: true}
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("a", 40)
	for _, c := range []struct {
		name, duckdb, low, high string
		wantLow, wantHigh       string // JSON; empty: no bound
	}{
		{"integers", "BIGINT", "-9223372036854775808", "9223372036854775807", "-9223372036854775808", "9223372036854775807"},
		{"decimal of one digit", "DECIMAL(1,0)", "-9", "9", "-9", "9"},
		{"decimal of 38 digits", "DECIMAL(38,0)", "-12345678901234567890123456789012345678", "99999999999999999999999999999999999999", "-12345678901234567890123456789012345678", "99999999999999999999999999999999999999"},
		{"decimal zero of scale 16", "DECIMAL(18,16)", "0.0000000000000000", "0.0000000000000000", "0.0000000000000000", "0.0000000000000000"},
		{"double", "DOUBLE", "-1.5", "1e+300", "-1.5", "1e+300"},
		{"float zero", "FLOAT", "0.0", "-0.0", "-0.0", "0.0"},
		{"infinities", "DOUBLE", "-inf", "inf", "", ""},
		{"timestamp", "TIMESTAMP WITH TIME ZONE", "2024-01-01 00:00:00.000999+00", "2024-01-01 00:00:00.000009+00", `"2024-01-01T00:00:00.000Z"`, `"2024-01-01T00:00:00.001Z"`},
		{"timestamp before 1970", "TIMESTAMP WITH TIME ZONE", "1969-12-31 23:59:59.999999+00", "1969-12-31 23:59:59.999999+00", `"1969-12-31T23:59:59.999Z"`, `"1970-01-01T00:00:00.000Z"`},
		{"timestamp of other zone", "TIMESTAMP WITH TIME ZONE", "2024-01-01 05:30:00+05:30", "2024-01-01 01:00:00+01", `"2024-01-01T00:00:00.000Z"`, `"2024-01-01T00:00:00.000Z"`},
		{"timestamp without zone", "TIMESTAMP", "2024-01-01 10:00:00.1", "2024-01-01 10:00:00.1000", `"2024-01-01T10:00:00.100"`, `"2024-01-01T10:00:00.100"`},
		{"timestamps beyond ISO", "TIMESTAMP", "0044-03-15 (BC) 00:00:00", "infinity", "", ""},
		{"last millisecond of year 9999", "TIMESTAMP", "9999-12-31 23:59:59.9999", "9999-12-31 23:59:59.9999", `"9999-12-31T23:59:59.999"`, ""},
		{"date", "DATE", "0044-01-01", "2024-02-29", `"0044-01-01"`, `"2024-02-29"`},
		{"date beyond ISO", "DATE", "-infinity", "12024-01-01", "", ""},
		{"text", "VARCHAR", "", `q"<`, `""`, `"q\"<"`},
		{"long text", "VARCHAR", long, long, `"` + long[:32] + `"`, `"` + long[:32] + "\u007f" + `"`},
		{"long text of wide runes", "VARCHAR", strings.Repeat("é", 40), strings.Repeat("é", 40), `"` + strings.Repeat("é", 32) + `"`, `"` + strings.Repeat("é", 32) + "\U0010FFFF" + `"`},
		{"the greatest character in the way", "VARCHAR", "a", long[:32] + "\U0010FFFFb", `"a"`, `"` + long[:32] + "\U0010FFFF\u007f" + `"`},
		{"the greatest character all the way", "VARCHAR", "a", strings.Repeat("\U0010FFFF", 80), `"a"`, ""},
		{"boolean", "BOOLEAN", "0", "1", "", ""},
		{"blob", "BLOB", "AB", "CD", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := stats.Table{Schema: schema.Schema{column("c", c.duckdb)}, Mode: schema.ByLogicalName}
			text, err := stats.FromCopy(table, stats.Copy{Rows: 2, Columns: map[string]map[string]string{
				`"c"`: {"min": c.low, "max": c.high, "null_count": "1"},
			}})
			require.NoError(t, err)
			var got struct {
				NumRecords           int
				MinValues, MaxValues map[string]json.RawMessage
				NullCount            map[string]int
			}
			require.NoError(t, json.Unmarshal([]byte(text), &got), text)
			require.Equal(t, c.wantLow, string(got.MinValues["c"]))
			require.Equal(t, c.wantHigh, string(got.MaxValues["c"]))
			require.Equal(t, 1, got.NullCount["c"])
			require.Equal(t, 2, got.NumRecords)
		})
	}
}

func TestShape(t *testing.T) {
	table := stats.Table{
		Schema: schema.Schema{
			column("p", "INTEGER"), column(`we"ird.col`, "VARCHAR"), column("st", `STRUCT(a INTEGER, b STRUCT(c DOUBLE))`),
			column("l", "INTEGER[]"), column("m", "MAP(VARCHAR, INTEGER)"), column("n", "DOUBLE"), column("last", "BIGINT"),
		},
		Partitions: []string{"P"},
	}
	c := stats.Copy{Rows: 5, Columns: map[string]map[string]string{
		`"p"`:           {"min": "1", "max": "1", "null_count": "0"},
		`"we""ird.col"`: {"min": "a", "max": "b", "null_count": "0"},
		`"st"."a"`:      {"null_count": "5"},
		`"st"."b"."c"`:  {"min": "0.5", "max": "0.75", "null_count": "1", "has_nan": "false"},
		`"l"`:           {"null_count": "3"},
		`"l"."element"`: {"min": "1", "max": "2", "null_count": "0"},
		`"m"."key"`:     {"min": "a", "max": "a", "null_count": "0"},
		`"n"`:           {"min": "1.0", "max": "2.0", "null_count": "0", "has_nan": "true"},
		`"last"`:        {"min": "7", "max": "8", "null_count": "2"},
	}}
	all := `{"numRecords":5,"minValues":{"we\"ird.col":"a","st":{"b":{"c":0.5}},"last":7},` +
		`"maxValues":{"we\"ird.col":"b","st":{"b":{"c":0.75}},"last":8},` +
		`"nullCount":{"we\"ird.col":0,"st":{"a":5,"b":{"c":1}},"l":3,"n":0,"last":2}}`
	for _, tc := range []struct {
		name          string
		configuration map[string]string
		want          string
	}{
		{"defaults", nil, all},
		{"all columns", map[string]string{"delta.dataSkippingNumIndexedCols": "-1"}, all},
		{"first leaf", map[string]string{"delta.dataSkippingNumIndexedCols": "1"}, `{"numRecords":5,"minValues":{"we\"ird.col":"a"},"maxValues":{"we\"ird.col":"b"},"nullCount":{"we\"ird.col":0}}`},
		{"none", map[string]string{"delta.dataSkippingNumIndexedCols": "0"}, `{"numRecords":5,"minValues":{},"maxValues":{},"nullCount":{}}`},
		{
			"named", map[string]string{"delta.dataSkippingStatsColumns": "st.b, `we\"ird.col`", "delta.dataSkippingNumIndexedCols": "0"},
			`{"numRecords":5,"minValues":{"we\"ird.col":"a","st":{"b":{"c":0.5}}},"maxValues":{"we\"ird.col":"b","st":{"b":{"c":0.75}}},"nullCount":{"we\"ird.col":0,"st":{"b":{"c":1}}}}`,
		},
		{
			"short texts and deletion vectors", map[string]string{"delta.dataSkippingStringPrefixLength": "0", "delta.dataSkippingNumIndexedCols": "1", "delta.enableDeletionVectors": "true"},
			`{"numRecords":5,"tightBounds":true,"minValues":{"we\"ird.col":""},"maxValues":{"we\"ird.col":"` + "\u007f" + `"},"nullCount":{"we\"ird.col":0}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			table.Configuration = tc.configuration
			got, err := stats.FromCopy(table, c)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
	table.Configuration = map[string]string{"delta.dataSkippingNumIndexedCols": "many"}
	_, err := stats.FromCopy(table, c)
	require.Error(t, err)
}

func text(s string) *string { return &s }

func TestSkipping(t *testing.T) {
	table := stats.Table{
		Schema: schema.Schema{
			column("i", "INTEGER"), column("d", "DOUBLE"), column("ts", "TIMESTAMP WITH TIME ZONE"), column("s", "VARCHAR"),
			column("st", "STRUCT(x DECIMAL(20,2))"), column("new", "INTEGER"), column("p", "DATE"), column("e", "INTEGER"),
			{Name: "v", Type: schema.Type{Name: schema.Void}},
		},
		Partitions: []string{"p"},
	}
	file := action.Add{
		PartitionValues: map[string]*string{"p": text("2024-01-02")},
		Stats: `{"numRecords":10,"minValues":{"i":5,"d":1.0,"ts":"2024-01-01T00:00:04.000Z","s":"b","st":{"x":1234567890123456789.01}},` +
			`"maxValues":{"i":9,"d":2.0,"ts":"2024-01-01T00:00:04.000Z","s":"d","st":{"x":1234567890123456789.02}},` +
			`"nullCount":{"i":0,"d":0,"ts":2,"s":10,"st":{"x":0},"e":10}}`,
	}
	between := func(name, low, high string) stats.Range {
		r := stats.Range{Column: strings.Split(name, ".")}
		if low != "" {
			r.Min = &low
		}
		if high != "" {
			r.Max = &high
		}
		return r
	}
	null := func(name string, n stats.Nulls) stats.Range { return stats.Range{Column: []string{name}, Null: n} }
	for _, c := range []struct {
		name string
		r    stats.Range
		want bool
	}{
		{"inside", between("i", "7", "7"), true},
		{"at the end", between("i", "9", ""), true},
		{"above", between("i", "10", ""), false},
		{"below", between("I", "", "4"), false},
		{"a maximum of floats says nothing of NaN", between("d", "3", ""), true},
		{"below floats", between("d", "", "0.5"), false},
		{"a timestamp maximum may be cut", between("ts", "2024-01-01 00:00:04.0005+00", ""), true},
		{"a millisecond later is beyond it", between("ts", "2024-01-01 00:00:04.002+00", ""), false},
		{"decimals are exact", between("st.x", "1234567890123456789.03", ""), false},
		{"decimals are exact, inside", between("st.x", "1234567890123456789.02", ""), true},
		{"all NULL", between("s", "a", "z"), false},
		{"all NULL, wanted", stats.Range{Column: []string{"s"}, Null: stats.OrNull}, true},
		{"no statistics", between("new", "1", "1"), true},
		{"no such column", between("nope", "1", "1"), true},
		{"partition", between("p", "2024-01-01", "2024-01-02"), true},
		{"other partition", between("p", "2024-01-03", ""), false},
		{"partition is not NULL", null("p", stats.OnlyNull), false},
		{"never NULL", null("i", stats.OnlyNull), false},
		{"sometimes NULL", null("ts", stats.OnlyNull), true},
		{"void holds no value", null("v", stats.NotNull), false},
		{"void is NULL", null("v", stats.OnlyNull), true},
		{"nonsense value", between("i", "x", "y"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, table.MayHold(file, []stats.Range{c.r}))
			bare := file
			bare.Stats = `{"numRecords": "oops"`
			if c.r.Column[0] != "p" && c.r.Column[0] != "v" {
				require.True(t, table.MayHold(bare, []stats.Range{c.r}), "malformed statistics keep the file")
			}
		})
	}
	hidden := file
	hidden.DeletionVector = &action.DeletionVector{StorageType: "u"}
	hidden.Stats = strings.Replace(file.Stats, `"ts":2`, `"ts":0`, 1)
	require.False(t, table.MayHold(hidden, []stats.Range{null("ts", stats.OnlyNull)}), "no NULL stays no NULL")
	require.True(t, table.MayHold(hidden, []stats.Range{between("i", "5", "5")}), "bounds stay wide")
}
