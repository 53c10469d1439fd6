package query_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/stretchr/testify/require"
)

func TestMalformedAndRescued(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "amount", Type: "DECIMAL(10,2)"}})
	defer w.close()
	_, err := w.relation(c, "r", "SELECT id, amount FROM t", false)
	require.NoError(t, err)
	_, err = w.relation(c, "bad", "SELECT decode(raw) AS raw, _position->>'line' AS line FROM t.malformed", false)
	require.NoError(t, err)
	f := w.file("a.json", "{\"id\":1,\"amount\":\"abc\",\"x\":5}\n{\"id\":2,\"amount\":12.34}\n\n{\"id\":3,\"amount\":7}\n{\"id\":\n[1]\n{\"id\":9}\n")
	r, err := w.epoch(f)
	require.NoError(t, err)
	require.Equal(t, int64(4), r.Inputs[0].Rows)
	require.Equal(t, int64(2), r.Inputs[0].Malformed)
	require.Equal(t, int64(1), r.Inputs[0].Rescued)
	require.Equal(t, []string{"1|NULL", "2|12.34", "3|7.00", "9|NULL"}, w.rows("SELECT * FROM r"))
	require.Equal(t, []string{"[1]|6", "{\"id\":|5"}, w.rows("SELECT * FROM bad"))
	w.files[0].Careful = true
	require.Equal(t, []string{"1|NULL", "2|12.34", "3|7.00", "9|NULL"}, w.rows("SELECT * FROM t"), "a source with bad records is read whole")
	require.NotEmpty(t, r.Inputs[0].Sides["malformed"])
	require.NotEmpty(t, r.Inputs[0].Sides["rescued"])
}

func TestDamagedFiles(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}})
	defer w.close()
	_, err := w.relation(c, "r", "SELECT count(*) AS n, sum(id) AS s FROM t", false)
	require.NoError(t, err)
	var z bytes.Buffer
	g := gzip.NewWriter(&z)
	for i := range 20000 {
		fmt.Fprintf(g, "{\"id\":%d}\n", i)
	}
	require.NoError(t, g.Close())
	cut := w.file("cut.json.gz", z.String()[:z.Len()/2])
	array := w.file("array.json", `[{"id":1},{"id":2}]`)
	broken := w.file("broken.json", `[{"id":1},{"id":`)
	pretty := w.file("pretty.json", "{\n  \"id\": 5\n}\n{\n \"id\": 6 }\n")
	r, err := w.epoch(cut, array, broken, pretty)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 2, 0, 2}, r.Inputs[0].FileRows)
	require.Contains(t, r.Inputs[0].FileError[0], "cut off")
	require.Contains(t, r.Inputs[0].FileError[2], "malformed JSON")
	require.Empty(t, r.Inputs[0].FileError[1])
	require.Equal(t, int64(2), r.Inputs[0].Malformed)
	require.Equal(t, []string{"4|14"}, w.rows("SELECT * FROM r"))
}

func TestCSV(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}, {Name: "amount", Type: "DECIMAL(10,2)"}})
	w.scan.Format.Name = "csv"
	w.scan.Metadata = []string{"_file_name", "_row_number"}
	defer w.close()
	_, err := w.relation(c, "r", "SELECT * FROM t", false)
	require.NoError(t, err)
	a := w.file("a.csv", "id,name,amount\n1,\"x, y\",2.50\n2,,3\n")
	b := w.file("b.csv", "amount,ID,extra\n9.99,7,zzz\n")
	r, err := w.epoch(a, b)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, r.Inputs[0].FileRows)
	require.Equal(t, []string{"1|x, y|2.50|a.csv|1", "2|NULL|3.00|a.csv|2", "7|NULL|9.99|b.csv|1"}, w.rows("SELECT * FROM r"))
	bad := w.file("c.csv", "id,name,amount\n1,a\n3,b,1,2\n4,c,abc\n5,d,6\n")
	empty := w.file("empty.csv", "")
	r, err = w.epoch(bad, empty)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 0}, r.Inputs[0].FileRows)
	require.Equal(t, int64(2), r.Inputs[0].Malformed)
	require.Equal(t, int64(1), r.Inputs[0].Rescued)
	require.Contains(t, w.rows("SELECT id, name, amount FROM r"), "4|c|NULL")
}

func TestMalformedFails(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}})
	w.scan.OnMalformed = "fail"
	defer w.close()
	_, err := w.relation(c, "r", "SELECT * FROM t", false)
	require.NoError(t, err)
	_, err = w.epoch(w.file("a.json", "{\"id\":1}\n{nope\n"))
	var data *query.DataError
	require.ErrorAs(t, err, &data)
	require.Contains(t, data.Detail, "a.json:2")
}

