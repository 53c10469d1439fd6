package duck

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2/arrowmapping"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// layout is the names and types of a Table's columns. A connection knows its layouts by number.
type layout struct {
	number int
	names  []string
	types  []mapping.LogicalType
	schema *arrow.Schema
	filled *filledLayout // made when Fill first needs it
}

// filledLayout is a layout with a column of integers before it. DuckDB 1.5 frees an Arrow batch with its
// first column unless that is one it reads in place; with integers first, the batch lives as long as the chunk.
type filledLayout struct {
	schema *arrow.Schema
	from   arrowmapping.ArrowConvertedSchema
}

// Table is rows that DuckDB holds outside of its catalog, as the vectors a statement gave. SQL reads them by Name.
type Table struct {
	conn   *Conn
	slot   int64
	layout *layout
	chunks []mapping.DataChunk
	result *mapping.Result
	rows   int64
	starts []int64 // the number of each chunk's first row, and of all rows
	shift  int     // columns of the chunks before the table's first
}

// vectorSize is how many rows a chunk has at most.
const vectorSize = 2048

// Rows is how many rows the table has.
func (t *Table) Rows() int64 { return t.rows }

// Name is what stands after FROM to read the table. It is the same for every table that the same statement puts into the same slot.
func (t *Table) Name() string {
	return fmt.Sprintf("%s(%d, %d)", rowsFunction, t.slot, t.layout.number)
}

// Numbered is what stands after FROM to read the table with RowNumber as a further column.
func (t *Table) Numbered() string {
	return fmt.Sprintf("%s(%d, %d)", numberedFunction, t.slot, t.layout.number)
}

// Schema is the table's Arrow schema.
func (t *Table) Schema() *arrow.Schema { return t.layout.schema }

