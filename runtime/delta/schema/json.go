package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// jsonType is the object form of array, map and struct.
type jsonType struct {
	Type              string  `json:"type"`
	Fields            *Schema `json:"fields,omitempty"`
	ElementType       *Type   `json:"elementType,omitempty"`
	ContainsNull      *bool   `json:"containsNull,omitempty"`
	KeyType           *Type   `json:"keyType,omitempty"`
	ValueType         *Type   `json:"valueType,omitempty"`
	ValueContainsNull *bool   `json:"valueContainsNull,omitempty"`
}

// MarshalJSON writes the type as schemaString holds it.
func (t Type) MarshalJSON() ([]byte, error) {
	switch t.Name {
	case Struct:
		fields := t.Fields
		if fields == nil {
			fields = Schema{}
		}
		return json.Marshal(jsonType{Type: Struct, Fields: &fields})
	case Array:
		return json.Marshal(jsonType{Type: Array, ElementType: t.Element, ContainsNull: &t.HasNulls})
	case Map:
		return json.Marshal(jsonType{Type: Map, KeyType: t.Key, ValueType: t.Element, ValueContainsNull: &t.HasNulls})
	}
	return json.Marshal(t.String())
}

// String is the type's name as people and schemaString write it; nested types are summed up.
func (t Type) String() string {
	switch t.Name {
	case Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case Array:
		return "array<" + t.Element.String() + ">"
	case Map:
		return "map<" + t.Key.String() + "," + t.Element.String() + ">"
	case Struct:
		parts := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			parts[i] = f.Name + ":" + f.Type.String()
		}
		return "struct<" + strings.Join(parts, ",") + ">"
	}
	return t.Name
}

// UnmarshalJSON reads a type as schemaString holds it. Unknown primitive types
// are kept by name: the table's features decide whether it can be read.
func (t *Type) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		return t.primitive(name)
	}
	var j jsonType
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*t = Type{Name: j.Type}
	switch j.Type {
	case Struct:
		if j.Fields != nil {
			t.Fields = *j.Fields
		}
	case Array:
		t.Element, t.HasNulls = j.ElementType, j.ContainsNull == nil || *j.ContainsNull
	case Map:
		t.Key, t.Element, t.HasNulls = j.KeyType, j.ValueType, j.ValueContainsNull == nil || *j.ValueContainsNull
	default:
		return fmt.Errorf("unknown nested type %q", j.Type)
	}
	if j.Type == Array && t.Element == nil || j.Type == Map && (t.Key == nil || t.Element == nil) {
		return fmt.Errorf("%s type lacks the type of its parts", j.Type)
	}
	return nil
}

func (t *Type) primitive(name string) error {
	*t = Type{Name: name}
	inner, ok := strings.CutPrefix(name, "decimal")
	if !ok {
		return nil
	}
	t.Name = Decimal
	if inner == "" {
		t.Precision, t.Scale = 10, 0
		return nil
	}
	p, s, found := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(inner, "("), ")"), ",")
	precision, err := strconv.Atoi(strings.TrimSpace(p))
	scale := 0
	if err == nil && found {
		scale, err = strconv.Atoi(strings.TrimSpace(s))
	}
	if err != nil || precision < 1 || precision > 38 || scale < 0 || scale > precision {
		return fmt.Errorf("bad decimal type %q", name)
	}
	t.Precision, t.Scale = precision, scale
	return nil
}
