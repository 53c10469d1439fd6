package evolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/query/logical"
)

// gridKind is how values are put into buckets.
type gridKind int

const (
	span      gridKind = iota // of a fixed length of time; in microseconds
	calendar                  // of months
	division                  // x // n
	remainder                 // x - x % n
)

// grid is an expression that puts values into buckets.
type grid struct {
	kind   gridKind
	of     string // canonical text of the values
	width  int64
	origin int64 // where a bucket begins: microseconds or months since 1970
	end    int   // where the expression ends in its text
	named  string
	part   bool // a part of a date, which is the same within a bucket: not where the bucket begins
}

const (
	second = int64(1_000_000)
	minute = 60 * second
	hour   = 60 * minute
	day    = 24 * hour
	week   = 7 * day
)

// monday is where buckets of time_bucket begin that are no months: 2000-01-03 (DuckDB's documentation of time_bucket).
func monday() int64 { return time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC).UnixMicro() }

// gridAt reads the bucket expression that stands at a place.
func gridAt(text string, i int) (*grid, bool) {
	var g *grid
	switch name, args, end := callAt(text, i); {
	case name == "time_bucket" && len(args) >= 2:
		g = timeBucket(args)
		if g != nil {
			g.end = end
		}
	case (name == "date_trunc" || name == "datetrunc") && len(args) == 2:
		g = truncated(strings.Trim(args[0], "'"), args[1], end)
	case (name == "date_part" || name == "datepart") && len(args) == 2:
		g = truncated(unitOfPart(strings.Trim(args[0], "'")), args[1], end)
		g.asPart()
	case name != "" && len(args) == 1:
		g = truncated(unitOfPart(name), args[0], end)
		g.asPart()
	case strings.HasPrefix(text[i:], "CAST("):
		if inner, typ, end := castAt(text, i); typ == "DATE" && strings.HasPrefix(typeOf(inner), "TIMESTAMP") {
			g = truncated("day", inner, end)
		}
	case strings.HasPrefix(text[i:], "("):
		g = whole(text, i)
	}
	if g == nil {
		return nil, false
	}
	if _, _, _, ok := logical.Next(g.of); !ok {
		return nil, false
	}
	return g, true
}

func (g *grid) asPart() {
	if g != nil {
		g.part = true
	}
}

func timeBucket(args []string) *grid {
	months, micros, ok := interval(args[0])
	if !ok || (months == 0) == (micros == 0) || months < 0 || micros < 0 {
		return nil
	}
	g := &grid{kind: span, of: args[1], width: micros, origin: monday()}
	if months > 0 {
		g.kind, g.width, g.origin = calendar, months, 30*12
		if len(args) > 2 {
			return nil
		}
		return g
	}
	if len(args) > 2 {
		if at, ok := moment(args[2]); ok {
			g.origin = at
		} else if m, offset, ok := interval(args[2]); ok && m == 0 {
			g.origin += offset
		} else {
			return nil
		}
	}
	return g
}

// truncated is a grid of one unit of the calendar; nil for a unit that is unknown.
func truncated(unit, of string, end int) *grid {
	g := &grid{kind: span, of: of, end: end, named: unit}
	switch strings.TrimSuffix(unit, "s") {
	case "microsecond":
		g.width = 1
	case "millisecond":
		g.width = second / 1000
	case "second":
		g.width = second
	case "minute":
		g.width = minute
	case "hour":
		g.width = hour
	case "day":
		g.width = day
	case "week":
		g.width, g.origin = week, monday()
	case "month":
		g.kind, g.width = calendar, 1
	case "quarter":
		g.kind, g.width = calendar, 3
	case "year":
		g.kind, g.width = calendar, 12
	default:
		return nil
	}
	return g
}

// unitOfPart is the unit within which a part of a date does not change; empty for one that is unknown.
func unitOfPart(part string) string {
	switch part {
	case "year", "quarter", "month", "day", "hour":
		return part
	case "dow", "isodow", "dayofweek", "weekday", "doy", "dayofyear", "dayofmonth", "week", "weekofyear", "yearweek", "isoyear":
		return "day"
	}
	return ""
}

// whole reads the buckets of whole numbers: (x // n) and (x - (x % n)).
func whole(text string, i int) *grid {
	if parts, end := group(text, i, " // "); len(parts) == 2 {
		if n, ok := number(parts[1]); ok && n > 0 && isWhole(typeOf(parts[0])) {
			return &grid{kind: division, of: parts[0], width: n, end: end}
		}
	}
	parts, end := group(text, i, " - ")
	if len(parts) != 2 || !strings.HasPrefix(parts[1], "(") {
		return nil
	}
	rest, closed := group(parts[1], 0, " % ")
	if len(rest) != 2 || closed != len(parts[1]) || rest[0] != parts[0] || !isWhole(typeOf(parts[0])) {
		return nil
	}
	if n, ok := number(rest[1]); ok && n > 0 {
		return &grid{kind: remainder, of: parts[0], width: n, end: end}
	}
	return nil
}

