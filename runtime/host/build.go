package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/redelivery"
	"github.com/streamform/streamform/runtime/host/tally"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

type address = addr.Resource

func isSink(a address) bool { return a.Block == addr.Sink }

// buildRecord is how far the build of a pipeline has come.
type buildRecord struct {
	// Shared are tables of live views, by operator, that what is being built has, too. They are as of Epoch.
	Shared map[address]map[string]uint64 `json:"shared,omitempty"`

	catalog.Build
	Begun   bool  `json:"begun,omitempty"`
	Epoch   int64 `json:"epoch,omitempty"`   // the pipeline's, after the last of the build
	Carried bool  `json:"carried,omitempty"` // keyed data that is taken over is there
	// Took is what it was made from.
	Took job.CarryProgress `json:"took,omitzero"`
	// Scratch is the memory of live streams that are computed again, because something being built reads them. It is
	// dropped at cut-over.
	Scratch map[address]*catalog.Generation `json:"scratch,omitempty"`
}

// builder computes the generations being built of one pipeline, and makes them live.
type builder struct {
	*workshop
	sharing
	round  *round
	aside  *job.Sequence // of the job that serves meanwhile; nil: the pipeline stands still
	window time.Duration // how long what this build replaces is kept; 0: not at all
	cutID  string        // of the cut-over, once something is kept
	record buildRecord
	job    *job.Job
	tally  *tally.Tally
	again  []address // relations to compute: being built, or read by what is; what is read first
	held   []address // views that these read as they stand
}

// building is the generation of a resource that this round builds; nil when there is none.
func (b *builder) building(a address) *catalog.Generation {
	if !b.round.beside[a] {
		return nil
	}
	return b.workshop.record(a).Building
}

// anew reports that a relation begins anew in this round.
func (b *builder) anew(a address) bool { return b.building(a) != nil }

// newest is the world after the round.
func (b *builder) newest(r *catalog.Record) *catalog.Generation {
	if g := b.building(r.Addr); g != nil {
		return g
	}
	return r.Live
}

// carried reports whether a generation of this round takes over keyed data.
func (b *builder) carried(a address) bool { return b.round.beside[a] && carried(b.workshop.record(a)) }

// build brings what is being built up to where the live generations are, and cuts over.
func (h *Host) build(ctx context.Context, n *catalog.Network, p *catalog.Pipeline, t *tally.Tally) (err error) {
	b := &builder{workshop: h.workshop(n, p), tally: t}
	defer func() { err = errors.Join(err, b.close()) }()
	if b.round, err = newRound(n, p, b.workshop.record); err != nil {
		return err
	}
	if b.window, err = b.rollbackWindow(); err != nil {
		return err
	}
	if err := b.share(ctx); err != nil {
		return err
	}
	b.findNeeded()
	if err := b.resume(); err != nil {
		return err
	}
	b.tellOrigins()
	empty, err := b.nothingToCompute()
	if err != nil {
		return err
	}
	if empty {
		return b.beginEmpty(ctx)
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.job.Flush()) }()
	if err := b.job.Deliver(ctx); err != nil {
		return err
	}
	if err := b.carry(ctx); err != nil {
		return err
	}
	ends, err := b.job.ReplayEnds(ctx)
	if err != nil {
		return err
	}
	if err := t.Replaying(ends); err != nil {
		return err
	}
	if err := b.replay(ctx, ends); err != nil {
		return err
	}
	return b.cutOver(ctx, ends)
}

// nothingToCompute reports whether what is built begins empty: no source has been read, no view is held, and no sink
// is given anything at cut-over. The live epochs that follow read everything.
func (b *builder) nothingToCompute() (bool, error) {
	if len(b.held) > 0 || len(b.round.exchanged) > 0 || len(b.record.Shared) > 0 {
		return false, nil
	}
	view := b.host.store.View()
	defer view.Close()
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if b.carried(a) || isSink(a) && b.building(a) != nil && !b.alongside(a) && !b.beginsWith(a) {
			return false, nil
		}
		if a.Block != addr.Source || !slices.Contains(b.again, a) {
			continue
		}
		state, err := job.ReadSourceState(view, b.newest(r).ID)
		if err != nil {
			return false, fmt.Errorf("reading the position of %s: %w", a, err)
		}
		if state.Position > 0 || (r.Live != nil && b.building(a) != nil) {
			return false, nil
		}
	}
	return true, nil
}

// beginEmpty cuts over without an engine.
func (b *builder) beginEmpty(ctx context.Context) (err error) {
	if err := b.host.drain(ctx, b.pipeline.ID); err != nil {
		return err
	}
	if b.job, err = job.New(b.options()); err != nil {
		return err
	}
	return b.commit(ctx, job.CutOver{})
}

func (b *builder) options() job.Options {
	o := b.host.opts
	return job.Options{ID: b.pipeline.ID, Name: b.pipeline.Name, Store: b.host.store, Now: o.Now, Wait: o.Wait, Retrying: o.Retrying, Attempts: attempts, Sequence: b.aside}
}

