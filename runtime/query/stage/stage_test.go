package stage_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/stage"
	"github.com/streamform/streamform/runtime/query/table"
)

func newSet(t *testing.T) *table.Set {
	c, err := duck.Open(t.Context(), "SET threads = 1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return table.NewSet(c)
}

var zstd = batch.Format{Name: "parquet", Options: map[string]string{"compression": "zstd"}}

// TestFewRowsAreWrittenAlike: what is written past DuckDB is read as what DuckDB writes, and has its statistics.
func TestFewRowsAreWrittenAlike(t *testing.T) {
	s, dir := newSet(t), t.TempDir()
	for i, rows := range []string{
		"SELECT 1::BIGINT AS a, -2::INTEGER AS b, 3::SMALLINT AS c, (-128)::TINYINT AS d",
		"SELECT * FROM (VALUES (NULL, NULL), (true, 'x'), (false, ''), (true, 'é \"q\"')) v(a, b)",
		"SELECT NULL::BIGINT AS a, NULL::VARCHAR AS b, NULL::DATE AS c, NULL::DOUBLE AS d",
		"SELECT * FROM (VALUES (1.5::DOUBLE, 0.1::FLOAT), (-0.0, -1e-30), (1e300, 16777216), (0, NULL)) v(a, b)",
		"SELECT * FROM (VALUES ('nan'::DOUBLE, 2::FLOAT), (1, 'nan'))  v(a, b)",
		"SELECT * FROM (VALUES ('inf'::DOUBLE), ('-inf'), (2)) v(a)",
		"SELECT * FROM (VALUES (DATE '2024-02-29', TIMESTAMP '2024-02-29 01:02:03.000004', TIMESTAMPTZ '1969-12-31 23:59:59.5+00'), (DATE '1200-01-01', TIMESTAMP '1900-01-01', NULL)) v(a, b, c)",
		"SELECT * FROM (VALUES ((-0.05)::DECIMAL(4,2), 12345678.901::DECIMAL(18,3), 99999999999999999999999999999.123456789::DECIMAL(38,9)), (1.10, -7, -0.000000001), (NULL, 0, 5)) v(a, b, c)",
		"SELECT 'a b' AS \"x \"\"y\"\"\", range AS \"sf.n\" FROM range(3000)",
		"SELECT 1 AS a WHERE false",
	} {
		read := [2][][]*string{}
		wrote := [2]stage.Written{}
		for way, small := range []bool{true, false} {
			require.NoError(t, s.Begin(t.Context(), small, false))
			path := filepath.Join(dir, fmt.Sprintf("%d-%d.parquet", i, way))
			var err error
			wrote[way], err = stage.New(s).Copy(t.Context(), rows, path, zstd)
			require.NoError(t, err, rows)
			read[way], err = s.Conn.Text(t.Context(), "SELECT COLUMNS(*)::VARCHAR FROM (SELECT *, (SELECT list(column_type) FROM (DESCRIBE FROM '"+path+"'))::VARCHAR AS types FROM '"+path+"')")
			require.NoError(t, err, rows)
			require.NoError(t, s.Clear(t.Context()))
		}
		require.Equal(t, read[1], read[0], rows)
		require.Equal(t, wrote[1].Rows, wrote[0].Rows)
		require.Positive(t, wrote[0].Bytes)
		creator, err := s.Conn.Value(t.Context(), fmt.Sprintf("SELECT created_by FROM parquet_file_metadata('%s')", wrote[0].Path))
		require.NoError(t, err)
		require.Equal(t, "streamform", creator, "DuckDB was not asked")
		for name, want := range wrote[1].Columns {
			got := wrote[0].Columns[name]
			require.Equal(t, want["null_count"], got["null_count"], "%s: %s", rows, name)
			require.Equal(t, want["has_nan"] == "true", got["has_nan"] == "true", "%s: %s", rows, name)
			for _, bound := range []string{"min", "max"} {
				if text, ok := got[bound]; ok {
					same, err := s.Conn.Value(t.Context(), fmt.Sprintf("SELECT ('%s' = '%s' OR TRY_CAST('%[1]s' AS DOUBLE) = TRY_CAST('%[2]s' AS DOUBLE))::VARCHAR", text, want[bound]))
					require.NoError(t, err)
					require.Equal(t, "true", same, "%s: %s of %s is %s, not %s", rows, bound, name, text, want[bound])
				}
			}
		}
	}
}

// TestOtherRowsAreDuckDBs: many rows, types without an equal and other formats.
func TestOtherRowsAreDuckDBs(t *testing.T) {
	s, dir := newSet(t), t.TempDir()
	for i, c := range []struct {
		rows   string
		format batch.Format
	}{
		{"SELECT range AS a FROM range(5000)", zstd},
		{"SELECT [1, 2] AS a", zstd},
		{"SELECT uuid() AS a", zstd},
		{"SELECT 1 AS a", batch.Format{Name: "parquet", Options: map[string]string{"compression": "snappy"}}},
		{"SELECT 1 AS a", batch.Format{Name: "csv"}},
	} {
		require.NoError(t, s.Begin(t.Context(), true, false))
		path := filepath.Join(dir, fmt.Sprintf("%d.%s", i, c.format.Name))
		w, err := stage.New(s).Copy(t.Context(), c.rows, path, c.format)
		require.NoError(t, err)
		require.Positive(t, w.Rows)
		if c.format.Name == "parquet" {
			creator, err := s.Conn.Value(t.Context(), fmt.Sprintf("SELECT created_by FROM parquet_file_metadata('%s')", path))
			require.NoError(t, err)
			require.Contains(t, creator, "DuckDB")
		}
		require.NoError(t, s.Clear(t.Context()))
	}
}

// TestPlansOfFilesAreNotKept: a file that is written anew under its name is read anew.
func TestPlansOfFilesAreNotKept(t *testing.T) {
	s, path := newSet(t), filepath.Join(t.TempDir(), "a.parquet")
	for i := range 5 {
		require.NoError(t, s.Begin(t.Context(), true, false))
		st := stage.New(s)
		_, err := st.Copy(t.Context(), fmt.Sprintf("SELECT %d AS a, 'é' AS b, NULL AS c FROM range(%d)", i, i+1), path, zstd)
		require.NoError(t, err)
		held, err := st.Hold(t.Context(), "SELECT * FROM read_parquet('"+path+"')")
		require.NoError(t, err)
		for range 2 {
			rows, err := st.Query(t.Context(), "SELECT *, (SELECT count(*) FROM "+held+") AS n FROM "+held+" LIMIT 1")
			require.NoError(t, err)
			require.Len(t, rows, 1)
			require.Equal(t, fmt.Sprint(i), *rows[0][0])
			require.Equal(t, "é", *rows[0][1])
			require.Nil(t, rows[0][2])
			require.Equal(t, fmt.Sprint(i+1), *rows[0][3])
		}
		require.EqualValues(t, i+1, st.Copied())
		require.NoError(t, s.Clear(t.Context()))
	}
}

// TestSmallFilesAreReadAlike: files of both writers are read past DuckDB, with the rows and places that it gives.
func TestSmallFilesAreReadAlike(t *testing.T) {
	s, dir := newSet(t), t.TempDir()
	for i, c := range []struct{ columns, rows string }{
		{"a BIGINT, b INTEGER, c SMALLINT, d TINYINT", "(1, -2, 3, -128), (NULL, NULL, NULL, NULL)"},
		{"a BOOLEAN, b VARCHAR", "(NULL, NULL), (true, 'x'), (false, ''), (true, 'é')"},
		{"a DOUBLE, b FLOAT", "(1.5, 0.1), ('-0.0', 'nan'), ('inf', NULL)"},
		{"a DATE, b TIMESTAMP, c TIMESTAMP WITH TIME ZONE", "('2024-02-29', '2024-02-29 01:02:03.000004', '1969-12-31 23:59:59.5+00'), ('1200-01-01', NULL, NULL)"},
		{"a DECIMAL(4,2), b DECIMAL(18,3), c DECIMAL(38,9)", "(-0.05, 12345678.901, 99999999999999999999999999999.123456789), (NULL, -7, 0)"},
	} {
		var paths []string
		var columns batch.Schema
		require.NoError(t, s.Begin(t.Context(), false, false))
		require.NoError(t, s.Conn.Exec(t.Context(), fmt.Sprintf("CREATE TABLE held%d (%s); INSERT INTO held%[1]d VALUES %[3]s", i, c.columns, c.rows)))
		described, err := s.Conn.Text(t.Context(), fmt.Sprintf("SELECT column_name, column_type FROM (DESCRIBE held%d)", i))
		require.NoError(t, err)
		for _, d := range described {
			columns = append(columns, batch.Column{Name: *d[0], Type: *d[1]})
		}
		columns = append(columns, batch.Column{Name: "file", Type: "VARCHAR"}, batch.Column{Name: "row", Type: "BIGINT"})
		for way, small := range []bool{true, false} {
			s.Small = small
			paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d-%d.parquet", i, way)))
			_, err := stage.New(s).Copy(t.Context(), fmt.Sprintf("FROM held%d", i), paths[way], zstd)
			require.NoError(t, err)
		}
		scan := fmt.Sprintf("SELECT * EXCLUDE filename, filename AS file, file_row_number AS row FROM read_parquet(['%s', '%s'], filename = true, file_row_number = true)", paths[0], paths[1])
		scan = strings.Replace(scan, "EXCLUDE filename", "EXCLUDE (filename, file_row_number)", 1)
		s.Small = true
		held, err := stage.New(s).HoldFiles(t.Context(), "SELECT * FROM nowhere", paths, columns)
		require.NoError(t, err)
		got, err := s.Conn.Text(t.Context(), "SELECT CAST(COLUMNS(*) AS VARCHAR), typeof(COLUMNS(*)) FROM "+held)
		require.NoError(t, err)
		want, err := s.Conn.Text(t.Context(), "SELECT CAST(COLUMNS(*) AS VARCHAR), typeof(COLUMNS(*)) FROM ("+scan+")")
		require.NoError(t, err)
		require.Equal(t, want, got)
		columns[0].Type = "UUID"
		_, err = stage.New(s).HoldFiles(t.Context(), "SELECT * FROM nowhere", paths, columns)
		require.ErrorContains(t, err, "nowhere", "another type than the file has is DuckDB's to read")
		s.Doubt()
		require.NoError(t, s.Clear(t.Context()))
	}
}
