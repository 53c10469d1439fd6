package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/function"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// decoder evaluates the body of one resource.
type decoder struct {
	l      *loader
	out    *Resource
	places map[string]place  // by path, for what completion finds
	labels map[string]string // path of a block with a label → the path as people write it
	broken map[string]bool   // paths already reported, or whose value is missing for a reported reason
}

// place is where an attribute or block was written.
type place struct {
	at   hcl.Range
	expr hcl.Expression // nil for a block
}

func (l *loader) evaluateResource(r *declared) {
	d := &decoder{l: l, out: &r.Resource, places: map[string]place{"": {at: r.at}}, labels: map[string]string{}, broken: map[string]bool{}}
	defer l.with(r.self.Variables())()
	r.AttrRanges, r.Keys = map[string]diag.Range{}, map[string][]string{}
	content, diags := r.body.Content(r.shape.body)
	l.report(diags)
	for _, name := range unsupportedArguments() {
		if attr, ok := content.Attributes[name]; ok {
			l.fail(&attr.NameRange, fmt.Sprintf("Argument %q is not supported in this version", name), unsupportedReason(name))
			delete(content.Attributes, name)
		}
	}
	d.lifecycle(content.Blocks.OfType("lifecycle"))
	d.misspelt(r.shape, r.body, "")
	written := d.body(r.shape, content, "")
	value, errs := r.Kind.Complete(written)
	r.Value = value
	for _, e := range errs {
		d.incomplete(e)
	}
	d.top(r.shape, content)
}

func unsupportedReason(name string) string {
	switch name {
	case "depends_on":
		return "Dependencies are found in the SQL and in references; remove it."
	case "provider":
		return "Kinds are part of streamform and need no provider; remove it."
	}
	return "A resource cannot be switched off yet; with count = 0, there is none."
}

// body evaluates what is written in a block, as an object.
func (d *decoder) body(s *shape, content *hcl.BodyContent, prefix string) cty.Value {
	attrs := map[string]cty.Value{}
	for _, b := range content.Blocks.OfType("dynamic") {
		d.l.fail(&b.DefRange, `Block "dynamic" is not supported in this version`, "Write each block out.")
	}
	for _, f := range s.fields {
		if f.Block {
			if v, ok := d.blocks(s, f, content, prefix); ok {
				attrs[f.Name] = v
			}
			continue
		}
		attr, ok := content.Attributes[f.Name]
		if !ok {
			continue
		}
		path := prefix + f.Name
		d.places[path] = place{at: attr.Expr.Range(), expr: attr.Expr}
		v, ok := d.attribute(f, attr, path)
		if !ok {
			d.broken[path] = true
			continue
		}
		attrs[f.Name] = v
		if keys := d.l.written().Keys(attr.Expr); keys != nil && f.Type.IsMapType() {
			d.out.Keys[d.shown(path)] = keys
		}
	}
	return cty.ObjectVal(attrs)
}

// misspelt keeps a required argument whose name was misspelt from being reported as missing, too.
func (d *decoder) misspelt(s *shape, body *hclsyntax.Body, prefix string) {
	for name := range body.Attributes {
		known := slices.ContainsFunc(s.fields, func(f schema.Field) bool { return f.Name == name })
		if known {
			continue
		}
		var missing []string
		for _, f := range s.fields {
			if _, ok := body.Attributes[f.Name]; f.Required && !ok {
				missing = append(missing, f.Name)
			}
		}
		if near := schema.Nearest(name, missing); near != "" {
			d.broken[prefix+near] = true
		}
	}
}

