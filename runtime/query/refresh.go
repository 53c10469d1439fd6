package query

import (
	"context"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/seed"
	"github.com/streamform/streamform/runtime/query/table"
)

// refresh runs a whole query again over all its input and finds the difference to
// the rows it gave before. It remembers its input, and its result by content.
func (ep *epoch) refresh(ctx context.Context, s Step) (*change, error) {
	if s.Seed != nil {
		return ep.seeded(ctx, s)
	}
	p := s.Program
	for leaf, columns := range p.LeafColumns {
		in := ep.changeOf(leaf, columns)
		all, err := ep.wholeInput(ctx, s, leaf, in)
		if err != nil {
			return nil, fmt.Errorf("collecting %s: %w", leaf, err)
		}
		if err := ep.bindName(ctx, leaf, "SELECT * FROM "+all); err != nil {
			return nil, err
		}
	}
	ep.next()
	now, err := ep.MakeOnce(ctx, "SELECT * FROM ("+p.Body+"\n)", compile.ColumnList(p.Columns))
	if err != nil {
		return nil, err
	}
	before, err := ep.loadCounted(ctx, p.Columns, s.Memory(compile.ResultID))
	if err != nil {
		return nil, err
	}
	c := &change{columns: p.Columns, inserted: now}
	if err := ep.consolidate(ctx, c, before); err != nil {
		return nil, err
	}
	r, err := ep.countRows(ctx, c, s.Memory(compile.ResultID))
	if err != nil {
		return nil, err
	}
	r.Operator = compile.ResultID
	ep.remember(s.Relation, r)
	return c, nil
}

// wholeInput is everything read of a relation up to and with this epoch.
func (ep *epoch) wholeInput(ctx context.Context, s Step, leaf string, in *change) (string, error) {
	if err := ep.materialize(ctx, in); err != nil {
		return "", err
	}
	id := compile.InputID(leaf)
	mem := s.Memory(id)
	if s.Program.AppendRead[leaf] {
		held, err := ep.loadBlocks(ctx, in.columns, mem)
		if err != nil {
			return "", err
		}
		if err := ep.took(ctx, s.Relation, id, held); err != nil {
			return "", err
		}
		if in.counts.Inserted > 0 {
			names, types := namesAndTypes(in.columns)
			blocks, err := ep.RowBlocks(ctx, in.inserted, names, types)
			if err != nil {
				return "", err
			}
			ep.remember(s.Relation, Remember{Operator: id, Blocks: blocks})
		}
		return fmt.Sprintf("(FROM %s UNION ALL FROM %s)", held, in.inserted), nil
	}
	held, err := ep.loadCounted(ctx, in.columns, mem)
	if err != nil {
		return "", err
	}
	if err := ep.took(ctx, s.Relation, id, held); err != nil {
		return "", err
	}
	if in.counts != (batch.Counts{}) {
		r, err := ep.countRows(ctx, in, mem)
		if err != nil {
			return "", err
		}
		r.Operator = id
		ep.remember(s.Relation, r)
	}
	if in.deleted == "" {
		return fmt.Sprintf("(FROM %s UNION ALL FROM %s)", held, in.inserted), nil
	}
	names, types := namesAndTypes(in.columns)
	return table.Without(fmt.Sprintf("(FROM %s UNION ALL FROM %s)", held, in.inserted), in.deleted, names, types), nil
}

// took notes, while a relation takes over keyed data, how many rows of an input were.
func (ep *epoch) took(ctx context.Context, relation, operator, held string) error {
	if taken := ep.result.Taken[relation]; taken != nil {
		return seed.Log{Set: ep.Set, Taken: taken}.Count(ctx, operator, held)
	}
	return nil
}
