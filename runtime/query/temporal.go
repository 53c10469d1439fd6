package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/table"
	"github.com/streamform/streamform/runtime/query/temporal"
)

// temporalRun is one filter by the time in one epoch.
type temporalRun struct {
	*epoch
	t      compile.Temporal
	rows   *temporal.Waiting
	now    int64
	bounds string // a table of one row: x0, x1, … are what the conditions compare with
	to     temporal.Bounds
}

// temporal brings a filter by the time up to date: the rows that the clock lets in or out since the last epoch, and those of the
// input's change that pass now.
func (ep *epoch) temporal(ctx context.Context, s Step, t compile.Temporal, inputs map[string]*change) (*change, error) {
	w, err := temporal.Open(s.Memory(t.ID), t.Filter)
	if err != nil {
		return nil, err
	}
	r := &temporalRun{epoch: ep, t: t, rows: w, now: ep.work.Now}
	c := &change{columns: t.OutputColumns(), inserted: emptyRows(t.OutputColumns())}
	if !w.Fresh {
		r.now = max(r.now, w.Clock)
	}
	leaves := logical.Leaves(t.Input.SQL)
	if quiet(leaves, inputs) && r.now < w.Due {
		ep.due(s.Relation, w.Due)
		return c, nil
	}
	if err := r.run(ctx, c, inputs); err != nil {
		return nil, err
	}
	if err := w.Settle(r.now, r.to); err != nil {
		return nil, err
	}
	ep.due(s.Relation, w.Due)
	keys, values := w.Changes()
	ep.remember(s.Relation, Remember{Operator: t.ID, Keys: keys, Values: values})
	return c, nil
}

// due notes when a relation's rows change next by the clock alone.
func (ep *epoch) due(relation string, at int64) {
	if had, ok := ep.result.Due[relation]; !ok || at < had {
		ep.result.Due[relation] = at
	}
}

func (r *temporalRun) run(ctx context.Context, c *change, inputs map[string]*change) error {
	from, err := r.compare(ctx)
	if err != nil {
		return err
	}
	var in, out [][]byte
	err = r.rows.Advance(from, r.to, func(row temporal.Row, n int64) {
		for ; n > 0; n-- {
			in = append(in, row.Bytes)
		}
		for ; n < 0; n++ {
			out = append(out, row.Bytes)
		}
	})
	if err != nil {
		return err
	}
	leaves := logical.Leaves(r.t.Input.SQL)
	var inserted, deleted []string
	if !quiet(leaves, inputs) {
		if err := r.side(ctx, inputs, &inserted, func(in *change) string { return in.inserted }, 1); err != nil {
			return err
		}
	}
	if anyDeleted(leaves, inputs) {
		if err := r.side(ctx, inputs, &deleted, deletedRows, -1); err != nil {
			return err
		}
	}
	if err := r.load(ctx, in, &inserted); err != nil {
		return err
	}
	if err := r.load(ctx, out, &deleted); err != nil {
		return err
	}
	return r.together(ctx, c, inserted, deleted)
}

// together makes the change of its parts.
func (r *temporalRun) together(ctx context.Context, c *change, inserted, deleted []string) error {
	if len(inserted) > 0 {
		c.inserted = "(FROM " + strings.Join(inserted, " UNION ALL FROM ") + ")"
	}
	c.counts = batch.Counts{Inserted: -1}
	if len(deleted) == 0 {
		return r.materialize(ctx, c)
	}
	return r.consolidate(ctx, c, "(FROM "+strings.Join(deleted, " UNION ALL FROM ")+")")
}

// compare works out what the conditions compare with, at the clock of the last epoch and now.
func (r *temporalRun) compare(ctx context.Context) (from temporal.Bounds, err error) {
	was := r.now
	if !r.rows.Fresh {
		was = r.rows.Clock
	}
	l, err := r.Loader([]string{"was", "now"}, []string{"BIGINT", "BIGINT"})
	if err != nil {
		return from, err
	}
	defer l.Release()
	if err := l.Append(ctx, rowNumber(int(was)), rowNumber(int(r.now))); err != nil {
		return from, err
	}
	clock, err := l.Table(ctx)
	if err != nil {
		return from, err
	}
	var list, micros []string
	for i, c := range r.t.Conditions {
		then, now := strings.ReplaceAll(c.SQL, bound.ClockSQL, "was"), strings.ReplaceAll(c.SQL, bound.ClockSQL, "now")
		list = append(list, fmt.Sprintf("%s AS x%d", now, i))
		micros = append(micros, "epoch_us("+then+")", "epoch_us("+now+")")
	}
	if r.bounds, err = r.Make(ctx, "SELECT "+strings.Join(list, ", ")+" FROM "+clock); err != nil {
		return from, err
	}
	values, err := r.Make(ctx, "SELECT unnest(["+strings.Join(micros, ", ")+"]) AS x FROM "+clock)
	if err != nil {
		return from, err
	}
	var thens, nows []int64
	err = r.Integers(ctx, values, "x", 0, func(n int64) {
		if len(thens) == len(nows) {
			thens = append(thens, n)
		} else {
			nows = append(nows, n)
		}
	})
	r.to = r.t.Filter.Bounds(r.now, nows)
	return r.t.Filter.Bounds(was, thens), err
}

