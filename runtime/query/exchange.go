package query

import (
	"context"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/seed"
)

// exchange makes a view's change what tells its rows from those of the generation before: rows of both are no change.
func (ep *epoch) exchange(ctx context.Context, s Step) error {
	ep.next()
	now, err := ep.held(ctx, Held{Relation: s.Relation, Program: s.Program, Memory: s.Memory})
	if err != nil {
		return err
	}
	before, err := ep.held(ctx, *s.Former)
	if err != nil {
		return fmt.Errorf("reading the former rows: %w", err)
	}
	columns := seed.Alike(s.Program.Columns, s.Former.Program.Columns)
	c := &change{columns: s.Program.Columns, inserted: "(SELECT " + columns + " FROM " + now + ")"}
	if s.Wide {
		c.inserted = now
	}
	if err := ep.consolidate(ctx, c, "(SELECT "+columns+" FROM "+before+")"); err != nil {
		return err
	}
	ep.changes[strings.ToLower(s.Relation)] = c
	ep.result.Relations[s.Relation] = c.counts
	if s.Deliver == nil {
		return nil
	}
	return ep.deliver(ctx, s.Relation, s.Deliver)
}
