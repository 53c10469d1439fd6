package job

import (
	"math"
	"time"

	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// clockRecord is how far the clock of a relation is whose Program is Temporal. Both are microseconds since 1970-01-01 UTC.
type clockRecord struct {
	Clock int64 `json:"clock"` // of its last epoch
	Due   int64 `json:"due"`   // when its rows change next, though nothing it reads does; the greatest number: never
}

// tickEvery is the least time between two epochs that only the clock asks for.
const tickEvery = 100 * time.Millisecond

// loadClocks reads the clocks of the pipeline's relations.
func (j *Job) loadClocks(view *store.View) error {
	j.clocks = map[string]clockRecord{}
	for _, r := range j.Relations {
		if !r.Program.Temporal {
			continue // it may have been so before an edit in place
		}
		var c clockRecord
		if ok, err := readJSON(view, "clk/"+r.ID, &c); err != nil {
			return err
		} else if ok {
			j.clocks[r.ID] = c
		}
	}
	return nil
}

// clock is that of the next epoch. It stands still rather than go back.
func (j *Job) clock() int64 {
	now := j.Now().UnixMicro()
	for _, c := range j.clocks {
		now = max(now, c.Clock)
	}
	return now
}

// lapsed reports whether the clock alone changes rows.
func (j *Job) lapsed() bool {
	now := j.clock()
	for _, c := range j.clocks {
		if c.Due <= now {
			return true
		}
	}
	return false
}

// awake is the moment of the next look for data, or before it, when rows change by the clock alone.
func (j *Job) awake(next, began time.Time) time.Time {
	for _, c := range j.clocks {
		due := time.UnixMicro(c.Due)
		if soonest := began.Add(tickEvery); due.Before(soonest) {
			due = soonest
		}
		if j.Trigger.Interval <= 0 && due.Before(next) {
			next = due
		}
	}
	return next
}

// writeClocks adds the clocks of an epoch's relations to its commit.
func (o *outcome) writeClocks(b *store.Batch) (map[string]clockRecord, error) {
	clocks := map[string]clockRecord{}
	for _, r := range o.relations {
		due, ok := o.result.Due[r.Addr.Relation()]
		if !r.Program.Temporal || o.forget {
			continue
		}
		if !ok { // the filter turned out to be no filter
			due = math.MaxInt64
		}
		clocks[r.ID] = clockRecord{Clock: o.clock, Due: due}
		if err := writeJSON(b, "clk/"+r.ID, clocks[r.ID]); err != nil {
			return nil, err
		}
	}
	return clocks, nil
}

// work is an epoch's work without what it reads and computes.
func (j *Job) work(o *outcome, careful bool) query.Work {
	return query.Work{Careful: careful, Measure: j.Measure, Clock: j.Now, Now: o.clock}
}
