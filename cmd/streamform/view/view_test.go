package view

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/state"
)

func TestNumbers(t *testing.T) {
	require.Equal(t, "0", Count(0))
	require.Equal(t, "999", Count(999))
	require.Equal(t, "1,000", Count(1000))
	require.Equal(t, "-12,345,678", Count(-12345678))
	require.Equal(t, "1 row", Things(1, "row"))
	require.Equal(t, "0 rows", Things(0, "row"))
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.00 kB", 34_540: "34.5 kB", 999_499: "999 kB", 999_600: "1.00 MB", 650_000_000: "650 MB", 1_200_000_000: "1.20 GB"} {
		require.Equal(t, want, Bytes(n), "%d", n)
	}
	require.Equal(t, "250k rows/s", Rate(500_000, 2*time.Second, "row"))
	require.Equal(t, "1500 rows/s", Rate(1500, time.Second, "row"))
	require.Equal(t, "1.25M rows/s", Rate(1_250_000, time.Second, "row"))
	require.Empty(t, Rate(1, 0, "row"))
}

func TestLookAtColors(t *testing.T) {
	cases := map[string]struct {
		env     map[string]string
		noColor bool
		want    bool
	}{
		"piped":             {},
		"forced":            {env: map[string]string{"FORCE_COLOR": "1"}, want: true},
		"forced, as BSD":    {env: map[string]string{"CLICOLOR_FORCE": "1"}, want: true},
		"forced off":        {env: map[string]string{"FORCE_COLOR": "0"}},
		"NO_COLOR wins":     {env: map[string]string{"FORCE_COLOR": "1", "NO_COLOR": "1"}},
		"-no-color wins":    {env: map[string]string{"FORCE_COLOR": "1"}, noColor: true},
		"NO_COLOR is empty": {env: map[string]string{"FORCE_COLOR": "1", "NO_COLOR": ""}, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Look(&bytes.Buffer{}, func(n string) string { return c.env[n] }, c.noColor)
			require.Equal(t, c.want, got.Color)
			require.False(t, got.Interactive)
		})
	}
}

// clockAt is a clock that a test moves.
type clockAt struct{ t time.Time }

func (c *clockAt) now() time.Time { return c.t }

func TestProgressInAPipe(t *testing.T) {
	var out bytes.Buffer
	c := &clockAt{t: time.Unix(1000, 0)}
	b := &bar{to: Terminal{Writer: &out}, now: c.now}
	for second := range 25 {
		b.show(apply.Progress{Rows: int64(second) * 1000, Bytes: int64(second) * 10, TotalBytes: 1000, Elapsed: time.Duration(second) * time.Second})
		c.t = c.t.Add(time.Second)
	}
	b.clear()
	require.Equal(t, "Backfill: 10,000 rows, 100 B of 1.00 kB, 1000 rows/s, ETA 1m30s [00m10s elapsed]\n"+
		"Backfill: 20,000 rows, 200 B of 1.00 kB, 1000 rows/s, ETA 1m20s [00m20s elapsed]\n", out.String())
}

func TestProgressOnATerminal(t *testing.T) {
	var out bytes.Buffer
	c := &clockAt{t: time.Unix(1000, 0)}
	b := &bar{to: Terminal{Writer: &out, Interactive: true, Width: 80}, now: c.now}
	for range 100 { // one second
		b.show(apply.Progress{Rows: 5, Bytes: 500, TotalBytes: 1000})
		c.t = c.t.Add(10 * time.Millisecond)
	}
	require.LessOrEqual(t, strings.Count(out.String(), "\r"), 10, "at most ten a second")
	for _, line := range strings.Split(out.String(), "\r\x1b[K")[1:] {
		require.LessOrEqual(t, len([]rune(line)), 79)
		require.Contains(t, line, "[██████████░░░░░░░░░░]  50% 5 rows, 500 B of 1.00 kB")
	}
	b.clear()
	require.True(t, strings.HasSuffix(out.String(), "\r\x1b[K"))
}

func TestProgressFitsTheTerminal(t *testing.T) {
	p := apply.Progress{Rows: 1_400_000, Bytes: 68_400_000, TotalBytes: 118_000_000, Files: 7, TotalFiles: 12, Elapsed: 9 * time.Second}
	for width, want := range map[int]string{
		120: "Backfill: [███████████░░░░░░░░░]  57% 1,400,000 rows, 68.4 MB of 118 MB, 7 of 12 files, 156k rows/s, ETA 7s",
		99:  "Backfill: [███████████░░░░░░░░░]  57% 1,400,000 rows, 68.4 MB of 118 MB, 156k rows/s, ETA 7s",
		79:  "[█████░░░░░]  57% 1,400,000 rows, 68.4 MB of 118 MB, 156k rows/s, ETA 7s",
		20:  "[█████░░░░░]  57% 1,",
	} {
		require.Equal(t, want, fitting(p, width), "%d", width)
	}
}

