package statement

import "strings"

// QuoteNumbers makes JSON of what DuckDB wrote with NaN or Infinity as a bare word.
func QuoteNumbers(doc string) string {
	if !strings.Contains(doc, ":NaN") && !strings.Contains(doc, "Infinity") {
		return doc
	}
	var out strings.Builder
	for i := 0; i < len(doc); {
		if doc[i] == '"' {
			end := stringEnd(doc, i)
			out.WriteString(doc[i:end])
			i = end
			continue
		}
		n := 0
		for _, word := range []string{"NaN", "-NaN", "Infinity", "-Infinity"} {
			if strings.HasPrefix(doc[i:], word) {
				n = len(word)
			}
		}
		if n > 0 {
			out.WriteString(`"` + doc[i:i+n] + `"`)
			i += n
			continue
		}
		out.WriteByte(doc[i])
		i++
	}
	return out.String()
}

// stringEnd is where the JSON string that begins at i ends.
func stringEnd(doc string, i int) int {
	for i++; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}
