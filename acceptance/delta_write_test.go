package acceptance

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/dv"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// lake is a Delta table that a test writes with DuckDB's COPY, as a sink does.
type lake struct {
	t     *testing.T
	db    *sql.DB
	dir   string
	store *logstore.Local
	table *delta.Table
}

func newLake(t *testing.T) *lake {
	dir := filepath.Join(t.TempDir(), "a [*] é", "table")
	store := logstore.NewLocal(dir)
	table, err := delta.OpenTable(store)
	require.NoError(t, err)
	return &lake{t: t, db: utc(t), dir: dir, store: store, table: table}
}

func (l *lake) snapshot() *delta.Snapshot {
	s, err := l.table.Load(context.Background())
	require.NoError(l.t, err)
	return s
}

// scan is the statement that reads the table.
func (l *lake) scan() string {
	statement, err := l.table.ScanSQL(context.Background(), l.snapshot(), delta.ScanOptions{})
	require.NoError(l.t, err)
	return statement
}

// described returns a query's columns as DESCRIBE prints them.
func (l *lake) described(query string) []schema.Column {
	var out []schema.Column
	for _, line := range strings.Split(duckText(l.t, l.db, "SELECT column_name, column_type FROM (DESCRIBE "+query+")"), "\n") {
		name, kind, _ := strings.Cut(line, "\t")
		out = append(out, schema.Column{Name: name, Type: kind})
	}
	return out
}

// append writes a query's rows, one file for each partition, and commits them; the table is made or gets new columns as needed.
func (l *lake) append(query string, configuration map[string]string, partitions ...string) {
	incoming := l.described(query)
	converted, err := schema.FromDuckDB(incoming)
	require.NoError(l.t, err)
	x := delta.Transaction{TxnID: uuid.NewString(), ReadVersion: delta.NoTable, Operation: "WRITE"}
	var metadata action.Metadata
	if s := l.snapshot(); s == nil {
		metadata, err = delta.NewMetadata(schema.Fields(converted), partitions, configuration, time.Now())
		require.NoError(l.t, err)
		x.Metadata = &metadata
	} else {
		x.ReadVersion, metadata = s.Version, s.Metadata
		x.Metadata, err = delta.Evolve(s, schema.Fields(converted))
		require.NoError(l.t, err)
		if x.Metadata != nil {
			metadata = *x.Metadata
		}
	}
	layout, err := delta.NewLayout(metadata)
	require.NoError(l.t, err)
	duckRun(l.t, l.db, "CREATE OR REPLACE TEMP TABLE incoming AS "+query)
	for _, values := range l.partitions(layout, incoming) {
		x.Adds = append(x.Adds, l.write(layout, incoming, values))
	}
	_, err = l.table.Commit(context.Background(), x)
	require.NoError(l.t, err)
}

