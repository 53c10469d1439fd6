package bound

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// Type is a DuckDB type as the plan writes it.
type Type struct {
	ID   string    `json:"id"`
	Info *typeInfo `json:"type_info"`
}

type typeInfo struct {
	Type      string   `json:"type"`
	Alias     string   `json:"alias"`
	Width     int      `json:"width"`
	Scale     int      `json:"scale"`
	Collation string   `json:"collation"`
	Child     *Type    `json:"child_type"`
	Children  []member `json:"child_types"`
	Values    []string `json:"values"`
	Size      int64    `json:"size"`
}

type member struct {
	First  string `json:"first"`
	Second Type   `json:"second"`
}

// SQL is the type as DDL and casts write it.
func (t Type) SQL() (string, error) {
	if t.Info != nil && t.Info.Alias != "" {
		if t.Info.Alias == "JSON" {
			return "JSON", nil
		}
		return "", Unsupportedf(ByType, "the user-defined type %s", t.Info.Alias)
	}
	switch t.ID {
	case "DECIMAL":
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Info.Width, t.Info.Scale), nil
	case "LIST":
		return t.suffixed("[]")
	case "ARRAY":
		return t.suffixed(fmt.Sprintf("[%d]", t.Info.Size))
	case "MAP":
		return t.mapSQL()
	case "STRUCT":
		return t.structSQL()
	case "ENUM":
		return t.enumSQL(), nil
	case "VARCHAR":
		if t.Info != nil && t.Info.Collation != "" {
			return "", Unsupportedf(ByType, "the collation %s", t.Info.Collation)
		}
		return "VARCHAR", nil
	case "NULL":
		return `"NULL"`, nil
	case "UNION", "LAMBDA", "ANY", "INVALID", "UNKNOWN", "AGGREGATE_STATE", "VARIANT":
		return "", Unsupportedf(ByType, "a value of type %s", t.ID)
	}
	return t.ID, nil
}

func (t Type) suffixed(suffix string) (string, error) {
	if t.Info == nil || t.Info.Child == nil {
		return "", Unsupportedf(ByType, "a %s of an unknown type", t.ID)
	}
	child, err := t.Info.Child.SQL()
	return child + suffix, err
}

func (t Type) mapSQL() (string, error) {
	if t.Info == nil || t.Info.Child == nil || t.Info.Child.Info == nil || len(t.Info.Child.Info.Children) != 2 {
		return "", Unsupportedf(ByType, "a MAP of an unknown type")
	}
	kv := t.Info.Child.Info.Children
	k, err := kv[0].Second.SQL()
	if err != nil {
		return "", err
	}
	v, err := kv[1].Second.SQL()
	return "MAP(" + k + ", " + v + ")", err
}

func (t Type) structSQL() (string, error) {
	if t.Info == nil {
		return "", Unsupportedf(ByType, "a STRUCT of an unknown type")
	}
	var parts []string
	for i, m := range t.Info.Children {
		s, err := m.Second.SQL()
		if err != nil {
			return "", err
		}
		parts = append(parts, m.name(i)+" "+s)
	}
	return "STRUCT(" + strings.Join(parts, ", ") + ")", nil
}

func (t Type) enumSQL() string {
	var parts []string
	for _, v := range t.Info.Values {
		parts = append(parts, Text(v))
	}
	return "ENUM(" + strings.Join(parts, ", ") + ")"
}

