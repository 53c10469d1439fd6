package delta_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
	"github.com/streamform/streamform/runtime/connector/delta"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

func duckdb(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.Exec("SET GLOBAL TimeZone = 'UTC'")
	require.NoError(t, err)
	return db
}

func openSink(t *testing.T, dir, from, mode string) (connector.Sink, error) {
	t.Helper()
	values := map[string]cty.Value{"from": cty.StringVal(from), "path": cty.StringVal("table")}
	if mode != "" {
		values["mode"] = cty.StringVal(mode)
	}
	d := delta.Definition()
	value, errs := d.Kind.Complete(cty.ObjectVal(values))
	require.Empty(t, errs)
	cfg, err := d.Kind.Bind(value)
	require.NoError(t, err)
	return d.Sink(context.Background(), cfg, connector.Env{Dir: dir, Version: "0.1.0", Now: time.Now})
}

// load reads the table below dir; nil when there is none.
func load(t *testing.T, dir string) (*deltalake.Table, *deltalake.Snapshot) {
	t.Helper()
	table, err := deltalake.OpenTable(logstore.NewLocal(filepath.Join(dir, "table")))
	require.NoError(t, err)
	snap, err := table.Load(context.Background())
	require.NoError(t, err)
	return table, snap
}

func scan(t *testing.T, dir string) string {
	t.Helper()
	table, snap := load(t, dir)
	if snap == nil {
		return ""
	}
	query, err := table.ScanSQL(context.Background(), snap, deltalake.ScanOptions{})
	require.NoError(t, err)
	return query
}

func TestConformance(t *testing.T) {
	for _, c := range []struct {
		name, from, mode string
		key              []string
	}{
		{"append", "stream.x", "", nil},
		{"upsert by key", "view.x", "", []string{"ID"}},
		{"upsert by content", "view.x", "", nil},
		{"replace", "view.x", "replace", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conformance.SinkSuite{DB: duckdb(t), AppendOnly: c.name == "append", Key: c.key, Fresh: func(t *testing.T) conformance.SinkCase {
				dir := t.TempDir()
				return conformance.SinkCase{
					Open: func(t *testing.T) connector.Sink {
						s, err := openSink(t, dir, c.from, c.mode)
						require.NoError(t, err)
						require.Equal(t, []string{filepath.Join(dir, "table")}, s.Dirs())
						return s
					},
					Read: func(t *testing.T, _ batch.Schema) string { return scan(t, dir) },
				}
			}}.Run(t)
		})
	}
}

// bench is a sink, and the epochs it was given.
type bench struct {
	t      *testing.T
	dir    string
	sink   connector.Sink
	stager *conformance.Stager
	next   connector.Delivery
}

func newBench(t *testing.T, from, mode string) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), stager: &conformance.Stager{DB: duckdb(t)}}
	var err error
	b.sink, err = openSink(t, b.dir, from, mode)
	require.NoError(t, err)
	b.next = connector.Delivery{Pipeline: "p1", Sink: "sink.delta.x", Origin: "sink.delta.x", Generation: 1, Epoch: 1,
		Change: batch.Change{Columns: batch.Schema{{Name: "k", Type: "INTEGER"}, {Name: "v", Type: "VARCHAR"}}}}
	return b
}

// values is a relation of rows such as "1 a".
func values(rows []string) string {
	list := []string{}
	for _, r := range rows {
		k, v, _ := strings.Cut(r, " ")
		list = append(list, fmt.Sprintf("(%s, '%s')", k, v))
	}
	if len(list) == 0 {
		return "(SELECT 1 AS k, '' AS v WHERE false)"
	}
	return "(SELECT * FROM (VALUES " + strings.Join(list, ", ") + ") AS t(k, v))"
}

func (b *bench) stage(inserted, deleted []string) (connector.Staged, error) {
	b.next.Counts = batch.Counts{Inserted: int64(len(inserted)), Deleted: int64(len(deleted))}
	b.next.Change.Inserted, b.next.Change.Deleted = values(inserted), ""
	if len(deleted) > 0 {
		b.next.Change.Deleted = values(deleted)
	}
	return b.sink.Stage(context.Background(), b.next, b.stager)
}

// deliver stages and publishes an epoch and returns its receipt.
func (b *bench) deliver(inserted, deleted []string) connector.Receipt {
	b.t.Helper()
	st, err := b.stage(inserted, deleted)
	require.NoError(b.t, err)
	receipt, err := b.sink.Publish(context.Background(), st)
	require.NoError(b.t, err)
	b.next.Epoch++
	b.next.Previous = receipt
	return receipt
}

// refused expects a user error and returns its text.
func (b *bench) refused(inserted, deleted []string) string {
	b.t.Helper()
	_, err := b.stage(inserted, deleted)
	var user *connector.UserError
	require.ErrorAs(b.t, err, &user)
	return user.Error()
}

