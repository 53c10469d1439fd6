package snapshot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/schema"
)

// UnsupportedFeature says that a table asks for something this library does not
// know, so that reading (or writing) it could give wrong rows.
type UnsupportedFeature struct {
	Feature string // as the protocol spells it, or "reader version 4"
	Write   bool   // the table can be read, but not written
	Detail  string // what in the table uses it; may be empty
}

// Error implements error.
func (e UnsupportedFeature) Error() string {
	verb := "read"
	if e.Write {
		verb = "written"
	}
	text := fmt.Sprintf("the Delta table cannot be %s: feature %s is not supported", verb, e.Feature)
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	return text
}

// CheckRead reports what keeps a table from being read.
func CheckRead(p action.Protocol) error {
	if p.MinReaderVersion > action.FeatureReader {
		return UnsupportedFeature{Feature: fmt.Sprintf("reader version %d", p.MinReaderVersion)}
	}
	if p.MinReaderVersion < action.FeatureReader {
		return nil
	}
	for _, f := range p.ReaderFeatures {
		if !action.ReaderFeature(f) {
			return UnsupportedFeature{Feature: f}
		}
	}
	return nil
}

// CheckWrite reports what keeps a readable table from being written.
func CheckWrite(p action.Protocol, m action.Metadata, s schema.Schema) error {
	if p.MinWriterVersion > action.FeatureWriter {
		return UnsupportedFeature{Feature: fmt.Sprintf("writer version %d", p.MinWriterVersion), Write: true}
	}
	for _, f := range p.Features() {
		known, use := writing(f, m, s)
		if !known || use != "" {
			return UnsupportedFeature{Feature: f, Write: true, Detail: use}
		}
	}
	return nil
}

// writing tells whether we know a writer feature, and what in the table makes an otherwise harmless one refused.
func writing(feature string, m action.Metadata, s schema.Schema) (known bool, use string) {
	switch feature {
	case action.AppendOnly, action.ChangeDataFeed, action.DeletionVectors, action.TimestampNTZ, action.V2Checkpoint,
		action.InCommitTimestamp, action.VacuumProtocolCheck, action.DomainMetadataName, action.Clustering,
		action.TypeWidening, action.TypeWideningPreview, action.AllowColumnDefaults, action.CheckpointProtection:
		return true, ""
	case action.Invariants:
		return true, fieldWith(s, func(key string) bool { return key == schema.InvariantsKey })
	case action.GeneratedColumns:
		return true, fieldWith(s, func(key string) bool { return key == schema.GenerationKey })
	case action.IdentityColumns:
		return true, fieldWith(s, func(key string) bool { return strings.HasPrefix(key, schema.IdentityPrefix) })
	case action.CheckConstraints:
		for key := range m.Configuration {
			if strings.HasPrefix(key, "delta.constraints.") {
				return true, "constraint " + strings.TrimPrefix(key, "delta.constraints.")
			}
		}
		return true, ""
	case action.ColumnMapping:
		mode, err := schema.ModeOf(m.Configuration)
		if err != nil || mode == schema.ByID {
			return true, schema.MappingMode + " = " + m.Configuration[schema.MappingMode]
		}
		return true, ""
	}
	return false, ""
}

// fieldWith names a field, at any depth, whose metadata has a key of that sort.
func fieldWith(s schema.Schema, match func(key string) bool) string {
	for _, f := range s {
		for key := range f.Metadata {
			if match(key) {
				return "column " + f.Name
			}
		}
		if found := typeWith(f.Type, match); found != "" {
			return found
		}
	}
	return ""
}

func typeWith(t schema.Type, match func(key string) bool) string {
	for _, part := range []*schema.Type{t.Key, t.Element} {
		if part != nil {
			if found := typeWith(*part, match); found != "" {
				return found
			}
		}
	}
	return fieldWith(t.Fields, match)
}

// Needed lists the features that a table of this schema and configuration must have.
func Needed(m action.Metadata, s schema.Schema) []string {
	var out []string
	add := func(feature string, when bool) {
		if when && !slices.Contains(out, feature) {
			out = append(out, feature)
		}
	}
	on := func(key string) bool { return strings.EqualFold(m.Configuration[key], "true") }
	mode, err := schema.ModeOf(m.Configuration)
	add(action.TimestampNTZ, s.Contains(schema.TimestampNTZ))
	add(action.DeletionVectors, on("delta.enableDeletionVectors"))
	add(action.ColumnMapping, err == nil && mode != schema.ByLogicalName)
	add(action.InCommitTimestamp, on("delta.enableInCommitTimestamps"))
	add(action.ChangeDataFeed, on("delta.enableChangeDataFeed"))
	add(action.V2Checkpoint, m.Configuration["delta.checkpointPolicy"] == "v2")
	return out
}
