package host

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host/catalog"
)

// round is what one build of a pipeline computes and makes live with one commit. What is to be built from something that
// receives a difference in this round waits for the next one.
type round struct {
	beside    map[address]bool // being built
	exchanged map[address]bool // views among them of which something that serves receives the difference
	reached   map[address]bool // what serves, is not being built, and receives a difference
}

// lookup finds a record, as an edit may have changed it.
type lookup func(a address) *catalog.Record

func newRound(n *catalog.Network, p *catalog.Pipeline, of lookup) (*round, error) {
	r := &round{beside: map[address]bool{}, exchanged: map[address]bool{}, reached: map[address]bool{}}
	for _, a := range p.Members {
		record := of(a)
		if record.Building != nil {
			reads, err := inputs(n, a, record.Building)
			if err != nil {
				return nil, err
			}
			if !r.waits(record, reads, of) {
				r.beside[a] = true
				continue
			}
		}
		reads, err := inputs(n, a, record.Live)
		if err != nil {
			return nil, err
		}
		for _, in := range reads {
			if r.beside[in] && of(in).Holds() {
				r.exchanged[in], r.reached[a] = true, true
			}
			if r.reached[in] {
				r.reached[a] = true
			}
		}
	}
	return r, nil
}

// waits reports whether what is being built belongs to a later round.
func (r *round) waits(record *catalog.Record, reads []address, of lookup) bool {
	return slices.ContainsFunc(reads, func(in address) bool {
		built := of(in).Building != nil
		return r.reached[in] || built && !r.beside[in] || built && carried(record)
	})
}

// carried reports whether what is being built takes over keyed data.
func carried(r *catalog.Record) bool {
	return r.Building != nil && r.Building.Carry != nil && r.Live != nil
}

// inputs are the relations that a generation reads; nil has none.
func inputs(n *catalog.Network, a address, g *catalog.Generation) ([]address, error) {
	names, err := g.Reads(a)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", a, err)
	}
	var all []address
	for _, name := range names {
		if in, ok := n.ByName[strings.ToLower(name)]; ok && !slices.Contains(all, in) {
			all = append(all, in)
		}
	}
	return all, nil
}

// spread finds what cannot stay as it is, since what it reads is being built, and has it built as well.
type spread struct {
	host     *Host
	network  *catalog.Network
	pipeline *catalog.Pipeline
	edit     *catalog.Edit
	used     map[address]map[string]map[string]bool // by live relation and leaf: columns read; nil: all
}

