package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/schema"
)

func TestFromDuckDB(t *testing.T) {
	for _, c := range []struct{ duckdb, delta, cast string }{
		{"BIGINT", "long", ""}, {"INTEGER", "integer", ""}, {"SMALLINT", "short", ""}, {"TINYINT", "byte", ""},
		{"UBIGINT", "decimal(20,0)", "DECIMAL(20,0)"}, {"UINTEGER", "long", "BIGINT"}, {"USMALLINT", "integer", "INTEGER"}, {"UTINYINT", "short", "SMALLINT"},
		{"HUGEINT", "decimal(38,0)", "DECIMAL(38,0)"}, {"UHUGEINT", "decimal(38,0)", "DECIMAL(38,0)"}, {"BIGNUM", "string", "VARCHAR"},
		{"FLOAT", "float", ""}, {"DOUBLE", "double", ""}, {"DECIMAL(10,2)", "decimal(10,2)", ""}, {"DECIMAL(38,38)", "decimal(38,38)", ""},
		{"BOOLEAN", "boolean", ""}, {"VARCHAR", "string", ""}, {"BLOB", "binary", ""}, {"DATE", "date", ""},
		{"TIMESTAMP", "timestamp_ntz", ""}, {"TIMESTAMP WITH TIME ZONE", "timestamp", ""}, {"TIMESTAMP_NS", "timestamp_ntz", "TIMESTAMP"}, {"TIMESTAMP_S", "timestamp_ntz", "TIMESTAMP"}, {"TIMESTAMP_MS", "timestamp_ntz", "TIMESTAMP"},
		{"UUID", "string", "VARCHAR"}, {"TIME", "string", "VARCHAR"}, {"TIME WITH TIME ZONE", "string", "VARCHAR"}, {"INTERVAL", "string", "VARCHAR"}, {"BIT", "string", "VARCHAR"}, {"JSON", "string", "VARCHAR"},
		{`ENUM('x', 'a''b, c)', 'a')`, "string", "VARCHAR"}, {`"NULL"`, "integer", "INTEGER"},
		{"INTEGER[]", "array<integer>", ""}, {"INTEGER[3]", "array<integer>", "INTEGER[]"}, {"VARCHAR[][]", "array<array<string>>", ""}, {"UUID[]", "array<string>", "VARCHAR[]"},
		{"MAP(VARCHAR, INTEGER)", "map<string,integer>", ""}, {"MAP(VARCHAR, STRUCT(q DATE)[])", "map<string,array<struct<q:date>>>", ""},
		{`STRUCT(a INTEGER, "B c" DECIMAL(2,1)[])`, "struct<a:integer,B c:array<decimal(2,1)>>", ""},
		{`STRUCT(a UBIGINT, "x""y" MAP(UUID, ENUM('(', ')')))`, `struct<a:decimal(20,0),x"y:map<string,string>>`, `STRUCT("a" DECIMAL(20,0), "x""y" MAP(VARCHAR, VARCHAR))`},
		{`STRUCT("timestamp" TIMESTAMP WITH TIME ZONE, b BLOB)`, "struct<timestamp:timestamp,b:binary>", ""},
	} {
		t.Run(c.duckdb, func(t *testing.T) {
			got, err := schema.FromDuckDB([]schema.Column{{Name: "c", Type: c.duckdb}})
			require.NoError(t, err)
			require.Equal(t, c.delta, got[0].Field.Type.String())
			require.Equal(t, c.cast, got[0].Cast)
			require.True(t, got[0].Field.Nullable)
			again, err := schema.ParseDuckDB(got[0].Field.Type.DuckDB())
			require.NoError(t, err)
			require.True(t, again.Equal(got[0].Field.Type), "its own DuckDB type leads back to it")
		})
	}
	for _, bad := range []string{"", "UNION(k INTEGER)", "VARIANT", "GEOMETRY", "STRUCT(a)", "STRUCT(a INTEGER", "MAP(VARCHAR)", "DECIMAL(40,2)", "DECIMAL(2,3)", "INTEGER[", "INTEGER]", "INTEGER x", `STRUCT("a INTEGER)`, strings.Repeat("STRUCT(a ", 200)} {
		_, err := schema.FromDuckDB([]schema.Column{{Name: "col", Type: bad}})
		require.ErrorContains(t, err, "col", bad)
	}
}

