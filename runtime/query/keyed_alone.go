package query

import (
	"context"
	"strings"

	"github.com/streamform/streamform/runtime/query/sides"
)

// met goes on once the changes of both sides of a join are known: without the comparison while a side is empty, else with keys that are all there.
func (r *keyedRun) met(ctx context.Context, relation string, w sides.Waiting) error {
	if w.Strict == nil {
		return nil
	}
	on, mark := w.Goes([2]bool{r.deltas[0] != nil, r.deltas[1] != nil})
	mark.Operator = r.k.ID
	r.remember(relation, mark)
	if on {
		r.k.Body, r.k.AtMostOne = r.k.Lone, ""
		return nil
	}
	r.k.Keyed, r.before = w.Strict, w.Strict.Lone
	for i, in := range r.k.Inputs {
		held, err := r.loaded(ctx, i, r.shelves(i).All)
		if err != nil {
			return err
		}
		if _, err := r.Make(ctx, "SELECT "+strings.Join(in.Keys, ", ")+" FROM "+r.after(i, held, r.deltas[i])); err != nil {
			return err
		}
	}
	return nil
}
