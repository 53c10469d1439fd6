package host

import (
	"context"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// common are the tables of operators that several views may have in common, by what evolve.Common calls them.
type common map[string]uint64

// sharing is what a build knows before it decides what to compute.
type sharing struct {
	epoch int64                       // the pipeline's last
	known bool                        // the record of the build holds
	needs map[address]map[string]bool // of what shares operators: names of the relations that the others read, lower case
}

// share recalls the build, and finds what views that are built without taking anything over have in common with views that serve.
func (b *builder) share(ctx context.Context) error {
	if err := b.recall(); err != nil {
		return err
	}
	if !b.known {
		if err := b.findShared(ctx); err != nil {
			return err
		}
	}
	b.needs = map[address]map[string]bool{}
	for a := range b.record.Shared {
		r, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		settled := b.settled(a)
		b.needs[a] = map[string]bool{}
		for leaf := range evolve.Needs(r.Program, func(operator string) bool { return settled[operator] }) {
			bare, _, _ := strings.Cut(leaf, ".")
			b.needs[a][bare] = true
		}
	}
	return nil
}

// findShared finds, by operator, the tables that what is being built can have together with live views: these stay as they are in this round.
func (b *builder) findShared(ctx context.Context) error {
	b.record.Shared = map[address]map[string]uint64{}
	var served common
	for _, a := range b.pipeline.Members {
		if g := b.building(a); a.Block != addr.View || g == nil || g.Apart || b.carried(a) {
			continue
		}
		var err error
		if served == nil {
			if served, err = b.served(ctx); err != nil {
				return err
			}
		}
		if len(served) == 0 {
			return nil
		}
		r, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		for operator, name := range evolve.Common(r.Program) {
			table, there := served[name]
			if !there {
				continue
			}
			if b.record.Shared[a] == nil {
				b.record.Shared[a] = map[string]uint64{}
			}
			b.record.Shared[a][operator] = table
		}
	}
	return nil
}

// served are the tables of live views that neither are built in this round nor receive a difference, and hold what a query over all
// that was read would give.
func (b *builder) served(ctx context.Context) (common, error) {
	out := common{}
	kept := map[address]bool{} // rows of a former definition are among theirs
	for _, a := range b.pipeline.Members {
		r := b.workshop.record(a)
		if r.Live == nil {
			continue
		}
		kept[a] = len(r.Live.Boundaries) > 0
		for _, in := range b.network.Inputs[a] {
			kept[a] = kept[a] || kept[in]
		}
		if kept[a] || !r.Holds() || b.round.beside[a] || b.round.reached[a] {
			continue
		}
		view, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return nil, err
		}
		names := evolve.Common(view.Program)
		for _, o := range view.Program.Steps {
			table, has := view.Tables[o.Name()]
			name, shares := names[o.Name()]
			if _, there := out[name]; has && shares && !there {
				out[name] = table
			}
		}
	}
	return out, nil
}

// settled are the operators of what is being built whose keyed data a live view keeps up to date.
func (b *builder) settled(a address) map[string]bool {
	out := map[string]bool{}
	for operator := range b.record.Shared[a] {
		out[operator] = true
	}
	return out
}
