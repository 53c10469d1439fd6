package query

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/rows"
)

// batchRows is how many rows are decoded before they are handed to DuckDB.
const batchRows = 1 << 16

// loader fills a table from remembered rows.
type loader struct {
	engine  *Engine
	table   string
	columns []string
	decoder *rows.Decoder
	batches []arrow.RecordBatch
}

// loader prepares a table of the given columns; casts is a select list with the types the rows are remembered with.
func (e *Engine) loader(ctx context.Context, columns, casts []string) (*loader, error) {
	schema, err := e.schema(ctx, "SELECT "+strings.Join(casts, ", "))
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	d, err := rows.NewDecoder(schema)
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	return &loader{engine: e, table: e.name(), columns: columns, decoder: d}, nil
}

// schema is the Arrow schema of a query's result; it is asked for once.
func (e *Engine) schema(ctx context.Context, sql string) (*arrow.Schema, error) {
	if s, ok := e.schemas[sql]; ok {
		return s, nil
	}
	s, err := e.conn.Schema(ctx, sql)
	if err == nil {
		e.schemas[sql] = s
	}
	return s, err
}

func (l *loader) append(parts ...[]byte) error {
	if err := l.decoder.Append(parts...); err != nil {
		return err
	}
	if l.decoder.Rows() >= batchRows {
		l.batches = append(l.batches, l.decoder.Batch())
	}
	return nil
}

func (l *loader) finish(ctx context.Context) (string, error) {
	if l.decoder.Rows() > 0 {
		l.batches = append(l.batches, l.decoder.Batch())
	}
	return l.table, l.engine.conn.Load(ctx, l.table, l.columns, l.batches)
}

func (l *loader) release() {
	for _, b := range l.batches {
		b.Release()
	}
	l.decoder.Release()
}

// rowNumber encodes a row's number as the row format does a BIGINT.
func rowNumber(i int) []byte {
	return binary.LittleEndian.AppendUint64([]byte{1}, uint64(i))
}

// encode runs a query and encodes its rows: the first keyColumns columns as the key, the rest as the value.
func (e *Engine) encode(ctx context.Context, sql string, keyColumns int) (keys, values [][]byte, err error) {
	err = e.batches(ctx, sql, func(b arrow.RecordBatch) error {
		k, err := rows.NewEncoder(b, 0, keyColumns)
		if err != nil {
			return err
		}
		v, err := rows.NewEncoder(b, keyColumns, int(b.NumCols()))
		if err != nil {
			return err
		}
		var arena []byte
		for i := range int(b.NumRows()) {
			start := len(arena)
			arena = k.Append(arena, i)
			mid := len(arena)
			arena = v.Append(arena, i)
			keys = append(keys, arena[start:mid:mid])
			values = append(values, arena[mid:len(arena):len(arena)])
		}
		return nil
	})
	return keys, values, err
}

func (e *Engine) batches(ctx context.Context, sql string, fn func(arrow.RecordBatch) error) error {
	r, err := e.conn.Reader(ctx, sql)
	if err != nil {
		return err
	}
	defer r.Release()
	for r.Next() {
		if err := fn(r.RecordBatch()); err != nil {
			return err
		}
	}
	return r.Err()
}

// blockRows bounds the rows of one block.
const blockRows = 1 << 16

