package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/store"
)

// carryOf decodes what a generation takes over.
func carryOf(g *catalog.Generation) (c evolve.Carry, err error) {
	if err := json.Unmarshal(g.Carry, &c); err != nil {
		return c, fmt.Errorf("reading what is carried over: %w", err)
	}
	return c, nil
}

// checkCarries takes away carries that were made for another query than the one that will run, as another version of
// streamform may compile it: then everything is computed anew.
func (s *spread) checkCarries(ctx context.Context) error {
	for _, a := range s.pipeline.Members {
		record := s.edit.Record(a)
		if !carried(record) {
			continue
		}
		carry, err := carryOf(record.Building)
		if err != nil {
			return err
		}
		program, err := s.host.open.Compile(ctx, s.network, a, newest)
		if err != nil {
			return err
		}
		if program.Identity == carry.Program {
			continue
		}
		next, g := *record, *record.Building
		g.Carry = nil
		next.Building = &g
		s.edit.Save(&next)
	}
	return nil
}

// keptTables are the tables of operators whose keyed data a carry keeps as it is, by operator of the new query.
func keptTables(tables map[string]uint64, carry json.RawMessage) (map[string]uint64, error) {
	kept := map[string]uint64{}
	if carry == nil {
		return kept, nil
	}
	c, err := carryOf(&catalog.Generation{Carry: carry})
	if err != nil {
		return nil, err
	}
	for operator, origin := range c.Operators {
		if table, ok := tables[origin.Keep]; ok && origin.Keep != "" {
			kept[operator] = table
		}
	}
	return kept, nil
}

// adopt gives a generation the tables of what it keeps: those of the former one.
func (b *builder) adopt(r *catalog.Record, g *catalog.Generation) error {
	kept, err := keptTables(r.Live.Tables, g.Carry)
	if err != nil {
		return err
	}
	g.Tables = kept
	return nil
}

// named is the relation of a leaf.
func (b *builder) named(leaf string) address { return b.network.ByName[strings.ToLower(leaf)] }

// carry computes the generations that take over keyed data.
func (b *builder) carry(ctx context.Context) error {
	c := job.Carry{}
	views := map[address]bool{}
	for _, a := range b.pipeline.Members {
		if !b.carried(a) {
			continue
		}
		how, err := carryOf(b.building(a))
		if err != nil {
			return err
		}
		now, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		former, err := b.relation(ctx, a, live)
		if err != nil {
			return err
		}
		c.Relations = append(c.Relations, job.Carried{Relation: now, Former: former, How: how})
		for leaf, from := range how.Leaves {
			if from.From == nil {
				views[b.named(leaf)] = true
			}
		}
	}
	if len(c.Relations) == 0 {
		return nil
	}
	defer b.tellCarried(c)
	if b.record.Carried {
		return nil
	}
	for _, a := range b.pipeline.Members {
		if !views[a] {
			continue
		}
		if a.Block != addr.View {
			return fmt.Errorf("the rows of %s are not held", a)
		}
		r, err := b.relation(ctx, a, b.newest)
		if err != nil {
			return err
		}
		c.Views = append(c.Views, r)
	}
	c.Save = func(batch *store.Batch, done job.CarryProgress) error {
		b.record.Carried, b.record.Took, b.record.Epoch = true, done, b.job.Epoch()+1
		return b.write(batch, nil)
	}
	return b.job.Carry(ctx, c)
}
