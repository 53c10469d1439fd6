package evolve

import (
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/logical"
)

// words is a canonical text as people would write it.
func words(text string) string {
	if g, ok := gridAt(text, 0); ok && g.end == len(text) && g.kind != division && g.kind != remainder && !g.part {
		return g.label()
	}
	var out strings.Builder
	for {
		c, start, end, ok := logical.Next(text)
		if !ok {
			break
		}
		out.WriteString(text[:start])
		switch {
		case c.Name == "" || c.Type == "":
			out.WriteString("a computed column")
		default:
			out.WriteString(c.Name)
		}
		text = text[end:]
	}
	out.WriteString(text)
	plain := regexp.MustCompile(`CAST\("?trunc"?\(CAST\((\d+) AS DOUBLE\)\) AS BIGINT\)`).ReplaceAllString(out.String(), "$1")
	plain = regexp.MustCompile(`CAST\('?([^()']*)'? AS [A-Z]+(\([0-9,]+\))?\)`).ReplaceAllString(plain, "$1")
	plain = regexp.MustCompile(`"(\w+)"\(`).ReplaceAllString(plain, "$1(")
	if strings.HasPrefix(plain, "(") {
		if parts, end := group(plain, 0, "\x00"); end == len(plain) && len(parts) == 1 {
			plain = parts[0]
		}
	}
	return plain
}

// partialWords names a partial as the aggregate a user would write for it.
func partialWords(p logical.Partial) string {
	if p.Form == "count()" {
		return "count(*)"
	}
	return words(p.Form)
}

// columns are all columns named in canonical texts, each once.
func columns(texts ...string) []logical.Column {
	var out []logical.Column
	for _, t := range texts {
		for {
			c, _, end, ok := logical.Next(t)
			if !ok {
				break
			}
			if c.Name != "" && !slices.Contains(out, c) {
				out = append(out, c)
			}
			t = t[end:]
		}
	}
	return out
}