// blocks encodes a query's rows as Arrow streams, each of at most blockRows rows or so.
func (e *Engine) blocks(ctx context.Context, sql string) ([][]byte, error) {
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
	err := e.batches(ctx, sql, func(b arrow.RecordBatch) error {
		if w == nil {
			w = ipc.NewWriter(&buf, ipc.WithSchema(b.Schema()), ipc.WithZstd())
		}
		if err := w.Write(b); err != nil {
			return fmt.Errorf("encoding rows: %w", err)
		}
		if n += b.NumRows(); n >= blockRows {
			return flush()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, flush()
}

// loadBlocks makes a table of the rows of all blocks.
func (e *Engine) loadBlocks(ctx context.Context, columns batch.Schema, mem Memory) (string, error) {
	table := e.name()
	if err := e.conn.Exec(ctx, "CREATE TABLE "+table+"("+compile.ColumnList(columns)+")"); err != nil {
		return "", err
	}
	return table, mem.Blocks(func(block []byte) error {
		r, err := ipc.NewReader(bytes.NewReader(block))
		if err != nil {
			return fmt.Errorf("decoding rows: %w", err)
		}
		defer r.Release()
		return e.conn.Append(ctx, table, r)
	})
}

// countedColumns are the columns of rows kept by content: the row, and how often it is there.
func countedColumns(columns batch.Schema) (names, types []string) {
	for _, c := range columns {
		names, types = append(names, bound.Ident(c.Name)), append(types, c.Type)
	}
	return names, types
}

// countRows encodes how a change moves the number of each distinct row.
func (e *Engine) countRows(ctx context.Context, c *change, mem Memory) (Remember, error) {
	names, types := countedColumns(c.columns)
	list := strings.Join(asRemembered(names, types), ", ")
	arms := "SELECT " + list + ", CAST(1 AS BIGINT) AS sf$n FROM " + c.inserted
	if c.deleted != "" {
		arms += " UNION ALL SELECT " + list + ", CAST(-1 AS BIGINT) FROM " + c.deleted
	}
	sql := "SELECT " + strings.Join(names, ", ") + ", CAST(sum(sf$n) AS BIGINT) FROM (" + arms + ") GROUP BY ALL"
	keys, deltas, err := e.encode(ctx, sql, len(names))
	if err != nil {
		return Remember{}, err
	}
	keys, moved := mergeCounts(keys, deltas)
	old, err := mem.Get(keys)
	if err != nil {
		return Remember{}, fmt.Errorf("reading rows: %w", err)
	}
	r := Remember{}
	for i, k := range keys {
		n := decodeCount(old[i]) + moved[i]
		switch {
		case moved[i] == 0:
			continue
		case n < 0:
			return Remember{}, fmt.Errorf("a row that is not held was taken back")
		case n == 0:
			r.Keys, r.Values = append(r.Keys, k), append(r.Values, nil)
		default:
			r.Keys, r.Values = append(r.Keys, k), append(r.Values, binary.AppendUvarint(nil, uint64(n)))
		}
	}
	return r, nil
}

// mergeCounts adds up rows that SQL tells apart but whose bytes are equal (0.0 and -0.0).
func mergeCounts(keys, deltas [][]byte) ([][]byte, []int64) {
	index := make(map[string]int, len(keys))
	var out [][]byte
	var moved []int64
	for i, k := range keys {
		n := int64(binary.LittleEndian.Uint64(deltas[i][1:]))
		at, ok := index[string(k)]
		if !ok {
			at = len(out)
			index[string(k)] = at
			out, moved = append(out, k), append(moved, 0)
		}
		moved[at] += n
	}
	return out, moved
}

func decodeCount(value []byte) int64 {
	n, _ := binary.Uvarint(value)
	return int64(n)
}

// loadCounted makes a table of rows kept by content, each as often as it is there.
func (e *Engine) loadCounted(ctx context.Context, columns batch.Schema, mem Memory) (string, error) {
	names, types := countedColumns(columns)
	var ddl, casts []string
	for i, n := range names {
		ddl = append(ddl, n+" "+types[i])
		casts = append(casts, "CAST(NULL AS "+remembered(types[i])+") AS "+n)
	}
	l, err := e.loader(ctx, ddl, casts)
	if err != nil {
		return "", err
	}
	defer l.release()
	err = mem.Scan(func(key, value []byte) error {
		for range decodeCount(value) {
			if err := l.append(key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading rows: %w", err)
	}
	return l.finish(ctx)
}

// holdResult remembers a view's rows where no operator below does.
func (ep *epoch) holdResult(ctx context.Context, s Step, c *change) error {
	if c.counts == (batch.Counts{}) {
		return nil
	}
	if s.Program.AppendOnly {
		blocks, err := ep.blocks(ctx, "SELECT * FROM "+c.inserted)
		if err != nil {
			return err
		}
		ep.remember(s.Relation, Remember{Operator: compile.ResultID, Blocks: blocks})
		return nil
	}
	r, err := ep.countRows(ctx, c, s.Memory(compile.ResultID))
	if err != nil {
		return err
	}
	r.Operator = compile.ResultID
	ep.remember(s.Relation, r)
	return nil
}