func TestParquet(t *testing.T) {
	ctx := context.Background()
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}, {Name: "h", Type: "DOUBLE"}})
	w.scan.Format.Name = "parquet"
	defer w.close()
	_, err := w.relation(c, "r", "SELECT * FROM t WHERE id > 1", false)
	require.NoError(t, err)
	require.NoError(t, w.oracle.Exec(ctx, "COPY (SELECT range AS id, 'n' || range AS name FROM range(5)) TO '"+filepath.Join(w.dir, "a.parquet")+"'"))
	data, err := os.ReadFile(filepath.Join(w.dir, "a.parquet"))
	require.NoError(t, err)
	a := w.file("a.parquet", string(data))
	r, err := w.epoch(a)
	require.NoError(t, err)
	require.Equal(t, int64(5), r.Inputs[0].Rows)
	require.Equal(t, []string{"2|n2|NULL", "3|n3|NULL", "4|n4|NULL"}, w.rows("SELECT * FROM r"))
	torn := w.file("torn.parquet", string(data[:len(data)-8]))
	r, err = w.epoch(torn)
	require.NoError(t, err)
	require.NotEmpty(t, r.Inputs[0].FileError[0])
}

func TestInfer(t *testing.T) {
	w := newWorld(t, nil)
	defer w.close()
	w.file("a.json", `{"id":1,"s":{"a":[1,2]},"when":"2026-01-01 10:00:00","none":null}`+"\n")
	w.scan.InferTypes = true
	got, err := w.engine.Infer(context.Background(), w.scan, w.files)
	require.NoError(t, err)
	require.Equal(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "s", Type: "STRUCT(a BIGINT[])"}, {Name: "when", Type: "TIMESTAMP"}, {Name: "none", Type: "JSON"}}, got)
	_, err = w.engine.Infer(context.Background(), w.scan, nil)
	var bad *query.Error
	require.ErrorAs(t, err, &bad)
}

// A value that nobody reads is not looked at in an epoch; whoever asks for it later gets the row without it.
func TestQueryOfAValueThatNoViewReads(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "amount", Type: "DECIMAL(10,2)"}})
	defer w.close()
	_, err := w.relation(c, "r", "SELECT count(id) AS n FROM t", false)
	require.NoError(t, err)
	_, err = w.epoch(w.file("a.json", "{\"id\":1,\"amount\":\"abc\"}\n{\"id\":2,\"amount\":5}\n"))
	require.NoError(t, err)
	require.Equal(t, []string{"2"}, w.rows("SELECT n FROM r"))
	require.Equal(t, []string{"1|NULL", "2|5.00"}, w.rows("SELECT id, amount FROM t"))
}

// One record that DuckDB's reader does not take leaves the rest of its file as it is.
func TestHalfACharacterIsOneRecord(t *testing.T) {
	w := newWorldBeside(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "v", Type: "VARCHAR"}}, nil)
	defer w.close()
	_, err := w.relation(newCompiler(t), "r", "SELECT * FROM t", false)
	require.NoError(t, err)
	_, err = w.relation(newCompiler(t), "bad", "SELECT decode(raw) AS raw, _position->>'line' AS line, _position->>'row' AS row FROM t.malformed", false)
	require.NoError(t, err)
	r, err := w.epoch(w.file("a.json", `{"id":1,"v":"\ud800"}
{"id":2,"v":"\ud83d\ude00"}
{"id":3,"v":"\\ud800"}
{"id":4,"v":"\udc00\ud800"}
{"id":5,"v":"\ud800 \udc00"}
{"id":6,"v":"\u00e9\n"}
`), w.file("b.json", `[{"id":7,"v":"\ud800"},
{"id":8}]`))
	require.NoError(t, err)
	require.Equal(t, []int64{3, 1}, r.Inputs[0].FileRows)
	require.Equal(t, []string{"", ""}, r.Inputs[0].FileError)
	require.Equal(t, []string{"2|😀", `3|\ud800`, "6|é\n", "8|NULL"}, w.rows("SELECT * FROM r"))
	require.Equal(t, []string{`{"id":1,"v":"\ud800"}|1|NULL`, `{"id":4,"v":"\udc00\ud800"}|4|NULL`, `{"id":5,"v":"\ud800 \udc00"}|5|NULL`, `{"id":7,"v":"\ud800"}|NULL|1`}, w.rows("SELECT * FROM bad"))
}

