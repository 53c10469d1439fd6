package schema

import (
	"fmt"
	"strings"
)

// NullPartition is the directory name part that stands for NULL, as Hive has it.
const NullPartition = "__HIVE_DEFAULT_PARTITION__"

// PartitionDir is the conventional folder of a file with these partition values, relative to the table and not yet
// URI-encoded: col=value/…, in the order of the columns, with what Hive escapes as %XX. It is empty without columns.
func PartitionDir(columns []string, values map[string]*string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		value := NullPartition
		if v := values[c]; v != nil && *v != "" {
			value = escapePartition(*v)
		}
		parts[i] = escapePartition(c) + "=" + value
	}
	return strings.Join(parts, "/")
}

func escapePartition(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < 0x20 && c > 0 || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
			fmt.Fprintf(&out, "%%%02X", c)
			continue
		}
		out.WriteByte(c)
	}
	return out.String()
}

// NormalPartition is a partition value as the log holds it: the empty text means NULL.
func NormalPartition(value *string) *string {
	if value == nil || *value == "" {
		return nil
	}
	return value
}

// PartitionText is the DuckDB expression that writes the value of a column expression as partition text, NULL for
// none. Sessions must run in UTC. Nested types cannot be partition columns.
func PartitionText(expr string, t Type) (string, error) {
	var text string
	switch t.Name {
	case Timestamp:
		text = "strftime(timezone('UTC', " + expr + "), '%Y-%m-%dT%H:%M:%S.%fZ')"
	case TimestampNTZ:
		text = "strftime(" + expr + ", '%Y-%m-%d %H:%M:%S.%f')"
	case Float, Double:
		text = "CASE WHEN isnan(" + expr + ") THEN 'NaN' WHEN isinf(" + expr + ") THEN CASE WHEN " + expr +
			" > 0 THEN 'Infinity' ELSE '-Infinity' END ELSE CAST(" + expr + " AS VARCHAR) END"
	case Binary:
		text = "array_to_string(list_transform(range(0, octet_length(" + expr + ")), lambda i: chr(CAST('0x' || substr(hex(" +
			expr + "), CAST(2 * i + 1 AS BIGINT), 2) AS INTEGER))), '')"
	case String, Long, Integer, Short, Byte, Decimal, Boolean, Date:
		text = "CAST(" + expr + " AS VARCHAR)"
	default:
		return "", fmt.Errorf("a column of type %s cannot be a partition column", t)
	}
	return "nullif(" + text + ", '')", nil
}

// PartitionValue is the DuckDB expression for partition text from the log, of the column's type. Timestamps without a zone
// were written in the given one (empty: UTC).
func PartitionValue(value *string, t Type, zone string) (string, error) {
	target := t.DuckDB()
	value = NormalPartition(value)
	if value == nil || t.Name == Void {
		return "CAST(NULL AS " + target + ")", nil
	}
	switch t.Name {
	case Timestamp:
		if zone == "" {
			zone = "UTC"
		}
		if zoned(*value) {
			return "CAST(" + Literal(*value) + " AS " + target + ")", nil
		}
		return "timezone(" + Literal(zone) + ", CAST(" + Literal(*value) + " AS TIMESTAMP))", nil
	case Binary:
		var hex strings.Builder
		for _, r := range *value {
			if r > 0xff {
				return "", fmt.Errorf("binary partition value holds U+%04X, which is no byte", r)
			}
			fmt.Fprintf(&hex, "%02X", r)
		}
		return "from_hex('" + hex.String() + "')", nil
	case Struct, Array, Map:
		return "", fmt.Errorf("a column of type %s cannot be a partition column", t)
	case String:
		return "CAST(" + textLiteral(*value) + " AS VARCHAR)", nil
	}
	return "CAST(" + Literal(*value) + " AS " + target + ")", nil
}

// zoned tells whether a timestamp text ends in Z or an offset.
func zoned(text string) bool {
	if strings.HasSuffix(text, "Z") {
		return true
	}
	_, clock, found := strings.Cut(text, ":")
	return found && strings.ContainsAny(clock, "+-")
}

// textLiteral is Literal for any text: DuckDB's literals cannot hold the NUL character.
func textLiteral(text string) string {
	return strings.ReplaceAll(Literal(text), "\x00", "' || chr(0) || '")
}
