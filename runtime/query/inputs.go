package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/scan"
)

// inputRun is one input under way: what it has counted so far.
type inputRun struct {
	input   Input
	result  InputResult
	counted chan error // closed when lines are counted; nil when nothing runs
}

// openInput makes an input's rows readable. A strict scan that only one statement
// reads becomes part of that statement; otherwise the files are read once into a table.
func (ep *epoch) openInput(ctx context.Context, in Input) error {
	run := &inputRun{input: in, result: InputResult{FileRows: make([]int64, len(in.Files)), FileError: make([]string, len(in.Files))}}
	ep.inputs = append(ep.inputs, run)
	leaf := strings.ToLower(in.Relation)
	c := &change{columns: scan.Columns(in.Scan), appendOnly: true, counts: batch.Counts{Inserted: -1}}
	ep.changes[leaf] = c
	if len(in.Files) == 0 {
		c.inserted, c.counts, c.stored = emptyRows(c.columns), batch.Counts{}, true
		return nil
	}
	if ep.work.Careful {
		return ep.openCareful(ctx, run, c)
	}
	for _, f := range in.Files {
		if f.Careful {
			return ErrCareful
		}
		if scan.Compressed(f.Path) && scan.Whole(f.Path) != nil {
			return ErrCareful
		}
	}
	if ep.openLines(ctx, run, c) {
		return nil
	}
	plan, err := scan.Make(in.Scan, in.Files)
	if err != nil {
		var file *scan.FileError
		if errors.As(err, &file) {
			return ErrCareful
		}
		return fmt.Errorf("scanning %s: %w", in.Relation, err)
	}
	return ep.openStrict(ctx, run, c, plan)
}

// narrowed is an input's scan with no more columns than somebody reads. A CSV file without a
// header needs them all, to know which is which.
func (ep *epoch) narrowed(in Input) batch.Scan {
	s, leaf := in.Scan, strings.ToLower(in.Relation)
	if in.Deliver != nil || s.Format.Name == "csv" && s.Format.Options["header"] == "false" {
		return s
	}
	used := map[string]bool{}
	for _, step := range ep.work.Steps {
		if _, reads := step.Program.LeafColumns[leaf]; !reads || step.Whole {
			continue
		}
		columns, known := step.Program.Used[leaf]
		if !known {
			return s
		}
		maps.Copy(used, columns)
	}
	return scan.Narrowed(s, used)
}

// openLines takes a few lines of JSON past DuckDB's reader, whose start costs more than all else that a small epoch does. Where it is
// false, the reader is to be asked.
func (ep *epoch) openLines(ctx context.Context, run *inputRun, c *change) bool {
	if !ep.Small || ep.readers[strings.ToLower(run.input.Relation)] == 0 {
		return false
	}
	lines, ok := scan.ReadLines(run.input.Scan, run.input.Files)
	if !ok {
		return false
	}
	table, err := ep.Texts(ctx, []string{"l", "p"}, lines.Records)
	if err == nil {
		table, err = ep.Make(ctx, scan.FromLines(run.input.Scan, table))
	}
	if err != nil {
		return false
	}
	run.result.FileRows, run.result.Rows = lines.Rows, int64(len(lines.Records))
	c.inserted, c.stored, c.counts = table, true, batch.Counts{Inserted: run.result.Rows}
	return true
}

func (ep *epoch) openStrict(ctx context.Context, run *inputRun, c *change, plan scan.Plan) error {
	c.inserted = "(" + plan.SQL + ")"
	if plan.Lines {
		run.countLines()
	}
	if plan.Count != "" {
		if err := run.countWith(ctx, ep.Engine, plan.Count); err != nil {
			return err
		}
		c.counts = batch.Counts{Inserted: run.result.Rows}
	}
	if ep.Small && ep.readers[strings.ToLower(run.input.Relation)] > 0 {
		return ep.keepInput(ctx, c)
	}
	return ep.store(ctx, strings.ToLower(run.input.Relation), c)
}

// keepInput reads a small input into a table: the statements that use it are then the same in every epoch.
func (ep *epoch) keepInput(ctx context.Context, c *change) (err error) {
	if c.inserted, err = ep.MakeOnce(ctx, "FROM "+c.inserted, compile.ColumnList(c.columns)); err != nil {
		return err
	}
	c.stored = true
	return ep.countChange(ctx, c)
}

// countWith fills the rows per file from a query of path and number.
func (r *inputRun) countWith(ctx context.Context, e *Engine, sql string) error {
	rows, err := e.Conn.Text(ctx, sql)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, f := range r.input.Files {
		at[f.Path] = i
	}
	for _, row := range rows {
		if row[0] == nil {
			continue
		}
		i, ok := at[*row[0]]
		if !ok {
			return fmt.Errorf("rows of a file that was not asked for: %s", *row[0])
		}
		if _, err := fmt.Sscan(*row[1], &r.result.FileRows[i]); err != nil {
			return fmt.Errorf("counting rows: %w", err)
		}
		r.result.Rows += r.result.FileRows[i]
	}
	return nil
}

// countLines counts records beside the scan, which only sees them as a whole.
func (r *inputRun) countLines() {
	r.counted = make(chan error, 1)
	go func() {
		for i, f := range r.input.Files {
			n, err := scan.CountLines(f.Path)
			if err != nil {
				r.counted <- err
				return
			}
			r.result.FileRows[i] = n
			r.result.Rows += n
		}
		r.counted <- nil
	}()
}

// closeInputs waits for the counts and hands the inputs' results over.
func (ep *epoch) closeInputs(ctx context.Context) error {
	for _, r := range ep.inputs {
		if r.counted != nil {
			select {
			case err := <-r.counted:
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		ep.result.Inputs = append(ep.result.Inputs, r.result)
	}
	return nil
}
