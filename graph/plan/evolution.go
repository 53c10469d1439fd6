package plan

import (
	"encoding/json"
	"time"

	"github.com/streamform/streamform/lang/addr"
)

// Evolution says what an edit of a query means for what the runtime remembers for it. It is pure data; the compiler makes
// it by comparing the programs of the two queries.
type Evolution struct {
	Class  Class  `json:"class"` // Noop, InPlace, Migrate, RebuildFromState or ReplayFromSource: the worst of what is needed
	Reason string `json:"reason,omitempty"`
	// Operators are those of the new program, inputs before their readers, then the old ones that nothing uses any more.
	Operators []Fate `json:"operators,omitempty"`
	// Carry is what the runtime does to get the new keyed data from the old, in the words of the query engine; nil
	// where everything is computed anew.
	Carry json.RawMessage `json:"carry,omitempty"`
	// HeldRows is how many rows and groups of what the runtime holds the carry reads; 0 where everything is handed over as it
	// is, or nobody asked.
	HeldRows int64 `json:"held_rows,omitempty"`
}

// Fate is what becomes of one operator.
type Fate struct {
	Name   string   `json:"name"`             // as explain shows it
	Kind   string   `json:"kind"`             // linear, aggregate, join …
	Detail string   `json:"detail,omitempty"` // what it does, for people
	Fate   FateKind `json:"fate"`
	Reason string   `json:"reason,omitempty"`
}

// FateKind is one of the things that can become of an operator.
type FateKind string

// Fates, from nothing to everything.
const (
	Kept     FateKind = "kept"     // same operator over the same input: its keyed data is used as it is
	Migrated FateKind = "migrated" // its keyed data follows from the old one
	Rebuilt  FateKind = "rebuilt"  // computed from rows the runtime holds
	Replayed FateKind = "replayed" // computed by reading the source again
	Added    FateKind = "new"      // the old program had none like it, and it remembers nothing or is computed with the others
	Dropped  FateKind = "dropped"  // nothing in the new program uses it
)

// Loss is what of a source cannot be read again.
type Loss struct {
	Files    int64    `json:"files"`              // read before; gone or changed since
	Examples []string `json:"examples,omitempty"` // a few of their paths
}

// Rate is how fast the runtime has worked so far; a zero is unknown.
type Rate struct {
	RowsPerSecond  float64 `json:"rows_per_second,omitempty"`
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
}

// Reading is the part of a source that a change reads.
type Reading struct {
	Source addr.Resource `json:"source"`
	From   string        `json:"from"` // FromStart or FromStop
	// HeldFrom is the epoch from which on its rows are held, and are not read; 0: all are read.
	HeldFrom int64 `json:"held_from_epoch,omitempty"`
	Extent
}

// Positions that a source is read from.
const (
	FromStart = "start"
	FromStop  = "stop" // where an apply that did not end has come to
)

// seconds estimates how long reading an extent takes at a rate; 0 when unknown.
func (r Rate) seconds(e Extent) float64 {
	switch {
	case r.BytesPerSecond > 0 && e.Bytes > 0:
		return float64(e.Bytes) / r.BytesPerSecond
	case r.RowsPerSecond > 0 && e.Rows > 0:
		return float64(e.Rows) / r.RowsPerSecond
	}
	return 0
}

// Duration is the estimated time of a price; 0 when unknown.
func (p Price) Duration() time.Duration { return time.Duration(p.Seconds * float64(time.Second)) }
