package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
)

// CorruptedError means that a document cannot be read as one.
type CorruptedError struct {
	Reason string
	Path   string // where it is, when it is a file
	Backup string // a former document that is still there; empty when there is none
}

func (e *CorruptedError) Error() string {
	text := "the recorded state is damaged: " + e.Reason
	if e.Path != "" {
		text = fmt.Sprintf("the recorded state %s is damaged: %s", e.Path, e.Reason)
	}
	if e.Backup != "" {
		text += fmt.Sprintf("; the one before it is kept as %s", e.Backup)
	}
	return text
}

// NewerError means that a later streamform wrote the document in a format this one does not know.
type NewerError struct {
	Found     int    // version of the document's format
	Supported int    // newest version this program reads
	Writer    string // version of the streamform that wrote it
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("the recorded state was written by streamform %s in format version %d; this streamform reads up to version %d",
		e.Writer, e.Found, e.Supported)
}

// LineageError refuses to replace a document by one with another history.
type LineageError struct{ Held, Given string }

func (e *LineageError) Error() string {
	return fmt.Sprintf("cannot save a state with lineage %q over unrelated state with lineage %q", e.Given, e.Held)
}

// SerialError refuses a document that is not newer than the one held: somebody else saved in between.
type SerialError struct{ Held, Given int64 }

func (e *SerialError) Error() string {
	return fmt.Sprintf("cannot save a state with serial %d over a state with serial %d", e.Given, e.Held)
}

// LockLostError refuses a save by a store whose lock somebody else has removed or taken since.
type LockLostError struct{ ID string }

func (e *LockLostError) Error() string {
	return fmt.Sprintf("the lock %s was removed while it was in use, so the state was not saved", e.ID)
}

// CheckSave is the rule of Store.Save: next may replace held (nil: nothing) when it has the
// same lineage and a greater serial.
func CheckSave(held, next *Document) error {
	switch {
	case held == nil:
		return nil
	case held.Lineage != next.Lineage:
		return &LineageError{Held: held.Lineage, Given: next.Lineage}
	case held.Serial >= next.Serial:
		return &SerialError{Held: held.Serial, Given: next.Serial}
	}
	return nil
}

// NewLineage makes the identity of a new state.
func NewLineage() string { return uuid.NewString() }

// Digest stands for a sensitive value where only its equality matters: HMAC-SHA256 keyed with the lineage, in hex.
func Digest(lineage string, value []byte) string {
	mac := hmac.New(sha256.New, []byte(lineage))
	mac.Write(value)
	return hex.EncodeToString(mac.Sum(nil))
}

// New is an empty document with serial 0.
func New(lineage, version string) *Document {
	return &Document{Version: Version, StreamformVersion: version, Lineage: lineage, Outputs: map[string]Output{}}
}

// Resource finds a resource by address; nil when it is not recorded. d may be nil.
func (d *Document) Resource(a addr.Resource) *Resource {
	if d == nil {
		return nil
	}
	for i := range d.Resources {
		if d.Resources[i].Addr == a {
			return &d.Resources[i]
		}
	}
	return nil
}

// NewID is an ID for a resource that is not recorded yet, given those that are taken: its address, the key of an instance as in
// the name that SQL reads, with a number where an earlier resource of that address, since moved, has it.
func NewID(a addr.Resource, taken func(id string) bool) string {
	base := a.Kind() + "." + a.Relation()
	id := base
	for n := 2; taken(id); n++ {
		id = fmt.Sprintf("%s#%d", base, n)
	}
	return id
}

// Clone copies the document; the resources' contents are shared, so replace them rather than change them.
func (d *Document) Clone() *Document {
	out := *d
	out.Resources = slices.Clone(d.Resources)
	out.Outputs = make(map[string]Output, len(d.Outputs))
	for name, o := range d.Outputs {
		out.Outputs[name] = o
	}
	return &out
}

// WrongLockError refuses to release a lock by an ID that is not its own.
type WrongLockError struct {
	Given string
	Held  string // empty: nothing is locked
}

func (e *WrongLockError) Error() string {
	if e.Held == "" {
		return "the state is not locked"
	}
	return fmt.Sprintf("the lock's ID is %s, not %s", e.Held, e.Given)
}

// Value reads the attributes as a complete value of the kind. A person may have edited them: whatever they hold, it does not panic.
func (r *Resource) Value(k schema.Kind) (v cty.Value, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("reading the attributes of %s: %v", r.Addr, problem)
		}
	}()
	return k.Unmarshal(r.Attributes)
}
