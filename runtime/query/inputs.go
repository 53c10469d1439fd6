package query

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/admitted"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/table"
)

// inputRun is one input under way: what it has counted so far.
type inputRun struct {
	input  Input
	result InputResult
	beside *scan.Count // what is being counted while statements run; nil: nothing
}

// openInput makes an input's rows readable.
func (ep *epoch) openInput(ctx context.Context, in Input) error {
	run := &inputRun{input: in, result: InputResult{FileRows: make([]int64, len(in.Files)), FileError: make([]string, len(in.Files))}}
	ep.inputs = append(ep.inputs, run)
	c := &change{columns: scan.Columns(in.Scan), appendOnly: true, counts: batch.Counts{Inserted: -1}}
	ep.changes[strings.ToLower(in.Relation)] = c
	if len(in.Files) == 0 {
		c.inserted, c.counts, c.stored = emptyRows(c.columns), batch.Counts{}, true
	} else if err := ep.openFiles(ctx, run, c); err != nil {
		return err
	}
	if len(in.Held) > 0 {
		return ep.openHeld(ctx, in, c)
	}
	if !in.Keep {
		return nil
	}
	err := ep.materialize(ctx, c)
	if err == nil && c.counts.Inserted > 0 {
		names, types := table.Split(c.columns)
		run.result.Blocks, err = ep.RowBlocks(ctx, c.inserted, names, types)
	}
	return err
}

// openFiles opens the files of an input. A strict scan that only one statement reads becomes part of that statement; otherwise the
// files are read once into a table.
func (ep *epoch) openFiles(ctx context.Context, run *inputRun, c *change) error {
	in := run.input
	if ep.work.Careful {
		return ep.openCareful(ctx, run, c)
	}
	if scan.NeedCare(in.Files) {
		return ErrCareful
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

// openHeld adds the rows of an input that are held, and what was set aside with them where somebody reads that.
func (ep *epoch) openHeld(ctx context.Context, in Input, c *change) error {
	leaf := strings.ToLower(in.Relation)
	for _, side := range []string{"", "malformed", "rescued"} {
		all := c
		if side != "" {
			leaf := leaf + "." + side
			if ep.readers[leaf] == 0 {
				continue
			}
			all = ep.changeOf(leaf, SideColumns(side))
			ep.changes[leaf] = all
		}
		rows, n, err := admitted.Beside(ctx, ep.Set, admitted.Held{Rows: in.Held, Scan: in.Scan, Side: side}, all.inserted)
		if err != nil {
			return err
		}
		if all.inserted, all.stored = rows, false; all.counts.Inserted >= 0 {
			all.counts.Inserted += n
		}
	}
	return ep.store(ctx, leaf, c)
}

// narrowed is an input's scan with no more columns than somebody reads.
func (ep *epoch) narrowed(in Input) batch.Scan {
	s, leaf := in.Scan, strings.ToLower(in.Relation)
	if in.Deliver != nil || in.Keep || ep.needsAll(in) {
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

// needsAll reports whether all columns are read, whoever uses them. A CSV file without a header needs them to know which is
// which. What does not fit is set aside at once, whole; so it is where somebody reads what was set aside, and where nobody
// else would find it.
func (ep *epoch) needsAll(in Input) bool {
	leaf := strings.ToLower(in.Relation)
	return scan.Positional(in.Scan) || ep.work.Careful ||
		ep.readers[leaf+".malformed"] > 0 || ep.readers[leaf+".rescued"] > 0 || ep.unread(in)
}

// unread reports whether files are read for the first time and no statement does it.
func (ep *epoch) unread(in Input) bool {
	return !in.Again && ep.readers[strings.ToLower(in.Relation)] == 0
}

// openLines takes a few lines of JSON past DuckDB's reader, whose start costs more than the rest of a small epoch; where false, that is to be asked.
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
		run.beside = scan.CountBeside(run.input.Files)
	}
	if plan.Count != "" {
		rows, err := ep.Conn.Text(ctx, plan.Count)
		if err != nil {
			return err
		}
		if run.result.FileRows, run.result.Rows, err = scan.RowsOf(run.input.Files, rows); err != nil {
			return err
		}
		c.counts = batch.Counts{Inserted: run.result.Rows}
	}
	leaf := strings.ToLower(run.input.Relation)
	if ep.unread(run.input) {
		_, err := ep.Conn.Text(ctx, scan.Look(c.columns, c.inserted))
		return err
	}
	if !ep.Small || ep.readers[leaf] == 0 {
		return ep.store(ctx, leaf, c)
	}
	var err error // a small input is read into a table: the statements that use it are then the same in every epoch
	if c.inserted, err = ep.MakeOnce(ctx, "FROM "+c.inserted, compile.ColumnList(c.columns)); err != nil {
		return err
	}
	c.stored = true
	return ep.countChange(ctx, c)
}

// closeInputs waits for the counts and hands the inputs' results over.
func (ep *epoch) closeInputs(ctx context.Context) (err error) {
	for _, r := range ep.inputs {
		if r.beside != nil {
			if r.result.FileRows, r.result.Rows, err = r.beside.Wait(ctx); err != nil {
				return err
			}
		}
		r.result.Rows += admitted.Count(r.input.Held)
		ep.result.Inputs = append(ep.result.Inputs, r.result)
	}
	return nil
}