func FuzzParseDuckDB(f *testing.F) {
	f.Add(`STRUCT(a INTEGER, "B c" DECIMAL(2,1)[3], m MAP(VARCHAR, ENUM('a', ')')))`)
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := schema.ParseDuckDB(text)
		if err != nil {
			return
		}
		again, err := schema.ParseDuckDB(parsed.DuckDB())
		require.NoError(t, err)
		require.True(t, again.Equal(parsed))
	})
}

func TestSchemaString(t *testing.T) {
	const text = `{"type":"struct","fields":[` +
		`{"name":"a","type":"decimal(10,2)","nullable":false,"metadata":{"comment":"x","odd":{"deep":[1,2]}}},` +
		`{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"long","containsNull":false},"valueContainsNull":true},"nullable":true,"metadata":{}},` +
		`{"name":"s","type":{"type":"struct","fields":[{"name":"v","type":"variant","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},` +
		`{"name":"e","type":{"type":"struct","fields":[]},"nullable":true,"metadata":{}}]}`
	s, err := schema.Parse(text)
	require.NoError(t, err)
	require.JSONEq(t, text, s.String(), "what is not known is kept")
	require.ErrorContains(t, s.Supported(), "variant")
	for _, bad := range []string{"", `"long"`, `{"type":"array","elementType":"long"}`, `{"type":"struct","fields":[{"name":"a","type":{"type":"array"}}]}`, `{"type":"struct","fields":[{"name":"a","type":"decimal(50,2)"}]}`, `{"type":"struct","fields":[{"name":"a","type":{"type":"tensor"}}]}`} {
		_, err := schema.Parse(bad)
		require.Error(t, err, bad)
	}
	ten, err := schema.Parse(`{"type":"struct","fields":[{"name":"a","type":"decimal","nullable":true,"metadata":{}}]}`)
	require.NoError(t, err)
	require.Equal(t, "decimal(10,0)", ten[0].Type.String())
}

