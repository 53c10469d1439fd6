package table

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/rows"
)

// batchRows is how many rows are decoded before they are handed on.
const batchRows = 1 << 16

// Loader makes a table of remembered rows.
type Loader struct {
	set     *Set
	names   []string
	types   []string
	layout  string
	decoder *rows.Decoder
	batches []arrow.RecordBatch
	rows    int64
	table   string // in the database, once there are too many rows for vectors
}

// Split is the names of columns, quoted where SQL needs it, and their types.
func Split(columns batch.Schema) (names, types []string) {
	for _, c := range columns {
		names, types = append(names, bound.Ident(c.Name)), append(types, c.Type)
	}
	return names, types
}

// Loader prepares a table of columns with the given names, quoted where SQL needs it, and types. Release the loader.
func (s *Set) Loader(names, types []string) (*Loader, error) {
	casts := make([]string, len(names))
	for i, n := range names {
		casts[i] = "CAST(NULL AS " + Remembered(types[i]) + ") AS " + n
	}
	l := &Loader{set: s, names: names, types: types, layout: "SELECT " + strings.Join(casts, ", ")}
	schema, err := s.Conn.Layout(l.layout)
	if err == nil {
		l.decoder, err = rows.NewDecoder(schema)
	}
	if err != nil {
		return nil, fmt.Errorf("reading keyed data: %w", err)
	}
	return l, nil
}

// Filled makes a table of the rows that fill puts, each given as the bytes of its columns in any number of parts.
func (s *Set) Filled(ctx context.Context, names, types []string, fill func(put func(parts ...[]byte) error) error) (string, error) {
	l, err := s.Loader(names, types)
	if err != nil {
		return "", err
	}
	defer l.Release()
	if err := fill(func(parts ...[]byte) error { return l.Append(ctx, parts...) }); err != nil {
		return "", err
	}
	return l.Table(ctx)
}

// Append adds a row, given as the bytes of its columns in any number of parts.
func (l *Loader) Append(ctx context.Context, parts ...[]byte) error {
	if err := l.decoder.Append(parts...); err != nil {
		return err
	}
	return l.appended(ctx)
}

// AppendNulls adds a row of NULLs.
func (l *Loader) AppendNulls(ctx context.Context) error {
	l.decoder.AppendNulls()
	return l.appended(ctx)
}

func (l *Loader) appended(ctx context.Context) error {
	if l.decoder.Rows() < batchRows {
		return nil
	}
	l.rows += int64(l.decoder.Rows())
	l.batches = append(l.batches, l.decoder.Batch())
	if l.rows < mostRows {
		return nil
	}
	return l.spill(ctx)
}

// spill moves what was read into the database.
func (l *Loader) spill(ctx context.Context) (err error) {
	if l.table == "" {
		l.set.Small, l.set.Light = false, false
		ddl := make([]string, len(l.names))
		for i, n := range l.names {
			ddl[i] = n + " " + l.types[i]
		}
		if l.table, err = l.set.Empty(ctx, strings.Join(ddl, ", ")); err != nil {
			return err
		}
	}
	err = l.set.Conn.Insert(ctx, l.table, l.batches)
	l.drop()
	return err
}

// Table is what stands after FROM to read the rows appended.
func (l *Loader) Table(ctx context.Context) (string, error) {
	if n := l.decoder.Rows(); n > 0 {
		l.rows += int64(n)
		l.batches = append(l.batches, l.decoder.Batch())
	}
	if l.table != "" {
		return l.table, l.spill(ctx)
	}
	l.set.slot++
	t, err := l.set.Conn.Fill(l.set.slot, l.layout, l.batches)
	if err != nil {
		return "", err
	}
	casts, differ := make([]string, len(l.names)), false
	for i, n := range l.names {
		casts[i] = n
		if Remembered(l.types[i]) != l.types[i] {
			casts[i], differ = "CAST("+n+" AS "+l.types[i]+") AS "+n, true
		}
	}
	if differ {
		return "(SELECT " + strings.Join(casts, ", ") + " FROM " + t.Name() + ")", nil
	}
	l.set.kept[t.Name()] = t
	return t.Name(), nil
}

