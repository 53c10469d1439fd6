package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// foreignTables is where tables of other writers lie, from the project's root.
const foreignTables = "../shared/conformance/delta"

func foreignRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join(root, foreignTables))
	require.NoError(t, err)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no conformance tables at %s (from the project's root)", foreignTables)
	}
	return dir
}

// utc is a DuckDB of its own, in UTC.
func utc(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	duckRun(t, db, "SET TimeZone = 'UTC'")
	return db
}

func duckRun(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.Exec(statement)
	require.NoError(t, err, statement)
}

// duckText is the result of a statement: values cast to text, columns by tabs, rows by newlines.
func duckText(t *testing.T, db *sql.DB, statement string) string {
	t.Helper()
	rows, err := db.Query("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + statement + ")")
	require.NoError(t, err, statement)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	var out []string
	for rows.Next() {
		values, targets := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		require.NoError(t, rows.Scan(targets...))
		line := make([]string, len(values))
		for i, v := range values {
			line[i] = v.String
			if !v.Valid {
				line[i] = "NULL"
			}
		}
		out = append(out, strings.Join(line, "\t"))
	}
	require.NoError(t, rows.Err())
	return strings.Join(out, "\n")
}

// requireEqualRows compares two SELECTs as multisets of rows. Values are compared as they are: NaN equals NaN, NULL NULL.
func requireEqualRows(t *testing.T, db *sql.DB, want, got string) {
	t.Helper()
	require.Equal(t, duckText(t, db, "SELECT column_name, column_type FROM (DESCRIBE "+want+")"), duckText(t, db, "SELECT column_name, column_type FROM (DESCRIBE "+got+")"))
	duckRun(t, db, "CREATE OR REPLACE TEMP TABLE wanted AS "+want)
	duckRun(t, db, "CREATE OR REPLACE TEMP TABLE got AS "+got)
	require.Empty(t, duckText(t, db, "FROM wanted EXCEPT ALL FROM got"), "missing rows")
	require.Empty(t, duckText(t, db, "FROM got EXCEPT ALL FROM wanted"), "rows too many")
}

func loadTable(t *testing.T, store logstore.Store) (*delta.Table, *delta.Snapshot) {
	t.Helper()
	table, err := delta.OpenTable(store)
	require.NoError(t, err)
	s, err := table.Load(context.Background())
	require.NoError(t, err)
	require.NotNil(t, s)
	return table, s
}

func scanOf(t *testing.T, dir string, o delta.ScanOptions) string {
	t.Helper()
	table, s := loadTable(t, logstore.NewLocal(dir))
	statement, err := table.ScanSQL(context.Background(), s, o)
	require.NoError(t, err)
	return statement
}

// TestDeltaGoldenRows reads every golden table and compares its rows with those its writer, Apache Spark, reads.
func TestDeltaGoldenRows(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(foreignRoot(t), "golden_data", "*", "expected"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(dirs), 68)
	for _, expected := range dirs {
		table := filepath.Dir(expected)
		t.Run(filepath.Base(table), func(t *testing.T) {
			options := delta.ScanOptions{}
			if filepath.Base(table) == "data-reader-partition-values" {
				options.PartitionZone = "America/Los_Angeles"
			}
			dir := filepath.Join(table, "delta")
			_, s := loadTable(t, logstore.NewLocal(dir))
			requireEqualRows(t, utc(t), expectedRows(s.Schema, expected), scanOf(t, dir, options))
		})
	}
}

// expectedRows reads what Spark saw, in the table's types: naive timestamps of INT96 are UTC there.
func expectedRows(s schema.Schema, dir string) string {
	var columns []string
	for _, f := range s {
		columns = append(columns, schema.Literal(f.Name)+": {name: "+schema.Literal(f.Name)+", type: "+schema.Literal(f.Type.DuckDB())+", default_value: NULL}")
	}
	return "FROM read_parquet(" + schema.Literal(dir+"/*.parquet") + ", hive_partitioning = false, schema = MAP {" + strings.Join(columns, ", ") + "})"
}

