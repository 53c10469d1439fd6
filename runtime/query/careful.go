package query

import (
	"context"
	"errors"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/scan"
)

// careful reads files one by one and sets aside what does not fit.
type careful struct {
	ep        *epoch
	run       *inputRun
	target    string // table of admitted rows, with FileColumn
	malformed string // side tables
	rescued   string
	at        string // the time written into side rows
}

func (ep *epoch) openCareful(ctx context.Context, run *inputRun, c *change) error {
	k := &careful{ep: ep, run: run, at: time.Now().UTC().Format("2006-01-02 15:04:05.000000")}
	var err error
	columns := compile.ColumnList(run.input.Scan.Columns) + ", " + bound.Ident(scan.FileColumn) + " VARCHAR, sf$line BIGINT"
	if k.target, err = ep.Empty(ctx, columns); err != nil {
		return err
	}
	if k.malformed, err = ep.Empty(ctx, compile.ColumnList(SideColumns("malformed"))); err != nil {
		return err
	}
	if k.rescued, err = ep.Empty(ctx, compile.ColumnList(SideColumns("rescued"))); err != nil {
		return err
	}
	for i, f := range run.input.Files {
		if err := k.read(ctx, i, f); err != nil {
			return err
		}
	}
	if err := k.judge(); err != nil {
		return err
	}
	c.inserted, c.stored = "("+scan.WithMetadata(run.input.Scan, run.input.Files, k.target)+")", true
	c.counts = batch.Counts{Inserted: run.result.Rows}
	return k.sides(ctx)
}

