package query

import (
	"context"
	"slices"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
)

// namesAndTypes splits columns, names quoted as SQL needs.
func namesAndTypes(columns batch.Schema) (names, types []string) { return table.Split(columns) }

// countRows encodes how a change moves the number of each distinct row.
func (e *Engine) countRows(ctx context.Context, c *change, mem Memory) (Remember, error) {
	gained, lost, err := c.gained, c.lost, error(nil)
	if !c.encoded {
		names, types := namesAndTypes(c.columns)
		columns := table.Columns{Names: names, Types: types}
		if _, gained, err = e.Encode(ctx, c.inserted, columns); err != nil {
			return Remember{}, err
		}
		if c.deleted != "" {
			if _, lost, err = e.Encode(ctx, c.deleted, columns); err != nil {
				return Remember{}, err
			}
		}
	}
	rows := append(slices.Clone(gained), lost...)
	moves := make([]int64, len(rows))
	for i := range moves {
		if moves[i] = 1; i >= len(gained) {
			moves[i] = -1
		}
	}
	return memory.Counted(mem, rows, moves)
}

// loadCounted makes a table of rows kept by content, each as often as it is there.
func (e *Engine) loadCounted(ctx context.Context, columns batch.Schema, mem Memory) (string, error) {
	names, types := namesAndTypes(columns)
	return e.LoadCounted(ctx, names, types, mem)
}

// loadBlocks makes a table of the rows of all blocks.
func (e *Engine) loadBlocks(ctx context.Context, columns batch.Schema, mem Memory) (string, error) {
	names, types := namesAndTypes(columns)
	return e.LoadBlocks(ctx, names, types, mem.Blocks)
}

// holdResult remembers a view's rows where no operator below does.
func (ep *epoch) holdResult(ctx context.Context, s Step, c *change) error {
	if c.counts == (batch.Counts{}) {
		return nil
	}
	if s.Program.AppendOnly {
		names, types := namesAndTypes(c.columns)
		blocks, err := ep.RowBlocks(ctx, c.inserted, names, types)
		if err != nil {
			return err
		}
		ep.remember(s.Relation, Remember{Operator: compile.ResultID, Blocks: blocks})
		return nil
	}
	r, err := ep.countRows(ctx, c, s.Memory(compile.ResultID))
	if err != nil {
		return err
	}
	r.Operator = compile.ResultID
	ep.remember(s.Relation, r)
	return nil
}