// partitions lists the partition texts that occur in the incoming rows.
func (l *lake) partitions(layout *delta.Layout, incoming []schema.Column) [][]*string {
	list, err := layout.PartitionSelect(incoming)
	require.NoError(l.t, err)
	if list == "" {
		return [][]*string{nil}
	}
	rows, err := l.db.Query("SELECT DISTINCT " + list + " FROM incoming")
	require.NoError(l.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(l.t, err)
	var out [][]*string
	for rows.Next() {
		values, targets := make([]*string, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		require.NoError(l.t, rows.Scan(targets...))
		out = append(out, values)
	}
	require.NoError(l.t, rows.Err())
	return out
}

func (l *lake) write(layout *delta.Layout, incoming []schema.Column, values []*string) action.Add {
	list, err := layout.Select(incoming)
	require.NoError(l.t, err)
	condition, err := layout.Where(incoming, values)
	require.NoError(l.t, err)
	path := layout.Path(values)
	full := filepath.Join(l.dir, filepath.FromSlash(path))
	require.NoError(l.t, os.MkdirAll(filepath.Dir(full), 0o700))
	options := ""
	if ids := layout.FieldIDs(); ids != "" {
		options = ", FIELD_IDS " + ids
	}
	columns, rows := copyWithStats(l.t, l.db, "SELECT "+list+" FROM incoming WHERE "+condition, full, options)
	info, err := os.Stat(full)
	require.NoError(l.t, err)
	add, err := layout.Add(delta.DataFile{Path: path, Partitions: values, Size: info.Size(), Modified: info.ModTime(), Copy: stats.Copy{Rows: rows, Columns: columns}})
	require.NoError(l.t, err)
	return add
}

// everyType is a query with a row for each way a type can be awkward.
const everyType = `SELECT * FROM (VALUES (1), (2), (3)) AS v(id) JOIN (SELECT 1 AS one,
	18446744073709551615::UBIGINT AS u64, 4294967295::UINTEGER AS u32, 65535::USMALLINT AS u16, 255::UTINYINT AS u8,
	-170141183460469231731687303715884105727::HUGEINT // 100 AS huge, 99999999999999999999999999999999999999::DECIMAL(38,0) AS d38, 0::DECIMAL(18,16) AS d16,
	'NaN'::DOUBLE AS nan, '-Infinity'::FLOAT AS inf, -0.0::DOUBLE AS zero, true AS flag, '\x00\xFF'::BLOB AS bytes,
	DATE '0044-03-15' AS old, TIMESTAMP '1969-12-31 23:59:59.999999' AS local_time, TIMESTAMPTZ '2024-02-29 12:00:00.000001+05:30' AS instant,
	TIMESTAMP_NS '2024-01-01 00:00:00.123456789' AS ns, TIMESTAMP_S '2024-01-01 00:00:01' AS s, TIMESTAMP_MS '2024-01-01 00:00:01.5' AS ms,
	'6f1c2f3e-0000-4000-8000-000000000001'::UUID AS uuid, 'b'::ENUM('a', 'b') AS enum, TIME '10:11:12' AS time, INTERVAL 3 DAY AS span, '101'::BIT AS bits, '{"a": 1}'::JSON AS json,
	{'a': 1::UTINYINT, 'B': [{'c': 'é'}, NULL]} AS st, NULL::STRUCT(x INTEGER) AS no_struct, {'x': NULL::INTEGER} AS struct_of_null,
	[]::INTEGER[] AS empty_list, [1, NULL, 3] AS list, MAP {'k': {'v': DATE '2020-01-01'}} AS map, NULL::MAP(VARCHAR, UUID) AS no_map, repeat('x', 200) AS long_text) ON true`

// TestDeltaWriteTypes writes every type of DuckDB and reads it back as what Delta makes of it.
func TestDeltaWriteTypes(t *testing.T) {
	l := newLake(t)
	l.append(everyType, nil)
	l.append(everyType, nil)
	converted, err := schema.FromDuckDB(l.described(everyType))
	require.NoError(t, err)
	var list []string
	for _, c := range converted {
		list = append(list, "CAST("+schema.Identifier(c.Field.Name)+" AS "+c.Field.Type.DuckDB()+") AS "+schema.Identifier(c.Field.Name))
		require.NotEqual(t, "", c.Field.Type.String())
	}
	one := "SELECT " + strings.Join(list, ", ") + " FROM (" + everyType + ")"
	requireEqualRows(t, l.db, one+" UNION ALL "+one, l.scan())
	s := l.snapshot()
	require.Equal(t, []string{action.TimestampNTZ}, s.Protocol.ReaderFeatures)
	for _, f := range s.Files() {
		require.Contains(t, f.Stats, `"d38":99999999999999999999999999999999999999`)
		require.NotContains(t, f.Stats, `"inf":-`)
		require.Contains(t, f.Stats, `"local_time":"1970-01-01T00:00:00.000"`, "the upper bound is rounded up")
	}
}

// TestDeltaWritePartitions writes awkward partition values, and one whose column's name is awkward too.
func TestDeltaWritePartitions(t *testing.T) {
	for _, values := range []string{
		`(VALUES ('a/b:%c'), ('$&+ é'), ('x%20x'), (NULL), ('__HIVE'), ('it''s "q"'), ('a*b?[c]'), (' lead'), ('#^{}~')) AS v("x%20x")`,
		`(VALUES (1.50::DECIMAL(5,2)), (NULL), (-0.25)) AS v("x%20x")`,
		`(VALUES (DATE '2024-02-29'), (NULL), (DATE '1969-12-31')) AS v("x%20x")`,
		`(VALUES (TIMESTAMP '2024-02-29 12:00:00.000001'), (NULL), (TIMESTAMP '1969-12-31 23:00:00')) AS v("x%20x")`,
		`(VALUES (TIMESTAMPTZ '2024-02-29 12:00:00.000001+01'), (NULL), (TIMESTAMPTZ '1969-12-31 23:00:00+00')) AS v("x%20x")`,
		`(VALUES ('NaN'::DOUBLE), (NULL), ('-Infinity'), (0.1), (1e300)) AS v("x%20x")`,
		`(VALUES (true), (NULL), (false)) AS v("x%20x")`,
		`(VALUES ('\x01\xFF'::BLOB), (NULL), ('abc'::BLOB)) AS v("x%20x")`,
		`(VALUES (18446744073709551615::UBIGINT), (NULL)) AS v("x%20x")`,
	} {
		t.Run(values[:min(len(values), 40)], func(t *testing.T) {
			l := newLake(t)
			rows := "SELECT i, \"x%20x\" FROM range(3) AS r(i), " + values
			l.append(rows, nil, "x%20x")
			kind := l.snapshot().Schema[1].Type.DuckDB()
			requireEqualRows(t, l.db, `SELECT i, CAST("x%20x" AS `+kind+`) AS "x%20x" FROM (`+rows+")", l.scan())
			require.NoError(t, l.table.Checkpoint(context.Background(), 0))
			again, err := delta.OpenTable(without{Local: l.store, hidden: func(n string) bool { return n == logstore.CommitName(0) }})
			require.NoError(t, err)
			s, err := again.Load(context.Background())
			require.NoError(t, err)
			statement, err := again.ScanSQL(context.Background(), s, delta.ScanOptions{})
			require.NoError(t, err)
			requireEqualRows(t, l.db, l.scan(), statement)
		})
	}
	l := newLake(t)
	l.append("SELECT 1 AS i, '' AS p", nil, "p")
	require.Equal(t, "1\tNULL", duckText(t, l.db, l.scan()), "an empty text in a partition column is NULL, as everywhere in Delta")
}

// TestDeltaWriteEvolution adds columns and members, with and without column mapping, and reads old and new files together.
func TestDeltaWriteEvolution(t *testing.T) {
	for name, configuration := range map[string]map[string]string{"by name": nil, "mapped": {schema.MappingMode: "name"}} {
		t.Run(name, func(t *testing.T) {
			l := newLake(t)
			l.append("SELECT 1 AS id, {'a': 1, 'l': [{'x': 'one'}]} AS st, MAP {'k': {'v': 1}} AS m, 'p' AS p", configuration, "p")
			l.append("SELECT 'q' AS P, [DATE '2020-01-01'] AS more, MAP {'k': {'w': 2.5, 'v': 2}} AS M, {'b': 5, 'L': [{'y': true, 'x': 'two'}, NULL], 'a': 2} AS st, 2 AS id", configuration)
			l.append("SELECT 3 AS ID", configuration)
			want := `SELECT * FROM (VALUES
				(1, {'a': 1, 'l': [{'x': 'one', 'y': NULL}], 'b': NULL}, MAP {'k': {'v': 1, 'w': NULL}}, 'p', NULL),
				(2, {'a': 2, 'l': [{'x': 'two', 'y': true}, NULL], 'b': 5}, MAP {'k': {'v': 2, 'w': 2.5}}, 'q', [DATE '2020-01-01']),
				(3, NULL, NULL, NULL, NULL)) AS v(id, st, m, p, more)`
			types := "SELECT CAST(id AS INTEGER) AS id, CAST(st AS STRUCT(a INTEGER, l STRUCT(x VARCHAR, y BOOLEAN)[], b INTEGER)) AS st, CAST(m AS MAP(VARCHAR, STRUCT(v INTEGER, w DECIMAL(2,1)))) AS m, CAST(p AS VARCHAR) AS p, CAST(more AS DATE[]) AS more FROM ("
			requireEqualRows(t, l.db, types+want+")", l.scan())
		})
	}
}

// TestDeltaWriteDeletions hides rows by deletion vectors: some, then more, from several files of several partitions.
func TestDeltaWriteDeletions(t *testing.T) {
	ctx, l := context.Background(), newLake(t)
	// Columns with the names of DuckDB's virtual ones must not be taken for them.
	l.append("SELECT i AS id, i % 2 AS p, 7 AS file_row_number, 'f' AS filename FROM range(1000) AS r(i)", map[string]string{"delta.enableDeletionVectors": "true"}, "p")
	gone := "false"
	for _, condition := range []string{"id = 0", "id BETWEEN 100 AND 300", "id % 7 = 0", "id >= 998"} {
		s := l.snapshot()
		places, err := l.table.ScanSQL(ctx, s, delta.ScanOptions{Filename: "the file", RowNumber: "the row"})
		require.NoError(t, err)
		found := map[string][]uint64{}
		for _, line := range strings.Split(duckText(t, l.db, `SELECT "the file", "the row" FROM (`+places+") WHERE "+condition), "\n") {
			var row uint64
			path, number, _ := strings.Cut(line, "\t")
			_, err := fmt.Sscan(number, &row)
			require.NoError(t, err)
			found[path] = append(found[path], row)
		}
		old, err := l.table.DeletedRows(ctx, s.Files())
		require.NoError(t, err)
		x := delta.Transaction{TxnID: uuid.NewString(), ReadVersion: s.Version, Operation: "DELETE", ReadWholeTable: true}
		var sets []*dv.Bitmap
		for _, f := range s.Files() {
			path, err := delta.FilePath(l.dir, f)
			require.NoError(t, err)
			if len(found[path]) == 0 {
				continue
			}
			rows := dv.New(found[path]...)
			if before := old[f.Key()]; before != nil {
				rows.Or(before)
			}
			sets = append(sets, rows)
			x.Removes = append(x.Removes, action.Removal(f, time.Now().UnixMilli()))
			f.Stats = strings.Replace(f.Stats, `"tightBounds":true`, `"tightBounds":false`, 1)
			x.Adds = append(x.Adds, f)
		}
		vectors, err := dv.Write(ctx, l.store, sets)
		require.NoError(t, err)
		for i := range x.Adds {
			x.Adds[i].DeletionVector = &vectors[i]
		}
		_, err = l.table.Commit(ctx, x)
		require.NoError(t, err)
		gone += " OR " + condition
		requireEqualRows(t, l.db, "SELECT i AS id, i % 2 AS p, CAST(7 AS INTEGER) AS file_row_number, 'f' AS filename FROM range(1000) AS r(i) WHERE NOT ("+strings.ReplaceAll(gone, "id", "i")+")", l.scan())
	}
}

// TestDeltaWriteRequired refuses NULL where a table allows none.
func TestDeltaWriteRequired(t *testing.T) {
	s := schema.Schema{{Name: "id", Type: schema.Type{Name: schema.Long}}, {Name: "v", Type: schema.Type{Name: schema.String}, Nullable: true}}
	m, err := delta.NewMetadata(s, nil, nil, time.Now())
	require.NoError(t, err)
	layout, err := delta.NewLayout(m)
	require.NoError(t, err)
	list, err := layout.Select([]schema.Column{{Name: "id", Type: "INTEGER"}})
	require.NoError(t, err)
	db := utc(t)
	require.Equal(t, "0\tNULL\n1\tNULL", duckText(t, db, "SELECT "+list+" FROM range(2) AS r(id)"))
	var n int
	err = db.QueryRow("SELECT count(id) FROM (SELECT " + list + " FROM (VALUES (1), (NULL)) AS r(id))").Scan(&n)
	require.ErrorContains(t, err, "column id of the Delta table may not be NULL")
}

// TestDeltaCheckpointForm compares the columns of our checkpoints with what the protocol asks for.
func TestDeltaCheckpointForm(t *testing.T) {
	l := newLake(t)
	l.append("SELECT 1 AS i, 'x' AS p", nil, "p")
	require.NoError(t, l.table.Checkpoint(context.Background(), 0))
	file := schema.Literal(strings.NewReplacer("[", "[[]", "*", "[*]").Replace(filepath.Join(l.dir, logstore.CheckpointKey(0))))
	require.Equal(t, "1\t{p=x}\tNULL\tNULL", duckText(t, l.db, "SELECT count(*), any_value(add.partitionValues), any_value(protocol.readerFeatures), any_value(txn) FROM read_parquet("+file+") WHERE add IS NOT NULL"))
	require.Equal(t, "list\nelement", duckText(t, l.db, "SELECT name FROM parquet_schema("+file+") WHERE column_id IN (SELECT column_id + 1 FROM parquet_schema("+file+") WHERE name = 'partitionColumns' UNION SELECT column_id + 2 FROM parquet_schema("+file+") WHERE name = 'partitionColumns') ORDER BY column_id"))
	require.Equal(t, "REPEATED", duckText(t, l.db, "SELECT DISTINCT repetition_type FROM parquet_schema("+file+") WHERE name = 'key_value'"))
	require.Equal(t, "key", duckText(t, l.db, "SELECT DISTINCT name FROM parquet_schema("+file+") WHERE repetition_type = 'REQUIRED'"), "nothing but map keys is required")
}
