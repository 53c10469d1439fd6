package scan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/table"
)

// both reads one file in both ways.
type both struct {
	t    *testing.T
	set  *table.Set
	path string
	n    int
}

func newBoth(t *testing.T) *both {
	c, err := duck.Open(t.Context(), "SET threads = 1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return &both{t: t, set: table.NewSet(c), path: t.TempDir()}
}

func (b *both) rows(sql string) ([]string, error) {
	text, err := b.set.Conn.Text(context.Background(), "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM ("+sql+")")
	var out []string
	for _, row := range text {
		line := ""
		for _, cell := range row {
			if cell == nil {
				line += "NULL|"
			} else {
				line += *cell + "|"
			}
		}
		out = append(out, line)
	}
	return out, err
}

// agree reports whether the content was taken as lines, and fails when the reader does not give the same then.
func (b *both) agree(columns batch.Schema, content string) bool {
	b.n++
	f := batch.File{Path: filepath.Join(b.path, fmt.Sprintf("%d.json", b.n)), Size: int64(len(content))}
	require.NoError(b.t, os.WriteFile(f.Path, []byte(content), 0o600))
	s := batch.Scan{Format: batch.Format{Name: "json"}, Columns: columns}
	lines, ok := scan.ReadLines(s, []batch.File{f})
	if !ok {
		return false
	}
	require.NoError(b.t, b.set.Begin(b.t.Context(), true, true))
	defer func() { require.NoError(b.t, b.set.Clear(b.t.Context())) }()
	from, err := b.set.Texts(b.t.Context(), []string{"l", "p"}, lines.Records)
	require.NoError(b.t, err)
	got, err := b.rows(scan.FromLines(s, from))
	if err != nil {
		return false
	}
	plan, err := scan.Make(s, []batch.File{f})
	require.NoError(b.t, err)
	want, err := b.rows(plan.SQL)
	require.NoError(b.t, err, "the reader rejects %q as %v", content, columns)
	require.Equal(b.t, want, got, "%q as %v", content, columns)
	require.EqualValues(b.t, len(want), lines.Rows[0])
	return true
}

// TestLinesAreWhatTheReaderGives holds each kind of value against each type.
func TestLinesAreWhatTheReaderGives(t *testing.T) {
	b := newBoth(t)
	values := []string{`"0101"`, `1`, `-0`, `0.5`, `1e5`, `1E-3`, `12345678901234567890`, `123456789012345678901234567890`, `1.10`, `1e400`, `""`, `" 12"`, `"12 "`, `"12"`, `"1.5"`, `"abc"`, `"\u00e9\n\"x"`, `"NULL"`,
		`true`, `"true"`, `"t"`, `null`, `[1,2]`, `{"b":1, "c": [ ] }`, `"2024-02-30"`, `"2024-02-29"`, `"2024-2-9"`, `"29/02/2024"`, `"2024-02-29 10:11:12.123456789"`, `"2024-02-29T10:11:12Z"`, `"2024-02-29 10:11:12+02"`,
		`"10:11:12"`, `"1 day"`, `1709200000`, `"infinity"`, `NaN`, `Infinity`, `"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"`, `"\\xAA"`, `0x10`, `+1`, `.5`, `127`, `128`, `-1`, `99999999.995`}
	taken := map[string]int{}
	for _, typ := range []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UBIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(38, 9)", "VARCHAR", "BOOLEAN", "DATE", "TIME", "TIMESTAMP",
		"TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_NS", "INTERVAL", "UUID", "BLOB", "JSON"} {
		for _, v := range values {
			if b.agree(batch.Schema{{Name: "a", Type: typ}}, `{"a":`+v+"}\n") {
				taken[typ]++
			}
		}
		require.NotZero(t, taken[typ], "no value is taken as %s", typ)
	}
	require.Greater(t, taken["VARCHAR"], 30)
}

