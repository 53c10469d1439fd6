// Package redelivery gives rows of streams and sources to their sinks once more, from a position on.
package redelivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/store"
)

// Rewinder rewinds the streams of one pipeline, nothing of which may run or be built meanwhile, and whose outbox must be empty.
type Rewinder struct {
	Open     *opening.Opener
	Network  *catalog.Network
	Pipeline *catalog.Pipeline
	Job      job.Options // ID, name, store and how failures are met
}

// Request asks to give the rows of a stream or source to its sinks again.
type Request struct {
	Addr       addr.Resource
	To         string // position, see position.go; may be empty where a rewind that was cut short is finished
	Duplicates bool   // rows may be delivered twice
	// Decided is told before anything is delivered, and again when a rewind that was cut short goes on. Its error ends the rewind.
	Decided func(Rewind) error
}

// Rewind is what was decided, and what became of it.
type Rewind struct {
	Addr    addr.Resource
	To      string
	At      time.Time // when it was decided
	Epoch   int64     // the pipeline's last one then
	Sinks   []addr.Resource
	Resumed bool // it was decided by a command that was cut short
	Files   int64
	Rows    int64                   // that were read again
	Given   map[addr.Resource]int64 // rows by sink
}

// record is a rewind that is under way, kept under the ID of the generation that is rewound.
type record struct {
	To    string           `json:"to"`
	At    time.Time        `json:"at"`
	Epoch int64            `json:"epoch"`
	Done  map[string]int64 `json:"done"` // by source ID: ordinal up to which was delivered again
	Ends  map[string]int64 `json:"ends"`
}

func key(g *catalog.Generation) string { return "rew/" + g.ID }

// Rewind delivers what comes after a position once more. Rows of views and positions of sources stay as they are: a view equals its query
// over everything that was read, each file once. What was cut short goes on where it ended. What the user can mend is a *connector.UserError.
func (r *Rewinder) Rewind(ctx context.Context, q Request) (done Rewind, err error) {
	w := &work{Rewinder: r, at: q.Addr}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.find(ctx); err != nil {
		return done, err
	}
	rec, resumed, err := w.begun()
	switch {
	case err != nil:
		return done, err
	case resumed && q.To != "" && q.To != rec.To:
		return done, &connector.UserError{Summary: "Another rewind is under way", Detail: fmt.Sprintf(
			"A rewind of %s to %q was cut short. Finish it first: streamform rewind -allow-duplicates %s", q.Addr, rec.To, q.Addr)}
	case !resumed:
		if rec, err = w.decide(ctx, q); err != nil {
			return done, err
		}
	}
	done = Rewind{Addr: q.Addr, To: rec.To, At: rec.At, Epoch: rec.Epoch, Resumed: resumed, Given: map[addr.Resource]int64{}}
	for _, s := range w.sinks {
		done.Sinks = append(done.Sinks, s.Addr)
	}
	if !q.Duplicates {
		return done, w.twice()
	}
	if err := q.Decided(done); err != nil {
		return done, err
	}
	return done, w.deliver(ctx, rec, &done)
}

// work is one rewind.
type work struct {
	*Rewinder
	at        addr.Resource
	sinks     []job.Sink
	sources   []job.Source
	relations []job.Relation // streams between the sources and the one rewound, and that one
	closers   []func() error
}