// A CSV file whose header names no column of the source is another kind of file, not one full of empty rows.
func TestHeaderThatNamesNoColumn(t *testing.T) {
	w := newWorldBeside(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "v", Type: "VARCHAR"}}, nil)
	defer w.close()
	w.scan.Format.Name = "csv"
	_, err := w.relation(newCompiler(t), "r", "SELECT id FROM t", false)
	require.NoError(t, err)
	r, err := w.epoch(w.file("a.csv", "id,v\n1,a\n"), w.file("b.csv", "id;v\n2;b\n"), w.file("c.csv", "3,c\n4,d\n"), w.file("d.csv", "v\ne\n"), w.file("e.csv", ""))
	require.NoError(t, err)
	require.Equal(t, []int64{1, 0, 0, 1, 0}, r.Inputs[0].FileRows)
	require.Equal(t, int64(2), r.Inputs[0].Malformed)
	require.Contains(t, r.Inputs[0].FileError[1], "its header names none of the source's columns: id;v. ")
	require.Contains(t, r.Inputs[0].FileError[2], `format_options = { header = "false" }`)
	require.Equal(t, []string{"1", "NULL"}, w.rows("SELECT * FROM r"))
}

// Where a sample does not tell the columns, it is said which record or name it is.
func TestWhyColumnsCannotBeInferred(t *testing.T) {
	for _, c := range []struct{ format, name, content, want string }{
		{"json", "a.json", "{\"id\":1}\n[1,2]\n", "a.json:2 is not a JSON object: [1,2]. Declare columns"},
		{"json", "a.json", "", "The files hold no records"},
		{"json", "a.json", "\n", "The files hold no JSON objects"},
		{"json", "a.json", "{\"id\":1,\"ID\":2}\n", `a column "ID" twice`},
		{"csv", "a.csv", "id,v,Id\n1,2,3\n", `a column "Id" twice`},
		{"csv", "a.csv", "id,,v\n1,2,3\n", "has no name in the header"},
		{"json", "a.json", "{\"a\\u0000b\":1}\n", "holds a NUL character"},
		{"csv", "a.csv", "", "nor a header"},
		{"csv", "a.csv", "\xff\xfei\x00d\x00,\x00v\x00\n\x001\x00,\x002\x00\n\x00", "UTF-16"},
	} {
		w := newWorldBeside(t, nil, nil)
		w.scan = batch.Scan{Format: batch.Format{Name: c.format}, InferTypes: true}
		_, err := w.engine.Infer(context.Background(), w.scan, []batch.File{w.file(c.name, c.content)})
		require.ErrorContains(t, err, c.want, c.content)
		w.close()
	}
}

// Columns whose names only look as if they were made up are what they are.
func TestInferredNamesWithNumbers(t *testing.T) {
	for format, content := range map[string]string{"json": "{\"id\":1,\"ID_1\":2,\"id_2\":null}\n", "csv": "id,ID_1,id_2\n1,2,\n"} {
		w := newWorldBeside(t, nil, nil)
		w.scan = batch.Scan{Format: batch.Format{Name: format}, InferTypes: true}
		got, err := w.engine.Infer(context.Background(), w.scan, []batch.File{w.file("a."+format, content), w.file("b."+format, "")})
		require.NoError(t, err)
		require.Len(t, got, 3, format)
		w.close()
	}
}

// Names of members are compared without case, as those of columns in CSV and Parquet files are.
func TestMembersInAnotherCase(t *testing.T) {
	w := newWorldBeside(t, batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seenAt", Type: "TIMESTAMP"}}, nil)
	defer w.close()
	_, err := w.relation(newCompiler(t), "r", "SELECT * FROM t", false)
	require.NoError(t, err)
	exact := w.file("a.json", "{\"id\":1,\"seenAt\":\"2024-01-01\"}\n")
	other := w.file("b.json", "{\"ID\":2,\"SEENAT\":\"2024-01-02\",\"x\":{\"id\":9}}\n{\"ID\":3}\n")
	array := w.file("c.json", "[{\"Id\":4,\"seenat\":\"2024-01-04\"}]")
	both := w.file("d.json", "{\"ID\":0,\"id\":5}\n")
	broken := w.file("e.json", "{\"ID\":6,\"SEENAT\":\"2024-01-06\"}\nbroken\n{\"ID\":7,\"SEENAT\":\"never\"}\n")
	_, err = w.epoch(exact, other)
	require.NoError(t, err)
	_, err = w.epoch(array, both)
	require.NoError(t, err)
	r, err := w.epoch(broken)
	require.NoError(t, err)
	require.Equal(t, int64(1), r.Inputs[0].Rescued)
	want := []string{"1|2024-01-01 00:00:00", "2|2024-01-02 00:00:00", "3|NULL", "4|2024-01-04 00:00:00", "5|NULL", "6|2024-01-06 00:00:00", "7|NULL"}
	require.Equal(t, want, w.rows("SELECT * FROM r"))
	w.files[4].Careful = true
	require.Equal(t, want, w.rows("SELECT * FROM t"))
}
