package host

import (
	"fmt"
	"strconv"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Progress tells how far a backfill has come. Numbers are of one pipeline.
type Progress struct {
	Pipeline   string          // its name for people
	Relations  []addr.Resource // streams and views being built or brought up to date
	Rows       int64           // admitted so far
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

// RelationSummary is what one stream or view came to.
type RelationSummary struct {
	Addr addr.Resource
	Rows int64 // rows of a view as it stands; rows a stream emitted since its generation began
}

// SinkSummary is what one sink was given.
type SinkSummary struct {
	Addr    addr.Resource
	Rows    int64          // inserted and deleted
	Receipt map[string]any // of the last delivery, nil when there was none
}

// tally follows a backfill: it turns what jobs report into Progress and Summary.
type tally struct {
	host     *Host
	report   func(Progress)
	started  time.Time
	progress Progress
	sources  map[addr.Resource]*SourceSummary
	members  map[addr.Resource]bool
	given    map[string]int64 // rows given to sinks before, by ID of their generation
}

func (h *Host) tally(report func(Progress)) *tally {
	if report == nil {
		report = func(Progress) {}
	}
	return &tally{host: h, report: report, started: h.opts.Now(), sources: map[addr.Resource]*SourceSummary{},
		members: map[addr.Resource]bool{}, given: map[string]int64{}}
}

// begin turns to a pipeline.
func (t *tally) begin(p *catalog.Pipeline) error {
	t.progress = Progress{Pipeline: p.Name}
	view := t.host.store.View()
	defer view.Close()
	for _, a := range p.Members {
		if a.Block == addr.Stream || a.Block == addr.View {
			t.progress.Relations = append(t.progress.Relations, a)
		}
		if t.members[a] {
			continue
		}
		t.members[a] = true
		for _, g := range []*catalog.Generation{t.host.catalog.Records[a].Live, t.host.catalog.Records[a].Building} {
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

func (t *tally) tell() {
	t.progress.Elapsed = t.host.opts.Now().Sub(t.started)
	t.report(t.progress)
}

// replaying notes what a replay up to the ends reads in all.
func (t *tally) replaying(ends map[string]int64) error {
	view := t.host.store.View()
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

func (t *tally) replayed(p job.ReplayProgress) {
	t.add(p.Source, p)
	t.tell()
}

func (t *tally) add(a addr.Resource, p job.ReplayProgress) {
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

// epoch takes in a live epoch.
func (t *tally) epoch(p job.Progress) {
	t.progress.TotalFiles, t.progress.TotalBytes = 0, 0
	for _, s := range p.Sources {
		a, err := addr.Parse(s.Description)
		if err != nil {
			continue
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

// summary sums up the pipelines that were begun.
func (t *tally) summary() (Summary, error) {
	view := t.host.store.View()
	defer view.Close()
	var s Summary
	for _, r := range t.host.catalog.Sorted() {
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
			s.Relations = append(s.Relations, RelationSummary{Addr: r.Addr, Rows: c.Inserted - c.Deleted})
		}
	}
	return s, nil
}

func (t *tally) sink(v *store.View, r *catalog.Record) (SinkSummary, error) {
	s := SinkSummary{Addr: r.Addr}
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
