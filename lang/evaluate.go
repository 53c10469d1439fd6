package lang

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/expand"
	"github.com/streamform/streamform/lang/function"
	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

// local is one value of a locals block.
type local struct {
	name  string
	at    hcl.Range // the attribute's name
	expr  hclsyntax.Expression
	phase phase
	value cty.Value
}

// edge is one local referring to another.
type edge struct {
	to string
	at hcl.Range
}

// phase says how far the evaluation of a local is.
type phase int

const (
	waiting phase = iota
	running
	finished
)

// output is an output block, before and after evaluation.
type output struct {
	Output
	at    hcl.Range
	value *hcl.Attribute
}

func (l *loader) declareLocals(b *hcl.Block) {
	attrs, diags := b.Body.JustAttributes()
	l.report(diags)
	names := sortedKeys(attrs)
	for _, name := range names {
		attr := attrs[name]
		if other, ok := l.locals[name]; ok {
			l.fail(&attr.NameRange, "Duplicate local value", fmt.Sprintf("local.%s is already defined at %s.", name, rangeOf(other.at)))
			continue
		}
		l.locals[name] = &local{name: name, at: attr.NameRange, expr: attr.Expr.(hclsyntax.Expression), value: cty.DynamicVal}
	}
}

func (l *loader) declareOutput(b *hcl.Block) {
	name := b.Labels[0]
	if !l.validName("an output", name, b.LabelRanges[0]) {
		return
	}
	if other, ok := l.outputs[name]; ok {
		l.fail(&b.DefRange, "Duplicate output", fmt.Sprintf("The output %q is already declared at %s.", name, rangeOf(other.at)))
		return
	}
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "value", Required: true}, {Name: "description"}, {Name: "sensitive"}}})
	l.report(diags)
	o := &output{at: b.DefRange, value: content.Attributes["value"]}
	o.Name, o.Range, o.Value = name, rangeOf(b.DefRange), cty.NullVal(cty.DynamicPseudoType)
	l.outputs[name] = o
	if attr, ok := content.Attributes["description"]; ok {
		if text, ok := l.literal(attr, cty.String); ok {
			o.Description = text.AsString()
		}
	}
	if attr, ok := content.Attributes["sensitive"]; ok {
		if flag, ok := l.literal(attr, cty.Bool); ok {
			o.Sensitive = flag.True()
		}
	}
}

// evaluate computes everything from the variables' values, in the order references demand.
func (l *loader) evaluate() {
	vars := make(map[string]cty.Value, len(l.variables))
	for name, v := range l.variables {
		vars[name] = v.value
	}
	l.ctx = &hcl.EvalContext{
		Variables: map[string]cty.Value{
			"var": cty.ObjectVal(vars),
			"path": cty.ObjectVal(map[string]cty.Value{
				"module": cty.StringVal(l.moduleDir()), "root": cty.StringVal(l.moduleDir()), "cwd": cty.StringVal(l.workDir),
			}),
		},
		Functions: l.functions(),
	}
	for _, name := range sortedKeys(l.locals) {
		l.evaluateLocal(l.locals[name], nil)
	}
	values := make(map[string]cty.Value, len(l.locals))
	for name, loc := range l.locals {
		values[name] = loc.value
	}
	l.ctx.Variables["local"] = cty.ObjectVal(values)
	l.checkVariables()
	l.evaluateBackend()
	l.expand()
	l.uniqueRelations()
	l.checkMoved()
	for _, b := range l.blocksInOrder() {
		if len(b.Keys) == 0 { // looked at all the same, for mistakes
			l.evaluateResource(newDeclared(b, expand.Unknown(b.Mode)))
		}
		for _, k := range b.Keys {
			l.evaluateResource(l.resources[b.Addr.Instance(k)])
		}
	}
	for _, name := range sortedKeys(l.outputs) {
		l.evaluateOutput(l.outputs[name])
	}
	l.evaluateNamed()
}

