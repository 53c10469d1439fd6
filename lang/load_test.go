package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/stretchr/testify/require"
)

func TestFolders(t *testing.T) {
	root := t.TempDir()
	inner := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(inner, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(inner, "main.sf.hcl"), []byte(`output "o" { value = "${path.module} ${path.root} ${path.cwd}" }`), 0o600))
	for _, c := range []struct{ dir, workDir, want string }{
		{".", inner, ". . " + inner},
		{"a/b", root, "a/b a/b " + root},
		{inner, root, "a/b a/b " + root},
		{inner, filepath.Join(root, "c"), "../a/b ../a/b " + filepath.Join(root, "c")},
	} {
		cfg, ds := lang.Load(c.dir, lang.Options{WorkDir: c.workDir})
		require.Empty(t, ds)
		require.Equal(t, c.want, cfg.Outputs[0].Value.AsString())
	}
	_, ds := lang.Load("nowhere", lang.Options{WorkDir: root})
	require.Len(t, ds, 1)
	require.Equal(t, "The folder nowhere could not be read: it does not exist.", ds[0].Detail)
}

func TestTemplateFile(t *testing.T) {
	files := map[string]string{
		"main.sf.hcl": `output "o" { value = templatefile("t.txt", { names = ["a", "b"] }) }`,
		"t.txt":       "%{ for n in names ~}\n${upper(n)};\n%{ endfor ~}\n",
	}
	cfg := loadFiles(t, files)
	require.Equal(t, "A;\nB;\n", cfg.Outputs[0].Value.AsString())
	require.Contains(t, cfg.Files, "t.txt")
}

func TestFunctionsOfExpressions(t *testing.T) {
	cfg := loadFiles(t, map[string]string{"main.sf.hcl": `
locals { o = { a = 1 } }
output "try" { value = try(local.o.b, "none") }
output "can" { value = can(local.o.b) }
output "cond" { value = false && local.o.b }
`})
	var got []string
	for _, o := range cfg.Outputs {
		got = append(got, o.Name+"="+text(t, o.Value))
	}
	require.Equal(t, []string{"can=false", "cond=false", `try="none"`}, got)
}

func TestParseVar(t *testing.T) {
	in, err := lang.ParseVar("a=b=c ")
	require.NoError(t, err)
	require.Equal(t, lang.VarInput{Name: "a", Text: "b=c "}, in)
	for _, bad := range []string{"a", "=b", "1a=b", "", "a b=c"} {
		_, err := lang.ParseVar(bad)
		require.Error(t, err, bad)
	}
}

func TestHash(t *testing.T) {
	const base = "view \"a\" {\n sql = \"SELECT 1\"\n}\nview \"b\" { sql = \"SELECT 2\" }\n"
	hash := func(files map[string]string) string { return lang.Hash(loadFiles(t, files)) }
	want := hash(map[string]string{"main.sf.hcl": base})
	for name, same := range map[string]map[string]string{
		"reordered, reformatted": {"x.sf.hcl": "view \"b\" {\n  sql   = \"SELECT 2\" # why\n}", "a.sf.hcl": `view "a" { sql = "SELECT ${1}" }`},
		"default spelled out":    {"main.sf.hcl": strings.Replace(base, "sql =", "description = null\n sql =", 1)},
		"from a file":            {"main.sf.hcl": strings.Replace(base, `"SELECT 1"`, `file("q.sql")`, 1), "q.sql": "SELECT 1"},
	} {
		require.Equal(t, want, hash(same), name)
	}
	for name, other := range map[string]string{
		"sql":             strings.Replace(base, "SELECT 1", "SELECT  1", 1),
		"name":            strings.Replace(base, `"b"`, `"c"`, 1),
		"prevent_destroy": strings.Replace(base, "sql =", "lifecycle {\n prevent_destroy = true\n}\n sql =", 1),
		"output":          base + `output "o" { value = 1 }`,
		"policy":          base + "plan_policy \"p\" {\n protect_sinks = true\n}",
		"backend":         base + "streamform {\n backend \"local\" {\n path = \"x\"\n }\n}",
	} {
		require.NotEqual(t, want, hash(map[string]string{"main.sf.hcl": other}), name)
	}
	one := hash(map[string]string{"main.sf.hcl": `output "o" { value = 1 }`})
	require.NotEqual(t, one, hash(map[string]string{"main.sf.hcl": `output "o" { value = "1" }`}))
}

// manyResources is a configuration of n resources that refer to each other.
func manyResources(n int) string {
	var b strings.Builder
	b.WriteString("variable \"limit\" { default = 5 }\nlocals { where = \"region = 'eu'\" }\n")
	for i := range n {
		if i%10 == 0 {
			fmt.Fprintf(&b, "source \"files\" \"s%d\" {\n  path   = \"in/%d\"\n  format = \"json\"\n  limit  = var.limit\n}\n", i, i)
			continue
		}
		fmt.Fprintf(&b, "view \"v%d\" {\n  sql = <<-SQL\n    SELECT a, count(*) AS n\n    FROM s%d WHERE ${local.where}\n    GROUP BY a\n  SQL\n  keys    = [\"a\"]\n  trigger = trigger.available_now.t\n}\n", i, i/10*10)
	}
	b.WriteString("trigger \"available_now\" \"t\" {}\n")
	return b.String()
}