// attribute evaluates one attribute and unmarks it, once it is sure that nothing sensitive goes further.
func (d *decoder) attribute(f schema.Field, attr *hcl.Attribute, path string) (cty.Value, bool) {
	if f.Refs {
		return d.reference(f, attr.Expr, path)
	}
	if f.SQLText {
		defer d.l.read(inSQL)()
	}
	v, ok := d.l.value(attr.Expr, d.l.ctx)
	if !ok {
		return v, false
	}
	plain, _ := v.UnmarkDeep()
	switch {
	case holdsMark(v, function.Sensitive) && f.Secret:
		d.l.failExpr(attr.Expr, d.l.ctx, "Sensitive value in a resource", fmt.Sprintf("The argument %q would carry a sensitive value into the state and into plans. Give a reference to it instead, which is resolved where it is used: %s = secret(\"env:NAME\").", f.Name, f.Name))
		return plain, false
	case holdsMark(v, function.Sensitive):
		d.l.failExpr(attr.Expr, d.l.ctx, "Sensitive value in a resource", fmt.Sprintf("The argument %q would carry a sensitive value into the state and into plans. Only arguments for secrets can hold one, as secret(\"env:NAME\"); if this value may be shown, use a variable that is not sensitive, or nonsensitive().", f.Name))
		return plain, false
	case holdsMark(v, function.SecretReference) && !f.Secret:
		d.l.failExpr(attr.Expr, d.l.ctx, "Secret reference not allowed here", fmt.Sprintf("secret() is only for arguments that hold secrets, and %q is none: the reference would be used as a text.", f.Name))
		return plain, false
	}
	if f.SQLText {
		d.holdSQL(path, attr.Expr, plain)
	}
	return plain, true
}

// blocks evaluates the nested blocks of one field. ok is false when there are none.
func (d *decoder) blocks(s *shape, f schema.Field, content *hcl.BodyContent, prefix string) (cty.Value, bool) {
	found := content.Blocks.OfType(f.Name)
	if len(found) == 0 {
		return cty.NilVal, false
	}
	if !f.Repeated {
		for _, extra := range found[1:] {
			d.l.fail(&extra.DefRange, fmt.Sprintf("Duplicate %s block", f.Name), fmt.Sprintf("Only one %s block is allowed, and there is one at %s.", f.Name, rangeOf(found[0].DefRange)))
		}
		return d.block(s.nested[f.Name], f, found[0], prefix+f.Name), true
	}
	elems := make([]cty.Value, len(found))
	for i, b := range found {
		elems[i] = d.block(s.nested[f.Name], f, b, fmt.Sprintf("%s%s[%d]", prefix, f.Name, i))
	}
	return cty.TupleVal(elems), true
}

func (d *decoder) block(s *shape, f schema.Field, b *hcl.Block, path string) cty.Value {
	d.places[path] = place{at: b.DefRange}
	if f.Labeled {
		d.labels[path] = fmt.Sprintf("%s[%q]", d.shown(path[:strings.LastIndexByte(path, '[')]), b.Labels[0])
	}
	content, diags := b.Body.Content(s.body)
	d.l.report(diags)
	d.misspelt(s, b.Body.(*hclsyntax.Body), path+".")
	v := d.body(s, content, path+".")
	if !f.Labeled {
		return v
	}
	attrs := v.AsValueMap()
	if attrs == nil {
		attrs = map[string]cty.Value{}
	}
	attrs["name"] = cty.StringVal(b.Labels[0])
	d.places[path+".name"] = place{at: b.LabelRanges[0]}
	return cty.ObjectVal(attrs)
}

// incomplete reports what completion found, at the place it is about.
func (d *decoder) incomplete(e schema.AttrError) {
	path := pathString(e.Path)
	if d.broken[path] {
		return
	}
	where, ok := d.places[path]
	for p := path; !ok; where, ok = d.places[p] {
		p = p[:max(strings.LastIndexAny(p, ".["), 0)]
	}
	if where.expr == nil {
		d.l.fail(&where.at, e.Summary, e.Detail)
		return
	}
	d.l.failExpr(where.expr, d.l.ctx, e.Summary, e.Detail)
}

// top notes what was written at the top of the block, and where.
func (d *decoder) top(s *shape, content *hcl.BodyContent) {
	for _, f := range s.fields {
		if attr, ok := content.Attributes[f.Name]; ok && !f.Block {
			d.out.Written = append(d.out.Written, f.Name)
			d.out.AttrRanges[f.Name] = rangeOf(attr.Range)
		}
		if found := content.Blocks.OfType(f.Name); f.Block && len(found) > 0 {
			d.out.Written = append(d.out.Written, f.Name)
			d.out.AttrRanges[f.Name] = rangeOf(found[0].DefRange)
		}
	}
}

// pathString writes a path as places are keyed: expect[0].condition.
func pathString(p cty.Path) string {
	var b strings.Builder
	for _, s := range p {
		switch s := s.(type) {
		case cty.GetAttrStep:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.Name)
		case cty.IndexStep:
			if s.Key.Type() == cty.String {
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			} else {
				fmt.Fprintf(&b, "[%s]", s.Key.AsBigFloat().Text('f', -1))
			}
		}
	}
	return b.String()
}