func (l *loader) functions() map[string]ctyfunction.Function {
	table := function.Table(l.reader)
	table["try"] = tryfunc.TryFunc
	table["can"] = tryfunc.CanFunc
	inner := maps.Clone(table) // templates do not read further templates
	table["templatefile"] = expand.Templatefile(inner, func(path string) (string, string, error) {
		src, err := l.reader.ReadText(path)
		shown := l.display(l.reader.Path(path))
		if err == nil {
			l.sources[shown] = []byte(src)
		}
		return src, shown, err
	})
	return table
}

// evaluateLocal computes a local after those it refers to. path holds the locals being
// computed and the references that led from each to the next.
func (l *loader) evaluateLocal(loc *local, path []step) {
	switch loc.phase {
	case finished:
		return
	case running:
		l.failCycle(loc, path)
		return
	}
	loc.phase = running
	ok := l.checkReferences(loc.expr)
	values := map[string]cty.Value{}
	for _, e := range l.localsIn(loc.expr) {
		next := l.locals[e.to]
		l.evaluateLocal(next, append(path, step{from: loc, edge: e}))
		values[e.to] = next.value
	}
	loc.phase = finished
	if !ok {
		return
	}
	ctx := l.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"local": cty.ObjectVal(values)}
	v, diags := loc.expr.Value(ctx)
	l.report(diags)
	if !diags.HasErrors() {
		loc.value = v
	}
}

// step is one reference on the way through the locals.
type step struct {
	from *local
	edge edge
}

// localsIn lists the declared locals an expression refers to, each once.
func (l *loader) localsIn(expr hcl.Expression) []edge {
	var out []edge
	seen := map[string]bool{}
	for _, t := range expr.Variables() {
		if t.RootName() != "local" || len(t) < 2 {
			continue
		}
		attr, ok := t[1].(hcl.TraverseAttr)
		if !ok || seen[attr.Name] || l.locals[attr.Name] == nil {
			continue
		}
		seen[attr.Name] = true
		out = append(out, edge{to: attr.Name, at: t.SourceRange()})
	}
	return out
}

func (l *loader) failCycle(loc *local, path []step) {
	var b strings.Builder
	start := len(path) - 1
	for start > 0 && path[start].from != loc {
		start--
	}
	b.WriteString("These local values refer to each other in a circle, so none of them can be computed first:\n\n")
	for _, s := range path[start:] {
		fmt.Fprintf(&b, "  local.%s refers to local.%s at %s\n", s.from.name, s.edge.to, rangeOf(s.edge.at))
	}
	b.WriteString("\nTake one of these references out.")
	at := path[start].edge.at
	l.fail(&at, "Cycle in local values", b.String())
}

// value evaluates an expression. It is false when there is no value, and why was reported,
// here or where the values it uses come from.
func (l *loader) value(expr hcl.Expression, ctx *hcl.EvalContext) (cty.Value, bool) {
	if !l.checkReferences(expr) {
		return cty.DynamicVal, false
	}
	v, diags := expr.Value(ctx)
	if !diags.HasErrors() || l.checkKeys(expr) {
		l.report(diags)
	}
	if diags.HasErrors() || !v.IsWhollyKnown() {
		return cty.DynamicVal, false
	}
	return v, true
}

func (l *loader) evaluateOutput(o *output) {
	if o.value == nil {
		return
	}
	v, ok := l.value(o.value.Expr, l.ctx)
	if !ok {
		return
	}
	switch {
	case holdsMark(v, function.SecretReference):
		l.failExpr(o.value.Expr, l.ctx, "Secret reference in output", "A secret reference can only be the value of a resource's secret argument. Remove it from this output.")
	case holdsMark(v, function.Sensitive) && !o.Sensitive:
		l.failExpr(o.value.Expr, l.ctx, "Output refers to sensitive values", "Its value comes from a sensitive variable. Add sensitive = true to the output to keep the value out of what is printed, or take the part that may be shown with nonsensitive().")
	default:
		o.Value, _ = v.UnmarkDeep()
	}
}
