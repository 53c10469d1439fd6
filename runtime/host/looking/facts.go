// Package looking says what the runtime has, how much that is, and what became of the objects behind it.
package looking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// Looker looks at a runtime, at any time, and changes nothing.
type Looker struct {
	open  *opening.Opener
	store *store.Store
}

// New makes a looker.
func New(open *opening.Opener, s *store.Store) *Looker { return &Looker{open: open, store: s} }

// Facts is what a plan needs to know about the runtime.
type Facts struct {
	RuntimeID string // identity of the store
	Resources map[addr.Resource]Fact
	Sources   map[addr.Resource]SourceFact // of the sources that are applied
}

// Boundary is where a stream's or source's definition changed and the rows given before stayed.
type Boundary = catalog.Boundary

// Fact is one resource the runtime has.
type Fact struct {
	Generation int64  // the one that serves; 0 while the first is being built
	Building   int64  // the one being built; 0: none
	Begun      bool   // what the sources' Replayed says went into it
	Digest     string // SHA-256 of the value last put, hexadecimal
	// Delivered is how many rows the generation that serves has given: a source admitted, a stream or view
	// inserted or took back, a sink was handed. 0: nobody has seen any.
	Delivered  int64
	Rows       int64        // that a view holds
	Boundaries []Boundary   // oldest first
	Former     []FormerFact // what a rollback can go back to, the latest last
	Rate       Rate         // of the pipeline it belongs to
}

// FormerFact is a generation that was replaced and is kept.
type FormerFact struct {
	Generation int64
	Until      time.Time // when it is dropped
}

// Rate is how fast recorded epochs were, from choosing files to their commit; zero where nothing was recorded.
type Rate struct {
	RowsPerSecond  float64 // admitted from sources
	BytesPerSecond float64 // as stored
}

// SourceFact is how much a source has been read and how much there is to read.
type SourceFact struct {
	Files        int64 // read
	Bytes        int64 // as stored
	Rows         int64 // admitted
	BacklogFiles int64 // not read yet, found by listing now
	BacklogBytes int64
	Replayed     Part // of what was read and is not held: what the generations being built were computed from so far
	Kept         Kept // of what was read: what the runtime holds the rows of
	Lost         Lost // what was read, is not held and cannot be read again
}

// Kept is how much of a source the runtime holds.
type Kept struct {
	Part
	Stored int64     // bytes that the rows take where they are held
	Epoch  int64     // the first one whose rows are held; 0: none are
	Since  time.Time // its commit
	Lost   Lost      // of the files whose rows are held: what cannot be read again, should these rows not do
}

// Part is a part of what a source has given.
type Part struct {
	Files, Bytes, Rows int64
}

// with is a part and one more file, if that was read.
func (p Part) with(r job.Record) Part {
	if r.Rows < 0 {
		return p
	}
	return Part{Files: p.Files + 1, Bytes: p.Bytes + r.SizeBytes, Rows: p.Rows + r.Rows}
}

// Lost is what a source has given and cannot give again: a replay would not see the same rows.
type Lost struct {
	Missing int64  // files that are gone
	Changed int64  // files that are there in another version
	Rows    int64  // that all of them gave
	Example string // path of one
}

// Facts looks at the store, and lists the sources. It changes nothing. A source that cannot be listed is
// in the error, which joins all of them; the rest is answered all the same.
func (l *Looker) Facts(ctx context.Context) (Facts, error) {
	view := l.store.View()
	defer view.Close()
	f := Facts{RuntimeID: l.store.ID(), Resources: map[addr.Resource]Fact{}, Sources: map[addr.Resource]SourceFact{}}
	c, err := catalog.Read(l.store, view)
	if err != nil {
		return f, err
	}
	one := look{Looker: l, view: view, builds: map[string]catalog.Build{}}
	var unlisted []error
	for _, r := range c.Sorted() {
		fact, err := one.resource(r)
		if err != nil {
			return f, fmt.Errorf("reading %s: %w", r.Addr, err)
		}
		f.Resources[r.Addr] = fact
		if r.Addr.Block != addr.Source {
			continue
		}
		f.Sources[r.Addr], err = one.source(ctx, r)
		unlisted = append(unlisted, err)
	}
	return f, errors.Join(unlisted...)
}

// look is one look at the runtime.
type look struct {
	*Looker
	view   *store.View
	builds map[string]catalog.Build // by pipeline
}

