package project

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
	maxPreviewRows  = 500_000
	maxPreviewShown = 50
)

// Preview is how the rows of a relation over a sample differ between what was applied and what is planned.
type Preview struct {
	Address     addr.Resource   `json:"address"`
	Samples     []PreviewSample `json:"samples"`
	Columns     []PreviewColumn `json:"columns"` // the planned ones, then those that go
	Before      int64           `json:"rows_before"`
	After       int64           `json:"rows_after"`
	Same        int64           `json:"rows_same"`
	Differences []PreviewRow    `json:"differences"`
	NotShown    int64           `json:"differences_not_shown,omitempty"`

	before, after tally
	key           []string
}

// PreviewColumn is one column of the rows.
type PreviewColumn struct {
	batch.Column
	Only string `json:"only,omitempty"` // "+" or "-" for one that is only there after, or before, the edit
}

// PreviewSample is how much of a source was read.
type PreviewSample struct {
	Source  addr.Resource `json:"source"`
	Files   int64         `json:"files"`
	Bytes   int64         `json:"bytes"`
	OfFiles int64         `json:"of_files"`
	OfBytes int64         `json:"of_bytes"`
}

// PreviewRow is a row that is only there before ("-") or after ("+") the edit.
type PreviewRow struct {
	Sign  string    `json:"sign"`
	Cells []*string `json:"cells"` // by Columns, as text; nil is NULL or a column that is not there
}

// tally is a relation's rows and how often each is there.
type tally struct {
	columns batch.Schema
	rows    map[string]*counted
	total   int64
}

type counted struct {
	cells []query.Cell
	n     int64
}

// read takes all rows in.
func (t *tally) read(rows *host.Rows) error {
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
		if t.total > maxPreviewRows {
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
func (t *tally) key(cells []query.Cell) string {
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

// compare fills in what differs: rows of the same key stand together, what goes before what comes.
func (p *Preview) compare() {
	p.Before, p.After, p.Differences = p.before.total, p.after.total, []PreviewRow{}
	for _, c := range p.after.columns {
		p.Columns = append(p.Columns, PreviewColumn{Column: c})
	}
	for _, c := range p.before.columns {
		if columnAt(p.Columns, c.Name) < 0 {
			p.Columns = append(p.Columns, PreviewColumn{Column: c, Only: "-"})
		}
	}
	for i, c := range p.Columns {
		if !slices.ContainsFunc(p.before.columns, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) }) {
			p.Columns[i].Only = "+"
		}
	}
	var all []PreviewRow
	add := func(sign string, from, other tally) {
		for key, c := range from.rows {
			n := c.n
			if o := other.rows[key]; o != nil {
				n = max(0, n-o.n)
			}
			for range min(n, maxPreviewShown+1) {
				all = append(all, PreviewRow{Sign: sign, Cells: p.cells(from.columns, c.cells)})
			}
			if sign == "+" {
				p.Same += c.n - n
			}
			p.NotShown += n - min(n, maxPreviewShown+1)
		}
	}
	add("-", p.before, p.after)
	add("+", p.after, p.before)
	slices.SortFunc(all, p.order)
	if len(all) > maxPreviewShown {
		p.NotShown += int64(len(all) - maxPreviewShown)
		all = all[:maxPreviewShown]
	}
	p.Differences = append(p.Differences, all...)
}

func columnAt(columns []PreviewColumn, name string) int {
	return slices.IndexFunc(columns, func(c PreviewColumn) bool { return strings.EqualFold(c.Name, name) })
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
func (p *Preview) order(a, b PreviewRow) int {
	at := func(r PreviewRow, i int) string {
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