// TestDeltaKnownRows reads tables whose content their description states.
func TestDeltaKnownRows(t *testing.T) {
	dir := filepath.Join(foreignRoot(t), "data")
	for _, c := range []struct{ table, query, want string }{
		{"app-txn-no-checkpoint", "SELECT modified, min(value), max(value) FROM t GROUP BY 1 ORDER BY 1", "2021-02-01\t4\t11\n2021-02-02\t1\t3"},
		{"app-txn-checkpoint", "SELECT modified, min(value), max(value) FROM t GROUP BY 1 ORDER BY 1", "2021-02-01\t4\t11\n2021-02-02\t1\t3"},
		{"basic_partitioned", "SELECT letter FROM t ORDER BY 1", "a\na\nb\nc\ne\nNULL"},
		{"mixed-nulls", "SELECT count(*) > count(n) AND count(n) > 0 FROM t", "true"},
		{"parsed-stats", "SELECT count(*), min(id), max(id) FROM t", "600\t1\t600"},
		{"parquet_row_group_skipping", "SELECT count(*), count(missing) FROM t", "5\t0"},
		{"timestamp-truncation-stats", "SELECT list(id ORDER BY id) FROM t", "[1, 2, 3, 4, 5, 6]"},
		{"void-column", "SELECT id, void_col FROM t ORDER BY 1", "1\tNULL\n2\tNULL\n3\tNULL"},
		{"with-short-dv", "SELECT list(id ORDER BY id) FROM t", "[3, 4, 5, 6, 7, 8, 9]"},
		{"table-with-dv-small", "SELECT list(value ORDER BY value) FROM t", "[1, 2, 3, 4, 5, 6, 7, 8]"},
		{"table-without-dv-small", "SELECT count(*) FROM t", "10"},
		{"timestamp-partitioned-table", "FROM t", "1\t0.5\t\t1971-07-22 03:06:40+00"},
		{"external-table-different-nullability", "SELECT count(*), count(i), count(j), count(k) FROM t", "7\t7\t4\t2"},
		{"compacted-log-files-table", "SELECT id, coalesce(nullif(comment, ''), '-') FROM t ORDER BY 1", "0\tnew\n1\tafter-large-delete\n2\t-\n10\tmerge1-insert\n12\tmerge2-insert"},
		{"v1-multi-part-partitioned-struct-stats-only", "SELECT id, value, part FROM t WHERE part = 0", "3\tvalue_3\t0"},
		{"v2-checkpoints-json-with-sidecars", "SELECT count(*), min(id), max(id) FROM t", "1233\t0\t999"},
		{"v2-checkpoints-parquet-with-sidecars", "SELECT count(*), min(id), max(id) FROM t", "1233\t0\t999"},
		{"v2-checkpoints-json-without-sidecars", "SELECT list(id ORDER BY id) FROM t", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2718]"},
		{"v2-checkpoints-parquet-without-sidecars", "SELECT list(id ORDER BY id) FROM t", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 2718]"},
		{"v2-checkpoints-json-with-last-checkpoint", "SELECT list(id ORDER BY id) FROM t", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"},
		{"v2-checkpoints-parquet-with-last-checkpoint", "SELECT list(id ORDER BY id) FROM t", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"},
		{"v2-classic-checkpoint-json", "SELECT count(*), min(id), max(id) FROM t", "20\t0\t19"},
		{"v2-classic-checkpoint-parquet", "SELECT count(*), min(id), max(id) FROM t", "20\t0\t19"},
		{"cdf-table-with-dv", "SELECT list(value ORDER BY value) FROM t", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"},
		{"type-widening", "SELECT byte_long, int_long, float_double, date_timestamp_ntz, decimal_decimal_greater_scale, byte_decimal FROM t ORDER BY 1 LIMIT 1", "1\t2\t3.4000000953674316\t2024-09-09 00:00:00\t67.89000\t1.0"},
		{"type-widening", "SELECT long_decimal, date_timestamp_ntz FROM t ORDER BY byte_long DESC LIMIT 1", "123456789012345678.9\t2024-09-09 12:34:56.123456"},
	} {
		t.Run(c.table, func(t *testing.T) {
			got := duckText(t, utc(t), "WITH t AS ("+scanOf(t, filepath.Join(dir, c.table), delta.ScanOptions{})+") "+c.query)
			require.Equal(t, c.want, got)
		})
	}
}

// without is a copy of a table's log that lacks some files; data files are read where they are.
type without struct {
	*logstore.Local
	hidden func(name string) bool
}

func (w without) Get(ctx context.Context, key string) ([]byte, error) {
	if w.hidden(filepath.Base(key)) {
		return nil, fs.ErrNotExist
	}
	return w.Local.Get(ctx, key)
}

func (w without) List(ctx context.Context, dir, after string) ([]logstore.Entry, error) {
	entries, err := w.Local.List(ctx, dir, after)
	var out []logstore.Entry
	for _, e := range entries {
		if !w.hidden(e.Name) {
			out = append(out, e)
		}
	}
	return out, err
}

// TestDeltaCheckpointRows reads tables with a checkpoint three ways: as they are, from JSON only, and with the JSON below the checkpoint hidden.
func TestDeltaCheckpointRows(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(foreignRoot(t), "*", "*", "delta", "_delta_log", "*.checkpoint*"))
	require.NoError(t, err)
	plain, err := filepath.Glob(filepath.Join(foreignRoot(t), "data", "*", "_delta_log", "*.checkpoint*"))
	require.NoError(t, err)
	done := map[string]bool{}
	for _, file := range append(found, plain...) {
		dir := filepath.Dir(filepath.Dir(file))
		name := strings.TrimPrefix(dir, foreignRoot(t)+"/")
		first := filepath.Join(dir, "_delta_log", logstore.CommitName(0))
		if _, err := os.Stat(first); done[dir] || err != nil || unfit(name) {
			continue
		}
		done[dir] = true
		local := logstore.NewLocal(dir)
		_, s := loadTable(t, local)
		if s.Schema == nil || s.CheckpointVersion < 0 {
			continue
		}
		if logOnly(dir, s) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			db, want := utc(t), scanOf(t, dir, delta.ScanOptions{})
			from := logstore.CommitName(s.CheckpointVersion)
			for way, hidden := range map[string]func(string) bool{
				"JSON only":       func(n string) bool { return strings.Contains(n, "checkpoint") },
				"checkpoint only": func(n string) bool { return logstore.Parse(n).Kind == logstore.Commit && n <= from },
			} {
				table, other := loadTable(t, without{Local: local, hidden: hidden})
				statement, err := table.ScanSQL(context.Background(), other, delta.ScanOptions{})
				require.NoError(t, err, way)
				requireEqualRows(t, db, want, statement)
			}
		})
	}
	require.Greater(t, len(done), 20)
}