// build recalls that of a pipeline; empty when nothing is being built.
func (l look) build(pipeline string) (catalog.Build, error) {
	b, known := l.builds[pipeline]
	if known {
		return b, nil
	}
	if _, err := catalog.ReadBuild(l.view, pipeline, &b); err != nil {
		return b, err
	}
	l.builds[pipeline] = b
	return b, nil
}

func (l look) resource(r *catalog.Record) (Fact, error) {
	sum := sha256.Sum256(r.Newest().Value)
	fact := Fact{Digest: hex.EncodeToString(sum[:])}
	if r.Building != nil {
		b, err := l.build(r.Pipeline)
		if err != nil {
			return fact, err
		}
		fact.Building, fact.Begun = r.Building.Number, slices.Contains(b.Generations, r.Building.ID)
	}
	for _, former := range r.Former {
		fact.Former = append(fact.Former, FormerFact{Generation: former.Generation.Number, Until: former.Until})
	}
	pace, err := job.ReadPace(l.view, r.Pipeline)
	if err != nil {
		return fact, err
	}
	fact.Rate = Rate{RowsPerSecond: pace.Rows(), BytesPerSecond: pace.Bytes()}
	if r.Live == nil {
		return fact, nil
	}
	fact.Generation, fact.Boundaries = r.Live.Number, r.Live.Boundaries
	if r.Addr.Block == addr.Source {
		state, err := job.ReadSourceState(l.view, r.Live.ID)
		fact.Delivered = state.RowsOut
		return fact, err
	}
	counters, err := job.ReadCounters(l.view, r.Live.ID)
	fact.Delivered = counters.Inserted + counters.Deleted
	if r.Holds() {
		fact.Rows = counters.Inserted - counters.Deleted
	}
	return fact, err
}

// source is how far a generation of a source has been read, what there is beyond, and what is lost.
func (l look) source(ctx context.Context, of *catalog.Record) (f SourceFact, err error) {
	a, g := of.Addr, of.Newest()
	b, err := l.build(of.Pipeline)
	if err != nil {
		return f, err
	}
	state, err := job.ReadSourceState(l.view, g.ID)
	if err != nil {
		return f, fmt.Errorf("reading the position of %s: %w", a, err)
	}
	f = SourceFact{Files: state.Files, Bytes: state.Bytes, Rows: state.RowsOut, BacklogFiles: state.PendingFiles, BacklogBytes: state.PendingBytes}
	s, err := l.open.Source(ctx, a, g)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	entries, err := s.Discover(ctx, job.LedgerAt(l.store, l.view, g.ID, state.Last))
	if err != nil {
		return f, fmt.Errorf("listing %s: %w", a, err)
	}
	for _, e := range entries {
		if e.Ordinal > state.Last && e.Status == connector.Pending {
			f.BacklogFiles++
			f.BacklogBytes += e.SizeBytes
		}
	}
	held, err := kept.Serving(l.view, g.ID, query.Columns(opening.Scan(g, s)))
	if err != nil {
		return f, fmt.Errorf("looking at what %s holds: %w", a, err)
	}
	for _, p := range held {
		f.Kept.Stored += p.Bytes
		if f.Kept.Epoch == 0 {
			f.Kept.Epoch, f.Kept.Since = p.Epoch, p.At
		}
	}
	err = job.Records(l.view, g.ID, func(r job.Record) error {
		if held.Has(r.Ordinal) {
			f.Kept.Part = f.Kept.with(r)
			return f.Kept.Lost.add(ctx, s, r)
		}
		if r.Ordinal <= b.Done[g.ID] {
			f.Replayed = f.Replayed.with(r)
		}
		return f.Lost.add(ctx, s, r)
	})
	if err != nil {
		return f, fmt.Errorf("looking for the files of %s: %w", a, err)
	}
	return f, nil
}

// add looks whether a file that gave rows is still there.
func (l *Lost) add(ctx context.Context, s connector.Source, r job.Record) error {
	if r.Rows < 0 || r.Status != connector.Read && r.Status != connector.Overwritten {
		return nil
	}
	found := error(connector.ErrChanged) // what was overwritten is not there in the version that was read
	if r.Status == connector.Read {
		found = s.Verify(ctx, r.Entry)
	}
	switch {
	case found == nil:
		return nil
	case errors.Is(found, connector.ErrVanished):
		l.Missing++
	case errors.Is(found, connector.ErrChanged):
		l.Changed++
	default:
		return found
	}
	l.Rows += r.Rows
	if l.Example == "" {
		l.Example = r.Path
	}
	return nil
}
