// Package stage runs the statements that a sink needs while it takes a change.
package stage

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/table"
)

// Stager runs the statements a sink needs while a change can be read. It is connector.Stager's implementation,
// valid during the Deliver call that received it.
type Stager struct {
	set   *table.Set
	first int64 // rows of the first Copy; -1 before it
}

// New makes a stager for one Deliver call.
func New(set *table.Set) *Stager { return &Stager{set: set, first: -1} }

// Copied is how many rows the first Copy wrote; -1 when there was none.
func (s *Stager) Copied() int64 { return s.first }

// Written describes a file that Copy wrote.
type Written struct {
	Path    string
	Rows    int64
	Bytes   int64
	Columns map[string]map[string]string // Parquet: quoted dotted column path → statistic → text, as RETURN_STATS gives it
}

// Copy runs COPY (query) TO path. The few rows of a small epoch are written without it.
func (s *Stager) Copy(ctx context.Context, query, path string, format batch.Format) (Written, error) {
	out, err := s.copy(ctx, query, path, format)
	if err == nil && s.first < 0 {
		s.first = out.Rows
	}
	return out, err
}

func (s *Stager) copy(ctx context.Context, query, path string, format batch.Format) (Written, error) {
	if !s.set.Small || format.Name != "parquet" {
		return s.copyByStatement(ctx, query, path, format)
	}
	rows, err := s.set.Result(ctx, query)
	switch {
	case errors.Is(err, table.ErrTooMany):
		return s.copyByStatement(ctx, query, path, format)
	case err != nil:
		return Written{}, fmt.Errorf("writing %s: %w", path, err)
	case !few(rows, format):
		return s.copyByStatement(ctx, "FROM "+rows.Name(), path, format)
	}
	return writeFew(rows, path)
}

func (s *Stager) copyByStatement(ctx context.Context, query, path string, format batch.Format) (Written, error) {
	options := []string{"FORMAT " + format.Name}
	if format.Name == "parquet" { // the other formats have no statistics
		options = append(options, "RETURN_STATS")
	}
	for k, v := range format.Options {
		options = append(options, k+" "+v)
	}
	out := Written{Path: path, Columns: map[string]map[string]string{}}
	sql := "COPY (" + query + ") TO " + bound.Text(path) + " (" + strings.Join(options, ", ") + ")"
	err := s.set.Conn.Rows(ctx, sql, func(columns []string, row []driver.Value) error {
		for i, name := range columns {
			switch name {
			case "count", "Count":
				out.Rows += number(row[i])
			case "file_size_bytes":
				out.Bytes += number(row[i])
			case "column_statistics":
				out.statistics(row[i])
			}
		}
		return nil
	})
	if err != nil {
		return Written{}, fmt.Errorf("writing %s: %w", path, err)
	}
	if out.Bytes == 0 {
		info, err := os.Stat(path)
		if err != nil {
			return Written{}, fmt.Errorf("writing %s: %w", path, err)
		}
		out.Bytes = info.Size()
	}
	return out, nil
}

func (w *Written) statistics(v driver.Value) {
	columns, ok := v.(duckdb.OrderedMap)
	if !ok {
		return
	}
	for _, name := range columns.Keys() {
		stats := map[string]string{}
		value, _ := columns.Get(name)
		if inner, ok := value.(duckdb.OrderedMap); ok {
			for _, k := range inner.Keys() {
				if text, _ := inner.Get(k); text != nil {
					stats[fmt.Sprint(k)] = fmt.Sprint(text)
				}
			}
		}
		w.Columns[fmt.Sprint(name)] = stats
	}
}

func number(v driver.Value) int64 {
	switch v := v.(type) {
	case int64:
		return v
	case uint64:
		return int64(v)
	}
	return 0
}

// Query returns a small result as text, NULL as nil.
func (s *Stager) Query(ctx context.Context, query string) ([][]*string, error) {
	sql := "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + query + ")"
	if s.set.Small {
		rows, err := s.set.Result(ctx, sql)
		if err == nil {
			return rows.Texts()
		}
		if !errors.Is(err, table.ErrTooMany) {
			return nil, err
		}
	}
	return s.set.Conn.Text(ctx, sql)
}

// Hold runs a query once, and returns what stands after FROM to read its rows as often as needed.
func (s *Stager) Hold(ctx context.Context, query string) (string, error) {
	return s.set.Hold(ctx, query)
}

// HoldFiles is Hold of a query that does nothing but read Parquet files: their columns by name, and in the last two columns the path
// of a row's file and the row's position there, from 0. Small files are read without DuckDB.
func (s *Stager) HoldFiles(ctx context.Context, query string, files []string, columns batch.Schema) (string, error) {
	if s.set.Small {
		if relation, err := s.readFew(ctx, files, columns); err == nil {
			return relation, nil
		}
	}
	return s.Hold(ctx, query)
}
