// Package columns says how the columns of a relation differ from those it had, and writes them as HCL.
package columns

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// Gain reports that a relation has a column that it did not have.
func Gain(before, after batch.Schema) bool {
	return slices.ContainsFunc(after, func(c batch.Column) bool {
		return !slices.ContainsFunc(before, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) })
	})
}

// Further reports that a relation has a column that it did not have, or one of another type: rows with the columns of before may not do.
func Further(before, after batch.Schema) bool {
	return slices.ContainsFunc(after, func(c batch.Column) bool {
		return !slices.ContainsFunc(before, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) && b.Type == c.Type })
	})
}

// Widens reports whether every value of one type is a value of the other.
func Widens(from, to string) bool {
	for _, chain := range [][]string{
		{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"}, {"UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"},
		{"FLOAT", "DOUBLE"}, {"INTEGER", "DOUBLE"}, {"DATE", "TIMESTAMP"},
	} {
		a, b := slices.Index(chain, from), slices.Index(chain, to)
		if a >= 0 && b >= a {
			return true
		}
	}
	p, s, isDecimal := decimal(from)
	q, t, staysDecimal := decimal(to)
	return isDecimal && staysDecimal && t >= s && q-t >= p-s
}

// decimal reads the width and scale of a DECIMAL type.
func decimal(text string) (width, scale int, ok bool) {
	m := regexp.MustCompile(`^DECIMAL\((\d+),\s*(\d+)\)$`).FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	width, _ = strconv.Atoi(m[1])
	scale, _ = strconv.Atoi(m[2])
	return width, scale, true
}

// Follow reports that a relation has the columns it had, wider ones, and perhaps more behind them.
func Follow(before, after batch.Schema) bool {
	if len(after) < len(before) {
		return false
	}
	for _, b := range before {
		i := slices.IndexFunc(after, func(a batch.Column) bool { return a.Name == b.Name })
		if i < 0 || after[i].Type != b.Type && !Widens(b.Type, after[i].Type) {
			return false
		}
	}
	return true
}

// Proposal writes columns as the attribute of a source.
func Proposal(columns batch.Schema) string {
	names, width := make([]string, len(columns)), 0
	for i, c := range columns {
		if names[i] = c.Name; !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`).MatchString(c.Name) {
			names[i] = strconv.Quote(c.Name)
		}
		width = max(width, len([]rune(names[i])))
	}
	var b strings.Builder
	b.WriteString("columns = {\n")
	for i, c := range columns {
		fmt.Fprintf(&b, "  %-*s = %q\n", width, names[i], c.Type)
	}
	return b.String() + "}"
}
