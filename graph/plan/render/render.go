// Package render shows a plan as text, in the layout Terraform's users know.
package render

import (
	"io"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/schema"
)

// Options say how a plan is shown.
type Options struct {
	Color bool
	// Kind returns the kind with this name, so that nested blocks are shown as blocks; nil, or false, shows them as attributes.
	Kind func(name string) (schema.Kind, bool)
}

// Text writes the whole plan: legend, actions, the "Plan:" line, prices, outputs; or the sentence that there is nothing to do.
func Text(w io.Writer, p *plan.Plan, o Options) error { return nil }
