package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// workshop opens what one pipeline runs on, each thing once; close it.
type workshop struct {
	host      *Host
	network   *catalog.Network
	pipeline  *catalog.Pipeline
	sources   map[string]job.Source // by ID of their generation
	sinks     map[string]job.Sink
	relations map[string]job.Relation
	engine    *query.Engine
	together  int // pipelines that run at the same time; 0: this one alone
	closers   []func() error
}

func (h *Host) workshop(n *catalog.Network, p *catalog.Pipeline) *workshop {
	return &workshop{host: h, network: n, pipeline: p, sources: map[string]job.Source{}, sinks: map[string]job.Sink{}, relations: map[string]job.Relation{}}
}

func (w *workshop) close() error {
	var errs []error
	for _, c := range slices.Backward(w.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

func live(r *catalog.Record) *catalog.Generation { return r.Live }

func newest(r *catalog.Record) *catalog.Generation { return r.Newest() }

func (w *workshop) record(a addr.Resource) *catalog.Record { return w.host.catalog.Records[a] }

func (w *workshop) source(ctx context.Context, a addr.Resource, g *catalog.Generation) (job.Source, error) {
	if s, ok := w.sources[g.ID]; ok {
		return s, nil
	}
	s, err := w.host.open.Read(ctx, a, g)
	if err != nil {
		return s, err
	}
	w.closers = append(w.closers, s.From.Close)
	w.sources[g.ID] = s
	return s, nil
}

func (w *workshop) sink(ctx context.Context, a addr.Resource, of opening.World) (job.Sink, error) {
	g := of(w.record(a))
	if s, ok := w.sinks[g.ID]; ok {
		return s, nil
	}
	s, err := w.host.sink(ctx, w.record(a), g)
	if err != nil {
		return s, err
	}
	from, err := g.From()
	if err != nil {
		return s, fmt.Errorf("reading %s: %w", a, err)
	}
	s.From = from.Relation()
	if in := w.record(from); in != nil && of(in) != nil && of(in).Relation != nil {
		s.Columns, s.Key, s.AppendOnly = of(in).Relation.Columns, of(in).Relation.Key, of(in).Relation.AppendOnly
	}
	w.closers = append(w.closers, s.To.Close)
	w.sinks[g.ID] = s
	return s, nil
}

// sink opens a sink that is fit for publishing.
func (h *Host) sink(ctx context.Context, r *catalog.Record, g *catalog.Generation) (job.Sink, error) {
	to, err := h.open.Sink(ctx, r.Addr, g)
	return job.Sink{Addr: r.Addr, ID: g.ID, Life: r.Life, Origin: r.Name(), Generation: g.Number, Overwrite: g.Replace, To: to}, err
}

// relation compiles a stream or view as it stands among the others.
func (w *workshop) relation(ctx context.Context, a addr.Resource, of opening.World) (job.Relation, error) {
	g := of(w.record(a))
	if r, ok := w.relations[g.ID]; ok {
		return r, nil
	}
	program, err := w.host.open.Compile(ctx, w.network, a, of)
	if err != nil {
		return job.Relation{}, err
	}
	r := job.Relation{Addr: a, ID: g.ID, Generation: g.Number, Program: program, Tables: g.Tables}
	w.relations[g.ID] = r
	return r, nil
}

// allocate gives the operators of every compiled relation their tables, for good. Those that several views have in common get one table,
// where nothing was computed of these views yet.
func (w *workshop) allocate() error {
	e := w.host.catalog.Edit()
	defer e.Close()
	beginning, built := common{}, common{}
	for _, a := range w.pipeline.Members {
		next := *w.record(a)
		for _, at := range []**catalog.Generation{&next.Live, &next.Building} {
			if *at == nil {
				continue
			}
			r, compiled := w.relations[(*at).ID]
			if !compiled {
				continue
			}
			var with common
			switch {
			case a.Block != addr.View:
			case *at == next.Building && next.Building.Carry == nil && !next.Building.Restored:
				with = built
			case *at == next.Live && next.Holds() && len(next.Live.Tables) == 0:
				with = beginning
			}
			all, grew := tables(e, r.Program, (*at).Tables, with)
			if !grew {
				continue
			}
			g := **at
			g.Tables, r.Tables = all, all
			*at = &g
			w.relations[g.ID] = r
			e.Save(&next)
		}
	}
	if e.Saved() == 0 {
		return nil
	}
	return e.Commit()
}

// tables adds a table for each operator that has none, and notes those that others may have in common; grew tells whether there was one.
func tables(e *catalog.Edit, program *query.Program, had map[string]uint64, with common) (all map[string]uint64, grew bool) {
	if all = maps.Clone(had); all == nil {
		all = map[string]uint64{}
	}
	names := map[string]string{}
	if with != nil {
		names = evolve.Common(program)
	}
	for _, op := range program.Operators {
		if _, ok := all[op.ID]; ok {
			continue
		}
		table, there := with[names[op.ID]]
		if !there {
			table = e.Number()
		}
		if all[op.ID] = table; names[op.ID] != "" {
			with[names[op.ID]] = table
		}
	}
	return all, len(all) > len(had)
}

// start starts the engine for everything opened so far.
func (w *workshop) start(ctx context.Context) error {
	if w.engine != nil {
		return nil
	}
	dirs := []string{w.host.open.SpoolRoot()}
	for _, s := range w.sources {
		dirs = append(dirs, opening.Dirs(s.From)...)
	}
	for _, s := range w.sinks {
		dirs = append(dirs, s.To.Dirs()...)
	}
	var err error
	if w.engine, err = w.host.open.Engines.Open(ctx, dirs, w.together); err != nil {
		return err
	}
	w.closers = append(w.closers, w.engine.Close)
	return nil
}

// job makes a job of the generations that serve. Sinks being built take part only where the outbox holds something for them.
func (w *workshop) job(ctx context.Context, o job.Options) (*job.Job, error) {
	pending, err := job.OutboxSinks(w.host.store, w.pipeline.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range w.pipeline.Members {
		r := w.record(a)
		if a.Block == addr.Sink && r.Building != nil && pending[r.Building.ID] {
			s, err := w.sink(ctx, a, newest)
			if err != nil {
				return nil, err
			}
			o.Beside = append(o.Beside, s)
		}
		if r.Live == nil {
			continue
		}
		if err := w.add(ctx, &o, a); err != nil {
			return nil, err
		}
	}
	if err := w.allocate(); err != nil {
		return nil, err
	}
	for i, r := range o.Relations {
		o.Relations[i] = w.relations[r.ID]
	}
	if err := w.start(ctx); err != nil {
		return nil, err
	}
	o.ID, o.Name, o.Trigger = w.pipeline.ID, w.pipeline.Name, w.pipeline.Trigger
	o.Store, o.Engine, o.Now, o.Wait = w.host.store, w.engine, w.host.opts.Now, w.host.opts.Wait
	if o.Retrying == nil {
		o.Retrying = w.host.opts.Retrying
	}
	return job.New(o)
}

func (w *workshop) add(ctx context.Context, o *job.Options, a addr.Resource) error {
	switch a.Block {
	case addr.Source:
		s, err := w.source(ctx, a, w.record(a).Live)
		o.Sources = append(o.Sources, s)
		return err
	case addr.Sink:
		s, err := w.sink(ctx, a, live)
		o.Sinks = append(o.Sinks, s)
		return err
	default:
		r, err := w.relation(ctx, a, live)
		o.Relations = append(o.Relations, r)
		return err
	}
}

// drain delivers what a pipeline has decided.
func (h *Host) drain(ctx context.Context, pipeline string) error {
	o := job.Options{ID: pipeline, Name: pipeline, Store: h.store, Now: h.opts.Now, Wait: h.opts.Wait, Retrying: h.opts.Retrying, Attempts: attempts}
	pending, err := job.OutboxSinks(h.store, pipeline)
	if err != nil || len(pending) == 0 {
		return err
	}
	for _, r := range h.catalog.Sorted() {
		for _, g := range []*catalog.Generation{r.Live, r.Building} {
			if g == nil || !pending[g.ID] {
				continue
			}
			s, err := h.sink(ctx, r, g)
			if err != nil {
				return err
			}
			defer func() { _ = s.To.Close() }()
			o.Sinks = append(o.Sinks, s)
		}
	}
	j, err := job.New(o)
	if err != nil {
		return err
	}
	if err := j.Deliver(ctx); err != nil {
		return err
	}
	return j.Flush()
}

// attempts is how often a machine failure is met before a command that should end gives up: after 1, 2 and 4 seconds.
const attempts = 4
