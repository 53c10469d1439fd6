package render

import (
	"fmt"

	"github.com/streamform/streamform/graph/plan"
)

// outputs writes the outputs that change, below everything else.
func (t *text) outputs(p *plan.Plan) error {
	var changed []plan.OutputChange
	width := 0
	for _, o := range p.Outputs {
		if o.Action != plan.NoOp {
			changed = append(changed, o)
			width = max(width, len(o.Name))
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if p.Counts() != (plan.Counts{}) {
		t.line("")
	}
	t.line("Changes to Outputs:")
	v := value{text: t, indent: 2}
	for _, o := range changed {
		before, after, err := outputValues(o)
		if err != nil {
			return fmt.Errorf("showing output %s: %w", o.Name, err)
		}
		v.attribute(fmt.Sprintf("%-*s = ", width, o.Name), before, after)
	}
	if p.Counts() == (plan.Counts{}) {
		t.line("")
		t.line("No resource changes: apply would only record these output values.")
	}
	return nil
}

// sensitive stands for a value nobody may see; version tells two of them apart.
type sensitive struct{ version int }

func outputValues(o plan.OutputChange) (before, after any, err error) {
	if o.Sensitive {
		if o.Action != plan.Create {
			before = sensitive{0}
		}
		if o.Action != plan.Delete {
			after = sensitive{1}
		}
		return before, after, nil
	}
	if o.Before != nil {
		if before, err = parse(o.Before); err != nil {
			return nil, nil, err
		}
	} else if o.Action == plan.Update {
		before = sensitive{0} // it was, and is not any more
	}
	if o.After != nil {
		after, err = parse(o.After)
	}
	return before, after, err
}
