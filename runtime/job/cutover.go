package job

import (
	"context"
	"fmt"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// CutOver makes what was built live in one commit.
type CutOver struct {
	// Exchanged are views of which something live receives the difference between the former rows and the new ones.
	Exchanged []Exchange
	Readers   []Relation // live relations that this reaches, what is read before what reads it
	Receivers []Sink     // live sinks of both
	// Views are given to their sinks whole.
	Views []Handover
	// Streams and sources whose sinks are given everything from the first file to Ends; Relations are the streams, in order.
	Relations []Relation
	Sinks     []Sink
	Ends      map[string]int64
	// Former are the stretches at the beginning that other queries have read, in order; what they give waits in files in Spool.
	Former []Stretch
	Spool  string
	// Unread leaves a mark until what the sources hold beyond was read by an available-now run: see UnderWay.
	Unread bool
	// Given is told of sinks that were given the rows of a view whole, Report of what was read of sources for sinks; nil: nobody listens.
	// They are told once, when the cut-over is decided.
	Given  func(sink addr.Resource, rows int64)
	Report func(ReplayProgress)
	// Save adds to the commit what makes the new generations live.
	Save func(b *store.Batch) error
}

// Exchange is a view whose new generation takes the place of the former one.
type Exchange struct {
	Relation
	Former Relation
	Wide   bool // a sink takes in columns that the former rows did not have
}

// Handover is a view that some sinks are given whole.
type Handover struct {
	Relation Relation
	Sinks    []Sink
}

// CutOver stages what sinks are given and commits. Deliver must follow.
func (j *Job) CutOver(ctx context.Context, c CutOver) error {
	var tell []func()
	err := j.persist(ctx, func(ctx context.Context) error {
		tell = nil
		o, err := j.exchange(ctx, c)
		if err != nil {
			return err
		}
		given, read, err := j.whole(ctx, c)
		if err != nil {
			return err
		}
		for _, r := range read {
			tell = append(tell, func() { j.reportReplay(r, c.Report) })
		}
		o.parcels = append(o.parcels, given...)
		if err := j.handOverNothing(ctx, o, c); err != nil {
			return err
		}
		for _, h := range c.Views {
			rows, err := j.handOver(ctx, o, h)
			if err != nil {
				return err
			}
			tell = append(tell, func() { c.given(h, rows) })
		}
		if len(o.parcels) == 0 && len(o.relations) == 0 {
			o.epoch = j.epoch // nothing is given to anybody: no epoch passes
		}
		return j.commit(o, func(b *store.Batch) error {
			if c.Unread {
				if err := writeJSON(b, "end/"+j.ID, endRecord{Open: true}); err != nil {
					return err
				}
			}
			return c.Save(b)
		})
	})
	if err != nil {
		return err
	}
	for _, t := range tell {
		t()
	}
	return nil
}

func (c CutOver) given(h Handover, rows int64) {
	for _, s := range h.Sinks {
		if c.Given != nil {
			c.Given(s.Addr, rows)
		}
	}
}

// exchange computes what the live relations and sinks receive.
func (j *Job) exchange(ctx context.Context, c CutOver) (*outcome, error) {
	if len(c.Exchanged) == 0 {
		return &outcome{epoch: j.next(), begun: j.Now(), result: &query.Result{}, spent: spans{}}, nil
	}
	return j.compute(ctx, section{exchanged: c.Exchanged, relations: c.Readers, sinks: c.Receivers})
}

// handOver stages a view's rows for its sinks, and returns how many these are.
func (j *Job) handOver(ctx context.Context, o *outcome, h Handover) (rows int64, err error) {
	view := j.Store.View()
	defer view.Close()
	held := query.Held{Relation: h.Relation.Addr.Relation(), Program: h.Relation.Program, Memory: memory(view, h.Relation, false)}
	err = j.Engine.Load(ctx, held, func(ctx context.Context, change batch.Change, counts batch.Counts, st *query.Stager) error {
		rows = counts.Inserted
		for _, s := range h.Sinks {
			if counts.Inserted == 0 && !s.Overwrite {
				continue
			}
			p, err := j.stage(ctx, s, connector.Delivery{Epoch: o.epoch, Change: change, Counts: counts}, stager{st})
			if err != nil {
				return err
			}
			o.parcels = append(o.parcels, p)
		}
		return nil
	})
	if err != nil {
		return 0, j.failure(h.Relation.Addr.String(), fmt.Errorf("handing over %s: %w", h.Relation.Addr, err))
	}
	return rows, nil
}

// handOverNothing takes away the content of sinks whose stream turned out to be empty: the engine delivers no empty changes.
func (j *Job) handOverNothing(ctx context.Context, o *outcome, c CutOver) error {
	for _, s := range c.Sinks {
		given := slices.ContainsFunc(o.parcels, func(p parcel) bool { return p.Sink == s.ID })
		if given || !s.Overwrite {
			continue
		}
		err := j.Engine.Nothing(ctx, s.Columns, func(ctx context.Context, change batch.Change, counts batch.Counts, st *query.Stager) error {
			p, err := j.stage(ctx, s, connector.Delivery{Epoch: o.epoch, Change: change, Counts: counts}, stager{st})
			o.parcels = append(o.parcels, p)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
