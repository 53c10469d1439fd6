package job

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// quickRedos is how often an epoch whose files moved is done again at once, before waiting as for a machine failure.
const quickRedos = 3

// advance runs one epoch over files up to the given ends (nil: all that is known) until it is committed and delivered. It
// reports whether there was one, and another may follow: not after one that only the clock asked for.
func (j *Job) advance(ctx context.Context, ends map[string]int64) (bool, error) {
	var o *outcome
	err := j.persist(ctx, func(ctx context.Context) error {
		return j.redo(func() (err error) {
			o, err = j.attempt(ctx, ends)
			return err
		})
	})
	if err != nil || o == nil {
		return false, err
	}
	began := j.Now()
	if err := j.Deliver(ctx); err != nil {
		return true, err
	}
	o.spent[commitOffsets] = j.Now().Sub(began)
	j.report(j.progress(o))
	j.told = true
	return !o.tick, nil
}

// redo repeats an epoch whose files moved, a few times at once.
func (j *Job) redo(epoch func() error) error {
	var err error
	for range quickRedos {
		err = epoch()
		var m *moved
		if !errors.As(err, &m) {
			return err
		}
	}
	return err
}

// attempt chooses, computes and commits one epoch; a nil outcome means that there was nothing to read.
func (j *Job) attempt(ctx context.Context, ends map[string]int64) (*outcome, error) {
	began := j.Now()
	intakes, read, err := j.chooseNew(ctx, ends)
	if err != nil || !read && !j.lapsed() {
		return nil, err
	}
	chosen := j.Now().Sub(began)
	o, err := j.compute(ctx, section{intakes: intakes, relations: j.Relations, sinks: j.Sinks})
	if err != nil {
		return nil, err
	}
	o.begun, o.spent[latestOffset], o.tick = began, chosen, !read
	var all []admitted
	err = j.commit(o, func(b *store.Batch) error {
		if all, err = j.admit(o, b); err != nil {
			return err
		}
		return j.keepReport(b, o)
	})
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		a.settle()
	}
	return o, nil
}

// chooseNew takes unread files of every source; there is nothing to do when there are none and no relation waits for its first epoch.
func (j *Job) chooseNew(ctx context.Context, ends map[string]int64) (intakes []intake, todo bool, err error) {
	files := 0
	for _, r := range j.sources {
		to := r.ledger.last
		if end, ok := ends[r.ID]; ok {
			to = min(to, end)
		}
		in, err := j.choose(ctx, span{reader: r, from: r.seen, to: to})
		if err != nil {
			return nil, false, err
		}
		if files += len(in.records); len(in.records) == 0 {
			r.seen = max(r.seen, in.to)
		}
		intakes = append(intakes, in)
	}
	return intakes, files > 0 || j.uncomputed(j.Relations), nil
}

// uncomputed reports whether a relation that has rows before any input has come was not computed yet.
func (j *Job) uncomputed(relations []Relation) bool {
	return slices.ContainsFunc(relations, func(r Relation) bool { return r.Program.Initial && j.counters[r.ID].Epochs == 0 })
}

// admitted is what an epoch makes of one source.
type admitted struct {
	reader  *reader
	state   SourceState
	records []Record
}