// judge stops the pipeline where malformed records are not tolerated.
func (k *careful) judge() error {
	in := k.run.input
	if in.Scan.OnMalformed != "fail" || k.run.result.Malformed == 0 {
		return nil
	}
	detail := fmt.Sprintf("%d malformed records, and on_malformed is \"fail\".", k.run.result.Malformed)
	rows, err := k.ep.Conn.Text(context.Background(), "SELECT _position ->> 'file', _position ->> 'line', _reason, left(coalesce(TRY(decode(raw)), CAST(raw AS VARCHAR)), 80) FROM "+k.malformed+" LIMIT 10")
	if err != nil {
		return err
	}
	for _, r := range rows {
		detail += "\n  " + orEmpty(r[0]) + ":" + orEmpty(r[1]) + ": " + orEmpty(r[2]) + ": " + orEmpty(r[3])
	}
	return &DataError{Relation: in.Relation, Summary: "Malformed records", Detail: detail}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sides makes the side relations' new rows readable and remembers them.
func (k *careful) sides(ctx context.Context) error {
	k.run.result.Sides = map[string][][]byte{}
	for side, table := range map[string]string{"malformed": k.malformed, "rescued": k.rescued} {
		n, err := k.ep.count(ctx, table)
		if err != nil {
			return err
		}
		k.ep.changes[strings.ToLower(k.run.input.Relation)+"."+side] = &change{columns: SideColumns(side), inserted: table,
			appendOnly: true, stored: true, counts: batch.Counts{Inserted: n}}
		if n == 0 {
			continue
		}
		blocks, err := k.ep.Blocks(ctx, "FROM "+table)
		if err != nil {
			return err
		}
		k.run.result.Sides[side] = blocks
	}
	return nil
}

// read admits what one file holds. A file that cannot be read as a whole gives no rows and one malformed record.
func (k *careful) read(ctx context.Context, i int, f batch.File) error {
	before := k.run.result
	err := k.readFormat(ctx, i, f)
	var file *scan.FileError
	if err == nil || ctx.Err() != nil {
		return err
	}
	if !errors.As(err, &file) && !duck.Unreadable(err.Error()) {
		return err
	}
	reason := compile.FirstLine(err.Error())
	if file != nil {
		reason = file.Err.Error()
	}
	k.run.result.FileError[i] = reason
	k.run.result.Malformed = before.Malformed
	k.run.result.FileRows[i] = 0
	for _, table := range []string{k.malformed, k.rescued} {
		if err := k.ep.Conn.Exec(ctx, "DELETE FROM "+table+" WHERE _position ->> 'file' = "+bound.Text(f.Path)); err != nil {
			return err
		}
	}
	if err := k.ep.Conn.Exec(ctx, "DELETE FROM "+k.target+" WHERE "+bound.Ident(scan.FileColumn)+" = "+bound.Text(f.Path)); err != nil {
		return err
	}
	return k.setAside(ctx, f, []scan.Bad{{Reason: "the file cannot be read: " + reason}})
}

func (k *careful) readFormat(ctx context.Context, i int, f batch.File) error {
	if scan.Compressed(f.Path) {
		if err := scan.Whole(f.Path); err != nil {
			return err
		}
	}
	switch k.run.input.Scan.Format.Name {
	case "json":
		return k.readJSON(ctx, i, f)
	case "csv":
		return k.readCSV(ctx, i, f)
	}
	return k.admit(ctx, i, f, scan.LooseParquet(k.run.input.Scan, f))
}

func (k *careful) readJSON(ctx context.Context, i int, f batch.File) error {
	to := filepath.Join(k.ep.tempDir, fmt.Sprintf("clean-%d.json", f.Ordinal))
	defer os.Remove(to)
	clean, err := scan.CleanJSON(f.Path, to)
	if err != nil {
		return err
	}
	if err := k.setAside(ctx, f, clean.Bad); err != nil || clean.Rows == 0 {
		return err
	}
	return k.admit(ctx, i, f, scan.LooseJSON(k.run.input.Scan, clean))
}

func (k *careful) readCSV(ctx context.Context, i int, f batch.File) error {
	loose, err := scan.LooseCSV(k.run.input.Scan, f)
	if err != nil {
		return err
	}
	for _, t := range []string{"reject_errors", "reject_scans"} {
		if err := k.ep.Conn.Exec(ctx, "DROP TABLE IF EXISTS "+t); err != nil {
			return err
		}
	}
	if err := k.admit(ctx, i, f, loose); err != nil {
		return err
	}
	rows, err := k.ep.Conn.Text(ctx, "SELECT DISTINCT ON (line) CAST(line AS VARCHAR), csv_line, error_message FROM reject_errors ORDER BY line")
	if err != nil {
		return nil // no table: the scan rejected nothing
	}
	var bad []scan.Bad
	for _, r := range rows {
		b := scan.Bad{Raw: []byte(orEmpty(r[1])), Reason: orEmpty(r[2])}
		if _, err := fmt.Sscan(orEmpty(r[0]), &b.Line); err != nil {
			return fmt.Errorf("reading rejected lines: %w", err)
		}
		bad = append(bad, b)
	}
	return k.setAside(ctx, f, bad)
}

// admit adds a file's rows: values that fit, and as rescued those that do not.
func (k *careful) admit(ctx context.Context, i int, f batch.File, loose scan.Loose) error {
	rows, err := k.ep.Make(ctx, loose.SQL)
	if err != nil {
		return err
	}
	in := k.run.input
	typed := strings.Join(loose.Typed, ", ")
	if err := k.ep.Conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT %s, %s, l FROM %s", k.target, typed, bound.Text(f.Path), rows)); err != nil {
		return err
	}
	position := fmt.Sprintf("to_json({'file': %s, 'line': l})", bound.Text(f.Path))
	sql := fmt.Sprintf("INSERT INTO %s SELECT data, 'value does not fit its column', NULL, NULL, %s, %s, %d, TIMESTAMP %s FROM (SELECT l, %s AS data FROM %s) WHERE data IS NOT NULL",
		k.rescued, bound.Text(in.source()), position, in.Epoch, bound.Text(k.at), loose.Rescued, rows)
	if err := k.ep.Conn.Exec(ctx, sql); err != nil {
		return err
	}
	n, err := k.ep.count(ctx, rows)
	if err != nil {
		return err
	}
	k.run.result.FileRows[i] = n
	k.run.result.Rows += n
	rescued, err := k.ep.count(ctx, k.rescued)
	k.run.result.Rescued = rescued
	return err
}

func (in Input) source() string {
	if in.Source != "" {
		return in.Source
	}
	return in.Relation
}

// setAsideBatch bounds the rows of one INSERT.
const setAsideBatch = 200

// setAside writes malformed records to their side relation.
func (k *careful) setAside(ctx context.Context, f batch.File, bad []scan.Bad) error {
	k.run.result.Malformed += int64(len(bad))
	if k.run.input.Scan.OnMalformed == "drop" {
		return nil
	}
	for len(bad) > 0 {
		n := min(len(bad), setAsideBatch)
		rows := make([]string, n)
		for i, b := range bad[:n] {
			rows[i] = scan.SideRow(scan.Aside{Bad: b, Path: f.Path, Source: k.run.input.source(), Epoch: k.run.input.Epoch, At: k.at})
		}
		if err := k.ep.Conn.Exec(ctx, "INSERT INTO "+k.malformed+" VALUES "+strings.Join(rows, ", ")); err != nil {
			return fmt.Errorf("setting malformed records aside: %w", err)
		}
		bad = bad[n:]
	}
	return nil
}
