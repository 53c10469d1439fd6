// Package batch describes what flows through a pipeline: columns, files to be scanned, and the net change of a relation.
package batch

import "time"

// Column is one column of a relation. Type is DuckDB's type text, as DESCRIBE prints it.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Schema is the ordered columns of a relation.
type Schema []Column

// File is one file to be scanned, at one version.
type File struct {
	Ordinal    int64     `json:"ordinal"` // place in the source's ledger, from 1
	Path       string    `json:"path"`    // absolute, as the scanner opens it
	Version    string    `json:"version"` // changes whenever the content may have changed
	Size       int64     `json:"size"`    // bytes as stored (compressed)
	ModifiedAt time.Time `json:"modified_at,omitzero"`
	// Careful asks for the slower scan that sets malformed records aside: the file is known to hold some.
	Careful bool `json:"careful,omitempty"`
}

// Format says how files are decoded.
type Format struct {
	Name    string            `json:"name"`              // json, csv, parquet
	Options map[string]string `json:"options,omitempty"` // reader options from the format's allow-list, values as SQL literals without quotes
}

// Scan is how the files of a source are decoded.
type Scan struct {
	Format  Format `json:"format"`
	Columns Schema `json:"columns,omitempty"` // complete; nil asks for inference
	// Metadata lists the extra columns asked for: _file_path, _file_name, _file_size, _file_modified_at, _row_number.
	Metadata []string `json:"metadata,omitempty"`
	// OnMalformed is quarantine, drop or fail.
	OnMalformed string `json:"on_malformed,omitempty"`
	// Unknown says what becomes of values that there is no column for: rescue, fail, or, empty, they are left out.
	Unknown string `json:"unknown,omitempty"`
	// InferFiles (a count) and InferBytes bound the sample that inference reads.
	InferFiles int64 `json:"infer_files,omitempty"`
	InferBytes int64 `json:"infer_bytes,omitempty"`
	// InferTypes false makes every inferred JSON or CSV leaf VARCHAR.
	InferTypes bool `json:"infer_types,omitempty"`
}

// Change is how a relation's rows differ between two commits: SQL names of two
// relations inside the engine that made it. An append-only relation has no Deleted.
type Change struct {
	Columns  Schema
	Inserted string // a relation name or a parenthesised SELECT, usable after FROM
	Deleted  string // the same; empty when nothing can have been deleted
}

// Counts are rows of one step.
type Counts struct {
	Inserted int64 `json:"inserted"`
	Deleted  int64 `json:"deleted"`
}
