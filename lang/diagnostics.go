package lang

import (
	"fmt"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/function"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// fail adds an error about a place.
func (l *loader) fail(at *hcl.Range, summary, detail string) {
	l.diags = append(l.diags, diag.NewError(toRange(at), summary, detail))
}

// failExpr adds an error about an expression, with what it was evaluated from.
func (l *loader) failExpr(expr hcl.Expression, ctx *hcl.EvalContext, summary, detail string) {
	at := expr.Range()
	d := diag.NewError(toRange(&at), summary, detail)
	d.Values = valuesIn(expr, ctx)
	l.diags = append(l.diags, d)
}

func (l *loader) warn(at *hcl.Range, summary, detail string) {
	l.diags = append(l.diags, diag.NewWarning(toRange(at), summary, detail))
}

// report adds what the HCL library found.
func (l *loader) report(found hcl.Diagnostics) {
	for _, h := range found {
		l.diags = append(l.diags, l.fromHCL(h))
	}
}

func (l *loader) fromHCL(h *hcl.Diagnostic) diag.Diagnostic {
	d := diag.NewError(toRange(h.Subject), h.Summary, h.Detail)
	if h.Severity == hcl.DiagWarning {
		d.Severity = diag.Warning
	}
	if h.Expression != nil && h.EvalContext != nil {
		d.Values = valuesIn(h.Expression, h.EvalContext)
	}
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](h)
	if !ok || extra.FunctionCallError() == nil {
		return d
	}
	name := extra.CalledFunctionName()
	d.Call = name + l.parameters(name)
	if anySensitive(h.Expression, h.EvalContext) { // functions cite their arguments
		d.Detail = fmt.Sprintf("Call to function %q failed; the reason is not shown, since it may cite a sensitive value.", name)
	}
	return d
}

// parameters lists the names of a function's parameters: (text, part).
func (l *loader) parameters(name string) string {
	if l.ctx == nil {
		return "()"
	}
	f, ok := l.ctx.Functions[name]
	if !ok {
		return "()"
	}
	var names []string
	for _, p := range f.Params() {
		names = append(names, p.Name)
	}
	if p := f.VarParam(); p != nil {
		names = append(names, p.Name+"...")
	}
	return "(" + strings.Join(names, ", ") + ")"
}

func anySensitive(expr hcl.Expression, ctx *hcl.EvalContext) bool {
	if expr == nil || ctx == nil {
		return false
	}
	for _, t := range expr.Variables() {
		v, diags := t.TraverseAbs(ctx)
		if !diags.HasErrors() && holdsMark(v, function.Sensitive) {
			return true
		}
	}
	return false
}

// holdsMark reports whether a value or any part of it carries the mark.
func holdsMark(v cty.Value, mark function.Mark) bool {
	if !v.ContainsMarked() {
		return false
	}
	_, paths := v.UnmarkDeepWithPaths()
	for _, p := range paths {
		if _, ok := p.Marks[mark]; ok {
			return true
		}
	}
	return false
}

func toRange(r *hcl.Range) *diag.Range {
	if r == nil || r.Filename == "" {
		return nil
	}
	at := rangeOf(*r)
	return &at
}

func rangeOf(r hcl.Range) diag.Range {
	return diag.Range{Filename: r.Filename, Start: posOf(r.Start), End: posOf(r.End)}
}

func posOf(p hcl.Pos) diag.Pos { return diag.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }

// valuesIn says what the names inside an expression stood for.
func valuesIn(expr hcl.Expression, ctx *hcl.EvalContext) []diag.Value {
	var out []diag.Value
	seen := map[string]bool{}
	for _, t := range expr.Variables() {
		name := traversalText(t)
		if seen[name] {
			continue
		}
		seen[name] = true
		v, diags := t.TraverseAbs(ctx)
		if diags.HasErrors() || v == cty.NilVal {
			continue
		}
		if what := function.Describe(v); what != "" {
			out = append(out, diag.Value{Traversal: name, Statement: what})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Traversal < out[j].Traversal })
	return out
}

// traversalText writes a traversal as a person would: var.x["y"].z.
func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() == cty.String {
				fmt.Fprintf(&b, "[%q]", step.Key.AsString())
			} else {
				fmt.Fprintf(&b, "[%s]", step.Key.AsBigFloat().Text('f', -1))
			}
		}
	}
	return b.String()
}

// didYouMean ends a detail with the nearest candidate. Only the first few hundred
// mistakes of a load get one: comparing each with ten thousand names would take minutes.
func (l *loader) didYouMean(written string, candidates []string) string {
	const most = 200
	if l.suggested >= most {
		return ""
	}
	l.suggested++
	if near := schema.Nearest(written, candidates); near != "" {
		return fmt.Sprintf(" Did you mean %q?", near)
	}
	return ""
}

// sortedDiags orders findings by place, those without a place first, and names the block around each.
func (l *loader) sortedDiags() diag.Diagnostics {
	l.diags = diag.Once(l.diags)
	for i := range l.diags {
		d := &l.diags[i]
		if d.Subject == nil || d.Context != "" {
			continue
		}
		d.Context = l.contextAt(d.Subject.Filename, d.Subject.Start.Byte)
	}
	sort.SliceStable(l.diags, func(i, j int) bool {
		a, b := l.diags[i].Subject, l.diags[j].Subject
		switch {
		case a == nil || b == nil:
			return a == nil && b != nil
		case a.Filename != b.Filename:
			return a.Filename < b.Filename
		}
		return a.Start.Byte < b.Start.Byte
	})
	return l.diags
}

// contextAt names the top-level block at an offset: view "sales".
func (l *loader) contextAt(filename string, offset int) string {
	file := l.parsed[filename]
	if file == nil {
		return ""
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return ""
	}
	// Blocks stand in the order of the file, so a search by halves keeps many findings cheap.
	i := sort.Search(len(body.Blocks), func(i int) bool { return body.Blocks[i].Range().End.Byte > offset })
	if i == len(body.Blocks) || offset < body.Blocks[i].Range().Start.Byte {
		return ""
	}
	name := body.Blocks[i].Type
	for _, label := range body.Blocks[i].Labels {
		name += fmt.Sprintf(" %q", label)
	}
	return name
}
