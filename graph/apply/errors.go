package apply

import (
	"errors"
	"fmt"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// ErrErrored refuses a plan that was made with errors.
var ErrErrored = errors.New("a plan with errors cannot be applied")

// StaleError refuses a plan that was made for another situation.
type StaleError struct {
	What    string // what moved: "lineage", "state", "configuration", "runtime"
	Planned string
	Found   string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("the plan is stale: the %s has changed since it was made (planned for %s, found %s)", e.What, e.Planned, e.Found)
}

func serialText(serial int64) string {
	if serial == 0 {
		return "none"
	}
	return fmt.Sprintf("serial %d", serial)
}

// ResourceError is the failure of one resource; the zero address stands for the backfill.
type ResourceError struct {
	Addr addr.Resource
	Err  error
}

func (e *ResourceError) Error() string {
	if e.Addr == (addr.Resource{}) {
		return "computing rows: " + e.Err.Error()
	}
	return e.Addr.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ResourceError) Unwrap() error { return e.Err }

// SaveError means that the state could not be written: Document is what it should hold.
type SaveError struct {
	Document *state.Document
	Err      error
}

func (e *SaveError) Error() string { return "saving the state: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *SaveError) Unwrap() error { return e.Err }
