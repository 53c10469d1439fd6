package diag_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/terraform-json"
	"github.com/streamform/streamform/lang/diag"
	"github.com/stretchr/testify/require"
)

const source = "view \"sales\" {\n  sql = \"größe ✓ bad\"\n\ttab = 1\r\n}\n"

// at is the range of a piece of source.
func at(piece string) *diag.Range {
	start := strings.Index(source, piece)
	pos := func(b int) diag.Pos {
		before := source[:b]
		line := strings.Count(before, "\n")
		return diag.Pos{Line: line + 1, Column: utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1, Byte: b}
	}
	return &diag.Range{Filename: "main.sf.hcl", Start: pos(start), End: pos(start + len(piece))}
}

func render(t *testing.T, o diag.Options, ds ...diag.Diagnostic) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, diag.WriteText(&b, ds, map[string][]byte{"main.sf.hcl": []byte(source)}, o))
	return b.String()
}

func TestPlainText(t *testing.T) {
	d := diag.NewError(at("bad"), "Unknown word", "The word is not known here, and this sentence is long enough to be wrapped at the width.\n\n  kept as it is, however long the line may become in the end, because it begins with a space\n\nDid you mean \"good\"?")
	d.Context = `view "sales"`
	d.Values = []diag.Value{{Traversal: "var.n", Statement: "is 3"}}
	d.Call = "file(path)"
	require.Equal(t, `
Error: Unknown word

  on main.sf.hcl line 2, in view "sales":
   2:   sql = "größe ✓ bad"
    ├────────────────
    │ while calling file(path)
    │ var.n is 3

The word is not known here, and this sentence is long enough to be wrapped at
the width.

  kept as it is, however long the line may become in the end, because it begins with a space

Did you mean "good"?
`, render(t, diag.Options{}, d))
	narrow := render(t, diag.Options{Width: 40}, d)
	require.Contains(t, narrow, "\nThe word is not known here, and this\nsentence is long")
}

func TestBox(t *testing.T) {
	d := diag.NewWarning(at("größe ✓"), "Odd", "Detail.")
	d.Address = "view.sales"
	require.Equal(t, strings.Join([]string{
		"\x1b[33m╷\x1b[0m",
		"\x1b[33m│\x1b[0m \x1b[1m\x1b[33mWarning: \x1b[0m\x1b[1mOdd\x1b[0m",
		"\x1b[33m│\x1b[0m ",
		"\x1b[33m│\x1b[0m   with view.sales,",
		"\x1b[33m│\x1b[0m   on main.sf.hcl line 2:",
		"\x1b[33m│\x1b[0m    2:   sql = \"\x1b[4mgröße ✓\x1b[0m bad\"",
		"\x1b[33m│\x1b[0m ",
		"\x1b[33m│\x1b[0m Detail.",
		"\x1b[33m╵\x1b[0m", "",
	}, "\n"), render(t, diag.Options{Color: true}, d))
}

func TestWithoutPlace(t *testing.T) {
	require.Equal(t, "\nError: Broken\n\nMend it.\n", render(t, diag.Options{}, diag.NewError(nil, "Broken", "Mend it.")))
	require.Equal(t, "\nError: Broken\n", render(t, diag.Options{}, diag.NewError(nil, "Broken", "")))
	elsewhere := *at("bad")
	elsewhere.Filename = "other.sql"
	require.Contains(t, render(t, diag.Options{}, diag.NewError(&elsewhere, "x", "y")), "  on other.sql line 2:\n    (source code not available)\n\ny\n")
	stale := *at("bad")
	stale.End.Byte = 10_000
	require.Contains(t, render(t, diag.Options{}, diag.NewError(&stale, "x", "y")), "(source code not available)")
}

func TestSeveralLines(t *testing.T) {
	got := render(t, diag.Options{Color: true}, diag.NewError(at("bad\"\n\ttab"), "x", "y"))
	require.Contains(t, got, "   2:   sql = \"größe ✓ \x1b[4mbad\"\x1b[0m\n")
	require.Contains(t, got, "   3: \x1b[4m\ttab\x1b[0m = 1\n")
	end := at("}")
	end.Start = end.End
	require.Contains(t, render(t, diag.Options{}, diag.NewError(end, "x", "y")), "   4: }\n")
}

