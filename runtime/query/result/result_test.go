package result

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/stretchr/testify/require"
)

// cells reads the one row of a query as Rows gives it.
func cells(t *testing.T, c *duck.Conn, sql string) []Cell {
	t.Helper()
	described, err := c.Text(t.Context(), "SELECT column_name, column_type FROM (DESCRIBE "+sql+")")
	require.NoError(t, err)
	var columns batch.Schema
	var values, texts []string
	for _, d := range described {
		columns = append(columns, batch.Column{Name: *d[0], Type: *d[1]})
		values = append(values, "CAST("+*d[0]+" AS "+Texts(*d[1])+")")
		texts = append(texts, "CAST("+*d[0]+" AS VARCHAR)")
	}
	rows, err := c.Open(t.Context(), "SELECT "+strings.Join(append(values, texts...), ", ")+" FROM ("+sql+")")
	require.NoError(t, err)
	r := New(columns, rows, func() error { return nil })
	row, err := r.Next()
	require.NoError(t, err)
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, r.Close())
	return row
}

// Numbers keep their digits and times their text, however deep they are; members keep their order.
func TestJSON(t *testing.T) {
	c, err := duck.Open(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	for sql, want := range map[string]string{
		"12345678901234567890.1234567890::DECIMAL(38,10)":  `12345678901234567890.1234567890`,
		"-0.5::DECIMAL(3,1)":                               `-0.5`,
		"170141183460469231731687303715884105727::HUGEINT": `170141183460469231731687303715884105727`,
		"'nan'::DOUBLE":                                    `"nan"`,
		"'-inf'::FLOAT":                                    `"-inf"`,
		"1e300":                                            `1e+300`,
		"0.1::FLOAT":                                       `0.1`,
		"true":                                             `true`,
		"NULL":                                             `null`,
		"DATE '0044-03-15 (BC)'":                           `"0044-03-15 (BC)"`,
		"TIMESTAMP '2024-01-01'":                           `"2024-01-01 00:00:00"`,
		"INTERVAL '1 year 3 days 04:05:06.5'":              `"1 year 3 days 04:05:06.5"`,
		`'a"<b>'`:                                          `"a\"<b>"`,
		`'a\xFF'::BLOB`:                                    `"a\\xFF"`,
		`'{"b": [1, 2.50]}'::JSON`:                         `{"b":[1,2.50]}`,
		"'{b}'":                                            `"{b}"`,
		"'x'::ENUM('x', 'a, ''b)')":                        `"x"`,
		"{'z': 1.50::DECIMAL(5,2), 'a': TIMESTAMP '2024-01-01', 'l': [1, NULL]}": `{"z":1.50,"a":"2024-01-01 00:00:00","l":[1,null]}`,
		"[123456789012345678::DECIMAL(18,0), NULL]":                              `[123456789012345678,null]`,
		"[0.1::FLOAT, 'nan'::FLOAT]":                                             `[0.1,"nan"]`,
		"['a', 'NULL', NULL, '']":                                                `["a","NULL",null,""]`,
		"[[INTERVAL 1 DAY], []]":                                                 `[["1 day"],[]]`,
		"[1, 2]::INTEGER[2]":                                                     `[1,2]`,
		"MAP{1: {'a': 1.5}, 2: NULL}":                                            `{"1":{"a":1.5},"2":null}`,
		"MAP{{'x': 1, 'b': 2}: DATE '2024-01-01'}":                               `{"{'x': 1, 'b': 2}":"2024-01-01"}`,
		`{'we"ird, (name': 'x'::ENUM('x', 'a, ''b)'), 'select': {'ü': 1}}`:       `{"we\"ird, (name":"x","select":{"ü":1}}`,
		"union_value(num := 2)":                                                  `2`,
		"[union_value(a := 1.5)::UNION(a DECIMAL(3,1), b VARCHAR), union_value(b := 'x')::UNION(a DECIMAL(3,1), b VARCHAR)]": `[1.5,"x"]`,
		"NULL::INTEGER[]":                        `null`,
		"{'a': NULL::STRUCT(x INTEGER)}":         `{"a":null}`,
		"[TIMESTAMPTZ '2024-01-01 10:00:00+02']": `["2024-01-01 08:00:00+00"]`,
	} {
		t.Run(sql, func(t *testing.T) {
			got := cells(t, c, "SELECT "+sql+" AS x")[0]
			require.Equal(t, want, got.JSON)
			require.Equal(t, want == "null", got.Null)
			require.True(t, json.Valid([]byte(got.JSON)))
		})
	}
}

func TestTexts(t *testing.T) {
	for typ, want := range map[string]string{
		"DECIMAL(10,2)":            "VARCHAR",
		"TIMESTAMP WITH TIME ZONE": "VARCHAR",
		"INTEGER[3][]":             "VARCHAR[3][]",
		"STRUCT(a ENUM('x, (', 'it''s')[], \"b \"\"c\" MAP(INTEGER, STRUCT(d DATE)))": `STRUCT("a" VARCHAR[], "b ""c" MAP(VARCHAR, STRUCT("d" VARCHAR)))`,
		"STRUCT(INTEGER, VARCHAR)": "VARCHAR", // without names
		"STRUCT(a INTEGER":         "VARCHAR",
		"MAP(INTEGER)":             "VARCHAR",
		"":                         "VARCHAR",
	} {
		require.Equal(t, want, Texts(typ), typ)
	}
}

func FuzzTexts(f *testing.F) {
	f.Add("STRUCT(a INTEGER[], \"b\"\"\" MAP(VARCHAR, UNION(x DATE)))[2]")
	f.Fuzz(func(t *testing.T, typ string) {
		once := Texts(typ)
		require.Equal(t, once, Texts(once), "text has the shape of text")
	})
}
