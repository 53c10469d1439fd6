package query

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
)

// Measured is what one operator did in an epoch. Work.Measure makes every operator compute, and count, its own rows.
type Measured = memory.Measured

// ScanID stands for an operator where a source is read; ResultID names the one that gives a relation's rows.
const (
	ScanID   = "scan"
	ResultID = compile.ResultID
)

// meter collects what operators do while an epoch runs.
type meter struct {
	now   func() time.Time
	exact bool // every operator computes and counts its own rows
	taken []gauged
	last  []*change // read by the last part of the relation at work
}

func newMeter(w Work) meter {
	m := meter{now: w.Clock, exact: w.Measure}
	if m.now == nil {
		m.now = time.Now
	}
	return m
}

// gauged is a Measured whose rows may be counted later in the epoch.
type gauged struct {
	Measured
	in  []*change
	out *change
}

// gauge starts the clock for an operator; what it returns stops it.
func (ep *epoch) gauge(relation, operator string, in []*change) func(context.Context, *change) error {
	began, spent := ep.meter.now(), ep.meter.spent(relation)
	return func(ctx context.Context, out *change) error {
		if ep.meter.exact && out.counts.Inserted < 0 {
			if err := ep.materialize(ctx, out); err != nil {
				return err
			}
		}
		if operator == compile.ResultID {
			in = ep.meter.last
		}
		took := ep.meter.now().Sub(began) - (ep.meter.spent(relation) - spent)
		ep.meter.taken = append(ep.meter.taken, gauged{Measured: Measured{Relation: relation, Operator: operator, Time: took}, in: in, out: out})
		return nil
	}
}

// spent is what the operators of a relation took so far.
func (m *meter) spent(relation string) (sum time.Duration) {
	for _, r := range m.taken {
		if r.Relation == relation {
			sum += r.Time
		}
	}
	return sum
}

// inputsOf are the changes that an operator reads.
func inputsOf(leaves []string, inputs map[string]*change) []*change {
	slices.Sort(leaves)
	var out []*change
	for _, l := range slices.Compact(leaves) {
		if in := inputs[l]; in != nil {
			out = append(out, in)
		}
	}
	return out
}

// measured are all that was taken, with the rows as counted by now and what was remembered.
func (ep *epoch) measured() []Measured {
	out := make([]Measured, len(ep.meter.taken))
	for i, r := range ep.meter.taken {
		m := r.Measured
		m.RowsOut = moved(r.out.counts)
		for _, in := range r.in {
			n := moved(in.counts)
			if n < 0 || m.RowsIn < 0 {
				m.RowsIn = -1
				continue
			}
			m.RowsIn += n
		}
		for _, remembered := range ep.result.Remember[r.Relation] {
			if remembered.Operator == r.Operator {
				m.Remember(remembered)
			}
		}
		out[i] = m
	}
	for i, in := range ep.inputs {
		if at := slices.IndexFunc(out, func(m Measured) bool { return m.Operator == ScanID && m.Relation == in.input.Relation }); at >= 0 {
			out[at].RowsOut = ep.result.Inputs[i].Rows
			for _, f := range in.input.Files {
				out[at].Bytes += f.Size
			}
		}
	}
	return out
}

// moved is how many rows changed; -1 when they were not counted.
func moved(c batch.Counts) int64 {
	if c.Inserted < 0 {
		return -1
	}
	return c.Inserted + max(c.Deleted, 0)
}

// leavesOf are what a program's last part reads.
func leavesOf(p *Program) []string {
	if p.Final != "" {
		return logical.Leaves(p.Final)
	}
	return slices.Collect(maps.Keys(p.LeafColumns))
}

// leavesOfStep are what an operator reads.
func leavesOfStep(o compile.Stateful) []string {
	var out []string
	for _, sql := range o.InputSQL() {
		out = append(out, logical.Leaves(sql)...)
	}
	return out
}

// leafChanges are the changes of the relations that a program reads.
func (ep *epoch) leafChanges(p *Program) []*change {
	var out []*change
	for leaf, columns := range p.LeafColumns {
		out = append(out, ep.changeOf(leaf, columns))
	}
	return out
}
