// Package tally follows a backfill: what was read, computed and given, and how far it is.
package tally

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/store"
)

// Progress tells how far a backfill has come. Numbers are of one pipeline.
type Progress struct {
	Pipeline   string          // its name for people
	Relations  []addr.Resource // streams and views being built or brought up to date
	Rows       int64           // admitted so far
	HeldRows   int64           // read so far of what the runtime holds
	Files      int64
	TotalFiles int64 // 0: unknown
	Bytes      int64 // as stored
	TotalBytes int64 // 0: unknown
	Elapsed    time.Duration
}

// Summary is what a backfill did in the pipelines it concerned.
type Summary struct {
	Sources   []SourceSummary   // by address
	Relations []RelationSummary // by address
	Sinks     []SinkSummary     // by address
}

// SourceSummary is what was read of one source. A file read for two generations counts twice.
type SourceSummary struct {
	Addr      addr.Resource
	Files     int64
	Bytes     int64 // as stored
	Rows      int64 // admitted
	Malformed int64 // records set aside or dropped
}

// RelationSummary is what one stream or view came to, and what a new generation of it was computed from.
type RelationSummary struct {
	Addr addr.Resource
	Rows int64 // rows of a view as it stands; rows a stream emitted since its generation began
	Work
}

// SinkSummary is what one sink was given.
type SinkSummary struct {
	Addr    addr.Resource
	Rows    int64          // inserted and deleted
	Receipt map[string]any // of the last delivery, nil when there was none
	Work
}

// Work is what a new generation was really computed from.
type Work struct {
	// Class is what was done, in the words of a plan; empty where no new generation was computed.
	Class evolve.Class
	// Operators are those that hold something, with what became of each; only of queries that took over keyed data.
	Operators []evolve.Made
	HeldRows  int64 // rows and groups that were read of what the runtime holds
	ReadRows  int64 // rows that were read of sources for it; what is computed together shares them
	// Files of sources that were read for it, and those whose rows were held.
	files, heldFiles int64
}

// Tally turns what jobs report into Progress and Summary.
type Tally struct {
	o        Options
	started  time.Time
	progress Progress
	sources  map[addr.Resource]*SourceSummary
	members  map[addr.Resource]bool
	given    map[string]int64 // rows given to sinks before, by ID of their generation
	work     map[addr.Resource]*Work
	origins  map[addr.Resource][]addr.Resource // of what is computed anew
}

// Options are what a tally looks at, and whom it tells.
type Options struct {
	Store   *store.Store
	Catalog *catalog.Catalog
	Now     func() time.Time
	Report  func(Progress) // nil: nobody listens
}

// New begins a tally.
func New(o Options) *Tally {
	if o.Report == nil {
		o.Report = func(Progress) {}
	}
	return &Tally{o: o, started: o.Now(), sources: map[addr.Resource]*SourceSummary{}, members: map[addr.Resource]bool{},
		given: map[string]int64{}, work: map[addr.Resource]*Work{}, origins: map[addr.Resource][]addr.Resource{}}
}

// Begin turns to a pipeline.
func (t *Tally) Begin(p *catalog.Pipeline) error {
	t.progress = Progress{Pipeline: p.Name}
	view := t.o.Store.View()
	defer view.Close()
	for _, a := range p.Members {
		if a.Block == addr.Stream || a.Block == addr.View {
			t.progress.Relations = append(t.progress.Relations, a)
		}
		if t.members[a] {
			continue
		}
		t.members[a] = true
		for _, g := range []*catalog.Generation{t.o.Catalog.Records[a].Live, t.o.Catalog.Records[a].Building} {
			if g == nil {
				continue
			}
			c, err := job.ReadCounters(view, g.ID)
			if err != nil {
				return fmt.Errorf("reading sums of %s: %w", a, err)
			}
			t.given[g.ID] = c.Inserted + c.Deleted
		}
	}
	t.tell()
	return nil
}

func (t *Tally) tell() {
	t.progress.Elapsed = t.o.Now().Sub(t.started)
	t.o.Report(t.progress)
}

// Replaying notes what a replay up to the ends reads in all.
func (t *Tally) Replaying(ends map[string]int64) error {
	view := t.o.Store.View()
	defer view.Close()
	for id := range ends {
		s, err := job.ReadSourceState(view, id)
		if err != nil {
			return fmt.Errorf("reading the position of a source: %w", err)
		}
		t.progress.TotalFiles += s.Files + s.PendingFiles
		t.progress.TotalBytes += s.Bytes + s.PendingBytes
	}
	return nil
}

// Computed begins something that is computed anew, from sources or from rows that are held.
func (t *Tally) Computed(a addr.Resource, origins []addr.Resource) {
	w := t.of(a)
	w.Class = evolve.RebuildFromState
	t.origins[a] = origins
	if slices.ContainsFunc(origins, func(o addr.Resource) bool { return o.Block == addr.Source }) {
		w.Class = evolve.ReplayFromSource
	}
}

