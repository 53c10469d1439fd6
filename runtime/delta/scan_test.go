package delta_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/dv"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/logstore/storetest"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

func TestScanSQL(t *testing.T) {
	ctx := context.Background()
	table := open(t, storetest.NewMemory())
	start := delta.Transaction{TxnID: "x", ReadVersion: delta.NoTable, Operation: "WRITE", Adds: []action.Add{part("a%20b", "it's"), part("c[1]", "")}}
	start.Adds[1].PartitionValues["p"] = nil
	start.Metadata = metadata(t, columns(t, "id", "BIGINT", "p", "VARCHAR"), nil, "p")
	_, err := table.Commit(ctx, start)
	require.NoError(t, err)
	s := load(t, table)

	sql, err := delta.ScanSQL(s, delta.ScanOptions{Root: "/lake", Filename: "f", RowNumber: "n"})
	require.NoError(t, err)
	require.Equal(t, `SELECT f.c0 AS "id", p.p0 AS "p", f.filename AS "f", f.file_row_number AS "n"
FROM read_parquet(['/lake/a b', '/lake/c[[]1]'], hive_partitioning = false, schema = MAP {'id': {name: 'c0', type: 'BIGINT', default_value: NULL}}) AS f
JOIN (VALUES ('/lake/a b', CAST('it''s' AS VARCHAR)), ('/lake/c[1]', CAST(NULL AS VARCHAR))) AS p(file, p0) ON f.filename = p.file`, sql)

	sql, err = delta.ScanSQL(s, delta.ScanOptions{Root: "/lake", Files: s.Files()[:1]})
	require.NoError(t, err)
	require.Equal(t, `SELECT f.c0 AS "id", CAST('it''s' AS VARCHAR) AS "p"
FROM read_parquet(['/lake/a b'], hive_partitioning = false, schema = MAP {'id': {name: 'c0', type: 'BIGINT', default_value: NULL}}) AS f`, sql)

	sql, err = delta.ScanSQL(s, delta.ScanOptions{Files: []action.Add{}})
	require.NoError(t, err)
	require.Equal(t, `SELECT CAST(NULL AS BIGINT) AS "id", CAST(NULL AS VARCHAR) AS "p" WHERE false`, sql)

	hidden := s.Files()[0]
	hidden.DeletionVector = &action.DeletionVector{StorageType: "u", PathOrInlineDV: "x"}
	_, err = delta.ScanSQL(s, delta.ScanOptions{Files: []action.Add{hidden}})
	require.ErrorContains(t, err, "not loaded", "rows are never shown because a deletion vector was forgotten")
	sql, err = delta.ScanSQL(s, delta.ScanOptions{Root: "/lake", Files: []action.Add{hidden, s.Files()[1]}, Deleted: map[action.FileKey]*dv.Bitmap{hidden.Key(): dv.New(1, 2, 3, 7)}})
	require.NoError(t, err)
	require.Contains(t, sql, "UNION ALL")
	require.Contains(t, sql, "VALUES ('/lake/a b', 1, 4), ('/lake/a b', 7, 8)")
}

// TestPruneForeignTables skips files of tables whose description says which files hold what.
func TestPruneForeignTables(t *testing.T) {
	const conformance = "../shared/conformance/delta"
	root := filepath.Join("../..", conformance, "data")
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no conformance tables at %s (from the project's root)", conformance)
	}
	between := func(column string, low, high *string) stats.Range {
		return stats.Range{Column: []string{column}, Min: low, Max: high}
	}
	for _, c := range []struct {
		table string
		r     stats.Range
		want  int
	}{
		{"basic_partitioned", between("letter", value("a"), value("a")), 2},
		{"basic_partitioned", stats.Range{Column: []string{"letter"}, Null: stats.OnlyNull}, 1},
		{"mixed-nulls", stats.Range{Column: []string{"n"}, Null: stats.OnlyNull}, 2},
		{"mixed-nulls", stats.Range{Column: []string{"n"}}, 2},
		{"parsed-stats", between("id", value("150"), value("250")), 2},
		{"parsed-stats", between("id", value("601"), nil), 0},
		{"timestamp-truncation-stats", between("ts_col", value("1970-01-01 00:00:04.0004+00"), nil), 2},
		{"void-column", stats.Range{Column: []string{"void_col"}}, 0},
		{"parquet_row_group_skipping", between("missing", value("1"), nil), 1},
	} {
		t.Run(c.table, func(t *testing.T) {
			s := load(t, open(t, logstore.NewLocal(filepath.Join(root, c.table))))
			require.Len(t, delta.Prune(s, []stats.Range{c.r}), c.want)
			require.Len(t, delta.Prune(s, nil), len(s.Files()))
		})
	}
}