func FuzzParse(f *testing.F) {
	f.Add(`{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"long","containsNull":false},"nullable":true,"metadata":{"k":1}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := schema.Parse(text)
		if err != nil {
			return
		}
		again, err := schema.Parse(s.String())
		require.NoError(t, err)
		require.Equal(t, s.String(), again.String())
		_ = s.Supported()
	})
}

// of makes a schema of name, DuckDB type pairs.
func of(t *testing.T, pairs ...string) schema.Schema {
	t.Helper()
	var out schema.Schema
	for i := 0; i < len(pairs); i += 2 {
		parsed, err := schema.ParseDuckDB(pairs[i+1])
		require.NoError(t, err)
		out = append(out, schema.Field{Name: pairs[i], Type: parsed, Nullable: true})
	}
	return out
}

func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name            string
		table, incoming []string
		want            []string // nil: an error that holds wantErr
		wantErr         string
	}{
		{"the same", []string{"a", "BIGINT"}, []string{"A", "BIGINT"}, []string{"a", "BIGINT"}, ""},
		{"a new column comes last", []string{"a", "BIGINT", "b", "DATE"}, []string{"c", "VARCHAR", "B", "DATE"}, []string{"a", "BIGINT", "b", "DATE", "c", "VARCHAR"}, ""},
		{"a new member comes last", []string{"s", "STRUCT(x INTEGER)"}, []string{"S", "STRUCT(y DATE, X INTEGER)"}, []string{"s", "STRUCT(x INTEGER, y DATE)"}, ""},
		{"inside lists", []string{"l", "STRUCT(x INTEGER)[]"}, []string{"l", "STRUCT(x INTEGER, y DATE)[]"}, []string{"l", "STRUCT(x INTEGER, y DATE)[]"}, ""},
		{"inside map values", []string{"m", "MAP(VARCHAR, STRUCT(x INTEGER))"}, []string{"m", "MAP(VARCHAR, STRUCT(y DATE))"}, []string{"m", "MAP(VARCHAR, STRUCT(x INTEGER, y DATE))"}, ""},
		{"small integers are one type", []string{"a", "TINYINT"}, []string{"a", "INTEGER"}, []string{"a", "TINYINT"}, ""},
		{"what fits is cast", []string{"a", "BIGINT", "d", "DECIMAL(20,2)", "f", "DOUBLE", "n", "DECIMAL(21,2)"}, []string{"a", "SMALLINT", "d", "DECIMAL(10,2)", "f", "FLOAT", "n", "BIGINT"}, []string{"a", "BIGINT", "d", "DECIMAL(20,2)", "f", "DOUBLE", "n", "DECIMAL(21,2)"}, ""},
		{"what does not fit", []string{"a", "INTEGER"}, []string{"a", "BIGINT"}, nil, "column a is integer in the table and long in the data"},
		{"a wider decimal", []string{"a", "DECIMAL(10,2)"}, []string{"a", "DECIMAL(11,2)"}, nil, "decimal(11,2)"},
		{"a longer scale", []string{"a", "DECIMAL(10,2)"}, []string{"a", "DECIMAL(10,3)"}, nil, "decimal(10,3)"},
		{"local times are no instants", []string{"a", "TIMESTAMP"}, []string{"a", "TIMESTAMPTZ"}, nil, "timestamp_ntz"},
		{"another shape", []string{"a", "STRUCT(x INTEGER)"}, []string{"a", "INTEGER[]"}, nil, "array<integer>"},
		{"deep down", []string{"s", "STRUCT(x STRUCT(y DATE)[])"}, []string{"s", "STRUCT(x STRUCT(y BLOB)[])"}, nil, "s.x.element.y"},
		{"one column twice", []string{"a", "DATE"}, []string{"a", "DATE", "A", "DATE"}, nil, "twice"},
		{"a new column twice", []string{"a", "DATE"}, []string{"b", "DATE", "B", "DATE"}, nil, "twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := of(t, c.table...)
			got, changed, err := schema.Merge(table, of(t, c.incoming...))
			if c.want == nil {
				require.ErrorContains(t, err, c.wantErr)
				return
			}
			require.NoError(t, err)
			require.Equal(t, of(t, c.want...).String(), got.String())
			require.Equal(t, table.String() != got.String(), changed)
			again, changed, err := schema.Merge(got, of(t, c.incoming...))
			require.NoError(t, err)
			require.False(t, changed)
			require.Equal(t, got, again)
		})
	}
	strict := of(t, "a", "BIGINT", "b", "DATE")
	strict[1].Nullable = false
	_, _, err := schema.Merge(strict, of(t, "a", "BIGINT"))
	require.ErrorContains(t, err, "b may not be NULL")
	void := schema.Schema{{Name: "v", Type: schema.Type{Name: schema.Void}, Nullable: true}}
	got, changed, err := schema.Merge(void, of(t, "v", "DATE"))
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, "date", got[0].Type.String())
}

func TestNames(t *testing.T) {
	require.NoError(t, of(t, "a", "DATE", "é-ü.x", "STRUCT(b DATE)").Check(false))
	require.ErrorContains(t, of(t, "a", "DATE", "A", "DATE").Check(true), "twice")
	require.ErrorContains(t, of(t, "a b", "DATE").Check(false), "column mapping")
	require.NoError(t, of(t, "a b", "DATE").Check(true))
	require.ErrorContains(t, of(t, "s", `STRUCT("x;y" DATE)[]`).Check(false), "x;y")
	require.Error(t, schema.Schema{{Name: ""}}.Check(true))
}

func TestMapping(t *testing.T) {
	configuration := map[string]string{schema.MappingMode: "name", schema.MappingMaxID: "7"}
	s := of(t, "a", "DATE", "s", "STRUCT(x STRUCT(y DATE)[], m MAP(VARCHAR, STRUCT(z DATE)))")
	mapped, after, err := schema.AssignMapping(s, configuration)
	require.NoError(t, err)
	require.Equal(t, "13", after[schema.MappingMaxID], "one id for each field at every depth")
	require.Equal(t, "7", configuration[schema.MappingMaxID])
	physical := mapped.Physical(schema.ByName)
	require.NotContains(t, physical.String(), `"name":"y"`)
	require.Equal(t, mapped, mapped.Physical(schema.ByLogicalName))
	again, same, err := schema.AssignMapping(mapped, after)
	require.NoError(t, err)
	require.Equal(t, mapped, again, "ids and names stay")
	require.Equal(t, after, same)
	id, ok := mapped[1].ID()
	require.True(t, ok)
	require.EqualValues(t, 9, id)
	ids := schema.FieldIDs(mapped, []string{"A"}, schema.ByName)
	require.Contains(t, ids, "{__duckdb_field_id: 9, ")
	require.Contains(t, ids, "element: {")
	require.NotContains(t, ids, ": 8", "partition columns are in no file")
	require.Empty(t, schema.FieldIDs(mapped, nil, schema.ByLogicalName))
	text, err := json.Marshal(mapped[1])
	require.NoError(t, err)
	require.Contains(t, string(text), "delta.columnMapping.physicalName")
}

func TestPartitionDir(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		value *string
		want  string
	}{
		{nil, "c=__HIVE_DEFAULT_PARTITION__"}, {text(""), "c=__HIVE_DEFAULT_PARTITION__"},
		{text("a b é"), "c=a b é"}, {text("bar+%21"), "c=bar+%2521"}, {text("a/b:c=d"), "c=a%2Fb%3Ac%3Dd"},
		{text("2021-10-01 08:09:20"), "c=2021-10-01 08%3A09%3A20"}, {text("\x01\x7f\"#'*?\\{[]^"), "c=%01%7F%22%23%27%2A%3F%5C%7B%5B%5D%5E"},
	} {
		require.Equal(t, c.want, schema.PartitionDir([]string{"c"}, map[string]*string{"c": c.value}))
	}
	require.Equal(t, "x%2520x=1/b=2", schema.PartitionDir([]string{"x%20x", "b"}, map[string]*string{"x%20x": text("1"), "b": text("2")}))
	require.Empty(t, schema.PartitionDir(nil, nil))
}

func TestPartitionValue(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		value       *string
		duckdb      string
		zone, want  string
		wantFailure bool
	}{
		{nil, "DATE", "", "CAST(NULL AS DATE)", false},
		{text(""), "VARCHAR", "", "CAST(NULL AS VARCHAR)", false},
		{text("it's"), "VARCHAR", "", "CAST('it''s' AS VARCHAR)", false},
		{text("a\x00b"), "VARCHAR", "", "CAST('a' || chr(0) || 'b' AS VARCHAR)", false},
		{text("2020-01-01 08:09:10.001"), "TIMESTAMPTZ", "", "timezone('UTC', CAST('2020-01-01 08:09:10.001' AS TIMESTAMP))", false},
		{text("2020-01-01 08:09:10"), "TIMESTAMPTZ", "America/Los_Angeles", "timezone('America/Los_Angeles', CAST('2020-01-01 08:09:10' AS TIMESTAMP))", false},
		{text("2020-01-01T08:09:10.001000Z"), "TIMESTAMPTZ", "America/Los_Angeles", "CAST('2020-01-01T08:09:10.001000Z' AS TIMESTAMP WITH TIME ZONE)", false},
		{text("2020-01-01 08:09:10+02"), "TIMESTAMPTZ", "", "CAST('2020-01-01 08:09:10+02' AS TIMESTAMP WITH TIME ZONE)", false},
		{text("\u0000\u00ff"), "BLOB", "", "from_hex('00FF')", false},
		{text("\u0100"), "BLOB", "", "", true},
		{text("1"), "INTEGER[]", "", "", true},
	} {
		parsed, err := schema.ParseDuckDB(c.duckdb)
		require.NoError(t, err)
		got, err := schema.PartitionValue(c.value, parsed, c.zone)
		require.Equal(t, c.wantFailure, err != nil)
		require.Equal(t, c.want, got)
	}
}