// findNeeded finds the relations that have to be computed for what is being built, and the live views
// that are read as they stand.
func (b *builder) findNeeded() {
	need, held := map[address]bool{}, map[address]bool{}
	var want func(a address)
	want = func(a address) {
		if need[a] {
			return
		}
		need[a] = true
		for _, in := range b.network.Inputs[a] {
			switch {
			case !b.reads(a, in):
			case b.isHeld(in):
				held[in] = true
			default:
				want(in)
			}
		}
	}
	for _, a := range b.pipeline.Members {
		if b.building(a) == nil || b.carried(a) {
			continue
		}
		if !isSink(a) {
			want(a)
			continue
		}
		for _, in := range b.network.Inputs[a] {
			if b.reads(a, in) && !b.isHeld(in) {
				want(in)
			}
		}
	}
	for _, a := range b.pipeline.Members {
		if need[a] {
			b.again = append(b.again, a)
		}
		if held[a] {
			b.held = append(b.held, a)
		}
	}
}

// isHeld reports whether a relation's rows are there to be read.
func (b *builder) isHeld(a address) bool {
	return b.workshop.record(a).Holds() && (b.building(a) == nil || b.carried(a))
}

// reads reports whether the newest generation of a reads in to be computed; the network knows the live one's inputs, too.
func (b *builder) reads(a, in address) bool {
	if needs, shares := b.needs[a]; shares && !needs[strings.ToLower(in.Relation())] {
		return false
	}
	all, err := inputs(b.network, a, b.newest(b.workshop.record(a)))
	return err == nil && slices.Contains(all, in)
}

// recall reads how far the build has come, and whether that holds: not of a build of other generations.
func (b *builder) recall() error {
	e := b.host.catalog.Edit()
	defer e.Close()
	known, err := catalog.ReadBuild(e.View, b.pipeline.ID, &b.record)
	if err != nil {
		return err
	}
	if b.epoch, err = job.Epoch(e.View, b.pipeline.ID); err != nil {
		return fmt.Errorf("reading the build: %w", err)
	}
	// Keyed data that was taken over or is shared may have moved on since.
	moved := (b.record.Carried || len(b.record.Shared) > 0) && b.record.Epoch != b.epoch
	b.known = known && !moved && slices.Equal(b.record.Generations, b.generations(e))
	return nil
}

// resume starts the build over unless what is recorded of it holds.
func (b *builder) resume() error {
	e := b.host.catalog.Edit()
	defer e.Close()
	moved := len(b.held) > 0 && b.record.Begun && b.record.Epoch != b.epoch // views were read as they stood
	if b.known && !moved && b.scratched() {
		return nil
	}
	if err := b.restart(e); err != nil {
		return err
	}
	b.record.Generations = b.generations(e)
	if err := b.write(e.Batch, nil); err != nil {
		return err
	}
	return e.Commit()
}

// restart gives everything being built that may hold rows a generation without any, and fresh scratch memory.
func (b *builder) restart(e *catalog.Edit) error {
	for _, g := range b.record.Scratch {
		if err := e.Drop(g); err != nil {
			return err
		}
	}
	b.record = buildRecord{Build: catalog.Build{Done: map[string]int64{}}, Scratch: map[address]*catalog.Generation{}, Shared: b.record.Shared, Epoch: b.epoch}
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if b.building(a) == nil {
			continue
		}
		next := *r
		g := *r.Building
		if g.Touched {
			next.Building = e.Again(a, &g)
			if err := errors.Join(e.Drop(&g), job.DropParcels(e.View, e.Batch, g.ID)); err != nil {
				return err
			}
			g = *next.Building
		}
		g.Touched = true
		g.Tables = maps.Clone(b.record.Shared[a])
		if b.carried(a) {
			if err := b.adopt(r, &g); err != nil {
				return err
			}
		}
		if r, compiled := b.relations[g.ID]; compiled {
			r.Tables = g.Tables
			b.relations[g.ID] = r
		}
		next.Building = &g
		e.Save(&next)
	}
	for _, a := range b.again {
		if r := b.workshop.record(a); a.Block != addr.Source && b.building(a) == nil {
			b.record.Scratch[a] = e.Fresh(Resource{Addr: a, Generation: r.Live.Number})
		}
	}
	return nil
}

func (b *builder) scratched() bool {
	for _, a := range b.again {
		if a.Block != addr.Source && b.building(a) == nil && b.record.Scratch[a] == nil {
			return false
		}
	}
	return true
}

