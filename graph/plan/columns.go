package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// columnsChange says what other columns of a source mean for what was read: columns that come or go are a matter of the queries
// that name them, and a wider type holds what the narrower one held. All else needs the bytes of the source again.
func columnsChange(before, after *state.Relation) (Class, string) {
	if before == nil || after == nil {
		return ReplayFromSource, "its columns have changed"
	}
	var wider, added, gone []string
	for _, c := range after.Columns {
		i := slices.IndexFunc(before.Columns, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) })
		switch {
		case i < 0:
			added = append(added, c.Name)
		case before.Columns[i].Type == c.Type:
		case widens(before.Columns[i].Type, c.Type):
			wider = append(wider, c.Name)
		default:
			return ReplayFromSource, fmt.Sprintf("%s was %s and is to be %s, which may not hold what was read", c.Name, before.Columns[i].Type, c.Type)
		}
	}
	for _, c := range before.Columns {
		if !slices.ContainsFunc(after.Columns, func(a batch.Column) bool { return strings.EqualFold(a.Name, c.Name) }) {
			gone = append(gone, c.Name)
		}
	}
	var parts []string
	for _, p := range []struct {
		names []string
		what  string
	}{{wider, "wider"}, {added, "new"}, {gone, "gone"}} {
		if len(p.names) > 0 {
			parts = append(parts, strings.Join(p.names, ", ")+" "+p.what)
		}
	}
	if len(parts) == 0 {
		return InPlace, ""
	}
	return InPlace, "columns: " + strings.Join(parts, "; ")
}

// widens reports whether every value of one type is a value of the other.
func widens(from, to string) bool {
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

// follows reports that a relation has the columns it had, wider ones, and perhaps more behind them.
func follows(before, after *state.Relation) bool {
	if before == nil || after == nil || len(after.Columns) < len(before.Columns) {
		return false
	}
	for _, b := range before.Columns {
		i := slices.IndexFunc(after.Columns, func(a batch.Column) bool { return a.Name == b.Name })
		if i < 0 || after.Columns[i].Type != b.Type && !widens(b.Type, after.Columns[i].Type) {
			return false
		}
	}
	return true
}