// Release frees the rows read.
func (l *Loader) Release() {
	l.drop()
	l.decoder.Release()
}

func (l *Loader) drop() {
	for _, b := range l.batches {
		b.Release()
	}
	l.batches = nil
}

// Remembered is the type a value has while it is remembered: enumerations are kept by name, and inside of maps what Arrow
// has no type of its own for as text.
func Remembered(t string) string {
	t = named(t)
	if !strings.Contains(t, "MAP(") {
		return t
	}
	parts := strings.Split(t, `"`)
	for i := 0; i < len(parts); i += 2 { // between the names of members
		parts[i] = opaque.ReplaceAllString(parts[i], "VARCHAR")
	}
	return strings.Join(parts, `"`)
}

var opaque = regexp.MustCompile(`\b(UHUGEINT|HUGEINT|UUID|BIT|BOOLEAN|TIME WITH TIME ZONE|JSON)\b`)

// named keeps enumerations by name.
func named(t string) string {
	from := strings.Index(t, "ENUM(")
	if from < 0 || strings.Count(t[:from], `"`)%2 == 1 {
		return t
	}
	quoted := false
	for i := from; i < len(t); i++ {
		switch {
		case t[i] == '\'':
			quoted = !quoted
		case t[i] == ')' && !quoted:
			return t[:from] + "VARCHAR" + named(t[i+1:])
		}
	}
	return t
}

// AsRemembered is a select list that gives columns the types they are remembered with.
func AsRemembered(names, types []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", n, Remembered(types[i]), n)
	}
	return out
}

// Columns says which columns of a table are encoded: the first Key of them as the key, in which equal values have equal bytes, the others
// as the value, which is given back as it was. They must be the table's first. Where there is no Key, the columns numbered by Keys are the key, and
// part of the value, too.
type Columns struct {
	Names, Types []string
	Key          int
	Keys         []int
}

func (c Columns) keys() []int {
	if c.Key > 0 {
		return rows.Span(0, c.Key)
	}
	return c.Keys
}

// Encode turns the rows of a table into the bytes they are remembered as, in the table's order.
func (s *Set) Encode(ctx context.Context, table string, c Columns) (keys, values [][]byte, err error) {
	r, err := s.Encoded(ctx, table, c)
	if err != nil {
		return nil, nil, err
	}
	keys, values = make([][]byte, r.Len()), make([][]byte, r.Len())
	for i := range keys {
		keys[i], values[i] = r.Key(i), r.Row(i)
	}
	return keys, values, nil
}

// Encoded is Encode into one buffer.
func (s *Set) Encoded(ctx context.Context, table string, c Columns) (*memory.Rows, error) {
	sql := "FROM " + table
	if _, ok := s.kept[table]; !ok || !plain(c.Types) {
		sql = "SELECT " + strings.Join(AsRemembered(c.Names, c.Types), ", ") + " FROM " + table
	}
	out, all := s.rows(), 0
	if n, ok := s.Rows(table); ok {
		all = int(n)
	}
	err := s.Batches(ctx, sql, func(b arrow.RecordBatch) error {
		k, err := rows.NewKeyEncoder(b, c.keys())
		if err != nil {
			return err
		}
		v, err := rows.NewEncoder(b, rows.Span(c.Key, len(c.Types)))
		if err != nil {
			return err
		}
		out.Expect(int(b.NumRows()), all)
		for i := range int(b.NumRows()) {
			out.Add(func(dst []byte) []byte { return k.Append(dst, i) }, func(dst []byte) []byte { return v.Append(dst, i) })
		}
		return nil
	})
	return out, err
}

func plain(types []string) bool {
	for _, t := range types {
		if Remembered(t) != t {
			return false
		}
	}
	return true
}
