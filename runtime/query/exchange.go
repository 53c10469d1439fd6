package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
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
	columns := shared(s.Program.Columns, s.Former.Program.Columns)
	c := &change{columns: s.Program.Columns, inserted: "(SELECT " + columns + " FROM " + now + ")"}
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

// shared selects the columns that both generations have, as the new one has them. The others are NULL on both sides: whoever
// receives the difference does not read them.
func shared(now, before batch.Schema) string {
	list := make([]string, len(now))
	for i, c := range now {
		list[i] = bound.Ident(c.Name)
		if !slices.ContainsFunc(before, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) && b.Type == c.Type }) {
			list[i] = "CAST(NULL AS " + c.Type + ") AS " + list[i]
		}
	}
	return strings.Join(list, ", ")
}
