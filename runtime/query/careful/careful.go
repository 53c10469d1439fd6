// Package careful reads files one by one, and sets aside what does not fit.
package careful

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/table"
)

// Input is files of a source, and where they are read to.
type Input struct {
	Set     *table.Set
	TempDir string
	Scan    batch.Scan
	Files   []batch.File
	Again   bool   // the files were read before: only what was set aside then is
	Source  string // address, for _source of side rows
	Epoch   int64
}

// Output is what the files hold.
type Output struct {
	From           string // what stands after FROM to read the admitted rows, with their metadata
	MalformedTable string // rows of the side relations
	RescuedTable   string
	Rows           int64    // admitted
	FileRows       []int64  // the same per file
	FileError      []string // per file: why it is malformed as a whole, or empty
	Malformed      int64    // records set aside
	Rescued        int64    // rows with a value that did not fit
}

// Refused is what Read fails with where records are not tolerated as they are.
type Refused struct{ Summary, Detail string }

func (r *Refused) Error() string { return r.Detail }

// Fresh is what stands after FROM to read the rows of a side relation's table but those of files that had theirs set aside before.
func Fresh(side string, files []batch.File) string {
	var known []string
	for _, f := range files {
		if f.Careful {
			known = append(known, bound.Text(f.Path))
		}
	}
	if len(known) == 0 {
		return side
	}
	return "(SELECT * FROM " + side + " WHERE _position ->> 'file' NOT IN (" + strings.Join(known, ", ") + "))"
}

// reading is one Read under way.
type reading struct {
	in     Input
	out    Output
	target string // table of admitted rows, with scan.FileColumn
	at     string // the time written into side rows
}

// Read reads files one by one.
func Read(ctx context.Context, in Input) (Output, error) {
	k := &reading{in: in, at: time.Now().UTC().Format("2006-01-02 15:04:05.000000")}
	k.out.FileRows, k.out.FileError = make([]int64, len(in.Files)), make([]string, len(in.Files))
	for _, t := range []struct {
		name    *string
		columns string
	}{
		{&k.target, compile.ColumnList(in.Scan.Columns) + ", " + bound.Ident(scan.FileColumn) + " VARCHAR, sf$line BIGINT"},
		{&k.out.MalformedTable, compile.ColumnList(scan.SideColumns("malformed"))},
		{&k.out.RescuedTable, compile.ColumnList(scan.SideColumns("rescued"))},
	} {
		var err error
		if *t.name, err = in.Set.Empty(ctx, t.columns); err != nil {
			return k.out, err
		}
	}
	for i, f := range in.Files {
		if err := k.read(ctx, i, f); err != nil {
			return k.out, err
		}
	}
	k.out.From = "(" + scan.WithMetadata(in.Scan, in.Files, k.target) + ")"
	return k.out, k.judge(ctx)
}

