package schema

import (
	"fmt"
	"strings"
)

// ToLogical is the DuckDB expression that gives a column, read with physical member names, its logical ones.
// Types without renamed members are the expression itself.
func ToLogical(expr string, t Type, mode Mode) string {
	if mode == ByLogicalName || !t.renamed() {
		return expr
	}
	r := renamer{from: Field.PhysicalName, to: Field.logical}
	return "CAST(" + r.rename(expr, t) + " AS " + t.DuckDB() + ")"
}

// ToPhysical is the inverse of ToLogical, for writing.
func ToPhysical(expr string, t Type, mode Mode) string {
	if mode == ByLogicalName || !t.renamed() {
		return expr
	}
	r := renamer{from: Field.logical, to: Field.PhysicalName}
	return "CAST(" + r.rename(expr, t) + " AS " + t.Physical() + ")"
}

func (t Type) renamed() bool {
	for _, f := range t.Fields {
		if f.PhysicalName() != f.Name || f.Type.renamed() {
			return true
		}
	}
	return t.Key != nil && t.Key.renamed() || t.Element != nil && t.Element.renamed()
}

// renamer rebuilds nested values member by member: DuckDB casts structs by name, and a cast to other names gives NULLs. What it makes
// needs a cast to its own type: DuckDB forgets the type of a rebuilt constant NULL.
type renamer struct {
	from, to func(Field) string
	depth    int
}

func (r *renamer) rename(expr string, t Type) string {
	if !t.renamed() {
		return expr
	}
	switch t.Name {
	case Struct:
		members := make([]string, len(t.Fields))
		for i, f := range t.Fields {
			members[i] = Identifier(r.to(f)) + " := " + r.rename("struct_extract("+expr+", "+Literal(r.from(f))+")", f.Type)
		}
		return "CASE WHEN " + expr + " IS NULL THEN NULL ELSE struct_pack(" + strings.Join(members, ", ") + ") END"
	case Array:
		v := r.variable()
		return "list_transform(" + expr + ", lambda " + v + ": " + r.rename(v, *t.Element) + ")"
	}
	v := r.variable()
	key := r.rename("struct_extract("+v+", 'key')", *t.Key)
	value := r.rename("struct_extract("+v+", 'value')", *t.Element)
	return "map_from_entries(list_transform(map_entries(" + expr + "), lambda " + v +
		": struct_pack(key := " + key + ", value := " + value + ")))"
}

func (r *renamer) variable() string {
	r.depth++
	return fmt.Sprintf("sf_%d", r.depth)
}

// WriteSelect is the select list that gives rows of the incoming columns the form of the table's data files: every column that is
// not in partitions, in the table's order, cast to the table's type, with physical names; NULL where a column is missing.
func WriteSelect(table Schema, incoming []Column, partitions []string, mode Mode) (string, error) {
	names := map[string]string{}
	for _, c := range incoming {
		names[strings.ToLower(c.Name)] = c.Name
	}
	skip := map[string]bool{}
	for _, p := range partitions {
		skip[strings.ToLower(p)] = true
	}
	var out []string
	for _, f := range table {
		if skip[strings.ToLower(f.Name)] || f.Type.Name == Void {
			continue
		}
		expr := "NULL"
		if name, ok := names[strings.ToLower(f.Name)]; ok {
			expr = Identifier(name)
		}
		name := f.Name
		if mode != ByLogicalName {
			name = f.PhysicalName()
		}
		cast := "CAST(" + expr + " AS " + f.Type.DuckDB() + ")"
		if f.Has(ColumnDefault) && expr == "NULL" {
			return "", fmt.Errorf("column %q has a default in the table, and is missing in the data", f.Name)
		}
		if !f.Nullable {
			cast = "CASE WHEN " + cast + " IS NULL THEN error(" + Literal("column "+f.Name+" of the Delta table may not be NULL") + ") ELSE " + cast + " END"
		}
		out = append(out, ToPhysical(cast, f.Type, mode)+" AS "+Identifier(name))
	}
	if len(out) == 0 {
		return "", fmt.Errorf("no column of the table is kept in data files")
	}
	return strings.Join(out, ", "), nil
}

// FieldIDs is the value of COPY's FIELD_IDS option for a mapped table's data files; empty in mode none.
func FieldIDs(table Schema, partitions []string, mode Mode) string {
	if mode == ByLogicalName {
		return ""
	}
	var parts []string
	for _, f := range table {
		if _, ok := f.ID(); !ok || f.Type.Name == Void || containsFold(partitions, f.Name) {
			continue
		}
		parts = append(parts, fieldID(f))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func fieldID(f Field) string {
	id, _ := f.ID()
	name := Identifier(f.PhysicalName())
	inner := memberIDs(f.Type)
	if inner == "" {
		return fmt.Sprintf("%s: %d", name, id)
	}
	return fmt.Sprintf("%s: {__duckdb_field_id: %d, %s}", name, id, inner)
}

// memberIDs lists the ids inside a nested type, as members of the enclosing {…}.
func memberIDs(t Type) string {
	var parts []string
	for _, f := range t.Fields {
		if _, ok := f.ID(); ok {
			parts = append(parts, fieldID(f))
		}
	}
	inside := func(name string, part *Type) {
		if part == nil {
			return
		}
		if inner := memberIDs(*part); inner != "" {
			parts = append(parts, name+": {"+inner+"}")
		}
	}
	inside("key", t.Key)
	if t.Name == Array {
		inside("element", t.Element)
	} else {
		inside("value", t.Element)
	}
	return strings.Join(parts, ", ")
}

func containsFold(names []string, name string) bool {
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
