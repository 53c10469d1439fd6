package admitted

import (
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/memory"
)

// SideRows is a side relation held as blocks ("purchases.malformed").
type SideRows struct {
	Relation string
	Memory   memory.Memory
}

// FileRows is a source as it stands: all files it has admitted.
type FileRows struct {
	Relation string
	Scan     batch.Scan
	Files    []batch.File
	Held     []Rows // in place of further files
}

// TableRows is a small relation given row by row as text, such as <source>.files.
type TableRows struct {
	Relation string
	Columns  batch.Schema
	Rows     [][]*string
}