func TestValue(t *testing.T) {
	cases := map[string]string{
		`null`:                     `null`,
		`"a\nb"`:                   `"a\nb"`,
		`"${x} %{y}"`:              `"$${x} %%{y}"`,
		`1.50`:                     `1.50`,
		`true`:                     `true`,
		`[]`:                       `[]`,
		`{}`:                       `{}`,
		`[1,"a"]`:                  "[\n  1,\n  \"a\",\n]",
		`{"b":1,"a key":{"x":[]}}`: "{\n  \"a key\" = {\n    x = []\n  }\n  b       = 1\n}",
		`12345678901234567890123`:  `12345678901234567890123`,
	}
	for in, want := range cases {
		require.Equal(t, want, Value(json.RawMessage(in), 0), in)
	}
}

func TestOutputs(t *testing.T) {
	got := Outputs(map[string]state.Output{
		"b": {Value: json.RawMessage(`"x"`), Type: json.RawMessage(`"string"`)},
		"a": {Sensitive: true, Digest: "d", Type: json.RawMessage(`"string"`)},
	})
	require.Equal(t, "a = <sensitive>\nb = \"x\"\n", got)
}

// rowsOf is a result held in memory.
type rowsOf struct {
	columns batch.Schema
	rows    [][]query.Cell
}

func (r *rowsOf) Columns() batch.Schema { return r.columns }

func (r *rowsOf) Next() ([]query.Cell, error) {
	if len(r.rows) == 0 {
		return nil, io.EOF
	}
	row := r.rows[0]
	r.rows = r.rows[1:]
	return row, nil
}

func sample() *rowsOf {
	return &rowsOf{
		columns: batch.Schema{{Name: "name", Type: "VARCHAR"}, {Name: "n", Type: "DECIMAL(10,2)"}, {Name: "n", Type: "BIGINT"}},
		rows: [][]query.Cell{
			{{Text: "a\x1b,\"b", JSON: `"a\u001b,\"b"`}, {Text: "1.50", JSON: "1.50"}, {Text: "7", JSON: "7"}},
			{{Null: true}, {Text: "-10.00", JSON: "-10.00"}, {Null: true}},
		},
	}
}

func TestRows(t *testing.T) {
	cases := map[string]struct {
		format RowFormat
		want   string
	}{
		"table": {Table, "name        n     n\n─────  ──────  ────\na␛,\"b    1.50     7\nNULL   -10.00  NULL\n(2 rows)\n"},
		"csv":   {CSV, "name,n,n\n\"a\x1b,\"\"b\",1.50,7\n,-10.00,\n"},
		"json":  {JSON, "{\"name\":\"a\\u001b,\\\"b\",\"n\":1.50,\"n_1\":7}\n{\"name\":null,\"n\":-10.00,\"n_1\":null}\n"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			require.NoError(t, Rows(&out, sample(), c.format))
			require.Equal(t, c.want, out.String())
		})
	}
}

func TestRowsBeyondTheSample(t *testing.T) {
	r := &rowsOf{columns: batch.Schema{{Name: "n", Type: "BIGINT"}}}
	for range widthSample + 3 {
		r.rows = append(r.rows, []query.Cell{{Text: "1"}})
	}
	var out bytes.Buffer
	require.NoError(t, Rows(&out, r, Table))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, widthSample+3+3)
	require.Equal(t, "n", lines[0])
	require.Equal(t, "(5,003 rows)", lines[len(lines)-1])
}

func TestEpochLine(t *testing.T) {
	var out bytes.Buffer
	text := NewText(Options{Out: Terminal{Writer: &out}})
	text.Epoch(job.Progress{Name: "live", Streamform: job.Extension{Epoch: 4}})
	require.Empty(t, out.String(), "an idle epoch says nothing")
	text.Epoch(job.Progress{Name: "live", NumInputRows: 1200, BatchDuration: 310, Streamform: job.Extension{
		Epoch: 5, Files: 2, Bytes: 34_000,
		Sinks:     []job.SinkDetail{{Address: "sink.delta.sales", NumOutputRows: 12, Receipt: map[string]any{"version": 57}}},
		Relations: []job.RelationDetail{{Address: "source.files.p", Malformed: 1}},
	}})
	require.Equal(t, "live epoch 5: read 2 new files (1,200 rows, 34.0 kB), 1 record malformed; wrote sink.delta.sales: 12 rows, version 57 in 310ms\n", out.String())
}
