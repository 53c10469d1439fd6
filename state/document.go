// Package state holds the recorded state: what was applied, its document, upgrades, and the Store interface.
package state

import (
	"context"
	"encoding/json"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
)

// Version is the document's format version; older documents are upgraded on load, newer ones refused.
const Version = 2

// Document is the recorded state, one JSON document per workspace.
type Document struct {
	Version           int               `json:"version"`
	StreamformVersion string            `json:"streamform_version"`
	Serial            int64             `json:"serial"`
	Lineage           string            `json:"lineage"`
	Outputs           map[string]Output `json:"outputs"`
	Resources         []Resource        `json:"resources"`
}

// Output is an output value as it was last applied. A sensitive one keeps only a digest.
type Output struct {
	Value     json.RawMessage `json:"value,omitempty"`
	Type      json.RawMessage `json:"type"`
	Sensitive bool            `json:"sensitive,omitempty"`
	Digest    string          `json:"digest,omitempty"` // SHA-256 of a sensitive value, salted with the lineage
}

// Resource is one applied resource.
type Resource struct {
	Addr addr.Resource `json:"address"`
	// ID tells the resource from every other one the document knows. It stays over moves, edits and generations: queries
	// are compiled with the IDs of what they read in the place of definitions.
	ID             string          `json:"id"`
	SchemaVersion  int             `json:"schema_version"`
	Attributes     json.RawMessage `json:"attributes"` // complete value by the kind's type; sensitive leaves are null here
	Dependencies   []addr.Resource `json:"dependencies,omitempty"`
	Relation       *Relation       `json:"relation,omitempty"` // what SQL sees of a source, stream or view
	PreventDestroy bool            `json:"prevent_destroy,omitempty"`
	Status         string          `json:"status"` // Applied, or Building while its rows are being computed
	Generation     int64           `json:"generation"`
	// Pipeline is the stable ID of the pipeline a relation or sink belongs to; empty for other blocks.
	Pipeline string `json:"pipeline,omitempty"`
	// Accepted holds what a refresh-only apply took over of what others did to the real object: kind of drift → mark of what
	// was found. It is told again when something else is found.
	Accepted map[string]string `json:"accepted,omitempty"`
	// History lists the boundaries inside of the rows that are held or were delivered: edits with history = "keep", of this
	// resource and of what it reads, oldest first. Computing the rows anew empties it.
	History []Boundary `json:"history,omitempty"`
	// Rewinds are those that gave rows to a sink, which it had, once more. Writing the sink anew empties it.
	Rewinds []Rewind `json:"rewinds,omitempty"`
}

// Rewind says from where on a stream or source was delivered again.
type Rewind struct {
	Of    addr.Resource `json:"of"`
	To    string        `json:"to"` // the position, as it was asked for
	At    time.Time     `json:"at"`
	Epoch int64         `json:"epoch"` // the pipeline's last one then: what came up to it may be there twice
}

// Boundary says that rows from before an edit stand beside rows from after it.
type Boundary struct {
	Of     addr.Resource `json:"of"`     // what was edited, by its address at that time
	ID     string        `json:"id"`     // its ID
	Serial int64         `json:"serial"` // of the state that the edit was planned against
	Before string        `json:"before"` // SHA-256 of the definition before the edit, hexadecimal
	After  string        `json:"after"`
}

// Statuses of a resource.
const (
	Applied  = "applied"
	Building = "building"
)

// Relation is the compiled side of a source, stream or view.
type Relation struct {
	Columns    batch.Schema `json:"columns"`
	AppendOnly bool         `json:"append_only"`
	Key        []string     `json:"key,omitempty"`
	Reads      []string     `json:"reads,omitempty"`    // relation names its SQL reads
	Identity   string       `json:"identity,omitempty"` // canonical form of the bound query; equal identity = equal meaning
	Operators  []Operator   `json:"operators,omitempty"`
	// Sides are the columns of the side relations of a source, by name ("malformed").
	Sides map[string]batch.Schema `json:"sides,omitempty"`
	// Compiled is the SHA-256 of everything the compiler was given for this relation: while it stays equal the
	// record can be used without compiling again.
	Compiled string `json:"compiled,omitempty"`
}

// Operator is one step of the compiled query, as plan compares them.
type Operator struct {
	Kind     string `json:"kind"`             // linear, aggregate, full_refresh
	Identity string `json:"identity"`         // canonical form and inputs' identities
	Reason   string `json:"reason,omitempty"` // why a full refresh
	// Common tells what it remembers: operators of equal texts can have their keyed data together. Empty: it has it alone, or none.
	Common string   `json:"common,omitempty"`
	Reads  []string `json:"reads,omitempty"` // names of the relations that it reads itself
}

// LockInfo is the lock record, the same for every store.
type LockInfo struct {
	ID        string    `json:"ID"`
	Operation string    `json:"Operation"`
	Info      string    `json:"Info"`
	Who       string    `json:"Who"`
	Version   string    `json:"Version"`
	Created   time.Time `json:"Created"`
	Path      string    `json:"Path"`
}

// Store keeps the document of one workspace.
type Store interface {
	// Load returns nil without an error when nothing was ever saved.
	Load(ctx context.Context) (*Document, error)
	// Save replaces the document atomically. The caller has raised the serial; a store refuses a serial that is not above what it holds, or another lineage.
	Save(ctx context.Context, d *Document) error
	// Lock takes the lock or fails with *LockedError, which carries the holder's record.
	Lock(ctx context.Context, info LockInfo) error
	// Unlock releases the lock with this ID.
	Unlock(ctx context.Context, id string) error
}

// LockedError says who holds the lock.
type LockedError struct{ Holder LockInfo }

func (e *LockedError) Error() string {
	return "the state is locked by " + e.Holder.Who + " (" + e.Holder.Operation + ", ID " + e.Holder.ID + ")"
}
