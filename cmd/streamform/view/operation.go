package view

import (
	"time"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/job"
)

// Operation is told what a plan, an apply or a run comes to, as it happens. There
// is one for people (Text) and one for programs (Lines).
type Operation interface {
	// Plan shows what apply would do.
	Plan(p *plan.Plan) error
	// Hooks are called by apply at each step.
	Hooks() apply.Hooks
	// Applied shows what was done in the end; destroyed says that everything was to go.
	Applied(r *apply.Result, destroyed bool)
	// Epoch shows what one epoch of a running pipeline did.
	Epoch(p job.Progress)
}

// Options are what both operations need.
type Options struct {
	Version  string
	Out      Terminal
	Now      func() time.Time // nil: time.Now
	Kind     func(name string) (schema.Kind, bool)
	Findings func(ds diag.Diagnostics) // shows diagnostics
}

func (o Options) clock() func() time.Time {
	if o.Now == nil {
		return time.Now
	}
	return o.Now
}
