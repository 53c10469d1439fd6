package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/streamform/streamform/lang/diag"
)

// Format lays a configuration file out in the canonical style. A file with syntax
// errors is returned as it is, with the diagnostics. A byte order mark is removed; line endings
// become those of the first line. Formatting twice changes nothing more.
func Format(src []byte, filename string) ([]byte, diag.Diagnostics) {
	_, found := hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
	if found.HasErrors() {
		l := &loader{}
		l.report(diag.Causes(found))
		return src, l.diags
	}
	text := bytes.TrimPrefix(src, []byte("\xef\xbb\xbf"))
	crlf := false
	if i := bytes.IndexByte(text, '\n'); i > 0 {
		crlf = text[i-1] == '\r'
	}
	out := hclwrite.Format(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")))
	if crlf {
		out = bytes.ReplaceAll(out, []byte("\n"), []byte("\r\n"))
	}
	return out, nil
}