// rows is what the table holds, sorted.
func (b *bench) rows() []string {
	b.t.Helper()
	got, err := b.stager.Query(context.Background(), "SELECT k || ' ' || v FROM ("+scan(b.t, b.dir)+") ORDER BY 1")
	require.NoError(b.t, err)
	out := []string{}
	for _, r := range got {
		out = append(out, *r[0])
	}
	return out
}

func (b *bench) live() []string {
	b.t.Helper()
	_, snap := load(b.t, b.dir)
	var out []string
	for _, f := range snap.Files() {
		out = append(out, f.Path)
	}
	return out
}

func TestVersions(t *testing.T) {
	b := newBench(t, "view.x", "")
	b.next.Key = []string{"k"}
	b.next.Change.Columns[0].Type = "UBIGINT" // a type that the table has not: rows that differ may be equal there
	require.Equal(t, connector.Receipt{"version": int64(0)}, b.deliver([]string{"1 a", "2 b"}, nil))
	require.Equal(t, connector.Receipt{"version": int64(1)}, b.deliver([]string{"2 c"}, []string{"2 b"}))
	require.Equal(t, connector.Receipt{}, b.deliver([]string{"1 a"}, []string{"1 a"}), "an update to equal values makes no version")
	require.Equal(t, connector.Receipt{"version": int64(2)}, b.deliver(nil, []string{"1 a", "2 c"}))
	require.Empty(t, b.rows())
	require.Empty(t, b.live(), "a file without rows is never registered")
	_, snap := load(t, b.dir)
	version, ok := snap.Txn("streamform:p1:sink.delta.x:1")
	require.True(t, ok)
	require.Equal(t, int64(4), version, "the epoch of the last delivery")
	require.Equal(t, "Serializable", snap.Metadata.Configuration["delta.isolationLevel"])
}

// Only files that hold rows taken back are written again.
func TestUntouchedFilesStay(t *testing.T) {
	for name, key := range map[string][]string{"by key": {"k"}, "by content": nil} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "view.x", "upsert")
			b.next.Key = key
			b.deliver([]string{"1 a", "2 b"}, nil)
			first := b.live()
			b.deliver([]string{"3 c", "4 d"}, nil)
			both := b.live()
			b.deliver([]string{"4 e"}, []string{"4 d"})
			after := b.live()
			require.Len(t, after, 2)
			require.Contains(t, after, first[0])
			for _, f := range both {
				if f != first[0] {
					require.NotContains(t, after, f)
				}
			}
			require.Equal(t, []string{"1 a", "2 b", "3 c", "4 e"}, b.rows())
		})
	}
}

// Statistics rule files out, so locating reads only those whose values overlap: others may even be missing.
func TestStatisticsRuleFilesOut(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.next.Key = []string{"k"}
	b.deliver([]string{"1 a", "2 b"}, nil)
	far := b.live()[0]
	b.deliver([]string{"3 c"}, nil)
	require.NoError(t, os.Remove(filepath.Join(b.dir, "table", far)))
	b.deliver([]string{"3 d"}, []string{"3 c"})
	require.Contains(t, b.live(), far)
}

func TestLostRowsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		mode    string
		key     []string
		deleted []string
	}{
		"key within a file":           {"upsert", []string{"k"}, []string{"2 b", "5 lost"}},
		"key outside all files":       {"upsert", []string{"k"}, []string{"99 lost"}},
		"content":                     {"upsert", nil, []string{"2 lost"}},
		"content, once too often":     {"upsert", nil, []string{"2 b", "2 b"}},
		"whole table":                 {"replace", nil, []string{"2 lost"}},
		"whole table, once too often": {"replace", nil, []string{"2 b", "2 b"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "view.x", c.mode)
			b.next.Key = c.key
			b.deliver([]string{"1 a", "2 b", "9 i"}, nil)
			text := b.refused([]string{"3 c"}, c.deleted)
			last := strings.Fields(c.deleted[len(c.deleted)-1])
			require.Contains(t, text, "k = "+last[0])
			require.Equal(t, []string{"1 a", "2 b", "9 i"}, b.rows())
		})
	}
}

func TestKeyTwiceInTheTable(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.deliver([]string{"1 a", "1 b"}, nil)
	b.next.Key = []string{"k"}
	require.Contains(t, b.refused([]string{"1 c"}, []string{"1 a"}), "holds a key twice")
}

func TestNullKeys(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.next.Key = []string{"k"}
	b.deliver([]string{"NULL a", "1 b"}, nil)
	b.deliver([]string{"NULL c"}, []string{"NULL a"})
	got, err := b.stager.Query(context.Background(), "SELECT v FROM ("+scan(t, b.dir)+") WHERE k IS NULL")
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, "c", *got[0][0])
}