// side filters one side of the input's change, and lets rows wait, or wait no longer, for which the clock may still change something.
func (r *temporalRun) side(ctx context.Context, inputs map[string]*change, out *[]string, pick func(*change) string, n int64) error {
	sql, err := side(r.t.Input.SQL, inputs, pick)
	if err != nil {
		return err
	}
	names, types := compile.Numbered("v", len(r.t.Values)), append(slices.Clone(r.t.ValueTypes), r.t.InputTypes...)
	var list, known []string
	for i, v := range r.t.Values {
		list, known = append(list, fmt.Sprintf("CAST(%s AS %s) AS v%d", v, types[i], i)), append(known, fmt.Sprintf("v%d IS NOT NULL", i))
	}
	columns := compile.Numbered("c", len(r.t.InputTypes))
	for i, c := range columns {
		list = append(list, fmt.Sprintf("CAST(%s AS %s) AS %s", c, r.t.InputTypes[i], c))
	}
	all, err := r.Make(ctx, fmt.Sprintf("SELECT * FROM (SELECT %s FROM %s) WHERE %s", strings.Join(list, ", "), sql, strings.Join(known, " AND ")))
	if err != nil {
		return err
	}
	passes := make([]string, len(r.t.Conditions))
	for i, c := range r.t.Conditions {
		passes[i] = fmt.Sprintf("v%d %s (SELECT x%d FROM %s)", c.Value, c.Sign, i, r.bounds)
	}
	*out = append(*out, fmt.Sprintf("(SELECT %s FROM %s WHERE %s)", strings.Join(columns, ", "), all, strings.Join(passes, " AND ")))
	waiting := all
	if where := r.mayWait(passes); where != "" {
		if waiting, err = r.Make(ctx, "SELECT * FROM "+all+" WHERE "+where); err != nil {
			return err
		}
	}
	keys, rows, err := r.Encode(ctx, waiting, table.Columns{Names: append(names, columns...), Types: types, Key: len(names)})
	if err != nil {
		return err
	}
	return r.wait(keys, rows, n)
}

// mayWait is a condition, in SQL, that all rows pass for which the clock may still change something; "" when it is not worth asking.
func (r *temporalRun) mayWait(passes []string) string {
	var where []string
	enters := true
	for i, c := range r.t.Filter {
		if c.Ends() {
			where = append(where, passes[i])
		}
		enters = enters && c.Begins()
	}
	if enters {
		return "NOT (" + strings.Join(passes, " AND ") + ")"
	}
	return strings.Join(where, " AND ")
}

func (r *temporalRun) wait(keys, rows [][]byte, n int64) error {
	for i, key := range keys {
		values := make([]int64, 0, len(r.t.ValueTypes))
		for _, t := range r.t.ValueTypes {
			var v int64
			v, key = temporal.Remembered(key, t)
			values = append(values, v)
		}
		if err := r.rows.Add(temporal.Row{Values: values, Bytes: rows[i]}, n, r.to); err != nil {
			return err
		}
	}
	return nil
}

// load makes a table of rows that waited, if there are any.
func (r *temporalRun) load(ctx context.Context, rows [][]byte, out *[]string) error {
	if len(rows) == 0 {
		return nil
	}
	l, err := r.Loader(compile.Numbered("c", len(r.t.InputTypes)), r.t.InputTypes)
	if err != nil {
		return err
	}
	defer l.Release()
	for _, row := range rows {
		if err := l.Append(ctx, row); err != nil {
			return err
		}
	}
	held, err := l.Table(ctx)
	*out = append(*out, held)
	return err
}
