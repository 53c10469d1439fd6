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
