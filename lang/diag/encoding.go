package diag

import (
	"bytes"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// NotText says where a file is not in UTF-8; nil where it is. Such a file is parsed no further: every other byte would be one more error.
func NotText(shown string, src []byte) hcl.Diagnostics {
	if utf8.Valid(src) {
		return nil
	}
	what := "The file is not in UTF-8"
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		what = "The file is in UTF-16"
	}
	at := hcl.InitialPos
	for rest := src; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			break
		}
		if at.Column, at.Byte = at.Column+1, at.Byte+size; r == '\n' {
			at.Line, at.Column = at.Line+1, 1
		}
		rest = rest[size:]
	}
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Invalid character encoding", Subject: &hcl.Range{Filename: shown, Start: at, End: at},
		Detail: what + ". Configuration files are written in UTF-8: choose it in your editor, and save the file again."}}
}
