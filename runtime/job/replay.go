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

// Replay computes relations that are being built beside the live ones, from the files of sources the live ones have read and
// from sources that are being built as well. Ledgers and positions of the live ones stay as they are.
type Replay struct {
	Views     []Relation       // live views that the first epoch reads as they stand
	Begun     bool             // there was a first epoch
	Relations []Relation       // what is read before what reads it
	Sinks     []Sink           // given each epoch's change
	Done      map[string]int64 // by source ID: ordinal up to which the relations have read; not of fresh sources
	Ends      map[string]int64 // by source ID: where to stop
	// Save adds to an epoch's commit what makes the replay go on behind it after a restart.
	Save func(b *store.Batch, done map[string]int64) error
	// Report is told of each epoch and source; nil: nobody listens.
	Report func(ReplayProgress)
}

// ReplayProgress is what one epoch of a replay read of one source.
type ReplayProgress struct {
	Source    addr.Resource
	Files     int64
	Bytes     int64
	Rows      int64
	Malformed int64
}

// ReplayEnds lists the fresh sources and says where a replay stops: at all they hold,
// and for the others at what the live relations have read.
func (j *Job) ReplayEnds(ctx context.Context) (ends map[string]int64, err error) {
	ends = map[string]int64{}
	err = j.persist(ctx, func(ctx context.Context) error {
		var found []listing
		for _, r := range j.sources {
			if !r.Fresh {
				ends[r.ID] = r.state.Position
				continue
			}
			l, err := j.look(ctx, r)
			if err != nil {
				return j.failure(r.Addr.String(), err)
			}
			ends[r.ID] = l.last()
			found = append(found, l)
		}
		return j.enter(found, nil)
	})
	return ends, err
}

// Replay runs until every source is at its end. When ctx ends it finishes the epoch in hand and returns ctx's error.
func (j *Job) Replay(ctx context.Context, r Replay) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		var more bool
		err := j.persist(ctx, func(ctx context.Context) error {
			return j.redo(func() (err error) {
				more, err = j.replayOnce(ctx, &r)
				return err
			})
		})
		if err != nil || !more {
			return err
		}
		if err := j.Deliver(ctx); err != nil {
			return err
		}
	}
}

func (j *Job) replayOnce(ctx context.Context, r *Replay) (bool, error) {
	s := section{relations: r.Relations, sinks: r.Sinks}
	loading := !r.Begun && len(r.Views) > 0
	if loading {
		s.views = r.Views
	}
	done := map[string]int64{}
	files := 0
	for _, reader := range j.sources {
		end, ok := r.Ends[reader.ID]
		if !ok {
			continue
		}
		stretch := span{reader: reader, from: r.Done[reader.ID], to: end, replay: true}
		if reader.Fresh {
			stretch.from, stretch.replay = reader.seen, false
		}
		in, err := j.choose(ctx, stretch)
		if err != nil {
			return false, err
		}
		done[reader.ID] = in.to
		files += len(in.records)
		s.intakes = append(s.intakes, in)
	}
	if files == 0 && !loading && !j.uncomputed(r.Relations) {
		return false, nil
	}
	o, err := j.compute(ctx, s)
	if err != nil {
		return false, err
	}
	var read []admitted
	err = j.commit(o, func(b *store.Batch) error {
		if read, err = j.admit(o, b); err != nil {
			return err
		}
		return r.Save(b, done)
	})
	if err != nil {
		return false, err
	}
	for _, a := range read {
		a.settle()
	}
	r.Done, r.Begun = done, true
	j.reportReplay(o, r.Report)
	return true, nil
}

func (j *Job) reportReplay(o *outcome, report func(ReplayProgress)) {
	if report == nil {
		return
	}
	for i, in := range o.intakes {
		p := ReplayProgress{Source: in.reader.Addr, Files: int64(len(in.records)), Rows: o.result.Inputs[i].Rows, Malformed: o.result.Inputs[i].Malformed}
		for _, r := range in.records {
			p.Bytes += r.SizeBytes
		}
		report(p)
	}
}

// CutOver makes what was built live in one commit.
type CutOver struct {
	// Views are given to their sinks whole.
	Views []Handover
	// Streams and sources whose sinks are given everything from the first file to Ends; Relations are the streams, in order.
	Relations []Relation
	Sinks     []Sink
	Ends      map[string]int64
	// Save adds to the commit what makes the new generations live.
	Save func(b *store.Batch) error
}

// Handover is a view that some sinks are given whole.
type Handover struct {
	Relation Relation
	Sinks    []Sink
}

// CutOver stages what sinks are given and commits. Deliver must follow.
func (j *Job) CutOver(ctx context.Context, c CutOver) error {
	return j.persist(ctx, func(ctx context.Context) error {
		o, err := j.whole(ctx, c)
		if err != nil {
			return err
		}
		if err := j.handOverNothing(ctx, o, c); err != nil {
			return err
		}
		for _, h := range c.Views {
			if err := j.handOver(ctx, o, h); err != nil {
				return err
			}
		}
		if len(o.parcels) == 0 {
			o.epoch = j.epoch // nothing is given to anybody: no epoch passes
		}
		return j.commit(o, c.Save)
	})
}

// whole computes streams over all they have read, as one change.
func (j *Job) whole(ctx context.Context, c CutOver) (*outcome, error) {
	s := section{relations: c.Relations, sinks: c.Sinks, forget: true}
	if len(c.Sinks) == 0 {
		s.relations = nil
		return &outcome{section: s, epoch: j.epoch + 1, begun: j.Now(), result: &query.Result{}, spent: spans{}}, nil
	}
	for _, reader := range j.sources {
		end, ok := c.Ends[reader.ID]
		if !ok {
			continue
		}
		in, err := j.choose(ctx, span{reader: reader, to: end, replay: true, all: true})
		if err != nil {
			return nil, err
		}
		s.intakes = append(s.intakes, in)
	}
	return j.compute(ctx, s)
}

func (j *Job) handOver(ctx context.Context, o *outcome, h Handover) error {
	view := j.Store.View()
	defer view.Close()
	held := query.Held{Relation: h.Relation.Addr.Name, Program: h.Relation.Program, Memory: memory(view, h.Relation, false)}
	err := j.Engine.Load(ctx, held, func(ctx context.Context, change batch.Change, counts batch.Counts, st *query.Stager) error {
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
		return j.failure(h.Relation.Addr.String(), fmt.Errorf("handing over %s: %w", h.Relation.Addr, err))
	}
	return nil
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
