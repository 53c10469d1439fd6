package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// checkReferences reports the names in an expression that stand for nothing. It is
// false when there are any; the expression must then not be evaluated, which would report them again.
func (l *loader) checkReferences(expr hcl.Expression) bool {
	ok := true
	for _, t := range expr.Variables() {
		if problem := l.checkTraversal(t); problem != nil {
			l.failReference(t, problem)
			ok = false
		}
	}
	return ok
}

// problem is what is wrong with a reference; without a summary, it was reported elsewhere.
type problem struct{ summary, detail string }

func (l *loader) failReference(t hcl.Traversal, p *problem) {
	if at := t.SourceRange(); p.summary != "" {
		l.fail(&at, p.summary, p.detail)
	}
}

func (l *loader) checkTraversal(t hcl.Traversal) *problem {
	root := t.RootName()
	switch {
	case root == "var":
		return l.checkNamed(t, "input variable", sortedKeys(l.variables))
	case root == "local":
		return l.checkNamed(t, "local value", sortedKeys(l.locals))
	case root == "path":
		return l.checkNamed(t, "path", []string{"cwd", "module", "root"})
	case slices.Contains(addr.Blocks(), addr.Block(root)):
		ref, p := l.resourceReference(t)
		if p != nil {
			return p
		}
		return &problem{"Values of resources are not available", fmt.Sprintf("%s can only stand alone, as the whole value of an argument that takes a reference. What a resource holds is not known while files are read; SQL reads relations by their bare names.", ref.To)}
	case root == "each" || root == "count" || root == "self" || root == "module" || root == "data" || root == "terraform" || root == "streamform":
		return &problem{"Invalid reference", fmt.Sprintf("%q is not supported in this version.", root)}
	}
	return l.unknownName(t)
}

// checkNamed checks a reference of the form root.name, where names are those there are.
func (l *loader) checkNamed(t hcl.Traversal, what string, names []string) *problem {
	root := t.RootName()
	attr, ok := attrAt(t, 1)
	if !ok {
		return &problem{"Invalid reference", fmt.Sprintf("The name of the %s must follow %q, after a point: %s.NAME.", what, root, root)}
	}
	if _, found := slices.BinarySearch(names, attr); found {
		return nil
	}
	detail := fmt.Sprintf("There is no %s named %q.", what, attr)
	if near := l.didYouMean(attr, names); near != "" {
		detail += near
	} else if root == "var" {
		detail += fmt.Sprintf(" Declare it with variable %q {}.", attr)
	}
	return &problem{"Reference to undeclared " + what, detail}
}

// unknownName explains a name that begins no kind of reference.
func (l *loader) unknownName(t hcl.Traversal) *problem {
	name := t.RootName()
	detail := fmt.Sprintf("%q is not the beginning of a reference. References begin with var, local or path, or with the block of a resource, such as view.", name)
	for a := range l.resources {
		if a.Block.IsRelation() && strings.EqualFold(a.Name, name) {
			return &problem{"Invalid reference", fmt.Sprintf("%s Did you mean %q?", detail, a.String())}
		}
	}
	if _, ok := l.locals[name]; ok {
		return &problem{"Invalid reference", fmt.Sprintf("%s Did you mean %q?", detail, "local."+name)}
	}
	if _, ok := l.variables[name]; ok {
		return &problem{"Invalid reference", fmt.Sprintf("%s Did you mean %q?", detail, "var."+name)}
	}
	known := []string{"var", "local", "path"}
	for _, b := range addr.Blocks() {
		known = append(known, string(b))
	}
	return &problem{"Invalid reference", detail + l.didYouMean(name, known)}
}

func attrAt(t hcl.Traversal, i int) (string, bool) {
	if i >= len(t) {
		return "", false
	}
	attr, ok := t[i].(hcl.TraverseAttr)
	return attr.Name, ok
}

// resourceReference reads a traversal that begins with a block's name.
func (l *loader) resourceReference(t hcl.Traversal) (Reference, *problem) {
	block := addr.Block(t.RootName())
	want := 2
	form := string(block) + ".NAME"
	if block.HasType() {
		want, form = 3, string(block)+".TYPE.NAME"
	}
	var names []string
	for i := 1; i < len(t); i++ {
		name, ok := attrAt(t, i)
		if !ok {
			return Reference{}, &problem{"Invalid reference", fmt.Sprintf("A %s is referred to as %s; there are no instances to choose from.", block, form)}
		}
		names = append(names, name)
	}
	if len(names) < want-1 {
		return Reference{}, &problem{"Invalid reference", fmt.Sprintf("A %s is referred to as %s.", block, form)}
	}
	a := addr.Resource{Block: block, Name: names[want-2]}
	if block.HasType() {
		a.Type = names[0]
	}
	ref := Reference{To: a, Range: rangeOf(t.SourceRange())}
	d, ok := l.resources[a]
	if !ok && l.trusting {
		return ref, nil
	}
	if l.faulty[a] {
		return ref, &problem{}
	}
	if !ok {
		return ref, &problem{"Reference to undeclared resource", l.undeclared(a)}
	}
	switch rest := names[want-1:]; {
	case len(rest) == 1 && slices.Contains(d.Kind.Sides, rest[0]):
		ref.Side = rest[0]
	case len(rest) > 0:
		return ref, l.noSuchSide(d, rest)
	}
	return ref, nil
}

