package files_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
	"github.com/streamform/streamform/runtime/connector/files"
)

func duckdb(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// bind completes and binds what a block says.
func bind(t *testing.T, kind schema.Kind, values map[string]cty.Value) schema.Config {
	t.Helper()
	complete, errs := kind.Complete(cty.ObjectVal(values))
	require.Empty(t, errs)
	cfg, err := kind.Bind(complete)
	require.NoError(t, err)
	return cfg
}

func openSink(t *testing.T, dir string, values map[string]cty.Value) (connector.Sink, error) {
	t.Helper()
	d := files.SinkDefinition()
	return d.Sink(context.Background(), bind(t, d.Kind, values), connector.Env{Dir: dir})
}

func TestSinkConformance(t *testing.T) {
	readers := map[string]func(glob string, columns batch.Schema) string{
		"parquet": func(glob string, _ batch.Schema) string { return "FROM read_parquet('" + glob + "')" },
		"json": func(glob string, columns batch.Schema) string {
			return "FROM read_json('" + glob + "', columns = " + columnTypes(columns) + ")"
		},
		"csv": func(glob string, columns batch.Schema) string {
			return "FROM read_csv('" + glob + "', header = true, delim = ',', quote = '\"', escape = '\"', allow_quoted_nulls = false, auto_detect = false, columns = " + columnTypes(columns) + ")"
		},
	}
	for format, reader := range readers {
		for _, mode := range []string{"append", "replace"} {
			t.Run(format+" "+mode, func(t *testing.T) {
				t.Parallel()
				from := "stream.x"
				if mode == "replace" {
					from = "view.x"
				}
				conformance.SinkSuite{DB: duckdb(t), AppendOnly: mode == "append", Flat: format == "csv", Fresh: func(t *testing.T) conformance.SinkCase {
					dir := t.TempDir()
					return conformance.SinkCase{
						Open: func(t *testing.T) connector.Sink {
							s, err := openSink(t, dir, map[string]cty.Value{"from": cty.StringVal(from), "path": cty.StringVal("out"), "format": cty.StringVal(format)})
							require.NoError(t, err)
							require.Equal(t, []string{filepath.Join(dir, "out")}, s.Dirs())
							return s
						},
						Read: func(t *testing.T, columns batch.Schema) string {
							glob := filepath.Join(dir, "out", "*."+format)
							if found, _ := filepath.Glob(glob); len(visible(found)) == 0 {
								return ""
							}
							return reader(filepath.Join(dir, "out", "[ed]*."+format), columns)
						},
					}
				}}.Run(t)
			})
		}
	}
}

func visible(paths []string) []string {
	var out []string
	for _, p := range paths {
		if !strings.HasPrefix(filepath.Base(p), ".") {
			out = append(out, p)
		}
	}
	return out
}

func columnTypes(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = fmt.Sprintf(`"%s": '%s'`, c.Name, c.Type)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// delivery is an epoch of one column.
func delivery(epoch int64, inserted string) connector.Delivery {
	return connector.Delivery{Pipeline: "p", Sink: "sink.files.x", Generation: 1, Epoch: epoch,
		Counts: batch.Counts{Inserted: 1}, Change: batch.Change{Columns: batch.Schema{{Name: "a", Type: "INTEGER"}}, Inserted: inserted}}
}

func values(from, mode string) map[string]cty.Value {
	return map[string]cty.Value{"from": cty.StringVal(from), "path": cty.StringVal("out"), "format": cty.StringVal("json"), "mode": cty.StringVal(mode)}
}

func TestSinkModes(t *testing.T) {
	for _, c := range []struct{ from, mode, complaint string }{
		{"stream.x", "append", ""},
		{"source.files.x", "append", ""},
		{"source.files.x.malformed", "append", ""},
		{"view.x", "replace", ""},
		{"view.x", "append", "cannot be appended"},
		{"stream.x", "replace", "Only a view"},
	} {
		_, err := openSink(t, t.TempDir(), values(c.from, c.mode))
		if c.complaint == "" {
			require.NoError(t, err, "%s %s", c.from, c.mode)
			continue
		}
		var user *connector.UserError
		require.ErrorAs(t, err, &user)
		require.Contains(t, user.Summary, c.complaint)
	}
}

func TestAppendNames(t *testing.T) {
	dir := t.TempDir()
	s, err := openSink(t, dir, values("stream.x", "append"))
	require.NoError(t, err)
	stager := &conformance.Stager{DB: duckdb(t)}
	st, err := s.Stage(context.Background(), delivery(12, "(SELECT 1 AS a)"), stager)
	require.NoError(t, err)
	receipt, err := s.Publish(context.Background(), st)
	require.NoError(t, err)
	require.Equal(t, connector.Receipt{"file": "epoch-1-0000000012.json", "rows": int64(1)}, receipt)
	require.Equal(t, []string{"epoch-1-0000000012.json"}, names(t, dir))

	_, err = s.Stage(context.Background(), delivery(12, "(SELECT 1 AS a)"), stager)
	var user *connector.UserError
	require.ErrorAs(t, err, &user, "an epoch that was published is never staged again by the same pipeline")

	st, err = s.Stage(context.Background(), delivery(13, "(SELECT 1 AS a WHERE false)"), stager)
	require.NoError(t, err)
	_, err = s.Publish(context.Background(), st)
	require.NoError(t, err)
	require.Equal(t, []string{"epoch-1-0000000012.json"}, names(t, dir), "no rows, no file")
}

// names lists what the sink's folder holds, hidden names too.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "out"))
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestReplaceRefusesForeignFiles(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	require.NoError(t, os.Mkdir(out, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(out, "data.json"), []byte("{}\n"), 0o666))
	s, err := openSink(t, dir, values("view.x", "replace"))
	require.NoError(t, err)
	_, err = s.Stage(context.Background(), delivery(1, "(SELECT 1 AS a)"), &conformance.Stager{DB: duckdb(t)})
	var user *connector.UserError
	require.ErrorAs(t, err, &user)
	require.Contains(t, user.Detail, "data.json")
	text, err := os.ReadFile(filepath.Join(out, "data.json"))
	require.NoError(t, err)
	require.Equal(t, "{}\n", string(text))
}

// What a sink delivered may be altered or removed by others: it says so instead of writing a wrong whole.
func TestReplaceNoticesTampering(t *testing.T) {
	for name, tamper := range map[string]func(t *testing.T, out string){
		"rows removed": func(t *testing.T, out string) {
			require.NoError(t, os.Remove(filepath.Join(out, ".data.rows.parquet")))
		},
		"rows altered": func(t *testing.T, out string) {
			require.NoError(t, os.WriteFile(filepath.Join(out, ".data.rows.parquet"), nil, 0o666))
		},
		"folder removed": func(t *testing.T, out string) { require.NoError(t, os.RemoveAll(out)) },
		"ownership broken": func(t *testing.T, out string) {
			require.NoError(t, os.WriteFile(filepath.Join(out, ".streamform.json"), []byte("{"), 0o666))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := openSink(t, dir, values("view.x", "replace"))
			require.NoError(t, err)
			stager := &conformance.Stager{DB: duckdb(t)}
			st, err := s.Stage(context.Background(), delivery(1, "(SELECT 1 AS a)"), stager)
			require.NoError(t, err)
			receipt, err := s.Publish(context.Background(), st)
			require.NoError(t, err)
			tamper(t, filepath.Join(dir, "out"))
			next := delivery(2, "(SELECT 2 AS a)")
			next.Previous = receipt
			_, err = s.Stage(context.Background(), next, stager)
			var user *connector.UserError
			require.ErrorAs(t, err, &user)
		})
	}
}

func TestLostStagedFile(t *testing.T) {
	dir := t.TempDir()
	s, err := openSink(t, dir, values("stream.x", "append"))
	require.NoError(t, err)
	st, err := s.Stage(context.Background(), delivery(1, "(SELECT 1 AS a)"), &conformance.Stager{DB: duckdb(t)})
	require.NoError(t, err)
	for _, n := range names(t, dir) {
		require.NoError(t, os.Remove(filepath.Join(dir, "out", n)))
	}
	_, err = s.Publish(context.Background(), st)
	var user *connector.UserError
	require.ErrorAs(t, err, &user, "never reported as delivered")
}

// A rename that fails leaves the delivery in the outbox: publishing again does it.
func TestRenameFails(t *testing.T) {
	for mode, final := range map[string]string{"append": "epoch-1-0000000001.json", "replace": "data.json"} {
		t.Run(mode, func(t *testing.T) {
			dir := t.TempDir()
			s, err := openSink(t, dir, values(map[string]string{"append": "stream.x", "replace": "view.x"}[mode], mode))
			require.NoError(t, err)
			st, err := s.Stage(context.Background(), delivery(1, "(SELECT 1 AS a)"), &conformance.Stager{DB: duckdb(t)})
			require.NoError(t, err)
			inTheWay := filepath.Join(dir, "out", final)
			require.NoError(t, os.Mkdir(inTheWay, 0o777))
			_, err = s.Publish(context.Background(), st)
			require.Error(t, err)
			require.NoError(t, os.Remove(inTheWay))
			_, err = s.Publish(context.Background(), st)
			require.NoError(t, err)
			text, err := os.ReadFile(inTheWay)
			require.NoError(t, err)
			require.Equal(t, "{\"a\":1}\n", string(text))
		})
	}
}

// What is asked for is what DuckDB finds in the files; other formats have no compression.
func TestSinkCompression(t *testing.T) {
	for compression, found := range map[string]string{"": "ZSTD", "snappy": "SNAPPY", "gzip": "GZIP", "uncompressed": "UNCOMPRESSED"} {
		dir := t.TempDir()
		more := values("stream.x", "append")
		more["format"] = cty.StringVal("parquet")
		if compression != "" {
			more["compression"] = cty.StringVal(compression)
		}
		s, err := openSink(t, dir, more)
		require.NoError(t, err)
		db := duckdb(t)
		st, err := s.Stage(context.Background(), delivery(1, "(SELECT 1 AS a)"), &conformance.Stager{DB: db})
		require.NoError(t, err)
		_, err = s.Publish(context.Background(), st)
		require.NoError(t, err)
		var codec string
		require.NoError(t, db.QueryRow("SELECT compression FROM parquet_metadata('"+filepath.Join(dir, "out", "*.parquet")+"')").Scan(&codec))
		require.Equal(t, found, codec)
	}
	more := values("stream.x", "append")
	more["compression"] = cty.StringVal("gzip")
	_, err := openSink(t, t.TempDir(), more)
	var user *connector.UserError
	require.ErrorAs(t, err, &user)
	require.Equal(t, "Only Parquet files are compressed", user.Summary)
}