// propagate puts a new generation beside everything live that reads what is being built and cannot receive the difference: what
// reads a stream or source that begins anew, or a view that is no longer what its reader was made for.
func (h *Host) propagate(ctx context.Context, n *catalog.Network, p *catalog.Pipeline) error {
	s := &spread{host: h, network: n, pipeline: p, edit: h.catalog.Edit(), used: map[address]map[string]map[string]bool{}}
	defer s.edit.Close()
	if err := s.checkCarries(ctx); err != nil {
		return err
	}
	for {
		more, err := s.step(ctx)
		if err == nil && !more {
			more, err = s.gather(ctx)
		}
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if s.edit.Saved() == 0 {
		return nil
	}
	return s.edit.Commit()
}

// step looks for one thing that cannot stay, and reports whether it found one.
func (s *spread) step(ctx context.Context) (bool, error) {
	r, err := newRound(s.network, s.pipeline, s.edit.Record)
	if err != nil {
		return false, err
	}
	for _, a := range s.pipeline.Members {
		record := s.edit.Record(a)
		if r.beside[a] || record.Live == nil {
			continue
		}
		reads, err := inputs(s.network, a, record.Live)
		if err != nil {
			return false, err
		}
		for _, in := range reads {
			if !r.beside[in] || s.edit.Record(in).Live == nil {
				continue
			}
			ok, err := s.receives(ctx, a, in)
			if err != nil {
				return false, err
			}
			if !ok {
				return true, s.build(ctx, a, r)
			}
		}
	}
	return false, nil
}

// gather looks for one thing that would have to wait for a later round, and has what it waits for built in this one, if that is made
// of views alone: their rows are held, so that no source is read for it. It reports whether it found one.
func (s *spread) gather(ctx context.Context) (bool, error) {
	r, err := newRound(s.network, s.pipeline, s.edit.Record)
	if err != nil {
		return false, err
	}
	for _, a := range s.pipeline.Members {
		record := s.edit.Record(a)
		if record.Building == nil || r.beside[a] {
			continue
		}
		reads, err := inputs(s.network, a, record.Building)
		if err != nil {
			return false, err
		}
		for _, in := range reads {
			found := address{}
			switch {
			case r.reached[in]:
				found = in
			case r.beside[in] && carried(record):
				found = a
			}
			of := s.edit.Record(found)
			if of == nil {
				continue
			}
			alone, err := s.ofViews(found, of.Newest())
			if err != nil {
				return false, err
			}
			if alone {
				return true, s.build(ctx, found, r)
			}
		}
	}
	return false, nil
}

// ofViews reports whether a generation is made of views alone.
func (s *spread) ofViews(a address, g *catalog.Generation) (bool, error) {
	reads, err := inputs(s.network, a, g)
	return !slices.ContainsFunc(reads, func(in address) bool {
		return in.Block != addr.View || s.edit.Record(in).Live != nil && !s.edit.Record(in).Holds()
	}), err
}

// build has a resource built in this round.
func (s *spread) build(ctx context.Context, a address, r *round) error {
	record := s.edit.Record(a)
	next := *record
	switch {
	case record.Building == nil:
		relation, err := s.relation(ctx, record)
		if err != nil {
			return err
		}
		next.Building = s.edit.Fresh(Resource{Addr: a, Value: record.Live.Value, Relation: relation, Generation: record.Live.Number, Recorded: record.Live.Recorded})
		next.Building.Replace = isSink(a)
	case carried(record):
		g := *record.Building
		g.Carry = nil
		next.Building = &g
	default: // it waits for what it reads: that has to be built in this round, too
		reads, err := inputs(s.network, a, record.Building)
		if err != nil {
			return err
		}
		for _, in := range reads {
			if of := s.edit.Record(in); r.reached[in] || of.Building != nil && !r.beside[in] {
				return s.build(ctx, in, r)
			}
		}
		return fmt.Errorf("building %s: it waits for nothing", a)
	}
	s.edit.Save(&next)
	return nil
}

// relation is what a resource is over what is being built: its columns may have other types.
func (s *spread) relation(ctx context.Context, r *catalog.Record) (*Relation, error) {
	if r.Addr.Block != addr.Stream && r.Addr.Block != addr.View {
		return r.Live.Relation, nil
	}
	program, err := s.host.open.Compile(ctx, s.network, r.Addr, func(r *catalog.Record) *catalog.Generation { return s.edit.Record(r.Addr).Newest() })
	if err != nil {
		return nil, err
	}
	now := *r.Live.Relation
	now.Columns, now.AppendOnly, now.Key = program.Columns, program.AppendOnly, program.Key
	return &now, nil
}

// receives reports whether a resource that serves can go on with the difference between the former rows of a relation it
// reads and those being built.
func (s *spread) receives(ctx context.Context, a, in address) (bool, error) {
	was, is := s.edit.Record(in).Live.Relation, s.edit.Record(in).Building.Relation
	if isSink(a) {
		if now, err := s.edit.Record(a).Live.SinceNow(); now || err != nil {
			return now, err
		}
	}
	switch {
	case !s.edit.Record(in).Holds() || was == nil || is == nil:
		return false, nil
	case isSink(a):
		return s.host.open.Definition(a.Kind()).Receives(was.Columns, is.Columns) == "", nil
	case was.AppendOnly || is.AppendOnly:
		return false, nil
	}
	if _, known := s.used[a]; !known {
		program, err := s.host.open.Compile(ctx, s.network, a, live)
		if err != nil {
			return false, err
		}
		s.used[a] = program.Used
	}
	used, some := s.used[a][strings.ToLower(in.Relation())]
	if !some {
		return slices.Equal(was.Columns, is.Columns), nil
	}
	return !slices.ContainsFunc(was.Columns, func(c batch.Column) bool {
		return used[strings.ToLower(c.Name)] && !slices.Contains(is.Columns, c)
	}), nil
}
