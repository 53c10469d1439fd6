package query

import (
	"context"

	"github.com/streamform/streamform/runtime/batch"
)

// Nothing runs fn on a change of no rows: for a sink all of whose content is taken away.
func (e *Engine) Nothing(ctx context.Context, columns batch.Schema, fn func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error) error {
	return fn(ctx, batch.Change{Columns: columns, Inserted: emptyRows(columns)}, batch.Counts{}, &Stager{engine: e})
}
