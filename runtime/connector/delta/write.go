package delta

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	columns "github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/stats"
)

// Names of the columns that say where a row of the table is, and which of several equal rows it is. A
// column of a Delta table without column mapping cannot have a space in its name.
const (
	fileColumn  = "sf file"
	rowColumn   = "sf row"
	equalColumn = "sf equal"
)

// rows is the query for a relation of the change in the form of the table's data files.
func (t *target) rows(relation string) (string, error) {
	list, err := t.layout.Select(t.incoming)
	if err != nil {
		return "", fmt.Errorf("selecting columns for %s: %w", t.dir, err)
	}
	return "SELECT " + list + " FROM " + relation, nil
}

// scan is the query for the rows of live files.
func (t *target) scan(ctx context.Context, files []action.Add) (string, error) {
	return t.scanWith(ctx, deltalake.ScanOptions{Files: files})
}

// places is the same with the file and the position of each row.
func (t *target) places(ctx context.Context, files []action.Add) (string, error) {
	return t.scanWith(ctx, deltalake.ScanOptions{Files: files, Filename: fileColumn, RowNumber: rowColumn})
}

func (t *target) scanWith(ctx context.Context, o deltalake.ScanOptions) (string, error) {
	o.Root = t.dir
	if o.Files == nil {
		o.Files = []action.Add{}
	}
	query, err := t.table.ScanSQL(ctx, t.snap, o)
	if err != nil {
		return "", fmt.Errorf("scanning the Delta table %s: %w", t.dir, err)
	}
	list := "*"
	for _, f := range t.added {
		list += ", CAST(NULL AS " + f.Type.DuckDB() + ") AS " + columns.Identifier(f.Name)
	}
	return "SELECT " + list + " FROM (" + query + ")", nil
}

// write adds a query's rows to the transaction as a data file; no rows, no file. The file is synced, so
// that a table commit never names one that a crash of the machine has cut.
func (t *target) write(ctx context.Context, tx *deltalake.Transaction, query string) error {
	name := t.layout.Path(nil)
	path := filepath.Join(t.dir, name)
	written, err := t.stager.Copy(ctx, query, path, batch.Format{Name: "parquet", Options: map[string]string{"compression": t.compression}})
	if err != nil {
		return errors.Join(connector.WriteError(t.dir, err), discard(path))
	}
	if t.written += written.Rows; written.Rows == 0 {
		return discard(path)
	}
	info, err := syncFile(path)
	if err != nil {
		return err
	}
	add, err := t.layout.Add(deltalake.DataFile{Path: name, Size: info.Size(), Modified: info.ModTime(),
		Copy: stats.Copy{Rows: written.Rows, Columns: written.Columns}})
	if err != nil {
		return fmt.Errorf("describing %s: %w", path, err)
	}
	tx.Adds = append(tx.Adds, add)
	return nil
}

// discard removes a file that is not to be used.
func discard(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing %s: %w", path, err)
	}
	return nil
}

func syncFile(path string) (fs.FileInfo, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("syncing %s: %w", path, err)
	}
	info, err := f.Stat()
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return nil, fmt.Errorf("syncing %s: %w", path, err)
	}
	return info, nil
}

// quoted are names as SQL writes them.
func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = columns.Identifier(n)
	}
	return out
}
