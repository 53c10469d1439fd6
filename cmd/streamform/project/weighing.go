package project

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// weigh has the runtime count what edits read that take over keyed data. The runtime has everything under its former address.
func (p *Project) weigh(ctx context.Context, in plan.Input, needs map[addr.Resource][]evolve.Need) error {
	if len(needs) == 0 {
		return nil
	}
	h, err := p.openHost(ctx)
	if err != nil {
		return err
	}
	was := func(a addr.Resource) addr.Resource {
		if former, moved := in.Moves.Now[a]; moved {
			return former
		}
		return a
	}
	names := map[string]string{}
	for now, former := range in.Moves.Now {
		names[leaf(now)] = leaf(former)
	}
	asked := map[addr.Resource][]evolve.Need{}
	for a, list := range needs {
		list = slices.Clone(list)
		for i, n := range list {
			if former, moved := names[n.View]; moved {
				list[i].View = former
			}
		}
		asked[was(a)] = list
	}
	weights, err := h.Weigh(ctx, asked)
	if err != nil {
		return fmt.Errorf("asking the runtime what it holds: %w", err)
	}
	for a := range needs {
		e := in.Evolutions[a]
		e.HeldRows = weights[was(a)]
		in.Evolutions[a] = e
	}
	return nil
}

func leaf(a addr.Resource) string { return strings.ToLower(a.Relation()) }
