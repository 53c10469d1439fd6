// Package action has the actions of a Delta table's log: their JSON form, what may stand together in one table commit, and how paths are written.
package action

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Action is one line of a table commit: exactly one field is set. Unknown kinds of
// action decode to an Action without any field; the protocol asks readers to ignore them.
type Action struct {
	CommitInfo         *CommitInfo         `json:"commitInfo,omitempty"`
	Protocol           *Protocol           `json:"protocol,omitempty"`
	Metadata           *Metadata           `json:"metaData,omitempty"`
	Add                *Add                `json:"add,omitempty"`
	Remove             *Remove             `json:"remove,omitempty"`
	CDC                *CDC                `json:"cdc,omitempty"`
	Txn                *Txn                `json:"txn,omitempty"`
	DomainMetadata     *DomainMetadata     `json:"domainMetadata,omitempty"`
	CheckpointMetadata *CheckpointMetadata `json:"checkpointMetadata,omitempty"`
	Sidecar            *Sidecar            `json:"sidecar,omitempty"`
}

// Metadata describes the table from its table commit on; it replaces all of the former one.
type Metadata struct {
	ID               string            `json:"id"`
	Name             string            `json:"name,omitempty"`
	Description      string            `json:"description,omitempty"`
	Format           Format            `json:"format"`
	SchemaString     string            `json:"schemaString,omitempty"` // absent in some old logs
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	CreatedTime      int64             `json:"createdTime,omitempty"` // ms since 1970
}

// MarshalJSON writes empty collections as such: other readers refuse null there.
func (m Metadata) MarshalJSON() ([]byte, error) {
	type plain Metadata
	if m.PartitionColumns == nil {
		m.PartitionColumns = []string{}
	}
	if m.Configuration == nil {
		m.Configuration = map[string]string{}
	}
	return json.Marshal(plain(m))
}

// Format is how data files are encoded; Delta knows parquet only.
type Format struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// MarshalJSON writes absent options as an empty object.
func (f Format) MarshalJSON() ([]byte, error) {
	type plain Format
	if f.Options == nil {
		f.Options = map[string]string{}
	}
	return json.Marshal(plain(f))
}

// Add makes a data file part of the table. Path is URI-encoded: see DecodePath.
type Add struct {
	Path                    string             `json:"path"`
	PartitionValues         map[string]*string `json:"partitionValues"`
	Size                    int64              `json:"size"`             // bytes
	ModificationTime        int64              `json:"modificationTime"` // ms since 1970
	DataChange              bool               `json:"dataChange"`
	Stats                   string             `json:"stats,omitempty"` // JSON text
	Tags                    map[string]string  `json:"tags,omitempty"`
	DeletionVector          *DeletionVector    `json:"deletionVector,omitempty"`
	BaseRowID               *int64             `json:"baseRowId,omitempty"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion,omitempty"`
	ClusteringProvider      string             `json:"clusteringProvider,omitempty"`
}

// MarshalJSON writes absent partition values as an empty object.
func (a Add) MarshalJSON() ([]byte, error) {
	type plain Add
	if a.PartitionValues == nil {
		a.PartitionValues = map[string]*string{}
	}
	return json.Marshal(plain(a))
}

// Key identifies the file among the live ones.
func (a Add) Key() FileKey { return keyOf(a.Path, a.DeletionVector) }

// Remove takes a data file out of the table.
type Remove struct {
	Path                    string             `json:"path"`
	DeletionTimestamp       int64              `json:"deletionTimestamp,omitempty"` // ms since 1970
	DataChange              bool               `json:"dataChange"`
	ExtendedFileMetadata    bool               `json:"extendedFileMetadata,omitempty"`
	PartitionValues         map[string]*string `json:"partitionValues,omitempty"`
	Size                    *int64             `json:"size,omitempty"` // bytes
	Stats                   string             `json:"stats,omitempty"`
	Tags                    map[string]string  `json:"tags,omitempty"`
	DeletionVector          *DeletionVector    `json:"deletionVector,omitempty"`
	BaseRowID               *int64             `json:"baseRowId,omitempty"`
	DefaultRowCommitVersion *int64             `json:"defaultRowCommitVersion,omitempty"`
}

