package job

import (
	"context"
	"slices"

	"github.com/streamform/streamform/lang/addr"
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
	// Former are the stretches at the beginning that other queries have read, in order.
	Former []Stretch
	// Save adds to an epoch's commit what makes the replay go on behind it after a restart.
	Save func(b *store.Batch, done map[string]int64) error
	// Report is told of each epoch and source; nil: nobody listens.
	Report func(ReplayProgress)
	// Held is told of the rows of the views that the first epoch read.
	Held func(map[addr.Resource]int64)
}

// Stretch is a part of the input, up to an ordinal of each source, and the relations as they were then.
type Stretch struct {
	Ends      map[string]int64 // by source ID
	Relations []Relation
}

// now is the stretch that the next epoch reads in, and whether it is the last.
func (r *Replay) now() (Stretch, bool) {
	for _, s := range r.Former {
		for id, end := range s.Ends {
			if _, read := r.Ends[id]; read && r.Done[id] < end {
				return s, false
			}
		}
	}
	return Stretch{Ends: r.Ends, Relations: r.Relations}, true
}

// ReplayProgress is what one epoch of a replay read of one source.
type ReplayProgress struct {
	Source    addr.Resource
	Files     int64
	Bytes     int64
	Rows      int64 // of files
	HeldRows  int64 // that are held, and were read in place of files
	HeldFiles int64 // of which these rows were
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
	stretch, last := r.now()
	s := section{relations: stretch.Relations, sinks: r.Sinks, first: !r.Begun}
	shares := slices.ContainsFunc(r.Relations, func(r Relation) bool { return len(r.Shared) > 0 })
	loading := s.first && (len(r.Views) > 0 || shares)
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
		if was, bounded := stretch.Ends[reader.ID]; bounded {
			end = min(end, was)
		} else if !last {
			end = r.Done[reader.ID]
		}
		part := span{reader: reader, from: r.Done[reader.ID], to: max(end, r.Done[reader.ID]), replay: true}
		if reader.Fresh {
			part.from, part.replay = reader.seen, false
		}
		in, err := j.choose(ctx, part)
		if err != nil {
			return false, err
		}
		done[reader.ID] = in.to
		files += len(in.records) + len(in.held)
		s.intakes = append(s.intakes, in)
	}
	if files == 0 && last && !loading && !j.uncomputed(stretch.Relations) {
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
	if loading && r.Held != nil {
		r.Held(o.viewRows())
	}
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
		for _, part := range in.held {
			p.Rows, p.HeldRows, p.HeldFiles = p.Rows-part.Rows, p.HeldRows+part.Rows, p.HeldFiles+part.Files
		}
		report(p)
	}
}
