package query_test

import (
	"context"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/stretchr/testify/require"
)

// rescuing reads one file of a source that keeps what it has no column for, and returns its rows and what was rescued.
func rescuing(t *testing.T, format string, columns batch.Schema, write func(w *world) batch.File) (rows, rescued []string) {
	t.Helper()
	c := newCompiler(t)
	w := newWorld(t, columns)
	defer w.close()
	w.scan.Format.Name, w.scan.Unknown = format, "rescue"
	known := []query.Relation{{Name: "t", Columns: query.Columns(w.scan), AppendOnly: true, Identity: "t"},
		{Name: "t.rescued", Columns: query.SideColumns("rescued"), AppendOnly: true, Identity: "tr"}}
	for name, sql := range map[string]string{"a": "SELECT * FROM t", "r": "SELECT CAST(data AS VARCHAR) AS data, _reason FROM t.rescued"} {
		p, err := c.Compile(context.Background(), query.Query{SQL: sql, Relations: known})
		require.NoError(t, err)
		w.steps = append(w.steps, query.Step{Relation: name, Program: p, Memory: w.memory(name)})
	}
	f := write(w)
	r, err := w.epoch(f)
	require.NoError(t, err)
	rows, rescued = w.rows("SELECT * FROM a"), w.rows("SELECT * FROM r")
	require.Equal(t, int64(len(rescued)), r.Inputs[0].Rescued)
	f.Careful = r.Inputs[0].Rescued > 0
	w.files[0] = f
	require.Equal(t, rows, w.rows("SELECT * FROM t"), "read again")
	return rows, rescued
}

func holding(name, content string) func(w *world) batch.File {
	return func(w *world) batch.File { return w.file(name, content) }
}

const (
	misfit   = "value does not fit its column"
	noColumn = "the source has no such column"
)

func TestUnknownMembersAreRescued(t *testing.T) {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "s", Type: "STRUCT(a INTEGER, b STRUCT(c INTEGER)[])"}, {Name: "m", Type: "MAP(VARCHAR, INTEGER)"}}
	for _, c := range []struct{ content, rows, rescued string }{
		{"{\"id\":1,\"s\":{\"a\":1,\"b\":[{\"c\":1}]}}\n{\"id\":2,\"x\":null}\n", "1|{'a': 1, 'b': [{'c': 1}]}|NULL 2|NULL|NULL", ""},
		{"{\"id\":3,\"x\":\"a, } b\",\"y\":{\"n\":null,\"m\":[1,{}]}}\n{\"id\":4}\n", "3|NULL|NULL 4|NULL|NULL", `{"x":"a, } b","y":{"n":null,"m":[1,{}]}}|` + noColumn},
		{"{\"id\":\"no\",\"x\":5}\n", "NULL|NULL|NULL", `{"x":5,"id":"no"}|` + misfit},
		{"{\"id\":5,\"ID\":6}\n", "5|NULL|NULL", `{"ID":6}|` + noColumn},
		{"{\"id\":7,\"s\":{\"a\":1,\"z\":{\"q\":1}}}\n", "7|{'a': 1, 'b': NULL}|NULL", `{"s":{"z":{"q":1}}}|` + noColumn},
		{"{\"id\":8,\"s\":{\"b\":[{\"c\":1},{\"c\":2,\"d\":3}]}}\n", "8|{'a': NULL, 'b': [{'c': 1}, {'c': 2}]}|NULL", `{"s":{"b":[{"c":1},{"c":2,"d":3}]}}|` + noColumn},
		{"[{\"id\":9,\n\"x\":1},\n{\"id\":10}]", "10|NULL|NULL 9|NULL|NULL", `{"x":1}|` + noColumn},
		{"{\"id\":11,\"\\u0078\":1,\"\\u006d\":{\"k\":2}}\n", "11|NULL|{k=2}", `{"x":1}|` + noColumn},
		{"{\"id\":12,\"s\":{\"a\":\"no\"},\"m\":{\"k\":1,\"l\":\"no\"}}\n", "12|{'a': NULL, 'b': NULL}|{k=1, l=NULL}", `{"s":{"a":"no"},"m":{"k":1,"l":"no"}}|` + misfit},
		{"{\"id\":13,\"s\":{\"b\":[{\"c\":1},{\"c\":\"no\"}]}}\n", "13|{'a': NULL, 'b': [{'c': 1}, {'c': NULL}]}|NULL", `{"s":{"b":[{"c":1},{"c":"no"}]}}|` + misfit},
	} {
		rows, rescued := rescuing(t, "json", columns, holding("f.json", c.content))
		require.Equal(t, c.rows, strings.Join(rows, " "), c.content)
		require.Equal(t, c.rescued, strings.Join(rescued, " "), c.content)
	}
}

func TestUnknownColumnsAreRescued(t *testing.T) {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}}
	rows, rescued := rescuing(t, "csv", columns, holding("f.csv", "id,extra,NAME,name\n1,x,a,b\n2,,c,\nno,,d,\n"))
	require.Equal(t, []string{"1|a", "2|c", "NULL|d"}, rows)
	require.Equal(t, []string{`{"extra":"x","name":"b"}|` + noColumn, `{"id":"no"}|` + misfit}, rescued)
	rows, rescued = rescuing(t, "csv", columns, holding("f.csv", "id,name,extra\n1,a,\n"))
	require.Equal(t, []string{"1|a"}, rows)
	require.Empty(t, rescued)

	parquet := func(sql string) func(w *world) batch.File {
		return func(w *world) batch.File {
			f := w.file("f.parquet", "")
			require.NoError(t, w.oracle.Exec(context.Background(), "COPY ("+sql+") TO '"+f.Path+"' (FORMAT parquet)"))
			return f
		}
	}
	columns[1] = batch.Column{Name: "s", Type: "STRUCT(a INTEGER)"}
	rows, rescued = rescuing(t, "parquet", columns, parquet("SELECT 1 AS id, {'a': 1, 'z': 2} AS s, DATE '2024-05-01' AS d UNION ALL SELECT 2, {'a': 3, 'z': NULL}, NULL"))
	require.Equal(t, []string{"1|{'a': 1}", "2|{'a': 3}"}, rows)
	require.Equal(t, []string{`{"s":{"a":1,"z":2},"d":"2024-05-01"}|` + noColumn}, rescued)
}

func TestUnknownColumnsStopASourceThatFails(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}})
	defer w.close()
	w.scan.Unknown = "fail"
	_, err := w.relation(c, "r", "SELECT * FROM t", false)
	require.NoError(t, err)
	_, err = w.epoch(w.file("a.json", "{\"id\":1,\"x\":null}\n"))
	require.NoError(t, err, "null is no value")
	_, err = w.epoch(w.file("b.json", "{\"id\":1}\n{\"id\":2,\"x\":5}\n"))
	var data *query.DataError
	require.ErrorAs(t, err, &data)
	require.Equal(t, "Columns that the source does not have", data.Summary)
	require.Contains(t, data.Detail, "b.json:2: {\"x\":5}")
}
