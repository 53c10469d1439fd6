package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/streamform/streamform/cmd/streamform/preview"
	"github.com/streamform/streamform/runtime/query"
)

// Preview shows which rows of a relation would differ, as a table with a sign before each row.
func Preview(to Terminal, p *preview.Preview) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", to.Paint(Bold, "Preview of "+p.Address.String()+" on a sample:"))
	for _, s := range p.Samples {
		if s.Files == s.OfFiles {
			fmt.Fprintf(&b, "  %s: all it holds, %s, %s\n", s.Source, Things(s.Files, "file"), Bytes(s.Bytes))
			continue
		}
		fmt.Fprintf(&b, "  %s: its newest %s, %s of %s\n", s.Source, Things(s.Files, "file"), Bytes(s.Bytes), Bytes(s.OfBytes))
	}
	b.WriteByte('\n')
	if len(p.Differences) > 0 {
		previewTable(&b, to, p)
		b.WriteByte('\n')
	}
	b.WriteString(previewSummary(p))
	_, err := io.WriteString(to, b.String())
	return err
}

func previewSummary(p *preview.Preview) string {
	shown := int64(len(p.Differences))
	if shown+p.NotShown == 0 {
		return fmt.Sprintf("No row differs: the sample gives the same %s before and after.\n", Things(p.After, "row"))
	}
	text := fmt.Sprintf("%s before, %s after; %s the same.", Things(p.Before, "row"), Things(p.After, "row"), isAre(p.Same))
	if p.NotShown > 0 {
		text += fmt.Sprintf(" %s of the rows that differ are not shown.", Count(p.NotShown))
	}
	return text + "\n"
}

func isAre(n int64) string {
	if n == 1 {
		return "1 is"
	}
	return Count(n) + " are"
}

func previewTable(b *strings.Builder, to Terminal, p *preview.Preview) {
	head := make([]string, len(p.Columns))
	widths := make([]int, len(p.Columns))
	numbers := make([]bool, len(p.Columns))
	for i, c := range p.Columns {
		head[i], widths[i], numbers[i] = c.Name, columnsOf(c.Name), numeric(c.Type)
	}
	lines := make([][]string, len(p.Differences))
	for i, r := range p.Differences {
		lines[i] = make([]string, len(r.Cells))
		for j, cell := range r.Cells {
			shown := query.Cell{Null: cell == nil}
			if cell != nil {
				shown.Text = *cell
			}
			if only := p.Columns[j].Only; only == "" || only == r.Sign {
				lines[i][j] = oneLine(shown)
			}
			widths[j] = max(widths[j], columnsOf(lines[i][j]))
		}
	}
	put := func(sign string, cells []string) {
		var row strings.Builder
		t := table{w: &row, widths: widths, numbers: numbers}
		_ = t.line(cells) // a strings.Builder takes everything
		text := strings.TrimRight(sign+" "+row.String(), "\n")
		switch sign {
		case "+":
			text = to.Paint(Green, text)
		case "-":
			text = to.Paint(Red, text)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	put(" ", head)
	rules := make([]string, len(widths))
	for i, width := range widths {
		rules[i] = strings.Repeat("─", width)
	}
	put(" ", rules)
	for i, r := range p.Differences {
		put(r.Sign, lines[i])
	}
}
