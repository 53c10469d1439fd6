package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/groups"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
)

// aggregate brings an aggregate's groups up to date: partials of the epoch's rows,
// merged with what is remembered of the same groups.
func (ep *epoch) aggregate(ctx context.Context, s Step, a compile.Aggregate, inputs map[string]*change) (groups.Brought, error) {
	mem := s.Memory(a.ID)
	leaves := logical.Leaves(a.Input)
	if quiet(leaves, inputs) {
		fresh := false
		if a.Scalar() {
			old, err := memory.Get(mem, [][]byte{{}})
			if err != nil {
				return groups.Brought{}, fmt.Errorf("reading keyed data: %w", err)
			}
			fresh = old[0] == nil
		}
		if !fresh {
			return groups.Brought{}, nil
		}
	}
	deleted := anyDeleted(leaves, inputs)
	sql, err := partials(a, inputs, deleted)
	if err != nil {
		return groups.Brought{}, err
	}
	now, err := ep.Make(ctx, sql)
	if err != nil {
		return groups.Brought{}, err
	}
	b, r, err := groups.Update{Set: ep.Set, Aggregate: a, Memory: mem, Now: now, Deleted: deleted, Unread: ep.onlyCounted(s, a.ID)}.Merge(ctx)
	if err == nil {
		ep.remember(s.Relation, r)
	}
	return b, err
}

// partials is SQL for the groups and partials of the epoch's change. With rows taken back, their partials are subtracted.
func partials(a compile.Aggregate, inputs map[string]*change, deleted bool) (string, error) {
	plus, err := side(a.Input, inputs, func(in *change) string { return in.inserted })
	if err != nil {
		return "", err
	}
	if !deleted {
		return a.TypedPartials(plus), nil
	}
	minus, err := side(a.Input, inputs, deletedRows)
	if err != nil {
		return "", err
	}
	return a.NetPartials(plus, minus), nil
}

// rowsChanged is the change of the rows that an aggregate over groups gives.
func rowsChanged(a compile.Aggregate, b groups.Brought) *change {
	c := &change{columns: a.OutputColumns(), appendOnly: a.AppendOnly}
	if c.inserted, c.deleted, c.counts = b.Rows(a); c.inserted == "" {
		c.inserted = emptyRows(c.columns)
	}
	return c
}

// onlyCounted reports that nothing but the last part of a step's program reads the rows an operator gives, and nobody the relation's, which are as many.
func (ep *epoch) onlyCounted(s Step, operator string) bool {
	_, several := s.Shared[operator]
	return s.Program.EachGroup && slices.Contains(logical.Leaves(s.Program.Final), operator) && s.Program.Readers(operator) == 1 && ep.readers[strings.ToLower(s.Relation)] == 0 && !several && !ep.meter.exact
}

func (ep *epoch) remember(relation string, r Remember) {
	if r.Len()+len(r.Blocks)+len(r.Pieces) > 0 {
		ep.result.Remember[relation] = append(ep.result.Remember[relation], r)
	}
}
