// Package preview compares the rows of a relation before and after an edit.
package preview

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/query"
)

// Bounds of a preview: the rows it compares, and those of its differences that it shows.
const (
	MaxRows  = 500_000
	maxShown = 50
)

// Preview is how the rows of a relation over a sample differ between what was applied and what is planned.
type Preview struct {
	Address     addr.Resource `json:"address"`
	Samples     []Sample      `json:"samples"`
	Columns     []Column      `json:"columns"` // the planned ones, then those that go
	Before      int64         `json:"rows_before"`
	After       int64         `json:"rows_after"`
	Same        int64         `json:"rows_same"`
	Differences []Row         `json:"differences"`
	NotShown    int64         `json:"differences_not_shown,omitempty"`

	before, after Rows
	key           []string // columns that identify a row; nil: none
}

// Column is one column of the rows.
type Column struct {
	batch.Column
	Only string `json:"only,omitempty"` // "+" or "-" for one that is only there after, or before, the edit
}

// Sample is how much of a source was read.
type Sample struct {
	Source  addr.Resource `json:"source"`
	Files   int64         `json:"files"`
	Bytes   int64         `json:"bytes"`
	OfFiles int64         `json:"of_files"`
	OfBytes int64         `json:"of_bytes"`
}

// Row is a row that is only there before ("-") or after ("+") the edit.
type Row struct {
	Sign  string    `json:"sign"`
	Cells []*string `json:"cells"` // by Columns, as text; nil is NULL or a column that is not there
}

// Rows are a relation's rows and how often each is there.
type Rows struct {
	columns batch.Schema
	rows    map[string]*counted
	total   int64
}

// Many reports that there are more rows than can be compared.
func (t *Rows) Many() bool { return t.total > MaxRows }

type counted struct {
	cells []query.Cell
	n     int64
}

// Read takes all rows in.
func (t *Rows) Read(rows *host.Rows) error {
	t.columns, t.rows = rows.Columns(), map[string]*counted{}
	for {
		cells, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		t.total++
		if t.total > MaxRows {
			continue
		}
		key := t.key(cells)
		if c := t.rows[key]; c != nil {
			c.n++
			continue
		}
		t.rows[key] = &counted{cells: slices.Clone(cells), n: 1}
	}
}

// key is the row as it is compared. Sums of floating-point numbers depend on the order of rows in their last digits,
// which are no difference.
func (t *Rows) key(cells []query.Cell) string {
	var b strings.Builder
	for i, c := range cells {
		b.WriteString(strings.ToLower(t.columns[i].Name))
		switch typ := t.columns[i].Type; {
		case c.Null:
			b.WriteString("\x00N")
		case typ == "DOUBLE" || typ == "FLOAT":
			text := c.Text
			if f, err := strconv.ParseFloat(text, 64); err == nil {
				text = strconv.FormatFloat(f, 'g', 12, 64)
			}
			b.WriteString("\x00=" + text)
		default:
			b.WriteString("\x00=" + c.Text)
		}
		b.WriteByte(0)
	}
	return b.String()
}

// New compares the rows before and after an edit, of which key identifies each; nil: their content.
func New(of addr.Resource, before, after Rows, key []string) *Preview {
	p := &Preview{Address: of, before: before, after: after, key: key}
	p.compare()
	return p
}

// compare fills in what differs: rows of the same key stand together, what goes before what comes.
func (p *Preview) compare() {
	p.Before, p.After, p.Differences = p.before.total, p.after.total, []Row{}
	for _, c := range p.after.columns {
		p.Columns = append(p.Columns, Column{Column: c})
	}
	for _, c := range p.before.columns {
		if columnAt(p.Columns, c.Name) < 0 {
			p.Columns = append(p.Columns, Column{Column: c, Only: "-"})
		}
	}
	for i, c := range p.Columns {
		if !slices.ContainsFunc(p.before.columns, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) }) {
			p.Columns[i].Only = "+"
		}
	}
	var all []Row
	add := func(sign string, from, other Rows) {
		for key, c := range from.rows {
			n := c.n
			if o := other.rows[key]; o != nil {
				n = max(0, n-o.n)
			}
			for range min(n, maxShown+1) {
				all = append(all, Row{Sign: sign, Cells: p.cells(from.columns, c.cells)})
			}
			if sign == "+" {
				p.Same += c.n - n
			}
			p.NotShown += n - min(n, maxShown+1)
		}
	}
	add("-", p.before, p.after)
	add("+", p.after, p.before)
	slices.SortFunc(all, p.order)
	if len(all) > maxShown {
		p.NotShown += int64(len(all) - maxShown)
		all = all[:maxShown]
	}
	p.Differences = append(p.Differences, all...)
}

func columnAt(columns []Column, name string) int {
	return slices.IndexFunc(columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// cells puts a row under the preview's columns.
func (p *Preview) cells(columns batch.Schema, row []query.Cell) []*string {
	out := make([]*string, len(p.Columns))
	for i, c := range columns {
		if !row[i].Null {
			text := row[i].Text
			out[columnAt(p.Columns, c.Name)] = &text
		}
	}
	return out
}

// order sorts by the relation's key, then what goes before what comes, then by all columns.
func (p *Preview) order(a, b Row) int {
	at := func(r Row, i int) string {
		if r.Cells[i] == nil {
			return ""
		}
		return *r.Cells[i]
	}
	for _, name := range p.key {
		if i := columnAt(p.Columns, name); i >= 0 {
			if c := compareTexts(at(a, i), at(b, i)); c != 0 {
				return c
			}
		}
	}
	if p.key != nil && a.Sign != b.Sign {
		return cmp.Compare(b.Sign, a.Sign) // "-" is greater than "+" as a byte
	}
	for i := range p.Columns {
		if c := compareTexts(at(a, i), at(b, i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(b.Sign, a.Sign)
}

// compareTexts orders numbers by value and everything else by text.
func compareTexts(a, b string) int {
	x, notX := strconv.ParseFloat(a, 64)
	y, notY := strconv.ParseFloat(b, 64)
	if notX == nil && notY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
