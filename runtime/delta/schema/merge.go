package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Merge adds what incoming has and the table lacks: new columns, and new members of structs at any depth, come last and are
// nullable. Fields match by name ignoring case; the table's order and types stay, and columns missing in incoming stay.
// It is an error when a column's values do not all fit the table's type, or a column that may not be NULL is missing.
// The result is equal to the table's schema when nothing was added.
func Merge(table, incoming Schema) (merged Schema, changed bool, err error) {
	return mergeFields(table, incoming, "")
}

func mergeFields(table, incoming Schema, at string) (Schema, bool, error) {
	out := slices.Clone(table)
	changed := false
	taken := map[int]bool{}
	for _, in := range incoming {
		i := slices.IndexFunc(out, func(f Field) bool { return strings.EqualFold(f.Name, in.Name) })
		if i < 0 {
			in.Nullable, in.Metadata = true, nil
			in.Type = nullable(in.Type)
			out = append(out, in)
			taken[len(out)-1] = true
			changed = true
			continue
		}
		if taken[i] {
			return nil, false, fmt.Errorf("column %s%s comes twice (case does not count)", at, in.Name)
		}
		taken[i] = true
		t, c, err := mergeType(out[i].Type, in.Type, at+out[i].Name)
		if err != nil {
			return nil, false, err
		}
		out[i].Type = t
		changed = changed || c
	}
	for i, f := range table {
		if !taken[i] && !f.Nullable {
			return nil, false, fmt.Errorf("column %s%s may not be NULL in the table, and is missing in the data", at, f.Name)
		}
	}
	return out, changed, nil
}

func mergeType(table, in Type, at string) (Type, bool, error) {
	switch {
	case in.Name == Void || table.Name == in.Name && table.Name != Decimal && table.Key == nil && table.Element == nil && table.Name != Struct:
		return table, false, nil
	case table.Name == Void:
		return nullable(in), true, nil
	case table.Name == Struct && in.Name == Struct:
		fields, changed, err := mergeFields(table.Fields, in.Fields, at+".")
		table.Fields = fields
		return table, changed, err
	case table.Name == Array && in.Name == Array:
		return mergeParts(table, in, at)
	case table.Name == Map && in.Name == Map:
		return mergeParts(table, in, at)
	case fits(in, table):
		return table, false, nil
	}
	return Type{}, false, fmt.Errorf("column %s is %s in the table and %s in the data; cast it to %s, or write to a new table", at, table, in, table.DuckDB())
}

func mergeParts(table, in Type, at string) (Type, bool, error) {
	changed := false
	if table.Key != nil {
		key, c, err := mergeType(*table.Key, *in.Key, at+".key")
		if err != nil {
			return Type{}, false, err
		}
		table.Key, changed = &key, c
	}
	element, c, err := mergeType(*table.Element, *in.Element, at+".element")
	if err != nil {
		return Type{}, false, err
	}
	table.Element = &element
	return table, changed || c, nil
}

// fits tells whether every value of one type is a value of another that a cast finds without loss. Byte, short and integer
// are one physical type and fit each other; the cast fails on a value that does not.
func fits(from, to Type) bool {
	small := []string{Byte, Short, Integer}
	digits := map[string]int{Byte: 3, Short: 5, Integer: 10, Long: 19}
	switch {
	case slices.Contains(small, from.Name) && (slices.Contains(small, to.Name) || to.Name == Long):
		return true
	case from.Name == Float && to.Name == Double, slices.Contains(small, from.Name) && to.Name == Double:
		return true
	case to.Name != Decimal:
		return false
	case from.Name == Decimal:
		return to.Scale >= from.Scale && to.Precision-to.Scale >= from.Precision-from.Scale
	}
	n, integral := digits[from.Name]
	return integral && to.Precision-to.Scale >= n
}

// nullable makes everything inside a type nullable, as new columns must be.
func nullable(t Type) Type {
	fields := slices.Clone(t.Fields)
	for i := range fields {
		fields[i].Nullable, fields[i].Metadata = true, nil
		fields[i].Type = nullable(fields[i].Type)
	}
	t.Fields = fields
	if t.Element != nil {
		element := nullable(*t.Element)
		t.Element, t.HasNulls = &element, true
	}
	if t.Key != nil {
		key := nullable(*t.Key)
		t.Key = &key
	}
	return t
}

// AssignMapping gives fields that lack them their ids and physical names, when the table maps its columns. It returns the
// schema and the configuration to go with it; both are unchanged in mode none.
func AssignMapping(s Schema, configuration map[string]string) (Schema, map[string]string, error) {
	mode, err := ModeOf(configuration)
	if err != nil || mode == ByLogicalName {
		return s, configuration, err
	}
	last, err := strconv.ParseInt(configuration[MappingMaxID], 10, 64)
	if err != nil && configuration[MappingMaxID] != "" {
		return nil, nil, fmt.Errorf("reading %s: %w", MappingMaxID, err)
	}
	mapped := s.assign(&last)
	out := map[string]string{}
	for k, v := range configuration {
		out[k] = v
	}
	out[MappingMaxID] = strconv.FormatInt(last, 10)
	return mapped, out, nil
}