// What the runtime remembers and what the table says must agree; otherwise nothing is written.
func TestTableAndRuntimeDisagree(t *testing.T) {
	deliver := func(t *testing.T, mode string) *bench {
		b := newBench(t, map[string]string{"append": "stream.x", "upsert": "view.x", "replace": "view.x"}[mode], mode)
		b.deliver([]string{"1 a"}, nil)
		b.deliver([]string{"2 b"}, nil)
		return b
	}
	for _, mode := range []string{"append", "upsert", "replace"} {
		t.Run(mode, func(t *testing.T) {
			b := deliver(t, mode)
			b.next.Epoch = 2
			require.Contains(t, b.refused([]string{"3 c"}, nil), "ahead of the runtime")

			b = deliver(t, mode)
			require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "table")))
			require.Contains(t, b.refused([]string{"3 c"}, nil), "table is gone")

			b = deliver(t, mode)
			require.NoError(t, os.Remove(filepath.Join(b.dir, "table", "_delta_log", "00000000000000000001.json")))
			require.Contains(t, b.refused([]string{"3 c"}, nil), "older state")

			b = deliver(t, mode)
			b.next.Pipeline, b.next.Epoch, b.next.Previous = "p2", 1, nil
			require.Contains(t, b.refused([]string{"3 c"}, nil), "earlier life")

			b = deliver(t, mode)
			b.next.Origin, b.next.Epoch, b.next.Previous = "sink.delta.y", 1, nil
			if mode == "append" {
				b.deliver([]string{"3 c"}, nil)
				require.Equal(t, []string{"1 a", "2 b", "3 c"}, b.rows(), "several may append to one table")
			} else {
				require.Contains(t, b.refused([]string{"3 c"}, nil), "belongs to something else")
			}

			b = deliver(t, mode)
			b.next.Origin, b.next.Overwrite = "sink.delta.y", true
			require.Contains(t, b.refused([]string{"3 c"}, nil), "belongs to something else")
		})
	}
}

func TestOverwriteWithEqualRowsChangesNoFile(t *testing.T) {
	b := newBench(t, "view.x", "upsert")
	b.deliver([]string{"1 a", "2 b"}, nil)
	before := b.live()
	b.next.Generation, b.next.Overwrite, b.next.Previous = 2, true, nil
	b.deliver([]string{"2 b", "1 a"}, nil)
	require.Equal(t, before, b.live())
	b.next.Overwrite = false
	b.deliver([]string{"2 c"}, []string{"2 b"})
	require.Equal(t, []string{"1 a", "2 c"}, b.rows(), "the generation goes on")
}

func TestColumns(t *testing.T) {
	b := newBench(t, "stream.x", "")
	b.deliver([]string{"1 a"}, nil)
	two := b.next.Change.Columns
	b.next.Change.Columns = append(slices.Clone(two), batch.Column{Name: "w", Type: "DATE"})
	require.Contains(t, b.refused([]string{"2 b"}, nil), "other columns")
	b.next.Change.Columns = two[:1]
	require.Contains(t, b.refused([]string{"2 b"}, nil), "other columns")
	b.next.Change.Columns = batch.Schema{two[0], {Name: "v", Type: "BLOB"}}
	require.Contains(t, b.refused([]string{"2 b"}, nil), "other columns")

	b.next.Generation, b.next.Overwrite, b.next.Previous = 2, true, nil
	b.next.Change.Columns = batch.Schema{two[1], {Name: "k", Type: "BIGINT"}}
	b.deliver([]string{"7 z"}, nil)
	require.Equal(t, []string{"7 z"}, b.rows())
	b.next.Overwrite = false
	b.deliver([]string{"3000000000 y"}, nil)
	require.Equal(t, []string{"3000000000 y", "7 z"}, b.rows())

	b = newBench(t, "stream.x", "")
	b.next.Change.Columns = batch.Schema{two[0], {Name: "a b", Type: "VARCHAR"}}
	require.Contains(t, b.refused([]string{"1 a"}, nil), "AS name")
}

