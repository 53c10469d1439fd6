package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/mitchellh/go-wordwrap"
)

// Options say how WriteText prints.
type Options struct {
	Color   bool
	Width   int  // of the terminal in characters; 0 means 78
	Compact bool // warnings as a list of summaries
}

// The width of text that is not going to a terminal.
const plainWidth = 78

// Escape sequences of the few styles used.
const (
	bold      = "\x1b[1m"
	underline = "\x1b[4m"
	dim       = "\x1b[90m"
	red       = "\x1b[31m"
	yellow    = "\x1b[33m"
	reset     = "\x1b[0m"
)

// WriteText prints findings for people, in the layout Terraform users know: a blank
// line before each, or, in colour, a box around each. files holds the text of every file by the name the ranges
// use. Warnings with the same summary are folded into the first. The error is the writer's.
func WriteText(w io.Writer, ds Diagnostics, files map[string][]byte, o Options) error {
	if o.Width <= 0 {
		o.Width = plainWidth
	}
	out := bufio.NewWriter(w)
	folded := foldWarnings(ds)
	for _, f := range folded {
		if o.Compact && f.Severity == Warning {
			continue
		}
		p := page{o: o}
		p.diagnostic(f, files)
		p.writeTo(out, f.Severity)
	}
	if o.Compact {
		writeCompact(out, folded, o)
	}
	return out.Flush()
}

// folded is a finding and how many more warnings say the same elsewhere.
type folded struct {
	Diagnostic
	more int
}

func foldWarnings(ds Diagnostics) []folded {
	var out []folded
	first := map[string]int{}
	for _, d := range ds {
		if d.Severity == Warning && !d.Alone {
			if i, ok := first[d.Summary]; ok {
				out[i].more++
				continue
			}
			first[d.Summary] = len(out)
		}
		out = append(out, folded{Diagnostic: d})
	}
	return out
}

// page collects the lines of one finding.
type page struct {
	o     Options
	lines []string
}

func (p *page) add(format string, args ...any) {
	p.lines = append(p.lines, strings.Split(fmt.Sprintf(format, args...), "\n")...)
}

// style wraps text in escape sequences when colour is on.
func (p *page) style(s, text string) string {
	if !p.o.Color {
		return text
	}
	return s + text + reset
}

func severityColor(s Severity) string {
	if s == Warning {
		return yellow
	}
	return red
}

func severityWord(s Severity) string {
	if s == Warning {
		return "Warning: "
	}
	return "Error: "
}

func (p *page) diagnostic(d folded, files map[string][]byte) {
	p.add("%s%s", p.style(bold+severityColor(d.Severity), severityWord(d.Severity)), p.style(bold, printable(d.Summary)))
	p.add("")
	if d.Address != "" {
		p.add("  with %s,", printable(d.Address))
	}
	if d.Subject != nil {
		p.place(d.Diagnostic, files)
	}
	if d.Address != "" || d.Subject != nil {
		p.add("")
	}
	p.detail(printable(d.Detail))
	if d.more > 0 {
		word := "warnings"
		if d.more == 1 {
			word = "warning"
		}
		p.add("")
		p.add("(and %d more similar %s elsewhere)", d.more, word)
	}
}

func (p *page) place(d Diagnostic, files map[string][]byte) {
	context := ""
	if d.Context != "" {
		context = ", in " + printable(d.Context)
	}
	p.add("  on %s line %d%s:", printable(d.Subject.Filename), d.Subject.Start.Line, context)
	s := snippet(d, files)
	if s == nil {
		p.add("    (source code not available)")
		p.values(d.Values, d.Call)
		return
	}
	offset := 0
	for i, line := range strings.Split(s.Code, "\n") {
		start := min(max(s.HighlightStartOffset-offset, 0), len(line))
		end := min(max(s.HighlightEndOffset-offset, 0), len(line))
		offset += len(line) + 1
		if start < end {
			line = line[:start] + p.style(underline, line[start:end]) + line[end:]
		}
		p.add("%4d: %s", s.StartLine+i, line)
	}
	p.values(d.Values, d.Call)
}

func (p *page) values(values []Value, call string) {
	if len(values) == 0 && call == "" {
		return
	}
	p.add("    %s", p.style(dim, "├────────────────"))
	if call != "" {
		p.add("    %s while calling %s", p.style(dim, "│"), printable(call))
	}
	for _, v := range values {
		p.add("    %s %s %s", p.style(dim, "│"), p.style(bold, printable(v.Traversal)), printable(v.Statement))
	}
}

// detail wraps prose; a line that begins with a space is kept as it is.
func (p *page) detail(text string) {
	if text == "" {
		if n := len(p.lines); n > 0 && p.lines[n-1] == "" {
			p.lines = p.lines[:n-1]
		}
		return
	}
	width := p.o.Width
	if p.o.Color {
		width -= 2 // the box
	}
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, " ") {
			line = wordwrap.WrapString(line, uint(max(width, 20)))
		}
		p.add("%s", line)
	}
}

func (p *page) writeTo(w *bufio.Writer, s Severity) {
	if !p.o.Color {
		fmt.Fprintln(w)
		for _, line := range p.lines {
			fmt.Fprintln(w, line)
		}
		return
	}
	frame := func(text string) string { return severityColor(s) + text + reset }
	fmt.Fprintln(w, frame("╷"))
	for _, line := range p.lines {
		fmt.Fprintln(w, frame("│")+" "+line)
	}
	fmt.Fprintln(w, frame("╵"))
}

func writeCompact(w *bufio.Writer, ds []folded, o Options) {
	p := page{o: o}
	for _, d := range ds {
		if d.Severity != Warning {
			continue
		}
		p.add("- %s", printable(d.Summary))
		if d.Subject == nil {
			continue
		}
		more := ""
		if d.more > 0 {
			more = fmt.Sprintf(" (and %d more)", d.more)
		}
		p.add("  on %s line %d%s", printable(d.Subject.Filename), d.Subject.Start.Line, more)
	}
	if len(p.lines) == 0 {
		return
	}
	head := page{o: o}
	head.add("%s", head.style(bold+yellow, "Warnings:"))
	head.add("")
	head.lines = append(head.lines, p.lines...)
	head.add("")
	head.add("To see the full warning notes, run the command without -compact-warnings.")
	head.writeTo(w, Warning)
}
