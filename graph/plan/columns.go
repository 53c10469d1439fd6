package plan

import (
	"encoding/json"
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

// NewColumns observes that files have columns which a source, whose columns were found in its data before, does not have.
func NewColumns(r state.Resource, found batch.Schema) (Observation, bool) {
	var added []string
	var all batch.Schema
	var says struct{ Metadata []string }
	if json.Unmarshal(r.Attributes, &says) != nil {
		return Observation{}, false
	}
	for _, c := range r.Relation.Columns {
		if !slices.Contains(says.Metadata, c.Name) { // those are added to what is declared
			all = append(all, c)
		}
	}
	for _, c := range found {
		if !slices.ContainsFunc(r.Relation.Columns, func(had batch.Column) bool { return strings.EqualFold(had.Name, c.Name) }) {
			added, all = append(added, c.Name+" "+c.Type), append(all, c)
		}
	}
	if len(added) == 0 {
		return Observation{}, false
	}
	what, them := "a column", "it"
	if len(added) > 1 {
		what, them = "columns", "them"
	}
	list := strings.Join(added, ", ")
	return Observation{Addr: r.Addr, Kind: DriftNewColumns, Mark: list, Proposal: proposal(all),
		Detail: fmt.Sprintf("The newest files have %s that %s was planned without, and which no query can read: %s.", what, r.Addr, list),
		Advice: fmt.Sprintf("To read %s from the next epoch on, declare the columns as below. To read everything again with the columns that are found now, plan with -replace=%s. To leave %s out, apply with -refresh-only.", them, r.Addr, them)}, true
}

// proposal writes columns as the attribute of a source.
func proposal(columns batch.Schema) string {
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