// nests reports whether every bucket of g lies in one bucket of the other.
func (g *grid) nests(in *grid) bool {
	switch {
	case g.kind == span && in.kind == calendar: // months begin at midnight
		return day%g.width == 0 && g.origin%g.width == 0
	case g.kind == in.kind:
		return in.width%g.width == 0 && (in.origin-g.origin)%g.width == 0
	}
	return false
}

// refusal says why buckets do not nest.
func (g *grid) refusal(in *grid) string {
	if g.kind == in.kind && in.width < g.width {
		return fmt.Sprintf("%s cannot be split into %s", g.label(), in.those())
	}
	return fmt.Sprintf("%s do not nest in %s", g.label(), in.those())
}

func (g *grid) label() string { return "buckets of " + g.size() }

func (g *grid) those() string { return "those of " + g.size() }

func (g *grid) size() string {
	if g.named != "" {
		return "1 " + g.named
	}
	switch g.kind {
	case calendar:
		if g.width%12 == 0 {
			return plural(g.width/12, "year")
		}
		return plural(g.width, "month")
	case span:
		for _, u := range []struct {
			width int64
			name  string
		}{{week, "week"}, {day, "day"}, {hour, "hour"}, {minute, "minute"}, {second, "second"}} {
			if g.width%u.width == 0 {
				return plural(g.width/u.width, u.name)
			}
		}
		return plural(g.width, "microsecond")
	}
	return strconv.FormatInt(g.width, 10)
}

func plural(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// interval reads an interval constant, as months and microseconds.
func interval(text string) (months, micros int64, ok bool) {
	if inner, typ, end := castAt(text, 0); typ == "INTERVAL" && end == len(text) {
		return intervalWords(strings.Trim(inner, "'"))
	}
	name, args, end := callAt(text, 0)
	unit, is := strings.CutPrefix(name, "to_")
	if !is || len(args) != 1 || end != len(text) {
		return 0, 0, false
	}
	n, ok := number(args[0])
	if !ok {
		return 0, 0, false
	}
	return units(n, unit)
}

// intervalWords reads '5 minutes', '1 day 02:00:00' and the like.
func intervalWords(text string) (months, micros int64, ok bool) {
	fields := strings.Fields(text)
	for len(fields) > 0 {
		if h, m, s, is := clock(fields[0]); is {
			micros, fields = micros+h*hour+m*minute+s*second, fields[1:]
			continue
		}
		n, err := strconv.ParseInt(fields[0], 10, 32)
		if err != nil || len(fields) < 2 {
			return 0, 0, false
		}
		m, u, known := units(n, strings.ToLower(fields[1]))
		if !known {
			return 0, 0, false
		}
		months, micros, fields = months+m, micros+u, fields[2:]
	}
	return months, micros, text != ""
}

func clock(text string) (h, m, s int64, ok bool) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return 0, 0, 0, false
	}
	var n [3]int64
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 32)
		if err != nil || v < 0 {
			return 0, 0, 0, false
		}
		n[i] = v
	}
	return n[0], n[1], n[2], true
}

func units(n int64, unit string) (months, micros int64, ok bool) {
	switch strings.TrimSuffix(unit, "s") {
	case "year":
		return n * 12, 0, true
	case "quarter":
		return n * 3, 0, true
	case "month", "mon":
		return n, 0, true
	}
	if g := truncated(unit, "", 0); g != nil {
		return 0, n * g.width, true
	}
	return 0, 0, false
}

// number reads a whole constant, through the casts and roundings a binder puts around it.
func number(text string) (int64, bool) {
	for {
		if n, err := strconv.ParseInt(strings.Trim(text, "'"), 10, 32); err == nil {
			return n, true
		}
		if inner, _, end := castAt(text, 0); inner != "" && end == len(text) {
			text = inner
			continue
		}
		name, args, end := callAt(text, 0)
		if name != "trunc" || len(args) != 1 || end != len(text) {
			return 0, false
		}
		text = args[0]
	}
}

// moment reads a constant point in time, as microseconds since 1970.
func moment(text string) (int64, bool) {
	inner, typ, end := castAt(text, 0)
	if end != len(text) || !slices.Contains([]string{"TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "DATE"}, typ) {
		return 0, false
	}
	inner = strings.TrimSuffix(strings.Trim(inner, "'"), "+00")
	for _, layout := range []string{"2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, inner); err == nil {
			return t.UnixMicro(), true
		}
	}
	return 0, false
}

func isWhole(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT":
		return true
	}
	return false
}
