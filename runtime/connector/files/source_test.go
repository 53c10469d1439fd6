package files_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
	"github.com/streamform/streamform/runtime/connector/files"
)

// attributes of a source besides path and format.
type attributes map[string]cty.Value

// noon is when the tests happen.
func noon() time.Time { return time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC) }

func openSource(t *testing.T, dir, path string, more attributes) (connector.Source, error) {
	t.Helper()
	all := attributes{"path": cty.StringVal(path), "format": cty.StringVal("json")}
	for name, v := range more {
		all[name] = v
	}
	d := files.SourceDefinition()
	return d.Source(context.Background(), bind(t, d.Kind, all), connector.Env{Dir: dir, Now: noon})
}

// put writes a file with a modification time so many minutes before noon.
func put(t *testing.T, dir, name string, minutes int) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(name), 0o666))
	at := noon().Add(-time.Duration(minutes) * time.Minute)
	require.NoError(t, os.Chtimes(path, at, at))
}

// listing is what a fresh source finds, as paths relative to dir.
func listing(t *testing.T, dir, path string, more attributes) []string {
	t.Helper()
	s, err := openSource(t, dir, path, more)
	require.NoError(t, err)
	return relative(t, dir, discover(t, s, conformance.NewLedger()))
}

func discover(t *testing.T, s connector.Source, l *conformance.Ledger) []connector.Entry {
	t.Helper()
	entries, err := s.Discover(context.Background(), l)
	require.NoError(t, err)
	return entries
}

func relative(t *testing.T, dir string, entries []connector.Entry) []string {
	t.Helper()
	out := []string{}
	for _, e := range entries {
		rel, err := filepath.Rel(dir, e.Path)
		require.NoError(t, err)
		out = append(out, filepath.ToSlash(rel))
	}
	return out
}