func (w *work) close() error {
	var errs []error
	for _, c := range slices.Backward(w.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

func live(r *catalog.Record) *catalog.Generation { return r.Live }

func (w *work) live() *catalog.Generation { return w.Network.Record(w.at).Live }

// find opens what is rewound, what it is computed from, and the sinks that deliver it.
func (w *work) find(ctx context.Context) error {
	if err := w.rewindable(); err != nil {
		return err
	}
	need := map[addr.Resource]bool{}
	var want func(a addr.Resource)
	want = func(a addr.Resource) {
		need[a] = true
		for _, in := range w.Network.Inputs[a] {
			want(in)
		}
	}
	want(w.at)
	for _, a := range w.Pipeline.Members {
		var err error
		switch g := w.Network.Record(a).Live; {
		case a.Block == addr.Sink && g != nil && slices.Contains(w.Network.Inputs[a], w.at):
			err = w.sink(ctx, a, g)
		case !need[a] || g == nil:
		case a.Block == addr.Source:
			err = w.source(ctx, a, g)
		default:
			err = w.relation(ctx, a, g)
		}
		if err != nil {
			return err
		}
	}
	if len(w.sinks) == 0 {
		return &connector.UserError{Summary: "Nothing delivers " + w.at.String(), Detail: fmt.Sprintf(
			"A rewind gives rows to sinks once more, and %s has none. What reads it in SQL is made of everything that was read: \"streamform apply -replace=ADDRESS\" computes a view anew.", w.at)}
	}
	return nil
}

func (w *work) source(ctx context.Context, a addr.Resource, g *catalog.Generation) error {
	s, err := w.Open.Read(ctx, a, g)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, s.From.Close)
	w.sources = append(w.sources, s)
	return nil
}

func (w *work) sink(ctx context.Context, a addr.Resource, g *catalog.Generation) error {
	r, of := w.Network.Record(a), w.live().Relation
	to, err := w.Open.Sink(ctx, a, g)
	if err != nil {
		return err
	}
	w.closers = append(w.closers, to.Close)
	w.sinks = append(w.sinks, job.Sink{Addr: a, ID: g.ID, Life: r.Life, Origin: r.Name(), Generation: g.Number, From: w.at.Relation(), Columns: of.Columns, AppendOnly: of.AppendOnly, To: to})
	return nil
}

// relation compiles a stream. Its ID stays empty: what it gives once more is not counted as its rows.
func (w *work) relation(ctx context.Context, a addr.Resource, g *catalog.Generation) error {
	program, err := w.Open.Compile(ctx, w.Network, a, live)
	if err != nil {
		return err
	}
	for _, op := range program.Operators {
		if op.Holds != "nothing" {
			return &connector.UserError{Summary: "The stream remembers rows", Detail: fmt.Sprintf(
				"What %s gives depends on what its %s remembers of all rows before, so it cannot begin at a position. \"streamform apply -replace=%s\" computes it anew from the start.", a, op.Kind, w.at)}
		}
	}
	w.relations = append(w.relations, job.Relation{Addr: a, Generation: g.Number, Program: program})
	return nil
}

// begun reads what is recorded of a rewind that was cut short.
func (w *work) begun() (rec record, found bool, err error) {
	view := w.Job.Store.View()
	defer view.Close()
	data, found, err := view.Meta(key(w.live()))
	if err == nil && found {
		err = json.Unmarshal(data, &rec)
	}
	if err != nil {
		return rec, false, fmt.Errorf("reading the rewind of %s: %w", w.at, err)
	}
	return rec, found, nil
}

// decide finds the position, and that everything after it can be read again.
func (w *work) decide(ctx context.Context, q Request) (record, error) {
	rec := record{To: q.To, At: w.Job.Now().UTC(), Ends: map[string]int64{}}
	view := w.Job.Store.View()
	defer view.Close()
	var err error
	if rec.Epoch, err = job.Epoch(view, w.Pipeline.ID); err != nil {
		return rec, err
	}
	if rec.Done, err = w.position(view, q.To); err != nil {
		return rec, err
	}
	for _, s := range w.sources {
		state, err := job.ReadSourceState(view, s.ID)
		if err != nil {
			return rec, fmt.Errorf("reading the position of %s: %w", s.Addr, err)
		}
		rec.Ends[s.ID] = state.Position
	}
	return rec, w.retained(ctx, view, rec)
}

// deliver gives what is left of a rewind. Each epoch's commit says how far it has come.
func (w *work) deliver(ctx context.Context, rec record, done *Rewind) error {
	save := func(b *store.Batch, read map[string]int64) error {
		next := rec
		next.Done = read
		data, err := json.Marshal(next)
		b.SetMeta(key(w.live()), data)
		return err
	}
	b := w.Job.Store.NewBatch()
	if err := save(b, rec.Done); err != nil {
		return err
	}
	if err := w.Job.Store.Commit(b); err != nil {
		return fmt.Errorf("recording the rewind of %s: %w", w.at, err)
	}
	o := w.Job
	o.Sources, o.Sinks = w.sources, w.sinks
	var dirs []string
	for _, s := range w.sources {
		dirs = append(dirs, opening.Dirs(s.From)...)
	}
	for _, s := range w.sinks {
		dirs = append(dirs, s.To.Dirs()...)
	}
	var err error
	if o.Engine, err = w.Open.Engines.Open(ctx, append(dirs, w.Open.SpoolRoot()), 0); err != nil {
		return err
	}
	w.closers = append(w.closers, o.Engine.Close)
	given, err := w.given()
	if err != nil {
		return err
	}
	j, err := job.New(o)
	if err != nil {
		return err
	}
	replay := job.Replay{Relations: w.relations, Sinks: w.sinks, Begun: true, Done: maps.Clone(rec.Done), Ends: rec.Ends, Save: save}
	replay.Report = func(p job.ReplayProgress) {
		done.Files += p.Files + p.HeldFiles
		done.Rows += p.Rows + p.HeldRows
	}
	if replay.Former, err = Stretches(ctx, w.Open, w.Network, w.relations, func(addr.Resource) bool { return false }); err != nil {
		return err
	}
	err = j.Replay(ctx, replay)
	if flushed := j.Flush(); err == nil {
		err = flushed
	}
	if err != nil {
		return err
	}
	after, err := w.given()
	for a, n := range after {
		done.Given[a] = n - given[a]
	}
	if err != nil {
		return err
	}
	b = w.Job.Store.NewBatch()
	b.DeleteMeta(key(w.live()))
	return w.Job.Store.Commit(b)
}

// given is how many rows each sink was given.
func (w *work) given() (map[addr.Resource]int64, error) {
	view := w.Job.Store.View()
	defer view.Close()
	out := map[addr.Resource]int64{}
	for _, s := range w.sinks {
		c, err := job.ReadCounters(view, s.ID)
		if err != nil {
			return nil, fmt.Errorf("reading sums of %s: %w", s.Addr, err)
		}
		out[s.Addr] = c.Inserted
	}
	return out, nil
}

// Stretches lists the parts of the input that streams have read by queries they had before an edit that kept the rows, oldest first, with
// the streams as they were then. now are the streams as they are, what is read before what reads it; anew tells of those that are being
// built, so that what they had before does not count.
func Stretches(ctx context.Context, open *opening.Opener, n *catalog.Network, now []job.Relation, anew func(addr.Resource) bool) ([]job.Stretch, error) {
	type kept struct {
		at       addr.Resource
		boundary catalog.Boundary
	}
	var all []kept
	for _, r := range now {
		if r.Addr.Block == addr.Stream && n.Record(r.Addr).Live != nil && !anew(r.Addr) {
			for _, boundary := range n.Record(r.Addr).Live.Boundaries {
				all = append(all, kept{r.Addr, boundary})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y kept) int { return cmp.Compare(x.boundary.Epoch, y.boundary.Epoch) })
	out := make([]job.Stretch, len(all))
	relations := slices.Clone(now)
	for i, k := range slices.Backward(all) {
		program, err := open.Former(ctx, n, k.at, k.boundary)
		if err != nil {
			return nil, err
		}
		if program != nil {
			relations = slices.Clone(relations)
			at := slices.IndexFunc(relations, func(r job.Relation) bool { return r.Addr == k.at })
			relations[at].Program = program
		}
		out[i] = job.Stretch{Ends: maps.Clone(k.boundary.Read), Relations: relations}
	}
	return out, nil
}
