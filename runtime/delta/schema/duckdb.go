package schema

import (
	"fmt"
	"strings"
)

// Column is a column as DuckDB's DESCRIBE prints it.
type Column struct {
	Name string
	Type string // type text: BIGINT, DECIMAL(10,2), STRUCT(a INTEGER, b VARCHAR[]) …
}

// Converted is the Delta field that holds a DuckDB column.
type Converted struct {
	Field Field
	// Cast is the DuckDB type that the column must be cast to before it is written; empty when it is of that type already.
	Cast string
}

// FromDuckDB finds the Delta field of each column. Types without an equal are widened (UBIGINT → decimal(20,0)) or written
// as text (UUID, ENUM, TIME, INTERVAL, BIT, JSON); it is an error, naming the column, where neither is possible.
func FromDuckDB(columns []Column) ([]Converted, error) {
	out := make([]Converted, len(columns))
	for i, c := range columns {
		t, err := ParseDuckDB(c.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", c.Name, err)
		}
		out[i].Field = Field{Name: c.Name, Type: t, Nullable: true}
		if target := t.DuckDB(); !strings.EqualFold(normal(target), normal(c.Type)) {
			out[i].Cast = target
		}
	}
	return out, nil
}

// Fields returns the fields of converted columns as a schema.
func Fields(columns []Converted) Schema {
	out := make(Schema, len(columns))
	for i, c := range columns {
		out[i] = c.Field
	}
	return out
}

// normal leaves out what may differ between two spellings of one type.
func normal(text string) string {
	return strings.NewReplacer(" ", "", `"`, "").Replace(text)
}

// deltaOf maps the words of DuckDB's types. Aliases are those DESCRIBE or users write.
func deltaOf(word string) (Type, bool) {
	name := ""
	switch strings.ToUpper(word) {
	case "VARCHAR", "TEXT", "STRING", "UUID", "TIME", "TIME WITH TIME ZONE", "TIME_NS", "INTERVAL", "BIT", "JSON", "BIGNUM", "VARINT":
		name = String
	case "BIGINT", "UINTEGER", "INT8", "LONG":
		name = Long
	case "INTEGER", "USMALLINT", "INT", "INT4", `"NULL"`, "NULL":
		name = Integer
	case "SMALLINT", "UTINYINT", "INT2":
		name = Short
	case "TINYINT", "INT1":
		name = Byte
	case "FLOAT", "REAL", "FLOAT4":
		name = Float
	case "DOUBLE", "FLOAT8":
		name = Double
	case "BOOLEAN", "BOOL":
		name = Boolean
	case "BLOB", "BYTEA":
		name = Binary
	case "DATE":
		name = Date
	case "TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ":
		name = Timestamp
	case "TIMESTAMP", "TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S", "DATETIME":
		name = TimestampNTZ
	case "UBIGINT":
		return Type{Name: Decimal, Precision: 20}, true
	case "HUGEINT", "UHUGEINT":
		return Type{Name: Decimal, Precision: 38}, true
	}
	return Type{Name: name}, name != ""
}

// DuckDB is the DuckDB type that holds the type's values, with logical member names.
func (t Type) DuckDB() string { return t.duckDB(Field.logical) }

// Physical is the same with the member names that data files use under column mapping.
func (t Type) Physical() string { return t.duckDB(Field.PhysicalName) }

func (f Field) logical() string { return f.Name }

func (t Type) duckDB(name func(Field) string) string {
	switch t.Name {
	case Decimal:
		return fmt.Sprintf("DECIMAL(%d,%d)", t.Precision, t.Scale)
	case Array:
		return t.Element.duckDB(name) + "[]"
	case Map:
		return "MAP(" + t.Key.duckDB(name) + ", " + t.Element.duckDB(name) + ")"
	case Struct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = Identifier(name(f)) + " " + f.Type.duckDB(name)
		}
		return "STRUCT(" + strings.Join(parts, ", ") + ")"
	}
	return primitiveDuckDB(t.Name)
}

func primitiveDuckDB(name string) string {
	switch name {
	case String:
		return "VARCHAR"
	case Long:
		return "BIGINT"
	case Integer:
		return "INTEGER"
	case Short:
		return "SMALLINT"
	case Byte:
		return "TINYINT"
	case Float:
		return "FLOAT"
	case Double:
		return "DOUBLE"
	case Boolean:
		return "BOOLEAN"
	case Binary:
		return "BLOB"
	case Date:
		return "DATE"
	case Timestamp:
		return "TIMESTAMP WITH TIME ZONE"
	case TimestampNTZ:
		return "TIMESTAMP"
	}
	return `"NULL"`
}

// Supported reports, naming the column, a type that this library cannot read.
func (s Schema) Supported() error {
	for _, f := range s {
		if err := f.Type.supported(); err != nil {
			return fmt.Errorf("column %q: %w", f.Name, err)
		}
	}
	return nil
}

func (t Type) supported() error {
	switch t.Name {
	case Decimal, Void:
		return nil
	case Struct:
		return t.Fields.Supported()
	case Array:
		return t.Element.supported()
	case Map:
		if err := t.Key.supported(); err != nil {
			return err
		}
		return t.Element.supported()
	}
	if primitiveDuckDB(t.Name) == `"NULL"` {
		return fmt.Errorf("type %s is not supported", t.Name)
	}
	return nil
}

// Identifier quotes a name for DuckDB.
func Identifier(name string) string {
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// Literal quotes a text for DuckDB.
func Literal(text string) string {
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}