// judge stops the pipeline where malformed records are not tolerated.
func (k *reading) judge(ctx context.Context) error {
	if k.in.Scan.OnMalformed != "fail" || k.out.Malformed == 0 {
		return nil
	}
	detail := fmt.Sprintf("%d malformed records, and on_malformed is \"fail\".", k.out.Malformed)
	rows, err := k.in.Set.Conn.Text(ctx, "SELECT _position ->> 'file', coalesce(_position ->> 'line', 'record ' || (_position ->> 'row')), _reason, left(coalesce(TRY(decode(raw)), CAST(raw AS VARCHAR)), 80) FROM "+k.out.MalformedTable+" LIMIT 10")
	if err != nil {
		return err
	}
	for _, r := range rows {
		detail += "\n  " + orEmpty(r[0]) + ":" + orEmpty(r[1]) + ": " + orEmpty(r[2]) + ": " + orEmpty(r[3])
	}
	return &Refused{Summary: "Malformed records", Detail: detail}
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// read admits what one file holds. A file that cannot be read as a whole gives no rows and one malformed record.
func (k *reading) read(ctx context.Context, i int, f batch.File) error {
	malformed := k.out.Malformed
	err := k.readFormat(ctx, i, f)
	var file *scan.FileError
	var system *fs.PathError // says nothing about the file, unless it may not be opened
	if err == nil || ctx.Err() != nil || errors.As(err, &system) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if !errors.As(err, &file) && !duck.Unreadable(err.Error()) {
		return err
	}
	reason := strings.ReplaceAll(compile.FirstLine(err.Error()), k.clean(f), f.Path)
	if file != nil {
		reason = file.Err.Error()
	}
	k.out.FileError[i] = reason
	k.out.Malformed = malformed
	k.out.FileRows[i] = 0
	for _, table := range []string{k.out.MalformedTable, k.out.RescuedTable} {
		if err := k.in.Set.Conn.Exec(ctx, "DELETE FROM "+table+" WHERE _position ->> 'file' = "+bound.Text(f.Path)); err != nil {
			return err
		}
	}
	if err := k.in.Set.Conn.Exec(ctx, "DELETE FROM "+k.target+" WHERE "+bound.Ident(scan.FileColumn)+" = "+bound.Text(f.Path)); err != nil {
		return err
	}
	return k.setAside(ctx, f, []scan.Bad{{Reason: "the file cannot be read: " + reason}})
}

func (k *reading) readFormat(ctx context.Context, i int, f batch.File) error {
	if scan.Compressed(f.Path) {
		if err := scan.Whole(f.Path); err != nil {
			return err
		}
	}
	s := k.scanOf(f)
	switch s.Format.Name {
	case "json":
		return k.readJSON(ctx, i, f)
	case "csv":
		return k.readCSV(ctx, i, f)
	}
	var there batch.Schema
	if s.Unknown != "" {
		var err error
		if there, err = scan.ParquetColumns(ctx, k.in.Set.Conn, f); err != nil {
			return err
		}
	}
	return k.admit(ctx, i, f, scan.LooseParquet(s, f, there))
}

// scanOf is how a file is read. One that was read before without anything being set aside gives nothing to set aside now.
func (k *reading) scanOf(f batch.File) batch.Scan {
	s := k.in.Scan
	if k.in.Again && (!f.Careful || s.Unknown == "fail") {
		s.Unknown = ""
	}
	return s
}

// refuseUnknown stops the pipeline at values that the source has no column for, where it is to.
func (k *reading) refuseUnknown(ctx context.Context, f batch.File, loose scan.Loose, rows string) error {
	if k.scanOf(f).Unknown != "fail" {
		return nil
	}
	found, err := k.in.Set.Conn.Text(ctx, fmt.Sprintf("SELECT CAST(l AS VARCHAR), left(CAST(others AS VARCHAR), 80) FROM (SELECT l, %s AS others FROM %s) WHERE others IS NOT NULL ORDER BY l LIMIT 3", loose.Unknown, rows))
	if err != nil || len(found) == 0 {
		return err
	}
	detail := "schema_evolution is \"fail\", and there are values that the source has no column for. Declare the columns, or set schema_evolution to \"rescue\" or \"propose\", which keep such values beside the rows."
	for _, r := range found {
		detail += "\n  " + f.Path + ":" + orEmpty(r[0]) + ": " + orEmpty(r[1])
	}
	return &Refused{Summary: "Columns that the source does not have", Detail: detail}
}

// clean is where the readable records of a JSON file are put.
func (k *reading) clean(f batch.File) string {
	return filepath.Join(k.in.TempDir, fmt.Sprintf("clean-%d.json", f.Ordinal))
}

func (k *reading) readJSON(ctx context.Context, i int, f batch.File) error {
	to := k.clean(f)
	defer os.Remove(to)
	clean, err := scan.CleanJSON(f.Path, to, scan.Known(k.scanOf(f), f.Path))
	if err != nil {
		return err
	}
	if err := k.setAside(ctx, f, clean.Bad); err != nil || clean.Rows == 0 {
		return err
	}
	return k.admit(ctx, i, f, scan.LooseJSON(k.in.Scan, clean))
}

func (k *reading) readCSV(ctx context.Context, i int, f batch.File) error {
	loose, err := scan.LooseCSV(k.scanOf(f), f)
	if err != nil {
		return err
	}
	for _, t := range []string{"reject_errors", "reject_scans"} {
		if err := k.in.Set.Conn.Exec(ctx, "DROP TABLE IF EXISTS "+t); err != nil {
			return err
		}
	}
	if err := k.admit(ctx, i, f, loose); err != nil {
		return err
	}
	rows, err := k.in.Set.Conn.Text(ctx, "SELECT DISTINCT ON (line) CAST(line AS VARCHAR), csv_line, error_message FROM reject_errors ORDER BY line")
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
func (k *reading) admit(ctx context.Context, i int, f batch.File, loose scan.Loose) error {
	rows, err := k.in.Set.Make(ctx, loose.SQL)
	if err != nil {
		return err
	}
	if err := k.refuseUnknown(ctx, f, loose, rows); err != nil {
		return err
	}
	in := k.in
	typed := strings.Join(loose.Typed, ", ")
	if err := k.in.Set.Conn.Exec(ctx, fmt.Sprintf("INSERT INTO %s SELECT %s, %s, l FROM %s", k.target, typed, bound.Text(f.Path), rows)); err != nil {
		return err
	}
	place := "row"
	if loose.Lines {
		place = "line"
	}
	position := fmt.Sprintf("to_json({'file': %s, '%s': l})", bound.Text(f.Path), place)
	sql := fmt.Sprintf("INSERT INTO %s SELECT CASE WHEN data IS NULL THEN others WHEN others IS NULL THEN data ELSE json_merge_patch(others, data) END, "+
		"CASE WHEN data IS NULL THEN %s ELSE 'value does not fit its column' END, NULL, NULL, %s, %s, %d, TIMESTAMP %s FROM (SELECT l, %s AS data, %s AS others FROM %s) WHERE data IS NOT NULL OR others IS NOT NULL",
		k.out.RescuedTable, bound.Text(scan.NoColumn), bound.Text(in.Source), position, in.Epoch, bound.Text(k.at), loose.Rescued, loose.Unknown, rows)
	if err := k.in.Set.Conn.Exec(ctx, sql); err != nil {
		return err
	}
	n, err := k.in.Set.Count(ctx, rows)
	if err != nil {
		return err
	}
	k.out.FileRows[i] = n
	k.out.Rows += n
	rescued, err := k.in.Set.Count(ctx, k.out.RescuedTable)
	k.out.Rescued = rescued
	return err
}

// setAsideBatch bounds the rows of one INSERT.
const setAsideBatch = 200

// setAside writes malformed records to their side relation.
func (k *reading) setAside(ctx context.Context, f batch.File, bad []scan.Bad) error {
	k.out.Malformed += int64(len(bad))
	if k.in.Scan.OnMalformed == "drop" {
		return nil
	}
	for len(bad) > 0 {
		n := min(len(bad), setAsideBatch)
		rows := make([]string, n)
		for i, b := range bad[:n] {
			rows[i] = scan.SideRow(scan.Aside{Bad: b, Path: f.Path, Source: k.in.Source, Epoch: k.in.Epoch, At: k.at})
		}
		if err := k.in.Set.Conn.Exec(ctx, "INSERT INTO "+k.out.MalformedTable+" VALUES "+strings.Join(rows, ", ")); err != nil {
			return fmt.Errorf("setting malformed records aside: %w", err)
		}
		bad = bad[n:]
	}
	return nil
}
