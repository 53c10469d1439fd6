package apply

import (
	"context"
	"fmt"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// Run carries out a plan. The result tells what was done, also next to an error: *StaleError before anything was
// done, *ResourceError for a resource that failed, *SaveError when the state could not be written.
func Run(ctx context.Context, in Input) (Result, error) { return Result{}, nil }

// StaleError refuses a plan that was made for another situation.
type StaleError struct {
	What    string // "state", "lineage", "configuration", "runtime"
	Planned string
	Found   string
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("the plan is stale: the %s has changed since it was made (planned for %s, found %s)", e.What, e.Planned, e.Found)
}

// ResourceError is the failure of one resource; the zero address stands for the backfill.
type ResourceError struct {
	Addr addr.Resource
	Err  error
}

func (e *ResourceError) Error() string { return e.Addr.String() + ": " + e.Err.Error() }

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
