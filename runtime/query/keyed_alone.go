package query

import (
	"context"
	"strings"

	"github.com/streamform/streamform/runtime/query/compile"
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
		l, err := r.Loader(compile.Numbered("c", len(r.k.InputTypes[i])), r.k.InputTypes[i])
		if err != nil {
			return err
		}
		defer l.Release()
		if err := r.shelves(i).All(func(row []byte) error { return l.Append(ctx, row) }); err != nil {
			return err
		}
		held, err := l.Table(ctx)
		if err != nil {
			return err
		}
		if _, err := r.Make(ctx, "SELECT "+strings.Join(in.Keys, ", ")+" FROM "+r.after(i, held, r.deltas[i])); err != nil {
			return err
		}
	}
	return nil
}
