package lang_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
)

// loadFiles loads a folder of files without mistakes.
func loadFiles(t testing.TB, files map[string]string) *lang.Config {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	cfg, ds := lang.Load(".", lang.Options{Kinds: kinds(), WorkDir: dir})
	require.Empty(t, ds)
	return cfg
}

func sqlOf(t testing.TB, cfg *lang.Config) lang.SQL {
	t.Helper()
	for _, r := range cfg.Resources {
		if r.Addr.String() == "view.v" {
			return r.SQL[0]
		}
	}
	t.Fatal("no view.v")
	return lang.SQL{}
}

// cut is what a range covers.
func cut(cfg *lang.Config, r diag.Range) string {
	return string(cfg.Files[r.Filename][r.Start.Byte:r.End.Byte])
}

func TestLocate(t *testing.T) {
	const q = "`" // Go's raw strings cannot hold one
	cases := map[string]struct {
		main  string // the value of sql
		other string // q.sql
		find  string // in the final text
		want  string // what the place covers; empty: the same as find
		at    string // the place
	}{
		"quoted":                   {main: `"SELECT bad FROM t"`, find: "bad", at: "main.sf.hcl:3,17-20"},
		"quoted, escapes":          {main: `"SELECT \"a\",\n\tbad, 'é\u00e9 \U0001F600' c"`, find: "bad", at: "main.sf.hcl:3,27-30"},
		"an escape":                {main: `"SELECT \"a\""`, find: `"`, want: `\"`, at: "main.sf.hcl:3,17-19"},
		"behind escapes":           {main: `"SELECT '\u00e9\\' bad"`, find: "bad", at: "main.sf.hcl:3,28-31"},
		"wide characters":          {main: `"SELECT '日本語👩‍👩‍👧' AS bad"`, find: "bad", at: "main.sf.hcl:3,27-30"},
		"combining characters":     {main: "\"SELECT 'e\u0301' AS bad\"", find: "bad", at: "main.sf.hcl:3,24-27"},
		"a composed character":     {main: "\"SELECT 'e\u0301' AS x\"", find: "é", want: "e\u0301", at: "main.sf.hcl:3,18-19"},
		"template escapes":         {main: `"SELECT '$${x} %%{y}' bad"`, find: "bad", at: "main.sf.hcl:3,31-34"},
		"a template escape":        {main: `"SELECT '$${x}'"`, find: "${", want: "$${", at: "main.sf.hcl:3,18-21"},
		"plain heredoc":            {main: "<<SQL\n  SELECT\n    bad\nSQL", find: "bad", at: "main.sf.hcl:5,5-8"},
		"indented heredoc":         {main: "<<-SQL\n    SELECT 1,\n      bad\n    FROM t\n  SQL", find: "bad", at: "main.sf.hcl:5,7-10"},
		"heredoc, tabs":            {main: "<<-SQL\n\t\tSELECT 1,\n\t\t\tbad\n\tSQL", find: "bad", at: "main.sf.hcl:5,4-7"},
		"heredoc, blank lines":     {main: "<<-SQL\n    SELECT 1,\n\n  \n    bad\n  SQL", find: "bad", at: "main.sf.hcl:7,5-8"},
		"heredoc, first line":      {main: "<<-SQL\n    bad\n  SQL", find: "bad", at: "main.sf.hcl:4,5-8"},
		"heredoc, two lines":       {main: "<<-SQL\n    SELECT bad\n     AS good\n  SQL", find: "bad\n AS", want: "bad\n     AS", at: "main.sf.hcl:4,12-5,8"},
		"heredoc, multibyte":       {main: "<<-SQL\n    SELECT 'größe ✓', bad\n  SQL", find: "bad", at: "main.sf.hcl:4,23-26"},
		"heredoc, combining":       {main: "<<-SQL\n    SELECT 1\n    'e\u0301', bad\n  SQL", find: "bad", at: "main.sf.hcl:5,10-13"},
		"heredoc, backslash":       {main: "<<-SQL\n    SELECT '\\n', bad\n  SQL", find: "bad", at: "main.sf.hcl:4,18-21"},
		"heredoc, template escape": {main: "<<-SQL\n    SELECT '$${a}', bad\n      , x\n  SQL", find: "bad", at: "main.sf.hcl:4,21-24"},
		"heredoc, interpolation":   {main: "<<-SQL\n    SELECT ${local.long}, bad\n      FROM t\n  SQL", find: "bad", at: "main.sf.hcl:4,27-30"},
		"next line after one":      {main: "<<-SQL\n    SELECT ${local.long},\n      bad\n  SQL", find: "bad", at: "main.sf.hcl:5,7-10"},
		"line begins with one":     {main: "<<-SQL\n    SELECT\n      ${local.long}, bad\n  SQL", find: "bad", at: "main.sf.hcl:5,22-25"},
		"an interpolation":         {main: "<<-SQL\n    SELECT ${upper(\"bad\")} x\n  SQL", find: "BAD", want: `upper("bad")`, at: "main.sf.hcl:4,14-26"},
		"inside an interpolation":  {main: `"SELECT ${"x bad"}"`, find: "bad", at: "main.sf.hcl:3,22-25"},
		"a number":                 {main: `"SELECT ${1 + 41} bad"`, find: "42", want: "1 + 41", at: "main.sf.hcl:3,19-25"},
		"only an interpolation":    {main: `"${local.query}"`, find: "bad", at: "main.sf.hcl:10,12-15"},
		"local heredoc":            {main: "local.query", find: "bad", at: "main.sf.hcl:10,12-15"},
		"part of a local":          {main: `"WITH x AS (${local.query}) SELECT 1"`, find: "bad", at: "main.sf.hcl:10,12-15"},
		"parentheses":              {main: `("SELECT bad")`, find: "bad", at: "main.sf.hcl:3,18-21"},
		"chosen":                   {main: `local.yes ? "SELECT bad" : "x"`, find: "bad", at: "main.sf.hcl:3,29-32"},
		"chosen, otherwise":        {main: `!local.yes ? "x" : "SELECT bad"`, find: "bad", at: "main.sf.hcl:3,36-39"},
		"directive":                {main: "<<-SQL\n    SELECT\n    %{ if local.yes }bad%{ else }x%{ endif }\n  SQL", find: "bad", at: "main.sf.hcl:5,22-25"},
		"stripped by markers":      {main: "<<-SQL\n    SELECT\n    %{~ if local.yes ~}\n      bad\n    %{~ endif ~}\n  SQL", find: "bad", at: "main.sf.hcl:6,7-10"},
		"marker in a quoted text":  {main: `"SELECT ${local.long ~}   bad"`, find: "bad", at: "main.sf.hcl:3,35-38"},
		"file":                     {main: `file("q.sql")`, other: "SELECT\n  'é', bad\nFROM t\n", find: "bad", at: "q.sql:2,8-11"},
		"file, combining":          {main: `file("q.sql")`, other: "SELECT 'e\u0301' AS bad", find: "bad", at: "q.sql:1,15-18"},
		"file, carriage returns":   {main: `file("q.sql")`, other: "SELECT\r\n  bad\r\n", find: "bad", at: "q.sql:2,3-6"},
		"file in a template":       {main: `"${file("q.sql")} LIMIT 1"`, other: "SELECT\n bad", find: "bad", at: "q.sql:2,2-5"},
		"file, computed name":      {main: `file("${path.module}/q.sql")`, other: "SELECT bad", find: "bad", at: "q.sql:1,8-11"},
		"template file":            {main: `templatefile("q.sql", { x = "bad" })`, other: "SELECT ${x}", find: "bad", want: `templatefile("q.sql", { x = "bad" })`, at: "main.sf.hcl:3,9-45"},
		"computed":                 {main: `join(" ", ["SELECT", "bad"])`, find: "bad", want: `join(" ", ["SELECT", "bad"])`, at: "main.sf.hcl:3,9-37"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			main := "# " + q + "\nview \"v\" {\n  sql = " + c.main + "\n}\nlocals {\n  long = \"a_long_name\"\n  yes = true\n  query = <<-EOT\n    -- é\n    SELECT bad\n  EOT\n}\n"
			if pad := strings.Count(c.main, "\n"); strings.Contains(c.main, "local.query") {
				require.Zero(t, pad)
			}
			cfg := loadFiles(t, map[string]string{"main.sf.hcl": main, "q.sql": c.other})
			sql := sqlOf(t, cfg)
			start := strings.Index(sql.Text, c.find)
			require.GreaterOrEqual(t, start, 0, sql.Text)
			got := sql.Locate(start, start+len(c.find))
			want := c.want
			if want == "" {
				want = c.find
			}
			require.Equal(t, want, cut(cfg, got))
			require.Equal(t, c.at, got.String())
		})
	}
}

