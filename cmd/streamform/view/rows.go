package view

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

// RowFormat is how the rows of a query are printed.
type RowFormat int

// The formats.
const (
	Table RowFormat = iota
	CSV
	JSON
)

// Result is an open result of a query.
type Result interface {
	Columns() batch.Schema
	Next() ([]query.Cell, error) // io.EOF after the last
}

// Rows prints a result in a format. The error is the result's or the writer's.
func Rows(w io.Writer, r Result, format RowFormat) error {
	out := bufio.NewWriter(w)
	var err error
	switch format {
	case CSV:
		err = csvRows(out, r)
	case JSON:
		err = jsonRows(out, r)
	default:
		err = tableRows(out, r)
	}
	return errors.Join(err, out.Flush())
}

// each visits the rows.
func each(r Result, fn func(row []query.Cell) error) error {
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := fn(row); err != nil {
			return err
		}
	}
}

// csvRows prints rows as DuckDB writes CSV: NULL is nothing, an empty text is a pair of quotes.
func csvRows(w io.Writer, r Result) error {
	record := make([]string, 0, len(r.Columns()))
	for _, c := range r.Columns() {
		record = append(record, csvField(c.Name))
	}
	if err := csvLine(w, record); err != nil {
		return err
	}
	return each(r, func(row []query.Cell) error {
		record = record[:0]
		for _, cell := range row {
			if cell.Null {
				record = append(record, "")
				continue
			}
			record = append(record, csvField(cell.Text))
		}
		return csvLine(w, record)
	})
}

func csvLine(w io.Writer, fields []string) error {
	_, err := io.WriteString(w, strings.Join(fields, ",")+"\n")
	return err
}

// csvField puts a text into quotes where it would be read as something else without.
func csvField(text string) string {
	if text != "" && !strings.ContainsAny(text, "\",\r\n") && text == strings.TrimSpace(text) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// jsonRows prints one object per row, its names in the order of the columns. A name
// that stands twice gets a number, so that the object is one.
func jsonRows(w io.Writer, r Result) error {
	var names []string
	seen := map[string]bool{}
	for _, c := range r.Columns() {
		name := c.Name
		for i := 1; seen[name]; i++ {
			name = fmt.Sprintf("%s_%d", c.Name, i)
		}
		seen[name] = true
		text, err := json.Marshal(name)
		if err != nil {
			return err
		}
		names = append(names, string(text))
	}
	return each(r, func(row []query.Cell) error {
		var b strings.Builder
		for i, cell := range row {
			b.WriteString([]string{"{", ","}[min(i, 1)])
			value := cell.JSON
			if cell.Null {
				value = "null"
			}
			b.WriteString(names[i] + ":" + value)
		}
		_, err := fmt.Fprintf(w, "%s}\n", b.String())
		return err
	})
}

// widthSample is how many rows decide how wide the columns are; later rows may stand out.
const widthSample = 5000

// table prints rows in columns.
type table struct {
	w       io.Writer
	widths  []int
	numbers []bool
	head    []string
}

func tableRows(w io.Writer, r Result) error {
	t := table{w: w}
	for _, c := range r.Columns() {
		t.head = append(t.head, c.Name)
		t.widths = append(t.widths, columnsOf(c.Name))
		t.numbers = append(t.numbers, numeric(c.Type))
	}
	var kept [][]string
	total := int64(0)
	err := each(r, func(row []query.Cell) error {
		total++
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = oneLine(cell)
			if total <= widthSample {
				t.widths[i] = max(t.widths[i], columnsOf(line[i]))
			}
		}
		if total <= widthSample {
			kept = append(kept, line)
			return nil
		}
		if err := t.begin(kept); err != nil {
			return err
		}
		kept = nil
		return t.line(line)
	})
	if err == nil {
		err = t.begin(kept)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "(%s)\n", Things(total, "row"))
	return err
}

// begin prints the header, once, and the rows kept so far.
func (t *table) begin(kept [][]string) error {
	if t.head != nil {
		if err := t.line(t.head); err != nil {
			return err
		}
		t.head = nil
		rules := make([]string, len(t.widths))
		for i, width := range t.widths {
			rules[i] = strings.Repeat("─", width)
		}
		if err := t.line(rules); err != nil {
			return err
		}
	}
	for _, line := range kept {
		if err := t.line(line); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) line(cells []string) error {
	var b strings.Builder
	for i, text := range cells {
		pad := strings.Repeat(" ", max(0, t.widths[i]-columnsOf(text)))
		if i > 0 {
			b.WriteString("  ")
		}
		if t.numbers[i] {
			b.WriteString(pad + text)
		} else {
			b.WriteString(text + pad)
		}
	}
	_, err := fmt.Fprintln(t.w, strings.TrimRight(b.String(), " "))
	return err
}

// oneLine keeps a value on its line and its control characters from the terminal.
func oneLine(cell query.Cell) string {
	if cell.Null {
		return "NULL"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7f:
			return 0x2421
		}
		return r
	}, cell.Text)
}

func numeric(duckType string) bool {
	for _, name := range []string{"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE"} {
		if duckType == name {
			return true
		}
	}
	return strings.HasPrefix(duckType, "DECIMAL(") && !strings.HasSuffix(duckType, "]")
}
