// Package stage runs the statements that a sink needs while it takes a change.
package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
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
	err := s.set.Conn.Batches(ctx, sql, func(b arrow.RecordBatch) error {
		for i, f := range b.Schema().Fields() {
			switch column := b.Column(i); f.Name {
			case "count", "Count":
				out.Rows += sum(column)
			case "file_size_bytes":
				out.Bytes += sum(column)
			case "column_statistics":
				out.statistics(column.(*array.Map))
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

// statistics takes RETURN_STATS' map of maps: column → statistic → text.
func (w *Written) statistics(all *array.Map) {
	columns, inner := all.Keys(), all.Items().(*array.Map)
	for i := range columns.Len() {
		stats := map[string]string{}
		from, to := inner.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			if !inner.Items().IsNull(k) {
				stats[strings.Clone(inner.Keys().ValueStr(k))] = strings.Clone(inner.Items().ValueStr(k))
			}
		}
		w.Columns[strings.Clone(columns.ValueStr(i))] = stats
	}
}

// sum of a column of counts.
func sum(column arrow.Array) (n int64) {
	for i := range column.Len() {
		switch a := column.(type) {
		case *array.Int64:
			n += a.Value(i)
		case *array.Uint64:
			n += int64(a.Value(i))
		}
	}
	return n
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