// TestLinesLeftToTheReader: what is not plainly lines of objects, or has a member twice, is the reader's to judge.
func TestLinesLeftToTheReader(t *testing.T) {
	b := newBoth(t)
	columns := batch.Schema{{Name: "a", Type: "BIGINT"}, {Name: "b/~ 'x", Type: "VARCHAR"}}
	for content, want := range map[string]bool{
		"{\"a\":1}\n":                            true,
		"{\"a\":1}":                              true,
		"\n{\"a\":1}\r\n\n {\"x\":{\"a\":2}} \n": true,
		"{\"b/~ 'x\":\"y\",\"a\":null,\"c\":[{\"a\":1,\"a\":2}]}\n": true,
		"{\"a\":1,}\n":                                       false,
		"{\"a\":1,\"x\":tru}\n{\"a\":1}":                     false,
		"{\"a\":1}\n{\"a\":1,\"x\":tru}":                     false,
		"{\"a\":1,\"x\":\"}\",\"y\":[{\"a\":3}, \"]\\\"\"]}": true,
		"{\"a\":1,\"\\u0061\":2}":                            false,
		"{\"x\":1,\"x\":2}":                                  false,
		"{\"a\":}":                                           false,
		"{\"a\":1}}":                                         false,
		"{}\n":                                               true,
		"{\"a\":1,\"a\":2}\n":                                false,
		"{\"a\":1}\n{\"a\":1,\"a\":1}":                       false,
		"{\"a\":1}\n5\n":                                     false,
		"{\"a\":1}\nnull\n":                                  false,
		"{\"a\":1}\n[{\"a\":1}]\n":                           false,
		"{\"a\":1}\n{\"a\":":                                 false,
		"{\"a\":1} {\"a\":2}\n":                              false,
		"{\"a\":1}\n{\"a\":1} x\n":                           false,
		"[{\"a\":1}]":                                        false,
		"{\n\"a\":1}":                                        false,
		"":                                                   false,
		"{\"a\":1.5e300}\n":                                  false,
		"{\"a\":1}\n{\"a\":\"\xff\"}":                        false,
	} {
		require.Equal(t, want, b.agree(columns, content), "%q", content)
	}
	require.False(t, b.agree(batch.Schema{{Name: "a", Type: "STRUCT(b BIGINT)"}}, "{\"a\":{\"b\":1}}\n"), "members of members")
	require.False(t, b.agree(columns, strings.Repeat("{\"a\":1}\n", 10_000)), "too large")
	f := batch.File{Path: filepath.Join(b.path, "grown.json"), Size: 3}
	require.NoError(t, os.WriteFile(f.Path, []byte("{\"a\":1}\n"), 0o600))
	_, ok := scan.ReadLines(batch.Scan{Format: batch.Format{Name: "json"}, Columns: columns}, []batch.File{f})
	require.False(t, ok, "the file is another one than is known")
}

// TestRandomLines mixes members, values and damage.
func TestRandomLines(t *testing.T) {
	b := newBoth(t)
	r := rand.New(rand.NewPCG(1, 2))
	columns := batch.Schema{{Name: "a", Type: "BIGINT"}, {Name: "B", Type: "VARCHAR"}, {Name: "ts", Type: "TIMESTAMP"}, {Name: "d", Type: "DECIMAL(12,3)"}}
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	took := 0
	for range 500 {
		content := ""
		for range r.IntN(5) + 1 {
			var members []string
			for range r.IntN(6) {
				members = append(members, fmt.Sprintf("%q:%s", pick("a", "A", "b", "B", "ts", "d", "other", ""), pick("1", "null", `"x"`, "2.5", `"2024-01-02 03:04:05"`, `{"a":1}`, "[]", "true", `"7"`, "1e3")))
			}
			line := "{" + strings.Join(members, pick(",", ", ")) + "}"
			if r.IntN(40) == 0 {
				line = line[:r.IntN(len(line))]
			}
			content += line + pick("\n", "\n", "\r\n", "\n\n")
		}
		if b.agree(columns, content) {
			took++
		}
	}
	require.Greater(t, took, 40)
}
