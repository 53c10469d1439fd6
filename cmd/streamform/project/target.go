package project

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/holding"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/state"
)

// target is the embedded runtime as apply sees it.
type target struct {
	host *host.Host
	id   string
}

func (t *target) RuntimeID() string { return t.id }

// Put hands a change to the host, which knows by the generation whether it is to be computed anew.
func (t *target) Put(ctx context.Context, c plan.Change) error {
	if c.Desired == nil {
		return fmt.Errorf("putting %s: the plan does not say what it is to be", c.Addr)
	}
	if c.PreviousAddr != nil {
		if err := t.host.Move(ctx, map[addr.Resource]addr.Resource{*c.PreviousAddr: c.Addr}); err != nil {
			return err
		}
	}
	r := resource(*c.Desired)
	r.Keep = c.Keeps()
	var err error
	if r.Recorded, err = json.Marshal(c.Desired); err != nil {
		return fmt.Errorf("recording %s: %w", c.Addr, err)
	}
	if c.Evolution != nil {
		r.Carry = c.Evolution.Carry
	}
	r.Apart = c.Shares == nil
	return t.host.Put(ctx, r)
}

func (t *target) Delete(ctx context.Context, a addr.Resource) error { return t.host.Delete(ctx, a) }

// Backfill computes what was put and reports in apply's terms.
func (t *target) Backfill(ctx context.Context, progress func(apply.Progress)) (apply.Summary, error) {
	summary, err := t.host.Backfill(ctx, func(p host.Progress) {
		out := apply.Progress{
			Pipeline: p.Pipeline, Rows: p.Rows, HeldRows: p.HeldRows, Bytes: p.Bytes, TotalBytes: p.TotalBytes,
			Files: p.Files, TotalFiles: p.TotalFiles, Elapsed: p.Elapsed,
		}
		if len(p.Relations) == 1 {
			out.Relation = p.Relations[0]
		}
		progress(out)
	})
	return summaryOf(summary), err
}

func summaryOf(s host.Summary) apply.Summary {
	var out apply.Summary
	for _, x := range s.Sources {
		out.Sources = append(out.Sources, apply.SourceSummary{Addr: x.Addr, Files: x.Files, Rows: x.Rows, Bytes: x.Bytes, Malformed: x.Malformed})
	}
	for _, x := range s.Relations {
		out.Relations = append(out.Relations, apply.RelationSummary{Addr: x.Addr, Rows: x.Rows, Work: work(x.Work)})
	}
	for _, x := range s.Sinks {
		out.Sinks = append(out.Sinks, apply.SinkSummary{Addr: x.Addr, Rows: x.Rows, Receipt: x.Receipt, Work: work(x.Work)})
	}
	return out
}

func work(w host.Work) apply.Work {
	out := apply.Work{Class: plan.Class(w.Class), HeldRows: w.HeldRows, ReadRows: w.ReadRows}
	for _, m := range w.Operators {
		out.Operators = append(out.Operators, plan.Fate{Name: m.Operator, Fate: plan.FateKind(m.Fate)})
	}
	return out
}

func resource(r state.Resource) host.Resource {
	out := host.Resource{Addr: r.Addr, Value: r.Attributes, Generation: r.Generation}
	if rel := r.Relation; rel != nil {
		out.Relation = &host.Relation{ID: r.ID, Columns: rel.Columns, Sides: rel.Sides, AppendOnly: rel.AppendOnly, Key: rel.Key, Reads: rel.Reads, Identity: rel.Identity}
	}
	return out
}

// facts are the host's, in the terms of plan.
func facts(f host.Facts) *plan.Facts {
	out := &plan.Facts{RuntimeID: f.RuntimeID, Generations: map[addr.Resource]int64{}, Sources: map[addr.Resource]plan.Extent{},
		Held: map[addr.Resource]plan.Extent{}, Delivered: map[addr.Resource]int64{}, Lost: map[addr.Resource]plan.Loss{}, Kept: map[addr.Resource]holding.Kept{}, Rates: map[addr.Resource]plan.Rate{}, Begun: map[addr.Resource]plan.Begun{}}
	read, replayed := map[addr.Resource]plan.Extent{}, map[addr.Resource]plan.Extent{}
	for a, r := range f.Resources {
		out.Generations[a], out.Delivered[a] = r.Generation, r.Delivered
		out.Rates[a] = plan.Rate{RowsPerSecond: r.Rate.RowsPerSecond, BytesPerSecond: r.Rate.BytesPerSecond}
		if r.Rows > 0 {
			out.Held[a] = plan.Extent{Rows: r.Rows}
		}
	}
	for a, s := range f.Sources {
		held := plan.Extent{Files: s.Files, Bytes: s.Bytes, Rows: s.Rows}
		read[a], replayed[a] = held, plan.Extent(s.Replayed)
		out.Sources[a] = held.Plus(plan.Extent{Files: s.BacklogFiles, Bytes: s.BacklogBytes})
		if k := s.Kept; k.Files > 0 {
			out.Kept[a] = holding.Kept{Files: k.Files, Bytes: k.Bytes, Rows: k.Rows, Stored: k.Stored, Epoch: k.Epoch, Age: time.Since(k.Since), Beside: s.Files - k.Files,
				Lost: k.Lost.Missing + k.Lost.Changed, Gone: k.Lost.Example}
		}
		if n := s.Lost.Missing + s.Lost.Changed; n > 0 {
			out.Lost[a] = plan.Loss{Files: n, Examples: []string{s.Lost.Example}}
		}
	}
	for a, r := range f.Resources {
		switch {
		case r.Building == 0:
			out.Begun[a] = plan.Begun{Generation: r.Generation, Read: read}
		case r.Begun:
			out.Begun[a] = plan.Begun{Generation: r.Building, Read: replayed}
		}
	}
	return out
}
