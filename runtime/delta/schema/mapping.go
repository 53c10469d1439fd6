package schema

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// Mode says how the columns of data files are found.
type Mode string

// Modes of delta.columnMapping.mode.
const (
	ByLogicalName Mode = "none"
	ByName        Mode = "name"
	ByID          Mode = "id"
)

// Keys of a field's metadata and of a table's configuration.
const (
	mappingID       = "delta.columnMapping.id"
	mappingName     = "delta.columnMapping.physicalName"
	MappingMode     = "delta.columnMapping.mode"
	MappingMaxID    = "delta.columnMapping.maxColumnId"
	InvariantsKey   = "delta.invariants"
	GenerationKey   = "delta.generationExpression"
	IdentityPrefix  = "delta.identity."
	ColumnDefault   = "CURRENT_DEFAULT"
	physicalNamePre = "col-"
)

// ModeOf reads a table's configuration.
func ModeOf(configuration map[string]string) (Mode, error) {
	switch m := Mode(configuration[MappingMode]); m {
	case "", ByLogicalName:
		return ByLogicalName, nil
	case ByName, ByID:
		return m, nil
	default:
		return "", fmt.Errorf("unknown %s %q", MappingMode, m)
	}
}

// PhysicalName is the field's name in data files, statistics and partition values; without column mapping its own.
func (f Field) PhysicalName() string {
	var name string
	if json.Unmarshal(f.Metadata[mappingName], &name) == nil && name != "" {
		return name
	}
	return f.Name
}

// ID is the field's id under column mapping; ok is false when it has none.
func (f Field) ID() (id int64, ok bool) {
	err := json.Unmarshal(f.Metadata[mappingID], &id)
	return id, err == nil
}

// Has tells whether the field carries metadata of that name.
func (f Field) Has(key string) bool {
	_, ok := f.Metadata[key]
	return ok
}

// Physical is the schema with names as in data files, at every depth. In mode none it is the schema itself:
// leftovers of a mapping that was given up mean nothing.
func (s Schema) Physical(mode Mode) Schema {
	if mode == ByLogicalName {
		return s
	}
	out := make(Schema, len(s))
	for i, f := range s {
		f.Name, f.Type = f.PhysicalName(), f.Type.physicalNames()
		out[i] = f
	}
	return out
}

func (t Type) physicalNames() Type {
	t.Fields = t.Fields.Physical(ByName)
	if t.Key != nil {
		key := t.Key.physicalNames()
		t.Key = &key
	}
	if t.Element != nil {
		element := t.Element.physicalNames()
		t.Element = &element
	}
	return t
}

// assign gives an id and a physical name to every field without, at every depth.
func (s Schema) assign(next *int64) Schema {
	out := make(Schema, len(s))
	for i, f := range s {
		if _, ok := f.ID(); !ok {
			*next++
			metadata := map[string]json.RawMessage{}
			for k, v := range f.Metadata {
				metadata[k] = v
			}
			metadata[mappingID] = json.RawMessage(strconv.FormatInt(*next, 10))
			metadata[mappingName] = json.RawMessage(strconv.Quote(physicalNamePre + uuid.NewString()))
			f.Metadata = metadata
		}
		f.Type = f.Type.assign(next)
		out[i] = f
	}
	return out
}

func (t Type) assign(next *int64) Type {
	t.Fields = t.Fields.assign(next)
	if t.Key != nil {
		key := t.Key.assign(next)
		t.Key = &key
	}
	if t.Element != nil {
		element := t.Element.assign(next)
		t.Element = &element
	}
	return t
}
