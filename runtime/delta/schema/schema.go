// Package schema has the schema of a Delta table: its JSON form, its match in DuckDB's types, additive evolution, column mapping and partition text.
package schema

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Names of Delta's types; a decimal carries precision and scale beside it.
const (
	String       = "string"
	Long         = "long"
	Integer      = "integer"
	Short        = "short"
	Byte         = "byte"
	Float        = "float"
	Double       = "double"
	Decimal      = "decimal"
	Boolean      = "boolean"
	Binary       = "binary"
	Date         = "date"
	Timestamp    = "timestamp"     // an instant, µs, UTC
	TimestampNTZ = "timestamp_ntz" // without zone, µs
	Void         = "void"          // all NULL, in no file
	Array        = "array"
	Map          = "map"
	Struct       = "struct"
)

// Schema is the ordered fields of a table or a struct.
type Schema []Field

// Field is one column or struct member.
type Field struct {
	Name     string                     `json:"name"`
	Type     Type                       `json:"type"`
	Nullable bool                       `json:"nullable"`
	Metadata map[string]json.RawMessage `json:"metadata"` // kept as it was written
}

// MarshalJSON writes absent metadata as an empty object.
func (f Field) MarshalJSON() ([]byte, error) {
	type plain Field
	if f.Metadata == nil {
		f.Metadata = map[string]json.RawMessage{}
	}
	return json.Marshal(plain(f))
}

// Type is the type of a field, element, key or value. Name decides which other parts count.
type Type struct {
	Name      string
	Precision int    // decimal
	Scale     int    // decimal
	Fields    Schema // struct
	Key       *Type  // map
	Element   *Type  // array: its elements; map: its values
	// HasNulls tells whether elements (of an array) or values (of a map) may be NULL.
	HasNulls bool
}

// Parse reads a metaData's schemaString.
func Parse(text string) (Schema, error) {
	var t Type
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return nil, fmt.Errorf("reading the schema: %w", err)
	}
	if t.Name != Struct {
		return nil, fmt.Errorf("reading the schema: a table is a struct, not a %s", t.Name)
	}
	return t.Fields, nil
}

// String writes the schema as a schemaString.
func (s Schema) String() string {
	text, err := json.Marshal(Type{Name: Struct, Fields: s})
	if err != nil {
		panic(fmt.Sprintf("schema of plain values cannot be written: %v", err))
	}
	return string(text)
}

// Field finds a field by name, ignoring case.
func (s Schema) Field(name string) (Field, bool) {
	for _, f := range s {
		if strings.EqualFold(f.Name, name) {
			return f, true
		}
	}
	return Field{}, false
}

// Contains tells whether a type of that name occurs at any depth.
func (s Schema) Contains(name string) bool {
	for _, f := range s {
		if f.Type.contains(name) {
			return true
		}
	}
	return false
}

func (t Type) contains(name string) bool {
	return t.Name == name || t.Fields.Contains(name) ||
		t.Key != nil && t.Key.contains(name) || t.Element != nil && t.Element.contains(name)
}

// Check reports names that a table may not have: empty ones, two that differ in
// case only, and, unless columns are mapped, characters that Parquet readers of old cannot bear.
func (s Schema) Check(mapped bool) error {
	seen := map[string]bool{}
	for _, f := range s {
		lower := strings.ToLower(f.Name)
		if f.Name == "" || seen[lower] {
			return fmt.Errorf("column name %q is empty or used twice (case does not count)", f.Name)
		}
		seen[lower] = true
		if !mapped && strings.ContainsAny(f.Name, " ,;{}()\n\t=") {
			return fmt.Errorf("column name %q: a Delta table without column mapping cannot hold any of the characters space , ; { } ( ) newline tab =", f.Name)
		}
		if err := f.Type.check(mapped); err != nil {
			return fmt.Errorf("in column %q: %w", f.Name, err)
		}
	}
	return nil
}

func (t Type) check(mapped bool) error {
	if err := t.Fields.Check(mapped); err != nil {
		return err
	}
	for _, part := range []*Type{t.Key, t.Element} {
		if part != nil {
			if err := part.check(mapped); err != nil {
				return err
			}
		}
	}
	return nil
}

// Equal tells whether two types hold the same values: names of struct members
// ignoring case, order as it stands; nullability and metadata do not count.
func (t Type) Equal(u Type) bool {
	if t.Name != u.Name || t.Precision != u.Precision || t.Scale != u.Scale || len(t.Fields) != len(u.Fields) {
		return false
	}
	for i, f := range t.Fields {
		if !strings.EqualFold(f.Name, u.Fields[i].Name) || !f.Type.Equal(u.Fields[i].Type) {
			return false
		}
	}
	return equalPart(t.Key, u.Key) && equalPart(t.Element, u.Element)
}

func equalPart(a, b *Type) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