func TestSourceConformance(t *testing.T) {
	conformance.Source(t, func(t *testing.T) conformance.SourceCase {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name+".json") }
		write := func(name, text string) func(t *testing.T) {
			return func(t *testing.T) { require.NoError(t, os.WriteFile(path(name), []byte(text), 0o666)) }
		}
		return conformance.SourceCase{
			Open: func(t *testing.T) connector.Source {
				s, err := openSource(t, dir, ".", nil)
				require.NoError(t, err)
				return s
			},
			Add:    func(t *testing.T, name string) { write(name, "{}")(t) },
			Change: func(t *testing.T, name string) { write(name, `{"a":1}`)(t) },
			Remove: func(t *testing.T, name string) { require.NoError(t, os.Remove(path(name))) },
		}
	})
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"in/a.json", "in/b.json.gz", "in/c.csv", "in/2024/05/d.json", "in/2024/06/e.json", "in/2025/f.json",
		"in/.hidden.json", "in/_committed", "in/_tmp/g.json", "in/h.json.tmp", "in/h.json.crc", "in/we[i]rd/i.json", "elsewhere/j.json"} {
		put(t, dir, name, 100-i)
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o777))
	visible := []string{"in/a.json", "in/b.json.gz", "in/c.csv", "in/2024/05/d.json", "in/2024/06/e.json", "in/2025/f.json", "in/we[i]rd/i.json"}
	list := func(texts ...string) cty.Value {
		var v []cty.Value
		for _, s := range texts {
			v = append(v, cty.StringVal(s))
		}
		return cty.ListVal(v)
	}
	for _, c := range []struct {
		name, path string
		more       attributes
		want       []string
	}{
		{"a folder with all below it", "in", nil, visible},
		{"a closing slash", "in/", nil, visible},
		{"an absolute path", filepath.Join(dir, "in"), nil, visible},
		{"an empty folder", "empty", nil, []string{}},
		{"one file", "in/a.json", nil, []string{"in/a.json"}},
		{"one hidden file, named", "in/.hidden.json", nil, []string{"in/.hidden.json"}},
		{"a glob of files", "in/*.json", nil, []string{"in/a.json"}},
		{"a glob that matches nothing", "in/*.parquet", nil, []string{}},
		{"a glob of folders reads all below", "in/20*", nil, []string{"in/2024/05/d.json", "in/2024/06/e.json", "in/2025/f.json"}},
		{"a glob in the middle", "in/*/05/*.json", nil, []string{"in/2024/05/d.json"}},
		{"any depth", "in/**/*.json", nil, []string{"in/a.json", "in/2024/05/d.json", "in/2024/06/e.json", "in/2025/f.json", "in/we[i]rd/i.json"}},
		{"any depth at the end", "in/2024/**", nil, []string{"in/2024/05/d.json", "in/2024/06/e.json"}},
		{"alternatives", "in/{a.json,c.*,2025/*}", nil, []string{"in/a.json", "in/c.csv", "in/2025/f.json"}},
		{"a class", "in/202[5-9]", nil, []string{"in/2025/f.json"}},
		{"one character", "in/202?/f.json", nil, []string{"in/2025/f.json"}},
		{"what exists is meant as it is written", "in/we[i]rd", nil, []string{"in/we[i]rd/i.json"}},
		{"exclude by name at any depth", "in", attributes{"exclude": list("*.json")}, []string{"in/b.json.gz", "in/c.csv"}},
		{"exclude a folder", "in", attributes{"exclude": list("2024", "we*")}, []string{"in/a.json", "in/b.json.gz", "in/c.csv", "in/2025/f.json"}},
		{"exclude from the root", "in", attributes{"exclude": list("2024/0{5,7}/*", "/a.json")}, []string{"in/b.json.gz", "in/c.csv", "in/2024/06/e.json", "in/2025/f.json", "in/we[i]rd/i.json"}},
		{"hidden ones too", "in", attributes{"include_hidden": cty.True, "exclude": list("202?", "we*")},
			[]string{"in/a.json", "in/b.json.gz", "in/c.csv", "in/.hidden.json", "in/_committed", "in/_tmp/g.json", "in/h.json.tmp", "in/h.json.crc"}},
		{"by name", "in", attributes{"order": cty.StringVal("name")}, slices.Sorted(slices.Values(visible))},
		{"modified after, exclusive", "in", attributes{"modified_after": cty.StringVal("2024-05-01T10:23:00Z")}, []string{"in/2024/06/e.json", "in/2025/f.json", "in/we[i]rd/i.json"}},
		{"modified before, exclusive", "in", attributes{"modified_before": cty.StringVal("2024-05-01 10:22")}, []string{"in/a.json", "in/b.json.gz"}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, listing(t, dir, c.path, c.more)) })
	}
}

func TestSameTimesAreOrderedByPath(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a", "d/c", "Z"} {
		put(t, dir, name, 5)
	}
	put(t, dir, "first", 6)
	require.Equal(t, []string{"first", "Z", "a", "b", "d/c"}, listing(t, dir, ".", nil))
}

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "in/a.json", 3)
	put(t, dir, "other/b.json", 2)
	for name, to := range map[string]string{"in/linked.json": "../other/b.json", "in/folder": "../other", "in/loop": ".", "in/deep": "..",
		"in/nothing": "missing", "in/self": "self"} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, name)))
	}
	require.NoError(t, os.Symlink("../in", filepath.Join(dir, "other", "back")))
	require.ElementsMatch(t, []string{"in/a.json", "in/linked.json", "in/folder/b.json"}, func() (plain []string) {
		for _, p := range listing(t, dir, "in", attributes{"exclude": cty.ListVal([]cty.Value{cty.StringVal("deep")})}) {
			plain = append(plain, p)
		}
		return plain
	}())
	require.NotEmpty(t, listing(t, dir, "in", nil), "a link to a folder above ends")
}

func TestMissingPaths(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "file", 0)
	for _, path := range []string{"gone", "gone/*.json", "file/below"} {
		s, err := openSource(t, dir, path, nil)
		require.NoError(t, err)
		_, err = s.Discover(context.Background(), conformance.NewLedger())
		var user *connector.UserError
		require.ErrorAs(t, err, &user, path)
		require.Contains(t, user.Detail, dir, "it says where it looked")
		require.Contains(t, user.Detail, "Create it", "and what to do")
	}
}

func TestUnreadableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	dir := t.TempDir()
	put(t, dir, "in/closed/a.json", 0)
	require.NoError(t, os.Chmod(filepath.Join(dir, "in", "closed"), 0))
	t.Cleanup(func() { require.NoError(t, os.Chmod(filepath.Join(dir, "in", "closed"), 0o777)) })
	s, err := openSource(t, dir, "in", nil)
	require.NoError(t, err)
	_, err = s.Discover(context.Background(), conformance.NewLedger())
	var user *connector.UserError
	require.ErrorAs(t, err, &user)
	require.Contains(t, user.Detail, "closed")
}

func TestSettle(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "old", 10)
	put(t, dir, "young", 1)
	require.Equal(t, []string{"old"}, listing(t, dir, ".", attributes{"settle": cty.StringVal("5m")}))
	require.Equal(t, []string{"old", "young"}, listing(t, dir, ".", attributes{"settle": cty.StringVal("1m")}))
}

func TestIncludeExisting(t *testing.T) {
	later := attributes{"include_existing": cty.False, "settle": cty.StringVal("1h")}
	t.Run("what is there is entered and never read", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, "there", 5)
		s, err := openSource(t, dir, ".", later)
		require.NoError(t, err)
		l := conformance.NewLedger()
		l.Commit(discover(t, s, l))
		require.Equal(t, connector.Skipped, l.Entry(1).Status, "also one that has not settled")
		put(t, dir, "new", 90)
		require.Equal(t, []string{"new"}, relative(t, dir, discover(t, s, l)))
		put(t, dir, "there", 91)
		require.Equal(t, []string{"there", "new"}, relative(t, dir, discover(t, s, l)), "a new version was not there")
	})
	t.Run("an empty folder", func(t *testing.T) {
		dir := t.TempDir()
		s, err := openSource(t, dir, ".", later)
		require.NoError(t, err)
		l := conformance.NewLedger()
		l.Commit(discover(t, s, l))
		require.Empty(t, l.Pending())
		put(t, dir, "new", 90)
		require.Equal(t, []string{"new"}, relative(t, dir, discover(t, s, l)))
	})
}

func TestOverwritten(t *testing.T) {
	for _, c := range []struct {
		policy, status string // of the entry before
		want           []string
	}{
		{"ignore", connector.Read, []string{"1 overwritten"}},
		{"append", connector.Read, []string{"2 pending"}},
		{"fail", connector.Read, nil},
		{"ignore", connector.Malformed, []string{"2 pending"}},
		{"fail", connector.Malformed, []string{"2 pending"}},
		{"fail", connector.Pending, []string{"1 pending"}},
		{"fail", connector.Vanished, []string{"2 pending"}},
		{"ignore", connector.Overwritten, []string{"1 overwritten"}},
		{"append", connector.Overwritten, []string{"2 pending"}},
	} {
		t.Run(c.policy+" after "+c.status, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "x.json", 10)
			s, err := openSource(t, dir, "x.json", attributes{"on_overwrite": cty.StringVal(c.policy)})
			require.NoError(t, err)
			l := conformance.NewLedger()
			l.Commit(discover(t, s, l))
			l.Mark(1, c.status)
			put(t, dir, "x.json", 9)
			entries, err := s.Discover(context.Background(), l)
			if c.want == nil {
				var user *connector.UserError
				require.ErrorAs(t, err, &user)
				require.Contains(t, user.Detail, "on_overwrite")
				return
			}
			require.NoError(t, err)
			var got []string
			for _, e := range entries {
				got = append(got, fmt.Sprint(e.Ordinal, " ", e.Status))
				require.NoError(t, s.Verify(context.Background(), e), "an entry shows the version there is")
			}
			require.Equal(t, c.want, got)
			l.Commit(entries)
			require.Empty(t, discover(t, s, l), "once")
		})
	}
}

