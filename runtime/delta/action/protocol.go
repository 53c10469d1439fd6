package action

import (
	"encoding/json"
	"slices"
)

// Names of table features, as the protocol spells them.
const (
	AppendOnly           = "appendOnly"
	Invariants           = "invariants"
	CheckConstraints     = "checkConstraints"
	ChangeDataFeed       = "changeDataFeed"
	GeneratedColumns     = "generatedColumns"
	ColumnMapping        = "columnMapping"
	IdentityColumns      = "identityColumns"
	DeletionVectors      = "deletionVectors"
	TimestampNTZ         = "timestampNtz"
	V2Checkpoint         = "v2Checkpoint"
	InCommitTimestamp    = "inCommitTimestamp"
	VacuumProtocolCheck  = "vacuumProtocolCheck"
	TypeWidening         = "typeWidening"
	TypeWideningPreview  = "typeWidening-preview"
	DomainMetadataName   = "domainMetadata"
	Clustering           = "clustering"
	AllowColumnDefaults  = "allowColumnDefaults"
	CheckpointProtection = "checkpointProtection"
)

// Reader and writer versions from which on features are listed one by one.
const (
	FeatureReader = 3
	FeatureWriter = 7
)

// Protocol says what a reader and a writer of the table must know. A list is nil where the version does not use
// it, and only there.
type Protocol struct {
	MinReaderVersion int      `json:"minReaderVersion"`
	MinWriterVersion int      `json:"minWriterVersion"`
	ReaderFeatures   []string `json:"readerFeatures,omitempty"`
	WriterFeatures   []string `json:"writerFeatures,omitempty"`
}

// Normal returns the protocol with lists where its versions ask for them, and
// only there.
func (p Protocol) Normal() Protocol {
	p.ReaderFeatures = listFrom(p.MinReaderVersion, FeatureReader, p.ReaderFeatures)
	p.WriterFeatures = listFrom(p.MinWriterVersion, FeatureWriter, p.WriterFeatures)
	return p
}

func listFrom(version, first int, list []string) []string {
	switch {
	case version < first:
		return nil
	case list == nil:
		return []string{}
	}
	return list
}

// MarshalJSON writes the lists that the versions ask for, empty or not, and no others: readers refuse an empty list
// where there should be none, and a missing one where there should be one.
func (p Protocol) MarshalJSON() ([]byte, error) {
	type lists struct {
		MinReaderVersion int       `json:"minReaderVersion"`
		MinWriterVersion int       `json:"minWriterVersion"`
		ReaderFeatures   *[]string `json:"readerFeatures,omitempty"`
		WriterFeatures   *[]string `json:"writerFeatures,omitempty"`
	}
	p = p.Normal()
	out := lists{MinReaderVersion: p.MinReaderVersion, MinWriterVersion: p.MinWriterVersion}
	if p.ReaderFeatures != nil {
		out.ReaderFeatures = &p.ReaderFeatures
	}
	if p.WriterFeatures != nil {
		out.WriterFeatures = &p.WriterFeatures
	}
	return json.Marshal(out)
}

// Equal tells whether both ask the same of readers and writers.
func (p Protocol) Equal(q Protocol) bool {
	same := func(a, b []string) bool {
		a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
		return slices.Equal(slices.Compact(a), slices.Compact(b))
	}
	return p.MinReaderVersion == q.MinReaderVersion && p.MinWriterVersion == q.MinWriterVersion &&
		same(p.ReaderFeatures, q.ReaderFeatures) && same(p.WriterFeatures, q.WriterFeatures)
}

// Has tells whether writers must observe the feature, listed or implied by the version.
func (p Protocol) Has(feature string) bool {
	return slices.Contains(p.Features(), feature)
}

// Features lists what the protocol asks of writers: its list, or what the writer version implies.
func (p Protocol) Features() []string {
	if p.MinWriterVersion >= FeatureWriter {
		return p.WriterFeatures
	}
	implied := []struct {
		from int
		name string
	}{
		{2, AppendOnly}, {2, Invariants}, {3, CheckConstraints}, {4, ChangeDataFeed},
		{4, GeneratedColumns}, {5, ColumnMapping}, {6, IdentityColumns},
	}
	var out []string
	for _, f := range implied {
		if p.MinWriterVersion >= f.from {
			out = append(out, f.name)
		}
	}
	return out
}

// With returns the least protocol that keeps all of p and adds the features.
// It never lowers a version and never drops a feature.
func (p Protocol) With(features ...string) Protocol {
	missing := false
	for _, f := range features {
		missing = missing || !p.Has(f)
	}
	if !missing {
		return p
	}
	writer := slices.Clone(p.Features())
	var reader []string
	if p.MinReaderVersion >= FeatureReader {
		reader = slices.Clone(p.ReaderFeatures)
	} else if p.MinReaderVersion == 2 {
		reader = []string{ColumnMapping}
	}
	for _, f := range features {
		if !slices.Contains(writer, f) {
			writer = append(writer, f)
		}
		if ReaderFeature(f) && !slices.Contains(reader, f) {
			reader = append(reader, f)
		}
	}
	out := Protocol{MinReaderVersion: p.MinReaderVersion, MinWriterVersion: FeatureWriter, WriterFeatures: writer}
	if len(reader) > 0 {
		out.MinReaderVersion, out.ReaderFeatures = FeatureReader, reader
	}
	return out.Normal()
}

// ReaderFeature tells whether a feature binds readers too, so that it stands in both lists.
func ReaderFeature(name string) bool {
	switch name {
	case ColumnMapping, DeletionVectors, TimestampNTZ, V2Checkpoint, VacuumProtocolCheck, TypeWidening, TypeWideningPreview:
		return true
	}
	return false
}