// Ten times the resources take about ten times the time; a hundred times would be
// quadratic work. (BenchmarkLoad tells the time itself: the aim is one second.)
func TestLoadTenThousandResources(t *testing.T) {
	load := func(n int) time.Duration {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(manyResources(n)), 0o600))
		start := time.Now()
		cfg, ds := lang.Load(dir, lang.Options{Kinds: kinds()})
		took := time.Since(start)
		require.Empty(t, ds)
		require.Len(t, cfg.Resources, n+1)
		return took
	}
	small := max(load(1000), load(1000))
	require.Less(t, load(10_000), 40*small)
}

func TestTenThousandMistakes(t *testing.T) {
	dir := t.TempDir()
	text := strings.ReplaceAll(manyResources(10_000), "local.where", "local.were")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(text), 0o600))
	start := time.Now()
	cfg, ds := lang.Load(dir, lang.Options{Kinds: kinds()})
	require.Len(t, ds, 9000)
	var b strings.Builder
	require.NoError(t, diag.WriteText(&b, ds, cfg.Files, diag.Options{}))
	require.Less(t, time.Since(start), 20*time.Second)
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(manyResources(10_000)), 0o600))
	for b.Loop() {
		lang.Load(dir, lang.Options{Kinds: kinds()})
	}
}

// corpus is what the golden tests load.
func corpus(f *testing.F) {
	paths, err := filepath.Glob("testdata/load/*.txtar")
	require.NoError(f, err)
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(f, err)
		for _, file := range archive.Files {
			if strings.HasSuffix(file.Name, lang.Suffix) {
				f.Add(file.Data)
			}
		}
	}
}

// Whatever a file holds, Load does not panic, an incomplete Config is never without an
// error, and every place it names can be shown.
func FuzzLoad(f *testing.F) {
	corpus(f)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, src []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.sf.hcl"), src, 0o600))
		cfg, ds := lang.Load(".", lang.Options{Kinds: kinds(), WorkDir: dir, Version: "0.1.0"})
		var b strings.Builder
		require.NoError(t, diag.WriteText(&b, ds, cfg.Files, diag.Options{}))
		for _, d := range ds {
			require.NotEmpty(t, d.Summary)
			if d.Subject != nil {
				require.LessOrEqual(t, d.Subject.End.Byte, len(cfg.Files[d.Subject.Filename]))
			}
		}
		if ds.Failed() {
			return
		}
		lang.Hash(cfg)
		for _, r := range cfg.Resources {
			require.True(t, r.Value.IsWhollyKnown() && !r.Value.ContainsMarked())
			_, err := r.Kind.Bind(r.Value)
			require.NoError(t, err)
			for _, s := range r.SQL {
				for i := range s.Text {
					s.Locate(i, i+1)
				}
			}
		}
	})
}

// Commands that only need the state's place find it although other files are broken.
func TestSettingsOfBrokenConfigurations(t *testing.T) {
	const settings = "streamform {\n backend \"local\" {\n path = \"${var.x}.sfstate\"\n }\n required_version = \"%s\"\n}\nvariable \"x\" { default = \"s\" }\n"
	for name, c := range map[string]struct{ version, other, want string }{
		"syntax":  {">= 0.1", "view {", "Unclosed configuration block"},
		"version": {">= 9.0", "view \"v\" {}", "Unsupported streamform version"},
		"values":  {">= 0.1", "view \"v\" {}", "Missing required argument"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "a.sf.hcl"), fmt.Appendf(nil, settings, c.version), 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b.sf.hcl"), []byte(c.other), 0o600))
			cfg, ds := lang.Load(dir, lang.Options{Kinds: kinds(), Version: "0.1.0"})
			require.Equal(t, `{"path":"s.sfstate"}`, text(t, cfg.Settings.Backend.Value))
			require.Len(t, ds, 1)
			require.Equal(t, c.want, ds[0].Summary)
		})
	}
}

// A file in another encoding is one error, with the place, not one for each byte.
func TestFilesInOtherEncodings(t *testing.T) {
	for content, want := range map[string]string{
		"\xff\xfes\x00o\x00u\x00r\x00c\x00e\x00\n\x00": "in UTF-16",
		"# caf\xe9\nsource \"files\" \"x\" {}\n":       "not in UTF-8",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "main.sf.hcl"), []byte(content), 0o644))
		_, diags := lang.Load(dir, lang.Options{WorkDir: dir})
		require.Len(t, diags, 1)
		require.Equal(t, "Invalid character encoding", diags[0].Summary)
		require.Contains(t, diags[0].Detail, want)
		require.Equal(t, 1, diags[0].Subject.Start.Line)
	}
}
