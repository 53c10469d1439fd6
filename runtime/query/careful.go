package query

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/careful"
)

// openCareful reads an input's files one by one and sets aside what does not fit.
func (ep *epoch) openCareful(ctx context.Context, run *inputRun, c *change) error {
	in := run.input
	out, err := careful.Read(ctx, careful.Input{Set: ep.Set, TempDir: ep.tempDir, Scan: in.Scan, Files: in.Files,
		Source: cmp.Or(in.Source, in.Relation), Epoch: in.Epoch, Again: in.Again})
	var refused *careful.Refused
	if errors.As(err, &refused) {
		return &DataError{Relation: in.Relation, Summary: refused.Summary, Detail: refused.Detail}
	}
	if err != nil {
		return err
	}
	run.result = InputResult{Rows: out.Rows, FileRows: out.FileRows, FileError: out.FileError, Malformed: out.Malformed, Rescued: out.Rescued, Sides: map[string][][]byte{}}
	c.inserted, c.stored, c.counts = out.From, true, batch.Counts{Inserted: out.Rows}
	for side, table := range map[string]string{"malformed": out.MalformedTable, "rescued": out.RescuedTable} {
		if err := ep.openSide(ctx, run, side, table); err != nil {
			return err
		}
	}
	return nil
}

// openSide makes a side relation's new rows readable and remembers them.
func (ep *epoch) openSide(ctx context.Context, run *inputRun, side, table string) error {
	n, err := ep.Count(ctx, table)
	if err != nil {
		return err
	}
	ep.changes[strings.ToLower(run.input.Relation)+"."+side] = &change{columns: SideColumns(side), inserted: table,
		appendOnly: true, stored: true, counts: batch.Counts{Inserted: n}}
	if n == 0 {
		return nil
	}
	if run.input.Again {
		table = careful.Fresh(table, run.input.Files)
	}
	blocks, err := ep.Blocks(ctx, "FROM "+table)
	if err == nil && len(blocks) > 0 {
		run.result.Sides[side] = blocks
	}
	return err
}
