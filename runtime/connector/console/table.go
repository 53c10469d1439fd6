package console

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// widest is the number of characters of a value that are shown at most.
const widest = 60

// table lays out rows, whose first cell is the sign, below their headings.
func table(headings []string, numeric []bool, rows [][]*string) []string {
	widths := make([]int, len(headings))
	for i, h := range headings {
		widths[i] = utf8.RuneCountInString(show(&h))
	}
	cells := make([][]string, len(rows))
	for r, row := range rows {
		cells[r] = make([]string, len(headings))
		for i, v := range row[1:] {
			cells[r][i] = show(v)
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[r][i]))
		}
	}
	lines := []string{line(" ", texts(headings), widths, numeric)}
	for r, row := range rows {
		lines = append(lines, line(*row[0], cells[r], widths, numeric))
	}
	return lines
}

func texts(headings []string) []string {
	out := make([]string, len(headings))
	for i, h := range headings {
		out[i] = show(&h)
	}
	return out
}

// line pads cells to their columns, numbers to the right.
func line(sign string, cells []string, widths []int, numeric []bool) string {
	var b strings.Builder
	b.WriteString(sign)
	for i, c := range cells {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c))
		b.WriteString("  ")
		if numeric[i] {
			b.WriteString(pad + c)
		} else {
			b.WriteString(c + pad)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// show is a value on one line: control characters are escaped, long values cut.
func show(v *string) string {
	if v == nil {
		return "NULL"
	}
	var b strings.Builder
	n := 0
	for _, r := range *v {
		if n++; n > widest {
			return b.String() + "…"
		}
		if unicode.IsControl(r) {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// isNumber reports whether values of a DuckDB type are numbers.
func isNumber(duckdb string) bool {
	switch strings.TrimPrefix(duckdb, "U") {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "BIGNUM":
		return true
	}
	return strings.HasPrefix(duckdb, "DECIMAL(") && strings.HasSuffix(duckdb, ")")
}
