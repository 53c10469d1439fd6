package stats

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/streamform/streamform/runtime/delta/schema"
)

// lower is the JSON of a lower bound for DuckDB's text of a least value; empty when there is none.
func lower(t schema.Type, text string, prefix int) string {
	switch t.Name {
	case schema.Float, schema.Double:
		f, ok := finite(text)
		if ok && f == 0 {
			return "-0.0"
		}
		return number(text, ok)
	case schema.Timestamp, schema.TimestampNTZ:
		at, ok := instant(text)
		return timestamp(t, at.Truncate(time.Millisecond), ok)
	case schema.String:
		return quote(firstRunes(text, prefix))
	}
	return exact(t, text)
}

// upper is the same for a greatest value.
func upper(t schema.Type, text string, prefix int) string {
	switch t.Name {
	case schema.Float, schema.Double:
		f, ok := finite(text)
		if ok && f == 0 {
			return "0.0"
		}
		return number(text, ok)
	case schema.Timestamp, schema.TimestampNTZ:
		at, ok := instant(text)
		if floor := at.Truncate(time.Millisecond); floor.Before(at) {
			at = floor.Add(time.Millisecond)
		}
		return timestamp(t, at, ok)
	case schema.String:
		if above, ok := textAbove(text, prefix); ok {
			return quote(above)
		}
		return ""
	}
	return exact(t, text)
}

// exact is a bound that stands as it is: integers and decimals in plain digits, never through a float; dates.
func exact(t schema.Type, text string) string {
	switch t.Name {
	case schema.Long, schema.Integer, schema.Short, schema.Byte, schema.Decimal:
		return number(text, plainNumber(text))
	case schema.Date:
		if _, err := time.Parse(time.DateOnly, text); err == nil {
			return quote(text)
		}
	}
	return ""
}

func number(text string, ok bool) string {
	if !ok {
		return ""
	}
	return text
}

// plainNumber tells whether a text is a JSON number without an exponent.
func plainNumber(text string) bool {
	return jsonNumber(text) && !strings.ContainsAny(text, "eE")
}

func finite(text string) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && jsonNumber(text)
}

func jsonNumber(text string) bool {
	return text != "" && strings.IndexByte("-0123456789", text[0]) >= 0 && json.Valid([]byte(text))
}

// instant reads DuckDB's text of a timestamp. Infinities, and years that ISO 8601 does not write with four digits, are not ok.
func instant(text string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02 15:04:05.999999-07", "2006-01-02 15:04:05.999999-07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), at.UTC().Year() >= 1 && at.UTC().Year() <= 9999
		}
	}
	return time.Time{}, false
}

func timestamp(t schema.Type, at time.Time, ok bool) string {
	if !ok || at.Year() > 9999 {
		return ""
	}
	text := at.Format("2006-01-02T15:04:05.000")
	if t.Name == schema.Timestamp {
		text += "Z"
	}
	return quote(text)
}

func firstRunes(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// textAbove is a short text that is not below the given one: its first n characters and one that is above what follows
// them. There is none when too many of the greatest character follow.
func textAbove(text string, n int) (string, bool) {
	const greatestASCII, greatest = '\u007f', utf8.MaxRune
	runes := []rune(text)
	for i := n; i <= maxPrefix; i++ {
		if i >= len(runes) {
			return text, true
		}
		if runes[i] < greatestASCII {
			return string(runes[:i]) + string(greatestASCII), true
		}
		if runes[i] != greatest {
			return string(runes[:i]) + string(greatest), true
		}
	}
	return "", false
}