func (l *loader) noSuchSide(d *declared, rest []string) *problem {
	name := strings.Join(rest, ".")
	if f, ok := d.Kind.Field(rest[0]); ok {
		return &problem{"Values of resources are not available", fmt.Sprintf("%s.%s cannot be read: what a resource's arguments say is not available elsewhere. Put the value into locals { } and use it in both places.", d.Addr, f.Name)}
	}
	detail := fmt.Sprintf("%s has no part %q that can be referred to.", d.Addr, name)
	if len(d.Kind.Sides) > 0 {
		detail += fmt.Sprintf(" Its side relations are %s.", quotedList(d.Kind.Sides)) + l.didYouMean(name, d.Kind.Sides)
	}
	return &problem{"Invalid reference", detail}
}

// undeclared explains that there is no such resource, and looks for one like it.
func (l *loader) undeclared(a addr.Resource) string {
	detail := fmt.Sprintf("%s is not declared.", a)
	var same, all []string
	for other := range l.resources {
		if other.Block == a.Block {
			same = append(same, other.String())
		}
		if other.Name == a.Name {
			all = append(all, other.String())
		}
	}
	slices.Sort(same)
	slices.Sort(all)
	if near := l.didYouMean(a.String(), same); near != "" {
		return detail + near
	}
	if len(all) > 0 {
		return detail + fmt.Sprintf(" Did you mean %q?", all[0])
	}
	return detail
}

// reference evaluates an argument that takes references: a bare one, a list of them, or a choice
// between them. The value holds their addresses as text.
func (d *decoder) reference(f schema.Field, expr hcl.Expression, path string) (cty.Value, bool) {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return d.reference(f, e.Expression, path)
	case *hclsyntax.ConditionalExpr:
		return d.chosenReference(f, e, path)
	case *hclsyntax.TupleConsExpr:
		if !f.Type.IsListType() {
			break
		}
		vals, ok := make([]cty.Value, 0, len(e.Exprs)), true
		for _, inner := range e.Exprs {
			v, good := d.reference(f, inner, path)
			vals, ok = append(vals, v), ok && good
		}
		return cty.TupleVal(vals), ok
	case *hclsyntax.ScopeTraversalExpr:
		if slices.Contains(addr.Blocks(), addr.Block(e.Traversal.RootName())) {
			return d.bareReference(f, e, path)
		}
	}
	v, ok := d.l.value(expr, d.l.ctx)
	if !ok || v.IsNull() {
		return v, ok
	}
	d.l.failExpr(expr, d.l.ctx, "A reference is required", fmt.Sprintf("The argument %q takes a reference to a resource, written without quotes: %s = %s.", f.Name, f.Name, d.exampleReference(f)))
	return v, false
}

func (d *decoder) exampleReference(f schema.Field) string {
	block := addr.View
	if len(f.RefBlocks) > 0 {
		block = f.RefBlocks[0]
	}
	example := string(block) + ".NAME"
	if block.HasType() {
		example = string(block) + ".TYPE.NAME"
	}
	if f.Type.IsListType() {
		return "[" + example + "]"
	}
	return example
}

func (d *decoder) chosenReference(f schema.Field, e *hclsyntax.ConditionalExpr, path string) (cty.Value, bool) {
	v, ok := d.l.value(e.Condition, d.l.ctx)
	if !ok {
		return v, false
	}
	v, _ = v.UnmarkDeep()
	v, err := convert.Convert(v, cty.Bool)
	if err != nil || v.IsNull() {
		d.l.failExpr(e.Condition, d.l.ctx, "Incorrect condition type", "The condition must be true or false.")
		return v, false
	}
	if v.True() {
		return d.reference(f, e.TrueResult, path)
	}
	return d.reference(f, e.FalseResult, path)
}

func (d *decoder) bareReference(f schema.Field, e *hclsyntax.ScopeTraversalExpr, path string) (cty.Value, bool) {
	at := e.Range()
	ref, p := d.l.resourceReference(e.Traversal)
	if p != nil {
		d.l.failReference(e.Traversal, p)
		return cty.DynamicVal, false
	}
	allowed := f.RefBlocks
	if len(allowed) == 0 {
		allowed = []addr.Block{addr.Source, addr.Stream, addr.View}
	}
	if !slices.Contains(allowed, ref.To.Block) {
		words := make([]string, len(allowed))
		for i, b := range allowed {
			words[i] = string(b)
		}
		d.l.fail(&at, "Wrong kind of resource", fmt.Sprintf("The argument %q takes a reference to a %s; %s is a %s.", f.Name, strings.Join(words, " or a "), ref.To, ref.To.Block))
		return cty.DynamicVal, false
	}
	ref.Attr = d.shown(path)
	d.out.Refs = append(d.out.Refs, ref)
	text := ref.To.String()
	if ref.Side != "" {
		text += "." + ref.Side
	}
	return cty.StringVal(text), true
}