// Types without an equal in Delta are kept in one that holds them, and updates find the rows again.
func TestTypes(t *testing.T) {
	columns := batch.Schema{{Name: "k", Type: "INTEGER"}, {Name: "h", Type: "HUGEINT"}, {Name: "u", Type: "UUID"}, {Name: "ub", Type: "UBIGINT"},
		{Name: "i", Type: "INTERVAL"}, {Name: "e", Type: "ENUM('x', 'y')"}, {Name: "ns", Type: "TIMESTAMP_NS"}, {Name: "tz", Type: "TIMESTAMP WITH TIME ZONE"},
		{Name: "ti", Type: "TIME"}, {Name: "b", Type: "BLOB"}, {Name: "f", Type: "FLOAT"}, {Name: "m", Type: "MAP(VARCHAR, INTEGER)"}, {Name: "s", Type: "STRUCT(a HUGEINT, b DATE[])"}, {Name: "j", Type: "JSON"}}
	b := newBench(t, "view.x", "upsert")
	b.next.Change.Columns = columns
	row := func(k int) string {
		return fmt.Sprintf(`(SELECT %d::INTEGER AS k, 170141183460469231731687303715884105::HUGEINT AS h, '00000000-0000-0000-0000-00000000000%d'::UUID AS u, 18446744073709551615::UBIGINT AS ub,
			INTERVAL 1 DAY AS i, 'x'::ENUM('x','y') AS e, '2024-02-29 23:59:59.123456'::TIMESTAMP_NS AS ns, '2024-02-29 23:59:59.123456+00'::TIMESTAMPTZ AS tz,
			'10:11:12.5'::TIME AS ti, '\x00\xff'::BLOB AS b, 'nan'::FLOAT AS f, MAP {'a': 1, 'b': NULL} AS m, {'a': 1::HUGEINT, 'b': [DATE '2024-01-01', NULL]}::STRUCT(a HUGEINT, b DATE[]) AS s, '{"q": [1]}'::JSON AS j)`, k, k)
	}
	change := func(inserted, deleted string, n, m int64) {
		t.Helper()
		b.next.Change.Inserted, b.next.Change.Deleted, b.next.Counts = inserted, deleted, batch.Counts{Inserted: n, Deleted: m}
		st, err := b.sink.Stage(context.Background(), b.next, b.stager)
		require.NoError(t, err)
		_, err = b.sink.Publish(context.Background(), st)
		require.NoError(t, err)
		b.next.Epoch++
	}
	change("("+row(1)[1:len(row(1))-1]+" UNION ALL "+row(2)[1:len(row(2))-1]+")", "", 2, 0)
	change(row(3), row(1), 1, 1)
	got, err := b.stager.Query(context.Background(), "SELECT k, h, u, ub, tz FROM ("+scan(t, b.dir)+") ORDER BY k")
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, "2", *got[0][0])
	require.Equal(t, "170141183460469231731687303715884105", *got[1][1])
	require.Equal(t, "18446744073709551615", *got[1][3])
}

func TestPayloadHoldsNoRows(t *testing.T) {
	b := newBench(t, "stream.x", "")
	var rows []string
	for i := range 1000 {
		rows = append(rows, fmt.Sprint(i, " some text"))
	}
	st, err := b.stage(rows, nil)
	require.NoError(t, err)
	require.Less(t, len(st.Payload), 2000)
	require.True(t, json.Valid(st.Payload))
}

func TestModes(t *testing.T) {
	for _, c := range []struct{ from, mode, complaint string }{
		{"stream.x", "append", ""},
		{"source.files.x.malformed", "", ""},
		{"view.x", "upsert", ""},
		{"view.x", "replace", ""},
		{"view.x", "append", "cannot be appended"},
		{"stream.x", "upsert", "needs a view"},
		{"source.files.x", "replace", "needs a view"},
	} {
		_, err := openSink(t, t.TempDir(), c.from, c.mode)
		if c.complaint == "" {
			require.NoError(t, err)
			continue
		}
		var user *connector.UserError
		require.ErrorAs(t, err, &user)
		require.Contains(t, user.Summary, c.complaint)
	}
}

func TestKind(t *testing.T) { require.NoError(t, schema.CheckKind(delta.Definition().Kind)) }

func TestCompression(t *testing.T) {
	d := delta.Definition()
	value, errs := d.Kind.Complete(cty.ObjectVal(map[string]cty.Value{"from": cty.StringVal("stream.x"), "path": cty.StringVal("table"), "compression": cty.StringVal("snappy")}))
	require.Empty(t, errs)
	cfg, err := d.Kind.Bind(value)
	require.NoError(t, err)
	dir, db := t.TempDir(), duckdb(t)
	s, err := d.Sink(context.Background(), cfg, connector.Env{Dir: dir, Version: "0.1.0", Now: time.Now})
	require.NoError(t, err)
	_, err = s.Stage(context.Background(), connector.Delivery{Pipeline: "p", Sink: "sink.delta.x", Origin: "sink.delta.x", Generation: 1, Epoch: 1, AppendOnly: true,
		Change: batch.Change{Columns: batch.Schema{{Name: "a", Type: "INTEGER"}}, Inserted: "(SELECT 1 AS a)"}, Counts: batch.Counts{Inserted: 1}}, &conformance.Stager{DB: db})
	require.NoError(t, err)
	var codec string
	require.NoError(t, db.QueryRow("SELECT compression FROM parquet_metadata('"+filepath.Join(dir, "table", "*.parquet")+"')").Scan(&codec))
	require.Equal(t, "SNAPPY", codec)
}
