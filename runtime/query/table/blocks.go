package table

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/memory"
)

// What a block holds at most, or so.
const (
	blockRows  = 1 << 16
	blockBytes = 16 << 20
)

// Blocks encodes a query's rows as Arrow streams, cut at blockRows rows and at blockBytes.
func (s *Set) Blocks(ctx context.Context, sql string) ([][]byte, error) {
	var out [][]byte
	var buf bytes.Buffer
	var w *ipc.Writer
	n := int64(0)
	flush := func() error {
		if w == nil {
			return nil
		}
		err := w.Close()
		out = append(out, bytes.Clone(buf.Bytes()))
		buf.Reset()
		w, n = nil, 0
		return err
	}
	err := s.Batches(ctx, sql, func(b arrow.RecordBatch) error {
		if w == nil {
			w = ipc.NewWriter(&buf, ipc.WithSchema(b.Schema()), ipc.WithLZ4())
		}
		if err := w.Write(b); err != nil {
			return fmt.Errorf("encoding rows: %w", err)
		}
		if n += b.NumRows(); n >= blockRows || buf.Len() >= blockBytes {
			return flush()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, flush()
}

// RowBlocks is Blocks of the rows of a table, in the form in which LoadBlocks reads columns of the given names and types.
func (s *Set) RowBlocks(ctx context.Context, rows string, names, types []string) ([][]byte, error) {
	for _, t := range types {
		if named(t) != Remembered(t) {
			return s.Blocks(ctx, "SELECT "+strings.Join(AsRemembered(names, types), ", ")+" FROM "+rows)
		}
	}
	return s.Blocks(ctx, "FROM "+rows)
}

// LoadCounted makes a table, whose columns have the given names and types, of the rows that are kept by content, each as often as it is there.
func (s *Set) LoadCounted(ctx context.Context, names, types []string, mem memory.Memory) (string, error) {
	return s.Filled(ctx, names, types, func(put func(parts ...[]byte) error) error {
		err := mem.Scan(func(key, value []byte) error {
			for range memory.Count(value) {
				if err := put(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("reading rows: %w", err)
		}
		return nil
	})
}

// LoadBlocks makes a table, whose columns have the given names and types, of the rows of all blocks that each visits.
func (s *Set) LoadBlocks(ctx context.Context, names, types []string, each func(func(block []byte) error) error) (string, error) {
	l, err := s.Loader(names, types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	if !plain(types) { // enumerations are text only row by row
		if err := l.spill(ctx); err != nil {
			return "", err
		}
	}
	err = each(func(block []byte) error {
		r, err := ipc.NewReader(bytes.NewReader(block), ipc.WithAllocator(mallocator.NewMallocator()))
		if err != nil {
			return fmt.Errorf("decoding rows: %w", err)
		}
		defer r.Release()
		for r.Next() {
			b := r.RecordBatch()
			b.Retain()
			l.batches, l.rows = append(l.batches, b), l.rows+b.NumRows()
		}
		if r.Err() != nil {
			return fmt.Errorf("decoding rows: %w", r.Err())
		}
		if l.table != "" || l.rows >= mostRows {
			return l.spill(ctx)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return l.Table(ctx)
}

// BlockRows is how many rows a block has.
func BlockRows(block []byte) (n int64, err error) {
	r, err := ipc.NewReader(bytes.NewReader(block))
	if err != nil {
		return 0, fmt.Errorf("decoding rows: %w", err)
	}
	defer r.Release()
	for r.Next() {
		n += r.RecordBatch().NumRows()
	}
	if r.Err() != nil {
		return 0, fmt.Errorf("decoding rows: %w", r.Err())
	}
	return n, nil
}

// textRows bounds the rows of one INSERT.
const textRows = 200

// Given makes a table in the database of a few rows given as text, nil for NULL. columns are as CREATE TABLE has them.
func (s *Set) Given(ctx context.Context, columns string, rows [][]*string) (string, error) {
	table, err := s.Empty(ctx, columns)
	if err != nil {
		return "", err
	}
	for len(rows) > 0 {
		n := min(len(rows), textRows)
		values := make([]string, n)
		for i, r := range rows[:n] {
			cells := make([]string, len(r))
			for j, c := range r {
				cells[j] = "NULL"
				if c != nil {
					cells[j] = bound.Text(*c)
				}
			}
			values[i] = "(" + strings.Join(cells, ", ") + ")"
		}
		if err := s.Conn.Exec(ctx, "INSERT INTO "+table+" VALUES "+strings.Join(values, ", ")); err != nil {
			return "", err
		}
		rows = rows[n:]
	}
	return table, nil
}
