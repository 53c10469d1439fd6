package result

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// scalarJSON writes a value as JSON. text is the same value as DuckDB prints it, which is exact for every number and time.
func scalarJSON(typ string, value any, text string) (string, error) {
	if isNumber(typ) {
		return numberJSON(text), nil
	}
	switch {
	case typ == "BOOLEAN":
		return text, nil
	case typ == "JSON":
		if json.Valid([]byte(text)) {
			return compact(text), nil
		}
		return quote(text), nil
	case nested(typ):
		return valueJSON(value)
	}
	return quote(text), nil
}

func isNumber(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "BIGNUM":
		return true
	}
	return strings.HasPrefix(typ, "DECIMAL(")
}

func nested(typ string) bool {
	return strings.HasSuffix(typ, "]") || strings.HasPrefix(typ, "STRUCT(") || strings.HasPrefix(typ, "MAP(") || strings.HasPrefix(typ, "UNION(")
}

// numberJSON keeps every digit; what JSON has no number for becomes a string.
func numberJSON(text string) string {
	switch strings.ToLower(strings.TrimPrefix(text, "-")) {
	case "nan", "inf", "infinity":
		return quote(text)
	}
	if !json.Valid([]byte(text)) {
		return quote(text)
	}
	return text
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return quote(text)
	}
	return b.String()
}

func quote(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// valueJSON writes the driver's Go value for a nested type.
func valueJSON(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "null", nil
	case bool:
		return strconv.FormatBool(v), nil
	case string:
		return quote(v), nil
	case float32:
		return floatJSON(float64(v), 32), nil
	case float64:
		return floatJSON(v, 64), nil
	case *big.Int:
		return v.String(), nil
	case duckdb.Decimal:
		return v.String(), nil
	case time.Time:
		return quote(timeText(v)), nil
	case duckdb.Interval:
		return quote(intervalText(v)), nil
	case duckdb.UUID:
		return quote(v.String()), nil
	case []byte:
		if utf8.Valid(v) {
			return quote(string(v)), nil
		}
		return quote(base64.StdEncoding.EncodeToString(v)), nil
	case []any:
		return listJSON(v)
	case map[string]any:
		return structJSON(v)
	case duckdb.OrderedMap:
		return mapJSON(v)
	case duckdb.Union:
		return valueJSON(v.Value)
	}
	return plainJSON(v)
}

// plainJSON writes integers of any width, and what has no form of its own as text.
func plainJSON(v any) (string, error) {
	switch v.(type) {
	case int8, int16, int32, int64, int, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), nil
	}
	return quote(fmt.Sprint(v)), nil
}

func floatJSON(f float64, bits int) string {
	if math.IsNaN(f) {
		return `"nan"`
	}
	if math.IsInf(f, 0) {
		return quote(map[bool]string{true: "inf", false: "-inf"}[f > 0])
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// timeText prints a time inside a nested value as DuckDB prints a TIMESTAMP.
func timeText(t time.Time) string {
	text := t.UTC().Format("2006-01-02 15:04:05.999999999")
	return strings.TrimSuffix(text, " 00:00:00")
}

func intervalText(i duckdb.Interval) string {
	return fmt.Sprintf("%d months %d days %d microseconds", i.Months, i.Days, i.Micros)
}

func listJSON(list []any) (string, error) {
	parts := make([]string, len(list))
	for i, e := range list {
		text, err := valueJSON(e)
		if err != nil {
			return "", err
		}
		parts[i] = text
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

func structJSON(m map[string]any) (string, error) {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	parts := make([]string, len(keys))
	for i, k := range keys {
		text, err := valueJSON(m[k])
		if err != nil {
			return "", err
		}
		parts[i] = quote(k) + ":" + text
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

func mapJSON(m duckdb.OrderedMap) (string, error) {
	keys := m.Keys()
	parts := make([]string, len(keys))
	for i, k := range keys {
		key, err := valueJSON(k)
		if err != nil {
			return "", err
		}
		if !strings.HasPrefix(key, `"`) {
			key = quote(key)
		}
		value, _ := m.Get(k)
		text, err := valueJSON(value)
		if err != nil {
			return "", err
		}
		parts[i] = key + ":" + text
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}