func (b *builder) generations(e *catalog.Edit) []string {
	var ids []string
	for _, a := range b.pipeline.Members {
		if r := e.Record(a); b.building(a) != nil {
			ids = append(ids, r.Building.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// write records how far the build has come; done nil leaves that as it is.
func (b *builder) write(batch *store.Batch, done map[string]int64) error {
	record := b.record
	if done != nil {
		record.Done, record.Begun, record.Epoch = done, true, b.job.Epoch()+1
	}
	data, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("recording the build: %w", err)
	}
	batch.SetMeta(job.BuildKey(b.pipeline.ID), data)
	return nil
}

// open makes the job that computes what is being built.
func (b *builder) open(ctx context.Context) error {
	o := b.options()
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if a.Block != addr.Sink {
			continue
		}
		if r.Live != nil && b.aside == nil {
			s, err := b.sink(ctx, a, live)
			if err != nil {
				return err
			}
			o.Sinks = append(o.Sinks, s)
		}
		if b.building(a) != nil {
			s, err := b.sink(ctx, a, b.newest)
			if err != nil {
				return err
			}
			o.Beside = append(o.Beside, s)
		}
	}
	for _, a := range b.again {
		if a.Block == addr.Source {
			s, err := b.source(ctx, a, b.newest(b.workshop.record(a)))
			if err != nil {
				return err
			}
			s.Fresh = b.building(a) != nil && b.workshop.record(a).Live != nil
			o.Sources = append(o.Sources, s)
		}
	}
	if err := b.compileAll(ctx); err != nil {
		return err
	}
	for _, a := range b.again {
		if a.Block != addr.Source {
			r, err := b.computed(ctx, a)
			if err != nil {
				return err
			}
			o.Relations = append(o.Relations, r)
		}
	}
	for _, a := range b.pipeline.Members {
		if b.carried(a) || b.round.reached[a] && !isSink(a) {
			r, err := b.relation(ctx, a, b.newest)
			if err != nil {
				return err
			}
			o.Relations = append(o.Relations, r)
		}
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	o.Engine = b.engine
	var err error
	b.job, err = job.New(o)
	return err
}

// compileAll compiles what is needed and gives operators their tables, scratch memory included.
func (b *builder) compileAll(ctx context.Context) error {
	for _, a := range b.pipeline.Members {
		if a.Block == addr.Source || isSink(a) || b.newest(b.workshop.record(a)) == nil {
			continue
		}
		if _, err := b.relation(ctx, a, b.newest); err != nil {
			return err
		}
	}
	if err := b.allocate(); err != nil {
		return err
	}
	e := b.host.catalog.Edit()
	defer e.Close()
	grown := false
	for a, g := range b.record.Scratch {
		r, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		var grew bool
		if g.Tables, grew = tables(e, r.Program, g.Tables, nil); grew {
			grown = true
		}
	}
	if !grown {
		return nil
	}
	if err := b.write(e.Batch, nil); err != nil {
		return err
	}
	return e.Commit()
}

// computed is a relation as the replay computes it: what is live has scratch memory there.
func (b *builder) computed(ctx context.Context, a address) (job.Relation, error) {
	r, err := b.relation(ctx, a, b.newest)
	if g := b.record.Scratch[a]; g != nil {
		r.ID, r.Tables = g.ID, g.Tables
	}
	r.Shared = b.settled(a)
	return r, err
}

// replay computes what is being built up to the ends. Sinks that never had rows receive them as they come.
func (b *builder) replay(ctx context.Context, ends map[string]int64) error {
	r := job.Replay{Done: maps.Clone(b.record.Done), Begun: b.record.Begun, Ends: ends, Held: b.tellHeld}
	r.Report = func(p job.ReplayProgress) { b.tally.Replayed(p, b.from(p.Source)) }
	r.Save = func(batch *store.Batch, done map[string]int64) error { return b.write(batch, done) }
	for _, a := range b.held {
		view, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		r.Views = append(r.Views, view)
	}
	holding := false
	for _, a := range b.again {
		if a.Block == addr.Source {
			holding = holding || (b.building(a) != nil && b.workshop.record(a).Live != nil)
			continue
		}
		rel, err := b.computed(ctx, a)
		if err != nil {
			return err
		}
		holding = holding || b.building(a) != nil && holds(rel)
		r.Relations = append(r.Relations, rel)
	}
	for _, a := range b.pipeline.Members {
		if isSink(a) && b.building(a) != nil && b.alongside(a) {
			s, err := b.sink(ctx, a, b.newest)
			if err != nil {
				return err
			}
			r.Sinks = append(r.Sinks, s)
		}
	}
	if !holding && len(r.Sinks) == 0 {
		return nil
	}
	var err error
	if r.Former, err = redelivery.Stretches(ctx, b.host.open, b.network, r.Relations, b.anew); err != nil {
		return err
	}
	return b.job.Replay(ctx, r)
}

// holds reports whether a relation has to be computed to be complete: a stream without keyed data has not.
func holds(r job.Relation) bool {
	return r.Addr.Block == addr.View || slices.ContainsFunc(r.Program.Operators, func(o query.Operator) bool { return o.Holds != "nothing" })
}
