package query

import (
	"context"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/groups"
)

// joint is what an operator that several steps have did in an epoch.
type joint struct {
	groups groups.Brought // of an aggregate: its readers may make different results of the same partials
	change *change        // of any other
}

// done reports which operators of a step another step computes, or none; met are the numbers of the steps before.
func (s Step) done(met map[uint64]bool) func(operator string) bool {
	return func(operator string) bool {
		number, several := s.Shared[operator]
		known := met[number]
		if several {
			met[number] = true
		}
		return known && several || s.Settled[operator] || s.keeps(operator)
	}
}

// once computes an operator, unless an earlier step of the epoch has done so.
func (ep *epoch) once(ctx context.Context, s Step, o compile.Stateful, inputs map[string]*change) (*change, error) {
	if s.Settled[o.Name()] {
		return nothing(o.OutputColumns()), nil
	}
	number, several := s.Shared[o.Name()]
	known, met := ep.shared[number]
	a, isAggregate := o.(compile.Aggregate)
	if several && met {
		if isAggregate {
			return rowsChanged(a, known.groups), nil
		}
		return known.change, nil
	}
	done := ep.gauge(s.Relation, o.Name(), inputsOf(leavesOfStep(o), inputs))
	var out *change
	var err error
	if isAggregate {
		known.groups, err = ep.aggregate(ctx, s, a, inputs)
		out = rowsChanged(a, known.groups)
	} else if out, err = ep.operator(ctx, s, o, inputs); err == nil && several && out.counts != (batch.Counts{}) {
		err = ep.materialize(ctx, out)
	}
	if err == nil {
		err = done(ctx, out)
	}
	if known.change = out; several && err == nil {
		if ep.shared == nil {
			ep.shared = map[uint64]joint{}
		}
		ep.shared[number] = known
	}
	return out, err
}