func TestLayout(t *testing.T) {
	m := metadata(t, columns(t, "id", "BIGINT", "x%20x", "VARCHAR", "d", "DATE", "u", "DECIMAL(20,0)"), nil, "x%20x", "d")
	layout, err := delta.NewLayout(*m)
	require.NoError(t, err)
	list, err := layout.Select([]schema.Column{{Name: "ID", Type: "INTEGER"}, {Name: "extra", Type: "DATE"}})
	require.NoError(t, err)
	require.Equal(t, `CAST("ID" AS BIGINT) AS "id", CAST(NULL AS DECIMAL(20,0)) AS "u"`, list)
	incoming := []schema.Column{{Name: "X%20x", Type: "VARCHAR"}}
	partitions, err := layout.PartitionSelect(incoming)
	require.NoError(t, err)
	require.Equal(t, `nullif(CAST(CAST("X%20x" AS VARCHAR) AS VARCHAR), '') AS "x%20x", nullif(CAST(CAST(NULL AS DATE) AS VARCHAR), '') AS "d"`, partitions)
	where, err := layout.Where(incoming, []*string{value("it's"), nil})
	require.NoError(t, err)
	require.Equal(t, `(nullif(CAST(CAST("X%20x" AS VARCHAR) AS VARCHAR), '')) IS NOT DISTINCT FROM 'it''s' AND (nullif(CAST(CAST(NULL AS DATE) AS VARCHAR), '')) IS NOT DISTINCT FROM NULL`, where)

	values := []*string{value("a/b:%é"), nil}
	path := layout.Path(values)
	require.Regexp(t, `^x%2520x=a%2Fb%3A%25é/d=__HIVE_DEFAULT_PARTITION__/part-00000-[0-9a-f-]{36}-c000\.zstd\.parquet$`, path)
	require.NotEqual(t, path, layout.Path(values), "a name is never used twice")
	written := delta.DataFile{Path: path, Partitions: values, Size: 7, Modified: time.UnixMilli(5), Copy: stats.Copy{Rows: 3, Columns: map[string]map[string]string{`"id"`: {"min": "1", "max": "2", "null_count": "0"}}}}
	add, err := layout.Add(written)
	require.NoError(t, err)
	decoded, err := action.DecodePath(add.Path)
	require.NoError(t, err)
	require.Equal(t, path, decoded)
	require.Equal(t, map[string]*string{"x%20x": value("a/b:%é"), "d": nil}, add.PartitionValues)
	require.JSONEq(t, `{"numRecords":3,"minValues":{"id":1},"maxValues":{"id":2},"nullCount":{"id":0}}`, add.Stats)
	written.Copy.Rows = 0
	_, err = layout.Add(written)
	require.ErrorContains(t, err, "without rows")
	written.Copy.Rows, written.Partitions = 1, values[:1]
	_, err = layout.Add(written)
	require.Error(t, err)
}

func TestNewMetadata(t *testing.T) {
	s := columns(t, "a", "BIGINT", "l", "INTEGER[]", "T", "DATE")
	m, err := delta.NewMetadata(s, []string{"t"}, map[string]string{"k": "v"}, noon)
	require.NoError(t, err)
	require.Equal(t, []string{"T"}, m.PartitionColumns, "names are written as the column has them")
	require.Equal(t, noon.UnixMilli(), m.CreatedTime)
	for _, bad := range [][]string{{"nope"}, {"l"}, {"a", "T", "l"}} {
		_, err := delta.NewMetadata(s, bad, nil, noon)
		require.Error(t, err, bad)
	}
	_, err = delta.NewMetadata(columns(t, "a", "DATE"), []string{"a"}, nil, noon)
	require.ErrorContains(t, err, "not a partition column")
	_, err = delta.NewMetadata(columns(t, "a b", "DATE"), nil, nil, noon)
	require.ErrorContains(t, err, "column mapping")
}

// TestThousandsOfVersions reads a table whose checkpoints were never written, and one that is followed version by version.
func TestThousandsOfVersions(t *testing.T) {
	const versions = 3000
	ctx, store := context.Background(), storetest.NewMemory()
	table := create(t, store, map[string]string{"delta.checkpointInterval": "100000"})
	follower := open(t, store)
	for v := int64(1); v <= versions; v++ {
		// One file replaces the other, so that the table stays as small as it is.
		x := appendTo(string(rune('a'+v%26)), v-1)
		x.TxnID = x.TxnID + time.Duration(v).String()
		x.Adds[0].Path = x.TxnID
		if v > 1 {
			previous := load(t, follower).Files()
			require.Len(t, previous, 1)
			x.Removes = []action.Remove{action.Removal(previous[0], 1)}
		} else {
			x.Removes = []action.Remove{action.Removal(file("first.parquet"), 1)}
		}
		_, err := table.Commit(ctx, x)
		require.NoError(t, err)
	}
	s := load(t, open(t, store))
	require.EqualValues(t, versions, s.Version)
	require.EqualValues(t, -1, s.CheckpointVersion)
	require.Equal(t, s.Files(), load(t, follower).Files())
}
