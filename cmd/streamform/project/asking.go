package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/query"
)

// queryFile is the name by which findings call the text of a query that is in no file.
const queryFile = "query"

// Query answers one SELECT over what was committed. Close the rows. They are nil when ds failed.
func (p *Project) Query(ctx context.Context, sql string) (*host.Rows, diag.Diagnostics, error) {
	p.files[queryFile] = []byte(sql)
	if _, err := os.Stat(p.runtimeDir()); errors.Is(err, fs.ErrNotExist) {
		return nil, diag.Diagnostics{nothingApplied()}, nil
	}
	h, err := p.openHost(ctx)
	if err != nil {
		ds, err := findings(nil, err)
		return nil, ds, err
	}
	rows, err := h.Query(ctx, sql)
	var mistake *query.Error
	switch {
	case err == nil:
		return rows, nil, nil
	case errors.As(err, &mistake):
		d := diag.NewError(nil, mistake.Summary, mistake.Detail)
		if mistake.Start < mistake.End {
			r := place(sql, mistake.Start, mistake.End)
			d.Subject = &r
		}
		return nil, diag.Diagnostics{d}, nil
	}
	ds, err := findings(nil, err)
	if err != nil {
		err = fmt.Errorf("answering the query: %w", err)
	}
	return nil, ds, err
}

// place is a stretch of the query's text (bytes, end exclusive).
func place(sql string, start, end int) diag.Range {
	return diag.Range{Filename: queryFile, Start: position(sql, start), End: position(sql, end)}
}

func position(text string, at int) diag.Pos {
	at = max(0, min(at, len(text)))
	before := text[:at]
	line := strings.LastIndexByte(before, '\n') + 1
	return diag.Pos{Line: 1 + strings.Count(before, "\n"), Column: 1 + len([]rune(before[line:])), Byte: at}
}
