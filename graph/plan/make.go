package plan

import (
	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// Modes of a plan.
const (
	Normal  = "normal"
	Destroy = "destroy"
)

// Extent is how much a source holds from its start.
type Extent struct {
	Files int64 `json:"files"`
	Bytes int64 `json:"bytes"`
	Rows  int64 `json:"rows,omitempty"` // 0: unknown
}

// Facts are what the runtime says about itself.
type Facts struct {
	RuntimeID string
	// Generations holds each resource the runtime really has and its live generation.
	Generations map[addr.Resource]int64
	// Sources says what each source of the configuration holds now.
	Sources map[addr.Resource]Extent
}

// Input is what Make compares.
type Input struct {
	Config    *lang.Config
	Graph     *graph.Graph
	Relations map[addr.Resource]state.Relation // from bind
	Inferred  map[addr.Resource]Extent         // sources whose columns were sampled now, and what the sample read
	State     *state.Document                  // nil: nothing recorded
	Facts     *Facts                           // nil: -refresh=false
	Mode      string                           // Normal or Destroy; empty is Normal
	Targets   []addr.Resource                  // -target
	Replace   []addr.Resource                  // -replace
	Lineage   string                           // used when there is no state; empty: a new one
	Version   string                           // streamform's
}

// Make answers what apply would do. A plan is returned along with errors, marked Errored, so that it can be shown.
func Make(in Input) (*Plan, diag.Diagnostics) { return nil, nil }

// JSON is the plan in the shape of Terraform's plan JSON.
func JSON(p *Plan) ([]byte, error) { return nil, nil }

// Saved is what a saved plan file holds.
type Saved struct {
	Plan  *Plan
	Files map[string][]byte // the configuration's files as they were, by name
}

// WriteFile writes a saved plan, mode 0600.
func WriteFile(path string, s Saved) error { return nil }

// ReadFile reads a saved plan. A file that was altered is refused with a *FileError.
func ReadFile(path string) (*Saved, error) { return nil, nil }

// FileError says why a file is not a saved plan that can be used.
type FileError struct{ Path, Reason string }

func (e *FileError) Error() string { return e.Path + " cannot be used as a saved plan: " + e.Reason }
