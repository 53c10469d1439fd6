package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/streamform/streamform/runtime/delta/action"
)

// rowsPerBatch bounds how many actions are decoded at a time.
const rowsPerBatch = 4096

// ReadParquet passes on the actions of a checkpoint's or sidecar's Parquet file, in batches. Columns are found by name, list items
// and map entries by structure, since writers name those differently.
func ReadParquet(ctx context.Context, body []byte, take func([]action.Action)) (err error) {
	defer func() {
		// The Parquet reader panics on some torn files.
		if p := recover(); p != nil {
			err = fmt.Errorf("malformed Parquet: %v", p)
		}
	}()
	parquetFile, err := file.NewParquetReader(bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer parquetFile.Close()
	if parquetFile.NumRows() == 0 {
		return nil
	}
	reader, err := pqarrow.NewFileReader(parquetFile, pqarrow.ArrowReadProperties{BatchSize: rowsPerBatch}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	records, err := reader.GetRecordReader(ctx, wantedLeaves(parquetFile), nil)
	if err != nil {
		return err
	}
	defer records.Release()
	rows := int64(0)
	for records.Next() {
		batch := records.RecordBatch()
		rows += batch.NumRows()
		actions, err := decodeBatch(batch)
		if err != nil {
			return err
		}
		take(actions)
	}
	if err := records.Err(); err != nil {
		return err
	}
	if rows != parquetFile.NumRows() {
		return fmt.Errorf("read %d of %d rows", rows, parquetFile.NumRows())
	}
	return nil
}

// wantedLeaves picks the leaf columns to decode: parsed statistics only where there are none as text, parsed
// partition values never, since the text beside them is what counts.
func wantedLeaves(f *file.Reader) []int {
	leaves := f.MetaData().Schema
	text := false
	for i := range leaves.NumColumns() {
		if leaves.Column(i).Path() == "add.stats" {
			text = hasValues(f, i)
		}
	}
	var out []int
	for i := range leaves.NumColumns() {
		path := leaves.Column(i).Path()
		top, _, _ := strings.Cut(path, ".")
		switch {
		case !knownColumn(top),
			strings.HasPrefix(path, "add.partitionValues_parsed"),
			strings.HasPrefix(path, "add.stats_parsed") && text,
			strings.HasPrefix(path, "remove.stats"):
			continue
		}
		out = append(out, i)
	}
	return out
}

func knownColumn(top string) bool {
	switch top {
	case "txn", "add", "remove", "metaData", "protocol", "domainMetadata", "sidecar", "checkpointMetadata":
		return true
	}
	return false
}

// hasValues tells whether a leaf column holds anything but NULL, as far as the footer knows.
func hasValues(f *file.Reader, column int) bool {
	for i := range f.NumRowGroups() {
		chunk, err := f.MetaData().RowGroup(i).ColumnChunk(column)
		if err != nil {
			return false
		}
		stats, err := chunk.Statistics()
		if err != nil || stats == nil || !stats.HasNullCount() || stats.NullCount() < chunk.NumValues() {
			return true
		}
	}
	return false
}

// decodeBatch reads each row's one action.
func decodeBatch(batch arrow.RecordBatch) ([]action.Action, error) {
	out := make([]action.Action, 0, batch.NumRows())
	for c, field := range batch.Schema().Fields() {
		column, ok := batch.Column(c).(*array.Struct)
		if !ok {
			continue
		}
		for i := range column.Len() {
			if column.IsNull(i) {
				continue
			}
			r := row{values: column, at: i}
			a, err := r.action(field.Name)
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", field.Name, err)
			}
			out = append(out, a)
		}
	}
	return out, nil
}