func TestLocateAtTheEdges(t *testing.T) {
	cfg := loadFiles(t, map[string]string{"main.sf.hcl": "view \"v\" {\n  sql = \"SELECT 1\"\n}\n"})
	sql := sqlOf(t, cfg)
	for _, c := range []struct {
		start, end int
		want       string
	}{
		{0, 0, "main.sf.hcl:2,10-10"}, {8, 8, "main.sf.hcl:2,18-18"}, {0, 8, "main.sf.hcl:2,10-18"},
		{-5, 100, "main.sf.hcl:2,10-18"}, {100, 200, "main.sf.hcl:2,18-18"}, {5, 2, "main.sf.hcl:2,15-15"},
	} {
		require.Equal(t, c.want, sql.Locate(c.start, c.end).String())
	}
}

func TestCarriageReturns(t *testing.T) {
	main := "view \"v\" {\r\n  sql = <<-SQL\r\n    SELECT 1,\r\n      bad\r\n  SQL\r\n}\r\n"
	cfg := loadFiles(t, map[string]string{"main.sf.hcl": main})
	sql := sqlOf(t, cfg)
	start := strings.Index(sql.Text, "bad")
	got := sql.Locate(start, start+3)
	require.Equal(t, "bad", cut(cfg, got))
	require.Equal(t, "main.sf.hcl:4,7-10", got.String())
}

