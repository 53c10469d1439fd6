package query_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/querytest"
)

// tolerance is how far a sum of DOUBLEs may lie from DuckDB's, relative to its size.
const tolerance = 1e-9

// plain forgets what keyed data does not keep apart, as SQL does not: the sign of zero and of NaN.
func plain(line string) string {
	if strings.Contains(line, "-nan") {
		line = strings.ReplaceAll(line, "-nan", "nan")
	}
	if !strings.Contains(line, "-0.0") {
		return line
	}
	return regexp.MustCompile(`-0\.0([^0-9]|$)`).ReplaceAllString(line, "0.0$1")
}

// difference tells how two bags of rows differ; empty when they are equal.
func difference(columns batch.Schema, got, want []string) string {
	for _, lines := range [][]string{got, want} {
		for i := range lines {
			lines[i] = plain(lines[i])
		}
		slices.Sort(lines)
	}
	if slices.Equal(got, want) || len(got) == len(want) && slices.ContainsFunc(columns, querytest.Fuzzy) && close(columns, got, want) {
		return ""
	}
	show := strings.NewReplacer("\x02", " | ", "\x01", "NULL")
	return show.Replace(fmt.Sprintf("held by the view, not in DuckDB's answer:\n    %s\nmissing from the view:\n    %s",
		strings.Join(without(got, want), "\n    "), strings.Join(without(want, got), "\n    ")))
}

func without(a, b []string) []string {
	b = slices.Clone(b)
	var out []string
	for _, line := range a {
		if i := slices.Index(b, line); i >= 0 {
			b = slices.Delete(b, i, i+1)
		} else {
			out = append(out, line)
		}
	}
	return out
}

// close compares cell by cell: rows are put in the order of their exact cells, then of the others.
func close(columns batch.Schema, got, want []string) bool {
	a, b := cells(columns, got), cells(columns, want)
	for i := range a {
		for j, c := range columns {
			if a[i][j] != b[i][j] && (!querytest.Fuzzy(c) || !near(a[i][j], b[i][j])) {
				return false
			}
		}
	}
	return true
}

func cells(columns batch.Schema, lines []string) [][]string {
	out := make([][]string, len(lines))
	for i, l := range lines {
		out[i] = strings.Split(l, "\x02")
	}
	slices.SortFunc(out, func(a, b []string) int {
		for _, shown := range []bool{false, true} {
			for j, c := range columns {
				if querytest.Fuzzy(c) == shown && a[j] != b[j] && !(shown && near(a[j], b[j])) {
					return strings.Compare(a[j], b[j])
				}
			}
		}
		return 0
	})
	return out
}

func near(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX != nil || errY != nil {
		return false
	}
	finite := func(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
	if !finite(x) || !finite(y) {
		// A compensated sum with an infinite value is infinite or no number, as the parts DuckDB makes of it fall.
		return !finite(x) && !finite(y)
	}
	return math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))
}
