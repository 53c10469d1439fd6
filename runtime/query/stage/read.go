package stage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/rows"
	"github.com/streamform/streamform/runtime/query/table"
)

// mostRead bounds the bytes of files that are read without DuckDB: starting its reader costs more than reading them.
const mostRead = 64 << 10

var errNotFew = errors.New("the files are DuckDB's to read")

// readFew makes a table of the rows of small files, with their places.
func (s *Stager) readFew(ctx context.Context, files []string, columns batch.Schema) (string, error) {
	names, types := make([]string, len(columns)), make([]string, len(columns))
	for i, c := range columns {
		names[i], types[i] = bound.Ident(c.Name), c.Type
	}
	left := int64(mostRead)
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			return "", err
		}
		if left -= info.Size(); left < 0 {
			return "", errNotFew
		}
	}
	l, err := s.set.Loader(names, types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	for _, path := range files {
		if err := load(ctx, l, path, columns[:len(columns)-2]); err != nil {
			return "", fmt.Errorf("reading %s: %w", path, err)
		}
	}
	return l.Table(ctx)
}

// load appends the rows of one file.
func load(ctx context.Context, l *table.Loader, path string, columns batch.Schema) error {
	want, err := l.Schema()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	content, err := r.ReadTable(ctx)
	if err != nil {
		return err
	}
	defer content.Release()
	order, err := pickColumns(content.Schema(), want, columns)
	if err != nil {
		return err
	}
	batches := array.NewTableReader(content, 0)
	defer batches.Release()
	place := append(binary.AppendUvarint([]byte{1}, uint64(len(path))), path...)
	position := uint64(0)
	for batches.Next() {
		b := picked(batches.RecordBatch(), order)
		defer b.Release()
		e, err := rows.NewEncoder(b, rows.Span(0, len(columns)))
		if err != nil {
			return err
		}
		for i := range int(b.NumRows()) {
			row := append(append(e.Append(nil, i), place...), 1)
			if err := l.Append(ctx, binary.LittleEndian.AppendUint64(row, position)); err != nil {
				return err
			}
			position++
		}
	}
	return batches.Err()
}

// pickColumns finds columns in a file; they must be there with the types that are wanted.
func pickColumns(have, want *arrow.Schema, columns batch.Schema) ([]int, error) {
	order := make([]int, len(columns))
	for i, c := range columns {
		at := have.FieldIndices(c.Name)
		if len(at) != 1 || !plain(want.Field(i)) {
			return nil, errNotFew
		}
		order[i] = at[0]
		is, wanted := have.Field(at[0]).Type, want.Field(i).Type
		if truth(want.Field(i)) {
			wanted = arrow.FixedWidthTypes.Boolean
		}
		if !arrow.TypeEqual(is, wanted) {
			return nil, errNotFew
		}
	}
	return order, nil
}

func picked(b arrow.RecordBatch, order []int) arrow.RecordBatch {
	fields, columns := make([]arrow.Field, len(order)), make([]arrow.Array, len(order))
	for i, at := range order {
		fields[i], columns[i] = b.Schema().Field(at), b.Column(at)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, b.NumRows())
}