// Ident quotes an SQL identifier.
func Ident(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Text quotes an SQL string literal. A NUL would end the statement.
func Text(s string) string {
	quoted := "'" + strings.ReplaceAll(s, "'", "''") + "'"
	if !strings.Contains(s, "\x00") {
		return quoted
	}
	return "(" + strings.ReplaceAll(quoted, "\x00", "' || chr(0) || '") + ")"
}

// SQL renders the constant with its exact type.
func (v Value) SQL() (string, error) {
	typ, err := v.Type.SQL()
	if err != nil {
		return "", err
	}
	if v.Type.ID == "NULL" {
		return "NULL", nil
	}
	if v.IsNull {
		return "CAST(NULL AS " + typ + ")", nil
	}
	switch v.Type.ID {
	case "BOOLEAN": // as DuckDB's parser reads true and false
		return "CAST(" + Text(string(v.Data[:1])) + " AS BOOLEAN)", nil
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT":
		if typ == "INTEGER" {
			return string(v.Data), nil
		}
		return "CAST(" + string(v.Data) + " AS " + typ + ")", nil
	case "FLOAT", "DOUBLE":
		return v.floatSQL(typ)
	case "DECIMAL":
		return v.decimalSQL(typ)
	case "HUGEINT", "UHUGEINT":
		return v.hugeSQL(typ)
	case "LIST":
		return v.listSQL(typ)
	case "STRUCT", "MAP":
		return v.nestedSQL()
	case "TIME":
		return v.clockSQL(typ)
	case "UUID":
		return v.uuidSQL(typ)
	case "BLOB":
		return v.blobSQL(typ)
	case "INTERVAL":
		return v.intervalSQL(typ)
	case "VARCHAR":
		var s string
		if json.Unmarshal(v.Data, &s) != nil || strings.ContainsRune(s, 0) {
			return "", Unsupportedf(ByConstant, "a text constant with a zero byte")
		}
		if typ == "VARCHAR" {
			return Text(s), nil
		}
		return "CAST(" + Text(s) + " AS " + typ + ")", nil
	case "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE":
		return v.timeSQL(typ)
	}
	return "", Unsupportedf(ByConstant, "a constant of type %s", v.Type.ID)
}

// listSQL renders a list of constants as the call that makes it.
func (v Value) listSQL(typ string) (string, error) {
	var list struct {
		Children []Value `json:"children"`
	}
	if err := json.Unmarshal(v.Data, &list); err != nil {
		return "", Unsupportedf(ByConstant, "a list constant of an unknown form")
	}
	parts := make([]string, len(list.Children))
	for i, c := range list.Children {
		text, err := c.SQL()
		if err != nil {
			return "", err
		}
		parts[i] = text
	}
	text := Ident("list_value") + "(" + strings.Join(parts, ", ") + ")"
	if len(parts) == 0 {
		text = "CAST(" + text + " AS " + typ + ")"
	}
	return text, nil
}

func (v Value) floatSQL(typ string) (string, error) {
	s := strings.Trim(string(v.Data), `"`)
	return "CAST('" + s + "' AS " + typ + ")", nil
}

// decimalSQL puts the point back into the scaled integer the plan holds.
func (v Value) decimalSQL(typ string) (string, error) {
	digits, err := v.integer()
	if err != nil {
		return "", err
	}
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	scale := v.Type.Info.Scale
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale-len(digits)+1) + digits
	}
	if scale > 0 {
		digits = digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
	}
	return "CAST('" + sign + digits + "' AS " + typ + ")", nil
}

func (v Value) hugeSQL(typ string) (string, error) {
	digits, err := v.integer()
	return "CAST('" + digits + "' AS " + typ + ")", err
}

// timeSQL writes a point in time, which the plan counts in units of its type from the start of 1970.
func (v Value) timeSQL(typ string) (string, error) {
	var n int64
	if json.Unmarshal(v.Data, &n) != nil {
		return "", Unsupportedf(ByConstant, "a constant of type %s of an unknown form", typ)
	}
	if far := infinity(n, v.Type.ID); far != "" {
		return "CAST('" + far + "' AS " + typ + ")", nil
	}
	var t time.Time
	layout := "2006-01-02 15:04:05.999999999"
	switch v.Type.ID {
	case "DATE":
		t, layout = time.Unix(0, 0).UTC().AddDate(0, 0, int(n)), time.DateOnly
	case "TIMESTAMP_S":
		t = time.Unix(n, 0).UTC()
	case "TIMESTAMP_MS":
		t = time.UnixMilli(n).UTC()
	case "TIMESTAMP_NS":
		t = time.Unix(0, n).UTC()
	default:
		t = time.UnixMicro(n).UTC()
	}
	if t.Year() < 1 || t.Year() > 9999 {
		return "", Unsupportedf(ByConstant, "a %s that is far away", typ)
	}
	text := t.Format(layout)
	if v.Type.ID == "TIMESTAMP WITH TIME ZONE" {
		text += "+00"
	}
	return "CAST(" + Text(text) + " AS " + typ + ")", nil
}

// infinity is how SQL writes the ends of time, which the plan has as the greatest number and its opposite; empty for others.
func infinity(n int64, typ string) string {
	end := int64(math.MaxInt64)
	if typ == "DATE" {
		end = math.MaxInt32
	}
	switch n {
	case end:
		return "infinity"
	case -end:
		return "-infinity"
	}
	return ""
}

// Alike reports a type with values that SQL takes as equal and yet shows differently: zeros and NaNs of both signs, a month and 30 days.
func Alike(typ string) bool {
	return strings.Contains(typ, "FLOAT") || strings.Contains(typ, "DOUBLE") || strings.Contains(typ, "INTERVAL")
}

// Telling is SQL for what tells values of a column apart that are alike; empty where equal values are the same.
func Telling(column, typ string) string {
	switch {
	case typ == "FLOAT" || typ == "DOUBLE":
		return "signbit(" + column + ")"
	case Alike(typ):
		return "CAST(" + column + " AS VARCHAR)"
	}
	return ""
}
