package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
)

// valueJSON writes a value of a shape as JSON: v is the value cast to Texts of its type.
func valueJSON(s shape, v any) (string, error) {
	if v == nil {
		return "null", nil
	}
	switch v := v.(type) {
	case string:
		return scalarJSON(s.scalar, v), nil
	case []any:
		if s.kind == list {
			return listJSON(s.members[0].of, v)
		}
	case map[string]any:
		if s.kind == object {
			return structJSON(s.members, v)
		}
	case duckdb.OrderedMap:
		if s.kind == mapping {
			return mapJSON(s.members[1].of, v)
		}
	case duckdb.Union:
		for _, m := range s.members {
			if strings.EqualFold(m.name, v.Tag) {
				return valueJSON(m.of, v.Value)
			}
		}
	}
	return "", fmt.Errorf("a value of the unexpected form %T", v)
}

// scalarJSON writes what DuckDB prints, which is exact for every number and time.
func scalarJSON(typ, text string) string {
	switch {
	case isNumber(typ):
		return numberJSON(text)
	case typ == "BOOLEAN":
		return text
	case typ == "JSON" && json.Valid([]byte(text)):
		return compact(text)
	}
	return quote(text)
}

func isNumber(typ string) bool {
	switch typ {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "BIGNUM":
		return true
	}
	return strings.HasPrefix(typ, "DECIMAL(")
}

// numberJSON keeps every digit; what JSON has no number for becomes a string.
func numberJSON(text string) string {
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

func listJSON(element shape, values []any) (string, error) {
	parts := make([]string, len(values))
	for i, e := range values {
		text, err := valueJSON(element, e)
		if err != nil {
			return "", err
		}
		parts[i] = text
	}
	return "[" + strings.Join(parts, ",") + "]", nil
}

// structJSON writes the members in their order.
func structJSON(members []member, values map[string]any) (string, error) {
	parts := make([]string, len(members))
	for i, m := range members {
		text, err := valueJSON(m.of, values[m.name])
		if err != nil {
			return "", err
		}
		parts[i] = quote(m.name) + ":" + text
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}

// mapJSON writes a map as an object: its keys are text, whatever their type.
func mapJSON(value shape, m duckdb.OrderedMap) (string, error) {
	keys := m.Keys()
	parts := make([]string, len(keys))
	for i, k := range keys {
		v, _ := m.Get(k)
		text, err := valueJSON(value, v)
		if err != nil {
			return "", err
		}
		parts[i] = quote(fmt.Sprint(k)) + ":" + text
	}
	return "{" + strings.Join(parts, ",") + "}", nil
}
