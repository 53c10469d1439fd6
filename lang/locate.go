package lang

import (
	"bytes"
	"sort"
	"strings"
	"sync"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/literal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// stretch is a run of an evaluated text and the place in a file it came from.
type stretch struct {
	start, end int // bytes of the text
	src        *sourceText
	from, to   int  // bytes of the file
	exact      bool // byte for byte; otherwise the whole run stands for the whole place
}

// tracer finds out where each part of an evaluated text was written.
type tracer struct {
	l    *loader
	text strings.Builder
	out  []stretch
}

// trace says where an expression's text was written. What cannot be followed maps to the whole expression.
func (l *loader) trace(expr hcl.Expression, text string) []stretch {
	t := &tracer{l: l}
	if e, ok := expr.(hclsyntax.Expression); ok && t.expression(e) && t.text.String() == text {
		return t.out
	}
	whole := &tracer{l: l}
	whole.opaque(text, expr.Range())
	return whole.out
}

// expression follows an expression to the literals it is made of. It is false when the text cannot be told.
func (t *tracer) expression(expr hclsyntax.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return t.expression(e.Expression)
	case *hclsyntax.TemplateWrapExpr:
		return t.expression(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		return t.template(e, styleAt(t.source(e.Range()), e.Range().Start.Byte))
	case *hclsyntax.ConditionalExpr:
		return t.conditional(e, t.expression)
	case *hclsyntax.ScopeTraversalExpr:
		name, ok := attrAt(e.Traversal, 1)
		if ok && len(e.Traversal) == 2 && e.Traversal.RootName() == "local" && t.l.locals[name] != nil {
			return t.expression(t.l.locals[name].expr)
		}
	case *hclsyntax.FunctionCallExpr:
		if e.Name == "file" && len(e.Args) == 1 {
			return t.file(e.Args[0])
		}
	}
	return t.computed(expr)
}

// computed takes the text an expression evaluates to as one piece.
func (t *tracer) computed(expr hclsyntax.Expression) bool {
	text, ok := t.evaluate(expr)
	if ok {
		t.opaque(text, expr.Range())
	}
	return ok
}

func (t *tracer) evaluate(expr hclsyntax.Expression) (string, bool) {
	v, diags := expr.Value(t.l.ctx)
	if diags.HasErrors() {
		return "", false
	}
	v, _ = v.Unmark()
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() || !v.IsKnown() {
		return "", false
	}
	return v.AsString(), true
}

func (t *tracer) conditional(e *hclsyntax.ConditionalExpr, follow func(hclsyntax.Expression) bool) bool {
	which, ok := t.evaluate(e.Condition)
	switch {
	case ok && which == "true":
		return follow(e.TrueResult)
	case ok && which == "false":
		return follow(e.FalseResult)
	}
	return false
}

func (t *tracer) template(e *hclsyntax.TemplateExpr, style literal.Style) bool {
	for _, part := range e.Parts {
		if !t.part(part, style) {
			return false
		}
	}
	return true
}

// part follows one part of a template: literal text, an interpolation, or a directive,
// whose branches are templates in the same style.
func (t *tracer) part(part hclsyntax.Expression, style literal.Style) bool {
	src := t.source(part.Range())
	switch e := part.(type) {
	case *hclsyntax.LiteralValueExpr:
		if e.Val.Type() == cty.String && !e.Val.IsNull() {
			t.literal(e.Val.AsString(), src, e.SrcRange, style)
			return true
		}
	case *hclsyntax.ConditionalExpr:
		if strings.HasPrefix(string(src.from(e.SrcRange.Start.Byte)), "%{") {
			return t.conditional(e, func(branch hclsyntax.Expression) bool {
				if inner, ok := branch.(*hclsyntax.TemplateExpr); ok {
					return t.template(inner, style)
				}
				return t.part(branch, style)
			})
		}
	}
	return t.expression(part)
}

// file maps the text of a file onto the file itself.
func (t *tracer) file(arg hclsyntax.Expression) bool {
	path, ok := t.evaluate(arg)
	if !ok {
		return false
	}
	text, err := t.l.reader.ReadText(path)
	if err != nil {
		return false
	}
	name := t.l.display(t.l.reader.Path(path))
	t.l.sources[name] = []byte(text)
	src := t.l.sourceText(name)
	value := cty.StringVal(text).AsString() // in the normal form of evaluated texts
	t.add(literal.Align(value, src.text, literal.Plain), src, 0, value)
	return true
}

func (t *tracer) literal(value string, src *sourceText, at hcl.Range, style literal.Style) {
	raw := src.between(at.Start.Byte, at.End.Byte)
	runs, ok := []literal.Run(nil), false
	if style == literal.Heredoc {
		runs, ok = literal.AlignLines(value, raw)
	} else {
		runs = literal.Align(value, raw, style)
		ok = runs != nil
	}
	if !ok {
		t.opaque(value, at)
		return
	}
	t.add(runs, src, at.Start.Byte, value)
}

// add appends runs that are relative to the text so far and to an offset in the file.
func (t *tracer) add(runs []literal.Run, src *sourceText, offset int, value string) {
	base := t.text.Len()
	for _, r := range runs {
		t.out = append(t.out, stretch{base + r.Start, base + r.End, src, offset + r.From, offset + r.To, r.Exact})
	}
	t.text.WriteString(value)
}

func (t *tracer) opaque(text string, at hcl.Range) {
	t.add([]literal.Run{{End: len(text), To: at.End.Byte - at.Start.Byte}}, t.source(at), at.Start.Byte, text)
}

func (t *tracer) source(at hcl.Range) *sourceText { return t.l.sourceText(at.Filename) }

// locate builds the function that maps offsets of a text to places.
func locate(stretches []stretch) func(start, end int) diag.Range {
	return func(start, end int) diag.Range {
		length := stretches[len(stretches)-1].end
		start = min(max(start, 0), length)
		end = min(max(end, start), length)
		i := sort.Search(len(stretches), func(i int) bool { return stretches[i].end > start })
		if i == len(stretches) { // behind the last character
			last := stretches[i-1]
			return last.src.rangeOf(last.to, last.to)
		}
		first := stretches[i]
		from, to := first.sub(start, min(max(end, start), first.end))
		if end > first.end {
			to = first.to
			last := stretches[sort.Search(len(stretches), func(i int) bool { return stretches[i].end >= end })]
			if _, until := last.sub(last.start, end); last.src == first.src && until >= to {
				to = until
			}
		}
		return first.src.rangeOf(from, to)
	}
}

// sub is the place of a part of the stretch.
func (s stretch) sub(start, end int) (from, to int) {
	if !s.exact {
		return s.from, s.to
	}
	return s.from + start - s.start, s.from + end - s.start
}

// sourceText is a file's text and where its lines begin.
type sourceText struct {
	name  string
	text  []byte
	lines func() []int // byte offset of each line
}

func (l *loader) sourceText(name string) *sourceText {
	if s, ok := l.texts[name]; ok {
		return s
	}
	s := &sourceText{name: name, text: l.sources[name]}
	s.lines = sync.OnceValue(func() []int {
		starts := []int{0}
		for i, b := range s.text {
			if b == '\n' {
				starts = append(starts, i+1)
			}
		}
		return starts
	})
	l.texts[name] = s
	return s
}

func (s *sourceText) from(offset int) []byte { return s.text[min(offset, len(s.text)):] }

func (s *sourceText) between(from, to int) []byte {
	to = min(to, len(s.text))
	return s.text[min(from, to):to]
}

func (s *sourceText) rangeOf(from, to int) diag.Range {
	return diag.Range{Filename: s.name, Start: s.pos(from), End: s.pos(to)}
}

// pos counts lines, and characters as a person sees them.
func (s *sourceText) pos(offset int) diag.Pos {
	offset = min(offset, len(s.text))
	starts := s.lines()
	line := sort.SearchInts(starts, offset+1) - 1
	before := s.text[starts[line]:offset]
	column, err := textseg.TokenCount(before, textseg.ScanGraphemeClusters)
	if err != nil {
		column = len(before)
	}
	return diag.Pos{Line: line + 1, Column: column + 1, Byte: offset}
}

// holdSQL notes the final text of an attribute that holds SQL, and the map back to its place.
func (d *decoder) holdSQL(path string, expr hcl.Expression, v cty.Value) {
	v, err := convert.Convert(v, cty.String)
	if err != nil || v.IsNull() {
		return // completion says why
	}
	text := v.AsString()
	d.out.SQL = append(d.out.SQL, SQL{Attr: d.shown(path), Text: text, Locate: locate(d.l.trace(expr, text))})
}

// shown writes a path with the labels of blocks in place of their numbers.
func (d *decoder) shown(path string) string {
	for p := path; p != ""; p = p[:max(strings.LastIndexByte(p, '.'), 0)] {
		if labeled, ok := d.labels[p]; ok {
			return labeled + path[len(p):]
		}
	}
	return path
}

// styleAt tells a heredoc from a quoted template by how it begins.
func styleAt(src *sourceText, offset int) literal.Style {
	if bytes.HasPrefix(src.from(offset), []byte("<<")) {
		return literal.Heredoc
	}
	return literal.Quoted
}
