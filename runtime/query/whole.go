package query

import (
	"context"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/stage"
)

// Nothing runs fn on a change of no rows: for a sink all of whose content is taken away.
func (e *Engine) Nothing(ctx context.Context, columns batch.Schema, fn func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error) error {
	return fn(ctx, batch.Change{Columns: columns, Inserted: emptyRows(columns)}, batch.Counts{}, stage.New(e.Set))
}

// whole makes everything a view holds its change.
func (ep *epoch) whole(ctx context.Context, s Step) error {
	ep.next()
	rows, err := ep.held(ctx, Held{Relation: s.Relation, Program: s.Program, Memory: s.Memory})
	if err != nil {
		return err
	}
	c := &change{columns: s.Program.Columns, appendOnly: s.Program.AppendOnly, stored: true}
	if c.inserted, err = ep.Make(ctx, "FROM "+rows); err != nil {
		return err
	}
	if err := ep.countChange(ctx, c); err != nil {
		return err
	}
	ep.changes[strings.ToLower(s.Relation)] = c
	ep.result.Relations[s.Relation] = c.counts
	return nil
}
