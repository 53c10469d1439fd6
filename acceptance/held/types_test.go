package held_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2" // writes files
	"github.com/stretchr/testify/require"

	"github.com/zclconf/go-cty/cty"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// everything has a column of each type that a Parquet file may have, with values at the ends of what it holds, and rows of NULL.
const everything = `SELECT * FROM (
	SELECT * EXCLUDE (bignum, bit, "union", fixed_int_array, fixed_varchar_array, fixed_nested_int_array, fixed_nested_varchar_array, fixed_struct_array, struct_of_fixed_array, fixed_array_of_int_list, list_of_fixed_int_array, time_tz, geometry, timestamp_s, timestamp_array, timestamptz_array, date_array),
		(i::DECIMAL(38,10)) AS decimal_38, [i, NULL, i + 1] AS list_of_int, {'a': i, 'b': {'c': ['x', NULL]}} AS nested, MAP {'k': i, 'l': NULL} AS counted,
		CASE i WHEN 0 THEN -0.0::DOUBLE WHEN 1 THEN 'NaN'::DOUBLE WHEN 2 THEN '-inf'::DOUBLE END AS odd,
		'\x00\xFF\x80'::BLOB AS bytes, '{"a": [1, 2.50]}'::JSON AS doc, '' AS empty, repeat('é', i::INTEGER * 100000) AS long
	FROM (SELECT *, row_number() OVER () - 1 AS i FROM test_all_types()))`

func duck(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
}

// comparing puts two sources on the same folder, of which one keeps its rows.
func comparing(w *World, more Attributes) {
	for name, keep := range map[string]string{"kept": "all", "read": "none"} {
		attrs := Attributes{"path": Text("landing"), "keep": Text(keep)}
		for n, v := range more {
			attrs[n] = v
		}
		w.Put("source.files."+name, 1, attrs)
	}
}

func TestRowsOfEveryType(t *testing.T) {
	w := NewWorld(t)
	duck(t, "COPY ("+everything+") TO '"+w.Path("landing", "a.parquet")+"' (FORMAT parquet)")
	comparing(w, Attributes{"format": Text("parquet"), "metadata": cty.ListVal([]cty.Value{Text("_file_path"), Text("_file_name"), Text("_file_size"), Text("_file_modified_at"), Text("_row_number")})})
	w.Put("view.n", 1, Attributes{"sql": Text("SELECT count(*) AS n FROM kept, read WHERE kept._row_number = read._row_number")})
	w.Backfill()
	duck(t, "COPY ("+everything+" UNION ALL "+everything+") TO '"+w.Path("landing", "b.parquet")+"' (FORMAT parquet)")
	w.Once()
	read := w.Query("FROM read")
	require.Len(t, read, 9)
	require.NoError(t, os.RemoveAll(w.Path("landing")))
	require.NoError(t, os.MkdirAll(w.Path("landing"), 0o755))
	require.Equal(t, read, w.Query("FROM kept"))
	w.Put("view.copy", 1, Attributes{"sql": Text("SELECT * FROM kept")})
	w.Put("sink.delta.copy", 1, Attributes{"from": Text("view.copy"), "path": Text(filepath.Join("lake", "copy"))})
	w.Backfill()
	require.Equal(t, read, w.Query("FROM copy"))
}

// A part has as many blocks as its rows take: many small ones, or few that are large.
func TestManyAndLargeRows(t *testing.T) {
	w := NewWorld(t)
	const large = "SELECT i AS id, repeat(chr(97 + i::INTEGER % 26), CASE WHEN i % 50000 = 7 THEN 9000000 ELSE 3 END) AS text, md5(i::VARCHAR) AS hash FROM range(%s) t(i)"
	duck(t, "COPY ("+strings.ReplaceAll(large, "%s", "200000")+") TO '"+w.Path("landing", "a.parquet")+"' (FORMAT parquet)",
		"COPY ("+strings.ReplaceAll(large, "%s", "200000, 200010")+") TO '"+w.Path("landing", "b.parquet")+"' (FORMAT parquet)")
	comparing(w, Attributes{"format": Text("parquet"), "max_files_per_epoch": cty.NumberIntVal(1)})
	w.Backfill()
	const sums = "SELECT count(*), sum(id), sum(length(text)), bit_xor(hash(id, text, hash)) FROM "
	read := w.Query(sums + "read")
	require.NoError(t, os.RemoveAll(w.Path("landing")))
	require.NoError(t, os.MkdirAll(w.Path("landing"), 0o755))
	require.Equal(t, read, w.Query(sums+"kept"))
	w.Put("view.sums", 1, Attributes{"sql": Text("SELECT count(*) AS n, sum(id) AS ids, sum(length(text)) AS long, max(hash) AS most FROM kept")})
	w.Backfill()
	require.Equal(t, w.Query("SELECT count(*) AS n, sum(id) AS ids, sum(length(text)) AS long, max(hash) AS most FROM kept"), w.Query("FROM sums"))
}