func TestAFileThatMayBeOpenedAgainIsRead(t *testing.T) {
	for why, again := range map[string]bool{"open x.json: permission denied": true, "malformed JSON near byte 3": false} {
		dir := t.TempDir()
		put(t, dir, "x.json", 10)
		s, err := openSource(t, dir, "x.json", nil)
		require.NoError(t, err)
		l := conformance.NewLedger()
		entries := discover(t, s, l)
		entries[0].Status, entries[0].Error = connector.Malformed, why
		l.Commit(entries)
		err = s.Verify(context.Background(), entries[0])
		found := discover(t, s, l)
		if !again {
			require.NoError(t, err)
			require.Empty(t, found)
			continue
		}
		require.ErrorIs(t, err, connector.ErrChanged, "a replay must not read what the live rows do not have")
		require.Len(t, found, 1)
		require.Equal(t, int64(2), found[0].Ordinal)
		l.Commit(found)
		require.Empty(t, discover(t, s, l), "once")
	}
}

func TestScan(t *testing.T) {
	s, err := openSource(t, t.TempDir(), ".", attributes{
		"format": cty.StringVal("csv"), "columns": cty.MapVal(map[string]cty.Value{"b": cty.StringVal("DATE"), "a": cty.StringVal("BIGINT")}),
		"format_options": cty.MapVal(map[string]cty.Value{"delim": cty.StringVal(";")}), "max_bytes_per_epoch": cty.StringVal("50MB"),
		"metadata": cty.ListVal([]cty.Value{cty.StringVal("_file_name")}), "on_malformed": cty.StringVal("drop"),
	})
	require.NoError(t, err)
	scan, limits := s.Scan()
	require.Equal(t, connector.Limits{MaxFiles: 1000, MaxBytes: 50_000_000}, limits)
	require.Equal(t, batch.Scan{
		Format:  batch.Format{Name: "csv", Options: map[string]string{"delim": ";"}},
		Columns: batch.Schema{{Name: "a", Type: "BIGINT"}, {Name: "b", Type: "DATE"}}, Metadata: []string{"_file_name"},
		OnMalformed: "drop", InferFiles: 1000, InferBytes: 1 << 30, InferTypes: true,
	}, scan)
}

// complaint is what completing a block with one attribute says about it.
func complaint(t *testing.T, kind schema.Kind, name string, v cty.Value) string {
	t.Helper()
	values := map[string]cty.Value{"path": cty.StringVal("in"), "format": cty.StringVal("json"), name: v}
	_, errs := kind.Complete(cty.ObjectVal(values))
	var texts []string
	for _, e := range errs {
		texts = append(texts, e.Summary+": "+e.Detail)
	}
	return strings.Join(texts, "\n")
}

