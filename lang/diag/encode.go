package diag

import (
	"bytes"
	"strings"
)

// Encoded is a diagnostic as -json prints it. The field names are those of
// terraform-json's Diagnostic, so that its readers understand them; code is an addition.
type Encoded struct {
	Severity Severity `json:"severity"`
	Code     string   `json:"code,omitempty"`
	Address  string   `json:"address,omitempty"`
	Summary  string   `json:"summary"`
	Detail   string   `json:"detail"`
	Range    *Range   `json:"range,omitempty"`
	Snippet  *Snippet `json:"snippet,omitempty"`
}

// Snippet is the piece of a file a diagnostic is about. Offsets count bytes of Code.
type Snippet struct {
	Context              *string `json:"context"`
	Code                 string  `json:"code"`
	StartLine            int     `json:"start_line"`
	HighlightStartOffset int     `json:"highlight_start_offset"`
	HighlightEndOffset   int     `json:"highlight_end_offset"`
	Values               []Value `json:"values"`
	Call                 string  `json:"function_call,omitempty"`
}

// maxSnippetLines keeps a finding about a long block from filling the screen.
const maxSnippetLines = 8

// Encode turns findings into their JSON form. files holds the text of every file
// by the name the ranges use; a range into an unknown file has no snippet.
func Encode(ds Diagnostics, files map[string][]byte) []Encoded {
	out := make([]Encoded, len(ds))
	for i, d := range ds {
		out[i] = Encoded{
			Severity: d.Severity, Code: d.Code, Address: d.Address, Range: d.Subject,
			Summary: printable(d.Summary), Detail: printable(d.Detail), Snippet: snippet(d, files),
		}
	}
	return out
}

func snippet(d Diagnostic, files map[string][]byte) *Snippet {
	if d.Subject == nil {
		return nil
	}
	src, ok := files[d.Subject.Filename]
	start, end := d.Subject.Start.Byte, d.Subject.End.Byte
	if !ok || start < 0 || start > end || end > len(src) {
		return nil
	}
	from := bytes.LastIndexByte(src[:start], '\n') + 1
	to := from
	for line := 0; line < maxSnippetLines && (line == 0 || to < end); line++ {
		if line > 0 {
			to++ // the line feed that ends the line before
		}
		next := bytes.IndexByte(src[to:], '\n')
		if next < 0 {
			to = len(src)
			break
		}
		to += next
	}
	before, code := src[from:start], src[from:to]
	s := &Snippet{
		Code:                 strings.TrimRight(printable(string(code)), "\r\n"),
		StartLine:            d.Subject.Start.Line,
		HighlightStartOffset: len(printable(string(before))),
		Values:               printableValues(d.Values),
		Call:                 printable(d.Call),
	}
	s.HighlightEndOffset = len(printable(string(src[from:min(end, to)])))
	if s.HighlightEndOffset == s.HighlightStartOffset {
		s.HighlightEndOffset++ // an empty range still shows where it is
	}
	s.HighlightStartOffset = min(s.HighlightStartOffset, len(s.Code))
	s.HighlightEndOffset = min(s.HighlightEndOffset, len(s.Code))
	if d.Context != "" {
		context := printable(d.Context)
		s.Context = &context
	}
	return s
}

func printableValues(values []Value) []Value {
	out := make([]Value, len(values))
	for i, v := range values {
		out[i] = Value{Traversal: printable(v.Traversal), Statement: printable(v.Statement)}
	}
	return out
}

// printable replaces characters that could move the cursor, colour the terminal or
// reverse the reading order, so that a file cannot disguise what a message says.
func printable(s string) string {
	clean := func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return r
		case r < 0x20:
			return 0x2400 + r // the picture of the control character
		case r == 0x7f:
			return 0x2421
		case r >= 0x80 && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return 0xfffd
		}
		return r
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n")
	s = strings.Map(clean, s)
	if strings.ContainsRune(s, '\r') { // alone it would overwrite the line
		s = strings.TrimRight(s, "\r")
		s = strings.ReplaceAll(s, "\r", "␍")
	}
	return s
}
