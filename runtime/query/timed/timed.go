// Package timed runs filters by the time over the tables of an epoch.
package timed

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/table"
	"github.com/streamform/streamform/runtime/query/temporal"
)

// Run is one filter in one epoch.
type Run struct {
	*table.Set
	t      compile.Temporal
	rows   *temporal.Waiting
	now    int64
	bounds string // a table of one row: x0, x1, … are what the conditions compare with
	to     temporal.Bounds
}

// Change is what stands after FROM to read the rows that go in and those that go out, in parts.
type Change struct{ Inserted, Deleted []string }

// Open reads where a filter is. now is the clock of the epoch, in microseconds since 1970-01-01 UTC; where the filter's own is ahead, that one counts.
func Open(set *table.Set, t compile.Temporal, mem memory.Reader, now int64) (*Run, error) {
	w, err := temporal.Open(mem, t.Filter)
	if err != nil {
		return nil, err
	}
	if !w.Fresh {
		now = max(now, w.Clock)
	}
	return &Run{Set: set, t: t, rows: w, now: now}, nil
}

// Quiet reports that the clock changes nothing.
func (r *Run) Quiet() bool { return r.now < r.rows.Due }

// Due is when the clock alone changes rows next; temporal.Never when it does not.
func (r *Run) Due() int64 { return r.rows.Due }

// Remember is what the epoch changes in the filter's memory; a nil value deletes a key.
func (r *Run) Remember() (keys, values [][]byte) { return r.rows.Changes() }

// Run lets the clock go on and finds the rows that it lets in or out since the last epoch, and those of the input's change that pass
// now. plus and minus are SQL in parentheses of the rows the input gained and lost; empty when there are none.
func (r *Run) Run(ctx context.Context, plus, minus string) (Change, error) {
	c := Change{}
	from, err := r.compare(ctx)
	if err != nil {
		return c, err
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
		return c, err
	}
	if plus != "" {
		if err := r.side(ctx, plus, &c.Inserted, 1); err != nil {
			return c, err
		}
	}
	if minus != "" {
		if err := r.side(ctx, minus, &c.Deleted, -1); err != nil {
			return c, err
		}
	}
	if err := r.load(ctx, in, &c.Inserted); err != nil {
		return c, err
	}
	if err := r.load(ctx, out, &c.Deleted); err != nil {
		return c, err
	}
	return c, r.rows.Settle(r.now, r.to)
}

// compare works out what the conditions compare with, at the clock of the last epoch and now.
func (r *Run) compare(ctx context.Context) (from temporal.Bounds, err error) {
	was := r.now
	if !r.rows.Fresh {
		was = r.rows.Clock
	}
	l, err := r.Loader([]string{"was", "now"}, []string{"BIGINT", "BIGINT"})
	if err != nil {
		return from, err
	}
	defer l.Release()
	if err := l.Append(ctx, number(was), number(r.now)); err != nil {
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

// number encodes a number as the row format does a BIGINT.
func number(n int64) []byte { return binary.LittleEndian.AppendUint64([]byte{1}, uint64(n)) }

// side filters one side of the input's change, and lets rows wait, or wait no longer, for which the clock may still change something.
func (r *Run) side(ctx context.Context, sql string, out *[]string, n int64) error {
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
func (r *Run) mayWait(passes []string) string {
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

func (r *Run) wait(keys, rows [][]byte, n int64) error {
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
func (r *Run) load(ctx context.Context, rows [][]byte, out *[]string) error {
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