func TestValuesAreChecked(t *testing.T) {
	text := func(s string) cty.Value { return cty.StringVal(s) }
	pair := func(k, v string) cty.Value { return cty.MapVal(map[string]cty.Value{k: text(v)}) }
	list := func(s string) cty.Value { return cty.ListVal([]cty.Value{text(s)}) }
	for _, c := range []struct {
		name  string
		value cty.Value
		says  string // empty: it is fine
	}{
		{"path", text("in/*.json"), ""},
		{"path", text(" "), "must name a folder"},
		{"path", text("s3://bucket/in"), "not read in this version"},
		{"path", text("in/[a"), "[...] is not closed"},
		{"path", text("in/{a"), "{ is not closed"},
		{"path", text("in/a}"), "} without a {"},
		{"path", text("in/" + strings.Repeat("{a,b}", 11)), "1000 alternatives"},
		{"format", text("parquet"), ""},
		{"format", text("orc"), "not read in this version"},
		{"format", text("avro"), "not read in this version"},
		{"format", text("JSON"), `Did you mean "json"?`},
		{"format", text("jsno"), `Did you mean "json"?`},
		{"format_options", pair("delim", ";"), ""},
		{"format_options", pair("delimiter", ";"), "Use delim."},
		{"format_options", pair("heder", "true"), `Did you mean "header"?`},
		{"format_options", pair("ignore_errors", "true"), "on_malformed"},
		{"format_options", pair("dateformat", "%d/%m/%Y"), "strptime"},
		{"columns", pair("a", "BIGINT"), ""},
		{"columns", pair("a", " "), `"a" has no type`},
		{"columns", pair("", "BIGINT"), "no name"},
		{"columns", cty.MapVal(map[string]cty.Value{"a": text("DATE"), "A": text("DATE")}), "differ only in case"},
		{"columns", cty.MapValEmpty(cty.String), "lists no column"},
		{"exclude", list("*.bak"), ""},
		{"exclude", list("[z-"), "not a valid glob"},
		{"exclude", list(""), "must not be empty"},
		{"metadata", list("_file_name"), ""},
		{"metadata", list("file_name"), `Did you mean "_file_name"?`},
		{"modified_after", text("2024-05-01"), ""},
		{"modified_after", text("yesterday"), "not a time"},
		{"order", text("newest"), "not possible here"},
		{"max_files_per_epoch", cty.NumberIntVal(0), "at least 1"},
		{"settle", text("-1s"), "not a duration"},
		{"on_overwrite", text("replace"), "not possible here"},
		{"on_malformed", text("ignore"), "not possible here"},
		{"schema_evolution", text("rescue"), ""},
		{"schema_evolution", text("add_columns"), "\"propose\" keeps the values"},
		{"schema_evolution", text("fail_on_new"), "none of \"propose\""},
		{"cleanup", text("x"), "cleanup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := complaint(t, files.SourceDefinition().Kind, c.name, c.value)
			if c.says == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, c.says)
		})
	}
}

func TestFormatOptionsFitTheFormat(t *testing.T) {
	for _, c := range []struct{ format, option, value, says string }{
		{"csv", "delim", "|", ""},
		{"csv", "nullstr", "", ""},
		{"csv", "header", "yes", "true, false"},
		{"csv", "quote", "ab", "0 to 1 characters"},
		{"csv", "skip", "-1", "at least 0"},
		{"json", "format", "array", ""},
		{"csv", "delim", "||", "exactly 1 character"},
		{"json", "delim", "|", "Possible are format"},
		{"json", "maximum_object_size", "many", "whole number"},
		{"parquet", "header", "true", "Possible are binary_as_string"},
	} {
		t.Run(c.format+" "+c.option, func(t *testing.T) {
			_, err := openSource(t, t.TempDir(), ".", attributes{"format": cty.StringVal(c.format),
				"format_options": cty.MapVal(map[string]cty.Value{c.option: cty.StringVal(c.value)})})
			if c.says == "" {
				require.NoError(t, err)
				return
			}
			var user *connector.UserError
			require.ErrorAs(t, err, &user)
			require.Contains(t, user.Detail, c.says)
		})
	}
}

func TestKinds(t *testing.T) {
	for _, d := range []connector.Definition{files.SourceDefinition(), files.SinkDefinition()} {
		require.NoError(t, schema.CheckKind(d.Kind))
	}
}

// BenchmarkDiscover lists 100,000 files of which none is new.
func BenchmarkDiscover(b *testing.B) {
	dir := b.TempDir()
	for i := range 100_000 {
		path := filepath.Join(dir, fmt.Sprint(i%100))
		if i < 100 {
			require.NoError(b, os.Mkdir(path, 0o777))
		}
		require.NoError(b, os.WriteFile(filepath.Join(path, fmt.Sprint(i, ".json")), nil, 0o666))
	}
	d := files.SourceDefinition()
	value, errs := d.Kind.Complete(cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal(dir), "format": cty.StringVal("json")}))
	require.Empty(b, errs)
	cfg, err := d.Kind.Bind(value)
	require.NoError(b, err)
	s, err := d.Source(context.Background(), cfg, connector.Env{Now: noon})
	require.NoError(b, err)
	l := conformance.NewLedger()
	entries, err := s.Discover(context.Background(), l)
	require.NoError(b, err)
	require.Len(b, entries, 100_000)
	l.Commit(entries)
	for b.Loop() {
		entries, err := s.Discover(context.Background(), l)
		require.NoError(b, err)
		require.Empty(b, entries)
	}
}