// Batches hands over the rows as Arrow batches, each valid during its call.
func (t *Table) Batches(fn func(arrow.RecordBatch) error) error {
	schema := t.layout.schema
	if t.shift > 0 {
		schema = t.layout.filled.schema
	}
	for _, chunk := range t.chunks {
		rec, failed := arrowmapping.DataChunkToArrowArray(t.conn.options, schema, chunk)
		if err := asError(failed); err != nil {
			return fmt.Errorf("reading rows: %w", err)
		}
		if t.shift > 0 {
			whole := rec
			rec = array.NewRecordBatch(t.layout.schema, whole.Columns()[t.shift:], whole.NumRows())
			whole.Release()
		}
		err := fn(rec)
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Texts are the rows of a table whose columns are all VARCHAR, NULL as nil.
func (t *Table) Texts() ([][]*string, error) {
	var out [][]*string
	err := t.Batches(func(b arrow.RecordBatch) error {
		out = append(out, texts(b)...)
		return nil
	})
	return out, err
}

// texts are the rows of a batch, NULL as nil.
func texts(b arrow.RecordBatch) [][]*string {
	out := make([][]*string, b.NumRows())
	for i := range out {
		out[i] = make([]*string, b.NumCols())
		for j, column := range b.Columns() {
			if !column.IsNull(i) {
				text := strings.Clone(column.ValueStr(i))
				out[i][j] = &text
			}
		}
	}
	return out
}

// Integers visits a BIGINT column without NULLs.
func (t *Table) Integers(column int, fn func(n int64)) {
	for _, chunk := range t.chunks {
		data := mapping.VectorGetData(mapping.DataChunkGetVector(chunk, mapping.IdxT(column+t.shift)))
		for _, n := range unsafe.Slice((*int64)(data), int(mapping.DataChunkGetSize(chunk))) {
			fn(n)
		}
	}
}

func (t *Table) free() {
	for i := range t.chunks {
		mapping.DestroyDataChunk(&t.chunks[i])
	}
	t.chunks = nil
	if t.result != nil {
		mapping.DestroyResult(t.result)
	}
}

// prepared is a statement that is ready to run, and what its rows look like.
type prepared struct {
	stmt   mapping.PreparedStatement
	layout *layout
}

// keptStatements bounds how many prepared statements a connection keeps.
const keptStatements = 2000

// ErrTooMany is what Keep returns for a result of too many rows.
var ErrTooMany = errors.New("the result has too many rows to be kept as vectors")

// Keeping asks for a query's rows to be kept.
type Keeping struct {
	Slot int
	SQL  string
	// Columns is set for a text that will not be run again: the names and types of its columns, which tell its layout, or Unknown.
	Columns string
	Most    int64 // rows; more are ErrTooMany
}

// Unknown are the columns of a text that is not run again where nobody knows them.
const Unknown = "?"

// Keep runs one query and keeps its rows in a slot, where they stay until Clear. Its plan is kept too, and
// used when the same text is run again.
func (c *Conn) Keep(ctx context.Context, k Keeping) (*Table, error) {
	p, err := c.prepare(k.SQL, k.Columns)
	if err != nil {
		return nil, err
	}
	if k.Columns != "" {
		defer mapping.DestroyPrepare(&p.stmt)
	}
	t := &Table{conn: c, slot: int64(k.Slot), layout: p.layout, result: &mapping.Result{}}
	if err := c.run(ctx, p.stmt, t.result); err != nil {
		t.free()
		return nil, err
	}
	for {
		chunk := mapping.FetchChunk(*t.result)
		if chunk.Ptr == nil {
			break
		}
		n := int64(mapping.DataChunkGetSize(chunk))
		if n == 0 {
			mapping.DestroyDataChunk(&chunk)
			continue
		}
		t.chunks, t.rows = append(t.chunks, chunk), t.rows+n
		if t.rows > k.Most {
			t.free()
			return nil, ErrTooMany
		}
	}
	if text := mapping.ResultError(t.result); text != "" {
		t.free()
		return nil, errors.Join(errors.New(text), ctx.Err())
	}
	c.place(t)
	return t, nil
}

func (c *Conn) place(t *Table) {
	if old := c.slots[t.slot]; old != nil {
		old.free()
	}
	t.starts = make([]int64, 1, len(t.chunks)+1)
	for i, chunk := range t.chunks {
		t.starts = append(t.starts, t.starts[i]+int64(mapping.DataChunkGetSize(chunk)))
	}
	c.slots[t.slot] = t
}

// Clear forgets all tables, and prepared statements when there are many.
func (c *Conn) Clear() {
	for slot, t := range c.slots {
		t.free()
		delete(c.slots, slot)
	}
	if len(c.layouts) > keptStatements {
		c.forgetStatements()
	}
}

func (c *Conn) prepare(sql, columns string) (*prepared, error) {
	if p, ok := c.statements[sql]; ok && columns == "" {
		return p, nil
	}
	p := &prepared{}
	if mapping.Prepare(c.raw, sql, &p.stmt) == mapping.StateError {
		err := errors.New(mapping.PrepareError(p.stmt))
		mapping.DestroyPrepare(&p.stmt)
		return nil, err
	}
	var err error
	if p.layout, err = c.layoutOf(p.stmt, columns); err != nil {
		mapping.DestroyPrepare(&p.stmt)
		return nil, err
	}
	if columns == "" {
		c.statements[sql] = p
	}
	return p, nil
}

// forgetStatements drops every prepared statement and layout. No table may be kept.
func (c *Conn) forgetStatements() {
	for sql, p := range c.statements {
		mapping.DestroyPrepare(&p.stmt)
		delete(c.statements, sql)
	}
	for _, l := range c.layouts {
		l.free()
	}
	clear(c.layouts)
	clear(c.named)
}

// layoutOf describes the rows a statement gives. Texts of which columns is told share a layout where it is the same.
func (c *Conn) layoutOf(s mapping.PreparedStatement, columns string) (*layout, error) {
	l := &layout{number: *c.numbered}
	for i := range mapping.PreparedStatementColumnCount(s) {
		l.names = append(l.names, mapping.PreparedStatementColumnName(s, i))
		l.types = append(l.types, mapping.PreparedStatementColumnLogicalType(s, i))
	}
	schema, failed := arrowmapping.NewArrowSchema(c.options, l.types, l.names)
	if err := asError(failed); err != nil {
		l.free()
		return nil, fmt.Errorf("describing rows: %w", err)
	}
	l.schema = schema
	if columns == Unknown {
		columns = schema.String()
	}
	if known, ok := c.named[columns]; ok && columns != "" && known.schema.Equal(schema) {
		l.free()
		return known, nil
	}
	*c.numbered++
	c.layouts[l.number] = l
	if columns != "" {
		c.named[columns] = l
	}
	return l, nil
}

// Layout is what the columns of a query look like, for Fill; it is asked for once for each text.
func (c *Conn) Layout(sql string) (*arrow.Schema, error) {
	p, err := c.prepare(sql, "")
	if err != nil {
		return nil, err
	}
	return p.layout.schema, nil
}

// Fill keeps the rows of batches in a slot as if the query that Layout was asked for had given them. The batches stay the caller's.
func (c *Conn) Fill(slot int, sql string, batches []arrow.RecordBatch) (*Table, error) {
	p, err := c.prepare(sql, "")
	if err != nil {
		return nil, err
	}
	t := &Table{conn: c, slot: int64(slot), layout: p.layout, shift: 1}
	if err := c.fillable(p.layout); err != nil {
		return nil, err
	}
	for _, b := range batches {
		for at := int64(0); at < b.NumRows(); at += vectorSize {
			n := min(vectorSize, b.NumRows()-at)
			chunk, err := c.chunkOf(p.layout.filled, b, at, n)
			if err != nil {
				t.free()
				return nil, err
			}
			t.chunks, t.rows = append(t.chunks, chunk), t.rows+n
		}
	}
	c.place(t)
	return t, nil
}

func (c *Conn) fillable(l *layout) error {
	if l.filled != nil {
		return nil
	}
	fields := append([]arrow.Field{{Name: "sf$hold", Type: arrow.PrimitiveTypes.Int64}}, l.schema.Fields()...)
	f := &filledLayout{schema: arrow.NewSchema(fields, nil)}
	from, failed := arrowmapping.SchemaFromArrow(c.raw, f.schema)
	if err := asError(failed); err != nil {
		return fmt.Errorf("filling a table: %w", err)
	}
	f.from, l.filled = from, f
	return nil
}

// chunkOf makes a chunk of n rows of a batch.
func (c *Conn) chunkOf(l *filledLayout, b arrow.RecordBatch, at, n int64) (mapping.DataChunk, error) {
	hold := array.NewSlice(c.hold, 0, n)
	defer hold.Release()
	columns := []arrow.Array{hold}
	for _, column := range b.Columns() {
		if x, ok := column.(array.ExtensionArray); ok { // a JSON value, in a block of rows
			column = x.Storage()
		}
		part := array.NewSlice(column, at, at+n)
		defer part.Release()
		columns = append(columns, part)
	}
	rec := array.NewRecordBatch(l.schema, columns, n)
	defer rec.Release()
	chunk, failed := arrowmapping.DataChunkFromArrow(c.raw, rec, l.from)
	if err := asError(failed); err != nil {
		return chunk, fmt.Errorf("filling a table: %w", err)
	}
	return chunk, nil
}

func (l *layout) free() {
	for i := range l.types {
		mapping.DestroyLogicalType(&l.types[i])
	}
	if l.filled != nil {
		arrowmapping.DestroyArrowConvertedSchema(&l.filled.from)
	}
}

func asError(failed mapping.ErrorData) error {
	defer mapping.DestroyErrorData(&failed)
	if !mapping.ErrorDataHasError(failed) {
		return nil
	}
	return errors.New(mapping.ErrorDataMessage(failed))
}