// Key identifies the file among the live ones.
func (r Remove) Key() FileKey { return keyOf(r.Path, r.DeletionVector) }

// Removal returns the action that takes a live file out of the table at the
// given time (ms since 1970). It says all that the add said, as readers of change feeds expect.
func Removal(a Add, at int64) Remove {
	size := a.Size
	values := a.PartitionValues
	if values == nil {
		values = map[string]*string{}
	}
	return Remove{
		Path: a.Path, DeletionTimestamp: at, DataChange: true, ExtendedFileMetadata: true,
		PartitionValues: values, Size: &size, DeletionVector: a.DeletionVector,
		BaseRowID: a.BaseRowID, DefaultRowCommitVersion: a.DefaultRowCommitVersion,
	}
}

// CDC names a file of row changes.
type CDC struct {
	Path            string             `json:"path"`
	PartitionValues map[string]*string `json:"partitionValues"`
	Size            int64              `json:"size"`
	DataChange      bool               `json:"dataChange"`
	Tags            map[string]string  `json:"tags,omitempty"`
}

// Txn records how far one application has delivered.
type Txn struct {
	AppID       string `json:"appId"`
	Version     int64  `json:"version"`
	LastUpdated int64  `json:"lastUpdated,omitempty"` // ms since 1970
}

// DomainMetadata is a named setting of a table feature.
type DomainMetadata struct {
	Domain        string `json:"domain"`
	Configuration string `json:"configuration"`
	Removed       bool   `json:"removed"`
}

// CheckpointMetadata opens a V2 checkpoint.
type CheckpointMetadata struct {
	Version int64             `json:"version"`
	Tags    map[string]string `json:"tags,omitempty"`
}

// Sidecar names a Parquet file below _delta_log/_sidecars with file actions of a V2 checkpoint.
type Sidecar struct {
	Path             string            `json:"path"`
	SizeInBytes      int64             `json:"sizeInBytes"`
	ModificationTime int64             `json:"modificationTime"`
	Tags             map[string]string `json:"tags,omitempty"`
}

// DeletionVector says where the positions of a file's deleted rows are kept.
type DeletionVector struct {
	StorageType    string `json:"storageType"` // u: file named by a UUID; i: inline; p: absolute path
	PathOrInlineDV string `json:"pathOrInlineDv"`
	Offset         *int32 `json:"offset,omitempty"`
	SizeInBytes    int32  `json:"sizeInBytes"`
	Cardinality    int64  `json:"cardinality"`
}

// ID tells deletion vectors apart; it is empty for none.
func (d *DeletionVector) ID() string {
	if d == nil {
		return ""
	}
	if d.Offset == nil {
		return d.StorageType + d.PathOrInlineDV
	}
	return fmt.Sprintf("%s%s@%d", d.StorageType, d.PathOrInlineDV, *d.Offset)
}

// FileKey identifies a logical file: a path (decoded, in canonical form) and its deletion vector.
type FileKey struct {
	Path string
	DV   string
}

func keyOf(path string, v *DeletionVector) FileKey {
	decoded, err := DecodePath(path)
	if err != nil {
		// A path that is no valid URI is its own name: two equal texts still mean one file.
		decoded = path
	}
	return FileKey{Path: decoded, DV: v.ID()}
}

// Encode writes the actions as a table commit: one JSON object per line.
func Encode(actions []Action) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	for i := range actions {
		if err := enc.Encode(&actions[i]); err != nil {
			return nil, fmt.Errorf("encoding action %d: %w", i+1, err)
		}
	}
	return out.Bytes(), nil
}

// Decode reads the lines of a table commit. Unknown kinds of action and unknown fields are ignored, empty lines too.
func Decode(text []byte) ([]Action, error) {
	var out []Action
	for n := 1; len(text) > 0; n++ {
		line := text
		if i := bytes.IndexByte(text, '\n'); i >= 0 {
			line, text = text[:i], text[i+1:]
		} else {
			text = nil
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var a Action
		if err := json.Unmarshal(line, &a); err != nil {
			return nil, fmt.Errorf("decoding line %d: %w", n, err)
		}
		out = append(out, a)
	}
	return out, nil
}
