package query

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
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

func (ep *epoch) openStrict(ctx context.Context, run *inputRun, c *change, plan scan.Plan) error {
	c.inserted = "(" + plan.SQL + ")"
	switch {
	case plan.Lines:
		run.countLines()
	case plan.Footers:
		if err := run.countWith(ctx, ep.Engine, scan.FooterRows(run.input.Files)); err != nil {
			return err
		}
	case plan.ByFile:
		return ep.storeByFile(ctx, run, c)
	}
	return ep.store(ctx, strings.ToLower(run.input.Relation), c)
}

// storeByFile reads the files into a table and counts its rows by file.
func (ep *epoch) storeByFile(ctx context.Context, run *inputRun, c *change) error {
	table, err := ep.table(ctx, "SELECT * FROM "+c.inserted)
	if err != nil {
		return err
	}
	file := bound.Ident(scan.FileColumn)
	if err := run.countWith(ctx, ep.Engine, "SELECT "+file+", CAST(count(*) AS VARCHAR) FROM "+table+" GROUP BY 1"); err != nil {
		return err
	}
	c.inserted, c.stored = "(SELECT * EXCLUDE ("+file+") FROM "+table+")", true
	c.counts = batch.Counts{Inserted: run.result.Rows}
	return nil
}

// countWith fills the rows per file from a query of path and number.
func (r *inputRun) countWith(ctx context.Context, e *Engine, sql string) error {
	rows, err := e.conn.Text(ctx, sql)
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