// unfit names tables that must fail, and one whose checkpoint and commits differ on purpose.
func unfit(name string) bool {
	for _, part := range []string{"missing-", "parquet_row_group_skipping", "unshredded-variant", "table-with-geo"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// logOnly tells whether a table is a log only, without the data files it names.
func logOnly(dir string, s *delta.Snapshot) bool {
	for _, f := range s.Files() {
		path, err := delta.FilePath(dir, f)
		if err != nil {
			return true
		}
		if _, err := os.Stat(path); err != nil {
			return true
		}
	}
	return false
}

// TestDeltaStatistics copies a Parquet file of another writer with DuckDB, and finds the statistics that writer recorded.
func TestDeltaStatistics(t *testing.T) {
	dir := filepath.Join(foreignRoot(t), "data", "stats-writing-all-types", "delta")
	_, s := loadTable(t, logstore.NewLocal(dir))
	require.Len(t, s.Files(), 1)
	path, err := delta.FilePath(dir, s.Files()[0])
	require.NoError(t, err)
	db := utc(t)
	columns, rows := copyWithStats(t, db, "FROM read_parquet("+schema.Literal(path)+")", filepath.Join(t.TempDir(), "x.parquet"), "")
	for _, f := range s.Schema {
		if name := f.PhysicalName(); f.Type.Name == schema.Array || f.Type.Name == schema.Map {
			n := duckText(t, db, fmt.Sprintf("SELECT count(*) FILTER (%s IS NULL) FROM read_parquet(%s)", schema.Identifier(name), schema.Literal(path)))
			columns[schema.Identifier(name)] = map[string]string{"null_count": n}
		}
	}
	got, err := stats.FromCopy(stats.Table{Schema: s.Schema, Mode: s.Mode, Configuration: s.Metadata.Configuration}, stats.Copy{Rows: rows, Columns: columns})
	require.NoError(t, err)
	require.JSONEq(t, s.Files()[0].Stats, got)
}

// copyWithStats runs COPY with RETURN_STATS and returns column_statistics and the number of rows.
func copyWithStats(t *testing.T, db *sql.DB, query, path, options string) (map[string]map[string]string, int64) {
	t.Helper()
	rows, err := db.Query("COPY (" + query + ") TO " + schema.Literal(path) + " (FORMAT parquet, RETURN_STATS" + options + ")")
	require.NoError(t, err)
	defer rows.Close()
	require.True(t, rows.Next())
	var filename string
	var count, size, footer int64
	var statistics, keys any
	require.NoError(t, rows.Scan(&filename, &count, &size, &footer, &statistics, &keys))
	out := map[string]map[string]string{}
	columns, ok := statistics.(duckdb.OrderedMap)
	require.True(t, ok)
	for i, column := range columns.Keys() {
		values := columns.Values()[i].(duckdb.OrderedMap)
		named := map[string]string{}
		for j, name := range values.Keys() {
			named[name.(string)] = values.Values()[j].(string)
		}
		out[column.(string)] = named
	}
	return out, count
}