// admit records what an epoch read: ledger, positions, sums, records set aside.
func (j *Job) admit(o *outcome, b *store.Batch) ([]admitted, error) {
	now := j.Now().UTC()
	var all []admitted
	for i, in := range o.intakes {
		got := o.result.Inputs[i]
		if in.replay {
			if err := in.found(b, got); err != nil {
				return nil, err
			}
			continue
		}
		a := admitted{reader: in.reader, state: in.reader.state}
		a.state.Position = max(in.to, a.state.Position)
		a.state.RowsOut += got.Rows
		a.state.Malformed += got.Malformed
		a.state.RowsRead += got.Rows + got.Malformed
		for k, r := range in.records {
			r.Status, r.Rows, r.Epoch, r.CommittedAt = connector.Read, got.FileRows[k], o.epoch, now
			r.Malformed = got.Malformed + got.Rescued
			if r.Error = got.FileError[k]; r.Error != "" {
				r.Status = connector.Malformed
			}
			a.state.Files++
			a.state.Bytes += r.SizeBytes
			a.state.PendingFiles--
			a.state.PendingBytes -= r.SizeBytes
			a.records = append(a.records, r)
			if err := in.reader.ledger.write(b, r, false); err != nil {
				return nil, err
			}
		}
		if err := in.reader.setAside(b, got.Sides); err != nil {
			return nil, err
		}
		if err := j.keep(b, o, in, got); err != nil {
			return nil, err
		}
		if err := writeJSON(b, "src/"+in.reader.ID, a.state); err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// found keeps what a replay was the first to find: values that do not fit in columns nobody had read before.
func (in intake) found(b *store.Batch, got query.InputResult) error {
	if len(got.Sides) == 0 {
		return nil
	}
	for _, r := range in.records {
		if r.Malformed > 0 {
			continue
		}
		r.Malformed = got.Malformed + got.Rescued
		if err := in.reader.ledger.write(b, r, false); err != nil {
			return err
		}
	}
	return in.reader.setAside(b, got.Sides)
}

// setAside keeps what went to side relations.
func (r *reader) setAside(b *store.Batch, sides map[string][][]byte) error {
	for _, name := range slices.Sorted(maps.Keys(sides)) {
		table, ok := r.Sides[name]
		if !ok && len(sides[name]) > 0 {
			return fmt.Errorf("%s has no side relation %s", r.Addr, name)
		}
		for _, block := range sides[name] {
			b.AppendBlock(table, block)
		}
	}
	return nil
}

func (a admitted) settle() {
	a.reader.state = a.state
	a.reader.seen = max(a.reader.seen, a.state.Position)
	for _, r := range a.records {
		a.reader.ledger.remember(r)
	}
}

// endRecord is where an available-now run stops, by source ID.
type endRecord struct {
	Ends map[string]int64 `json:"ends"`
	Open bool             `json:"failed,omitempty"` // the next run fixes other ends: the one before is over and did not get there, or there was none
}

// UnderWay reports whether an available-now run of a pipeline was begun, or is due after a cut-over, and has not ended.
func UnderWay(v *store.View, pipeline string) (bool, error) {
	_, ok, err := v.Meta("end/" + pipeline)
	return ok, err
}

// AvailableNow reads what every source holds when it starts, in as many epochs as the limits ask for. The ends are
// recorded: a run that was cut short goes on to the same ends, which resumed tells; one that had nothing
// left to read is followed by a new run at once. After a failure, the next run fixes new ends. When ctx ends it finishes the epoch in hand and returns ctx's error.
func (j *Job) AvailableNow(ctx context.Context) (resumed bool, err error) {
	if err := j.Deliver(ctx); err != nil {
		return false, err
	}
	j.reportLost()
	for {
		ends, resumed, err := j.ends(ctx)
		if err != nil {
			return resumed, err
		}
		epochs, err := j.upTo(ctx, ends)
		var failed *Failure
		if errors.As(err, &failed) {
			return resumed, errors.Join(err, j.giveUp(ends))
		}
		if err != nil || !resumed || epochs > 0 {
			return resumed, err
		}
	}
}

// giveUp records that a run failed.
func (j *Job) giveUp(ends map[string]int64) error {
	b := j.Store.NewBatch()
	if err := writeJSON(b, "end/"+j.ID, endRecord{Ends: ends, Open: true}); err != nil {
		return err
	}
	if err := j.commitBatch(b); err != nil {
		return fmt.Errorf("ending the run of %s: %w", j.Name, err)
	}
	return nil
}

// upTo runs epochs until the ends are reached, and records that the run is over.
func (j *Job) upTo(ctx context.Context, ends map[string]int64) (epochs int, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return epochs, err
		}
		more, err := j.advance(ctx, ends)
		if err != nil {
			return epochs, err
		}
		if !more {
			break
		}
		epochs++
	}
	b := j.Store.NewBatch()
	b.DeleteMeta("end/" + j.ID)
	if err := j.commitBatch(b); err != nil {
		return epochs, fmt.Errorf("ending the run of %s: %w", j.Name, err)
	}
	return epochs, nil
}

// ends returns the recorded ends of a run that was killed, or fixes them now. A source that
// joined since the run was killed is read up to where it is known.
func (j *Job) ends(ctx context.Context) (map[string]int64, bool, error) {
	view := j.Store.View()
	var r endRecord
	resumed, err := readJSON(view, "end/"+j.ID, &r)
	view.Close()
	resumed = resumed && !r.Open
	if err != nil || resumed {
		return r.Ends, resumed, err
	}
	err = j.persist(ctx, func(ctx context.Context) error {
		return j.list(ctx, func(b *store.Batch, last map[string]int64) error {
			r = endRecord{Ends: last}
			return writeJSON(b, "end/"+j.ID, r)
		})
	})
	return r.Ends, false, err
}

// Follow runs the pipeline by its trigger until ctx ends, then finishes the epoch in hand and returns nil.
func (j *Job) Follow(ctx context.Context) error {
	err := j.follow(ctx)
	if flushed := j.Flush(); err == nil {
		err = flushed
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (j *Job) follow(ctx context.Context) error {
	if err := j.Deliver(ctx); err != nil {
		return err
	}
	j.reportLost()
	switch {
	case j.Trigger.Paused:
		return j.idle(ctx, waitPaused)
	case j.Trigger.Once:
		_, err := j.AvailableNow(ctx)
		return err
	}
	next := j.Now()
	for {
		if err := j.pause(ctx, next); err != nil {
			return err
		}
		began := j.Now()
		more, err := j.tick(ctx)
		if err != nil {
			return err
		}
		next = j.awake(j.Trigger.next(began, j.Now(), more), began)
	}
}

// tick lists the sources, at most once a second, and runs an epoch if there is data.
func (j *Job) tick(ctx context.Context) (bool, error) {
	due := false
	for _, r := range j.sources {
		due = due || j.Now().Sub(r.listed) >= listEvery-listSlack
	}
	if due {
		if err := j.persist(ctx, func(ctx context.Context) error { return j.list(ctx, nil) }); err != nil {
			return false, err
		}
	}
	return j.advance(ctx, nil)
}

// pause waits until a moment, reporting every 10 s that there is no data.
func (j *Job) pause(ctx context.Context, until time.Time) error {
	for {
		left := until.Sub(j.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if err := j.Wait(ctx, min(left, idleEvery)); err != nil {
			return err
		}
		if j.Now().Sub(j.reported) >= idleEvery {
			j.report(j.idleProgress(waitNoData))
		}
	}
}

// idle waits for the end of ctx.
func (j *Job) idle(ctx context.Context, reason string) error {
	for {
		j.report(j.idleProgress(reason))
		if err := j.Wait(ctx, idleEvery); err != nil {
			return err
		}
	}
}