func TestByteOrderMark(t *testing.T) {
	cfg := loadFiles(t, map[string]string{"main.sf.hcl": "\xef\xbb\xbfview \"v\" {\n  sql = <<-SQL\n    SELECT bad\n  SQL\n}\n"})
	sql := sqlOf(t, cfg)
	got := sql.Locate(7, 10)
	require.Equal(t, "main.sf.hcl:3,12-15", got.String())
	require.Equal(t, "bad", cut(cfg, got))
}

// Whatever is written between the quotes or the heredoc's markers, every character of
// the text is found at a place that stands for it, and places never go back.
func TestLocateProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "bad", " ", "\n", "\n    ", "\t", "é", "e\u0301", "日", "$${", "%%{", "'", "😀", "${local.long}", "${local.long ~} ", " ${~ local.long}"}
	for range 400 {
		var b strings.Builder
		b.WriteString("    x")
		for range rng.IntN(12) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		body := b.String()
		value := "<<-SQL\n" + body + "\n  SQL"
		if rng.IntN(2) == 0 {
			value = `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(body) + `"`
		}
		cfg := loadFiles(t, map[string]string{"main.sf.hcl": "locals { long = \"L0NG\" }\nview \"v\" {\n  sql = " + value + "\n}\n"})
		sql := sqlOf(t, cfg)
		last := -1
		for i, r := range sql.Text {
			got := sql.Locate(i, i+utf8.RuneLen(r))
			place := cut(cfg, got)
			if strings.ContainsRune("L0NG", r) { // the local's own text, on line 1
				require.Equal(t, []any{1, string(r)}, []any{got.Start.Line, place})
				continue
			}
			require.GreaterOrEqual(t, got.Start.Byte, last, "%s: %q at %d", value, sql.Text, i)
			last = got.Start.Byte
			stands := norm.NFC.String(place)
			switch {
			case r == '\n' && place == `\n`, r == '\t' && place == `\t`, stands == "$${" || stands == "%%{":
			default:
				require.Equal(t, string(r), stands, "%s: %q at %d", value, sql.Text, i)
			}
		}
	}
}
