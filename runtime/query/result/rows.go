// Package result turns the rows of a query into text and JSON cells.
package result

import (
	"database/sql/driver"
	"fmt"
	"io"

	"github.com/streamform/streamform/runtime/batch"
)

// Cell is one value of a result.
type Cell struct {
	Null bool
	Text string // as DuckDB prints it
	JSON string // numbers as numbers; times, NaN and infinities as strings
}

// Rows is an open result. Close it.
type Rows struct {
	columns batch.Schema
	shapes  []shape
	rows    driver.Rows
	close   func() error
}

// New wraps driver rows that hold each column twice: first cast to Texts of its type, then all of them as VARCHAR.
func New(columns batch.Schema, rows driver.Rows, close func() error) *Rows {
	r := &Rows{columns: columns, rows: rows, close: close}
	for _, c := range columns {
		r.shapes = append(r.shapes, shapeOf(c.Type))
	}
	return r
}

// Columns are the result's columns, in order.
func (r *Rows) Columns() batch.Schema { return r.columns }

// Next returns the next row, io.EOF after the last.
func (r *Rows) Next() ([]Cell, error) {
	values := make([]driver.Value, 2*len(r.columns))
	if err := r.rows.Next(values); err != nil {
		if err == io.EOF {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	out := make([]Cell, len(r.columns))
	for i, c := range r.columns {
		value, text := values[i], values[len(r.columns)+i]
		if value == nil && text == nil {
			out[i] = Cell{Null: true, JSON: "null"}
			continue
		}
		s, ok := text.(string)
		if !ok {
			s = fmt.Sprint(text)
		}
		doc, err := valueJSON(r.shapes[i], value)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
		out[i] = Cell{Text: s, JSON: doc}
	}
	return out, nil
}

// Close ends the result.
func (r *Rows) Close() error {
	err := r.rows.Close()
	if e := r.close(); err == nil {
		err = e
	}
	return err
}
