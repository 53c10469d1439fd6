package written

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/literal"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// tracer finds out where each part of an evaluated text was written.
type tracer struct {
	World
	text strings.Builder
	out  []literal.Stretch
}

// Trace says where an expression's text was written. What cannot be followed maps to the whole expression.
func (w World) Trace(expr hcl.Expression, text string) []literal.Stretch {
	t := &tracer{World: w}
	if e, ok := expr.(hclsyntax.Expression); ok && t.expression(e) && t.text.String() == text {
		return t.out
	}
	whole := &tracer{World: w}
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
		if of := t.local(e.Traversal); of != nil {
			return t.expression(of)
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
	v, diags := expr.Value(t.Ctx)
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
		if strings.HasPrefix(string(src.Behind(e.SrcRange.Start.Byte)), "%{") {
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
	text, src, ok := t.Read(path)
	if !ok {
		return false
	}
	value := cty.StringVal(text).AsString() // in the normal form of evaluated texts
	t.add(literal.Align(value, src.Text, literal.Plain), src, 0, value)
	return true
}

func (t *tracer) literal(value string, src *literal.Source, at hcl.Range, style literal.Style) {
	raw := src.Between(at.Start.Byte, at.End.Byte)
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
func (t *tracer) add(runs []literal.Run, src *literal.Source, offset int, value string) {
	base := t.text.Len()
	for _, r := range runs {
		t.out = append(t.out, literal.Stretch{Start: base + r.Start, End: base + r.End, Source: src, From: offset + r.From, To: offset + r.To, Exact: r.Exact})
	}
	t.text.WriteString(value)
}

func (t *tracer) opaque(text string, at hcl.Range) {
	t.add([]literal.Run{{End: len(text), To: at.End.Byte - at.Start.Byte}}, t.source(at), at.Start.Byte, text)
}

func (t *tracer) source(at hcl.Range) *literal.Source { return t.Source(at.Filename) }

// styleAt tells a heredoc from a quoted template by how it begins.
func styleAt(src *literal.Source, offset int) literal.Style {
	if bytes.HasPrefix(src.Behind(offset), []byte("<<")) {
		return literal.Heredoc
	}
	return literal.Quoted
}