func TestControlCharactersAreShown(t *testing.T) {
	got := render(t, diag.Options{}, diag.NewError(nil, "a\x1b[2Jb\u202ec\x00", "d\re\u0085\xff"))
	require.Equal(t, "\nError: a␛[2Jb\ufffdc␀\n\nd␍e\ufffd\ufffd\n", got)
}

func TestWarningsFold(t *testing.T) {
	ds := []diag.Diagnostic{
		diag.NewWarning(at("tab"), "Old", "First."), diag.NewWarning(at("sql"), "Old", "Second."), diag.NewError(nil, "Old", "An error."),
		diag.NewWarning(nil, "Other", "Alone."), diag.NewWarning(nil, "Old", "Third."),
	}
	got := render(t, diag.Options{}, ds...)
	require.Equal(t, 2, strings.Count(got, "Warning: "))
	require.Contains(t, got, "First.\n\n(and 2 more similar warnings elsewhere)\n")
	require.NotContains(t, got, "Second.")
	require.Contains(t, got, "Error: Old")
	require.Equal(t, `
Error: Old

An error.

Warnings:

- Old
  on main.sf.hcl line 3 (and 2 more)
- Other

To see the full warning notes, run the command without -compact-warnings.
`, render(t, diag.Options{Compact: true}, ds...))
	require.True(t, diag.Diagnostics(ds).Failed())
	require.False(t, diag.Diagnostics(ds[:2]).Failed())
}

func TestEncodeIsTerraformsShape(t *testing.T) {
	d := diag.NewError(at("bad"), "Unknown", "Detail.")
	d.Context, d.Address, d.Code = `view "sales"`, "view.sales", "SF1042"
	d.Values = []diag.Value{{Traversal: "var.n", Statement: "is 3"}}
	data, err := json.Marshal(diag.Encode(diag.Diagnostics{d, diag.NewWarning(nil, "W", "")}, map[string][]byte{"main.sf.hcl": []byte(source)}))
	require.NoError(t, err)
	var got []tfjson.Diagnostic
	require.NoError(t, json.Unmarshal(data, &got))
	require.Equal(t, tfjson.DiagnosticSeverityError, got[0].Severity)
	require.Equal(t, "view.sales", got[0].Address)
	require.Equal(t, `view "sales"`, *got[0].Snippet.Context)
	s := got[0].Snippet
	require.Equal(t, "bad", s.Code[s.HighlightStartOffset:s.HighlightEndOffset])
	require.Equal(t, 2, s.StartLine)
	require.Equal(t, []tfjson.DiagnosticExpressionValue{{Traversal: "var.n", Statement: "is 3"}}, s.Values)
	require.Equal(t, 18, got[0].Range.Start.Column)
	require.Nil(t, got[1].Snippet)
}

func TestRangeText(t *testing.T) {
	require.Equal(t, "main.sf.hcl:2,18-21", at("bad").String())
	require.Equal(t, "main.sf.hcl:2,18-3,5", at("bad\"\n\ttab").String())
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("pipe") }

func TestWriteErrorIsReported(t *testing.T) {
	require.ErrorContains(t, diag.WriteText(brokenPipe{}, diag.Diagnostics{diag.NewError(nil, "a", "b")}, nil, diag.Options{}), "pipe")
}

// No range, however wrong, makes the renderer panic.
func FuzzSnippet(f *testing.F) {
	f.Add(source, 3, 9, true)
	f.Add("\r\n\x1b", 1, 1, false)
	f.Fuzz(func(t *testing.T, src string, start, end int, color bool) {
		d := diag.NewError(&diag.Range{Filename: "f", Start: diag.Pos{Line: 1, Column: 1, Byte: start}, End: diag.Pos{Byte: end}}, src, src)
		files := map[string][]byte{"f": []byte(src)}
		var b strings.Builder
		require.NoError(t, diag.WriteText(&b, diag.Diagnostics{d}, files, diag.Options{Color: color}))
		if !color {
			require.NotContains(t, b.String(), "\x1b")
		}
		for _, e := range diag.Encode(diag.Diagnostics{d}, files) {
			if e.Snippet != nil {
				require.LessOrEqual(t, e.Snippet.HighlightStartOffset, e.Snippet.HighlightEndOffset)
			}
		}
	})
}