// Replayed takes in an epoch of a replay; by are those it was for.
func (t *Tally) Replayed(p job.ReplayProgress, by []addr.Resource) {
	for _, a := range by {
		w := t.of(a)
		w.ReadRows, w.HeldRows = w.ReadRows+p.Rows, w.HeldRows+p.HeldRows
		w.files, w.heldFiles = w.files+p.Files, w.heldFiles+p.HeldFiles
	}
	t.progress.HeldRows += p.HeldRows
	t.add(p.Source, p)
	t.tell()
}

// Carried takes in keyed data that was taken over. views are the rows of those it read.
func (t *Tally) Carried(a addr.Resource, taken evolve.Taken, views int64) {
	w := t.of(a)
	w.Class, w.Operators = taken.Class(), taken.Operators
	t.hold(w, taken.Rows()+views)
}

// Held takes in rows that something was computed from, or given.
func (t *Tally) Held(a addr.Resource, rows int64) { t.hold(t.of(a), rows) }

func (t *Tally) hold(w *Work, rows int64) {
	w.HeldRows += rows
	t.progress.HeldRows += rows
	t.tell()
}

func (t *Tally) of(a addr.Resource) *Work {
	if t.work[a] == nil {
		t.work[a] = &Work{}
	}
	return t.work[a]
}

func (t *Tally) done(a addr.Resource) Work {
	w := t.work[a]
	if w == nil {
		return Work{}
	}
	if w.Class == evolve.ReplayFromSource && w.files == 0 && w.heldFiles > 0 {
		w.Class = evolve.RebuildFromState
	}
	return *w
}

func (t *Tally) add(a addr.Resource, p job.ReplayProgress) {
	s := t.sources[a]
	if s == nil {
		s = &SourceSummary{Addr: a}
		t.sources[a] = s
	}
	s.Files += p.Files
	s.Bytes += p.Bytes
	s.Rows += p.Rows
	s.Malformed += p.Malformed
	t.progress.Files += p.Files
	t.progress.Bytes += p.Bytes
	t.progress.Rows += p.Rows
}

// Epoch takes in a live epoch.
func (t *Tally) Epoch(p job.Progress) {
	t.progress.TotalFiles, t.progress.TotalBytes = 0, 0
	for _, s := range p.Sources {
		a, err := addr.Parse(s.Description)
		if err != nil {
			continue
		}
		for reader, origins := range t.origins {
			if slices.Contains(origins, a) {
				t.of(reader).ReadRows += s.NumInputRows
			}
		}
		t.add(a, job.ReplayProgress{Files: s.Files, Bytes: s.Bytes, Rows: s.NumInputRows, Malformed: s.Malformed})
		files, _ := strconv.ParseInt(s.Metrics["numFilesOutstanding"], 10, 64)
		bytes, _ := strconv.ParseInt(s.Metrics["numBytesOutstanding"], 10, 64)
		t.progress.TotalFiles += files
		t.progress.TotalBytes += bytes
	}
	t.progress.TotalFiles += t.progress.Files
	t.progress.TotalBytes += t.progress.Bytes
	t.tell()
}

// Summary sums up the pipelines that were begun.
func (t *Tally) Summary() (Summary, error) {
	view := t.o.Store.View()
	defer view.Close()
	var s Summary
	for _, r := range t.o.Catalog.Sorted() {
		if !t.members[r.Addr] {
			continue
		}
		switch r.Addr.Block {
		case addr.Source:
			if got := t.sources[r.Addr]; got != nil {
				s.Sources = append(s.Sources, *got)
			} else {
				s.Sources = append(s.Sources, SourceSummary{Addr: r.Addr})
			}
		case addr.Sink:
			sum, err := t.sink(view, r)
			if err != nil {
				return s, err
			}
			s.Sinks = append(s.Sinks, sum)
		default:
			if r.Live == nil {
				continue
			}
			c, err := job.ReadCounters(view, r.Live.ID)
			if err != nil {
				return s, fmt.Errorf("reading sums of %s: %w", r.Addr, err)
			}
			s.Relations = append(s.Relations, RelationSummary{Addr: r.Addr, Rows: c.Inserted - c.Deleted, Work: t.done(r.Addr)})
		}
	}
	return s, nil
}

func (t *Tally) sink(v *store.View, r *catalog.Record) (SinkSummary, error) {
	s := SinkSummary{Addr: r.Addr, Work: t.done(r.Addr)}
	g := r.Newest()
	c, err := job.ReadCounters(v, g.ID)
	if err != nil {
		return s, fmt.Errorf("reading sums of %s: %w", r.Addr, err)
	}
	s.Rows = c.Inserted + c.Deleted - t.given[g.ID]
	receipt, ok, err := job.ReadReceipt(v, g.ID)
	if err != nil {
		return s, fmt.Errorf("reading the receipt of %s: %w", r.Addr, err)
	}
	if ok {
		s.Receipt = receipt.Receipt
	}
	return s, nil
}
