package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/expand"
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
		ref, p := l.resourceReference(t, true)
		_, meant := l.meanings[l.reading][root]
		switch {
		case p != nil:
			return p
		case meant && l.reading == inSQL && ref.Side != "":
			return &problem{"Invalid reference", fmt.Sprintf("In SQL, the side relation follows the reference: write ${%s}.%s.", ref.To, ref.Side)}
		case meant:
			return nil
		case l.reading == inSQL:
			return &problem{"Wrong kind of resource", fmt.Sprintf("SQL reads sources, streams and views; %s is a %s.", ref.To, ref.To.Block)}
		}
		return &problem{"Values of resources are not available", fmt.Sprintf("%s can only stand alone, as the whole value of an argument that takes a reference. What a resource holds is not known while files are read; SQL reads relations by their bare names.", ref.To)}
	case root == "each" || root == "count":
		if summary, detail := expand.CheckSelf(t, l.ctx); summary != "" {
			return &problem{summary, detail}
		}
		return nil
	case root == "self" || root == "module" || root == "data" || root == "terraform" || root == "streamform":
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
	for a := range l.blocks {
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

// resourceReference reads a traversal that begins with a block's name. With all, it may mean all instances of a block.
func (l *loader) resourceReference(t hcl.Traversal, all bool) (Reference, *problem) {
	a, rest, ok := expand.Address(t)
	if !ok {
		form := string(a.Block) + ".NAME"
		if a.Block.HasType() {
			form = string(a.Block) + ".TYPE.NAME"
		}
		return Reference{}, &problem{"Invalid reference", fmt.Sprintf("A %s is referred to as %s, and one of several instances as %s[KEY].", a.Block, form, form)}
	}
	ref := Reference{To: a, Range: rangeOf(t.SourceRange())}
	b, ok := l.blocks[a.Whole()]
	switch {
	case !ok && l.trusting:
		return ref, nil
	case l.faulty[a.Whole()]:
		return ref, &problem{}
	case !ok:
		return ref, &problem{"Reference to undeclared resource", l.undeclared(a)}
	case l.meanings != nil && (!all || a.Key != (addr.Key{}) || len(rest) > 0):
		ref.To.Key = expand.As(b.Mode, a.Key)
		if p := l.checkKey(b, ref.To.Key); p != nil {
			return ref, p
		}
	}
	switch {
	case len(rest) == 1 && slices.Contains(b.shape.kind.Sides, rest[0]):
		ref.Side = rest[0]
	case len(rest) > 0:
		return ref, l.noSuchSide(b, ref.To, rest)
	}
	return ref, nil
}

func (l *loader) noSuchSide(b *block, a addr.Resource, rest []string) *problem {
	name := strings.Join(rest, ".")
	if f, ok := b.shape.kind.Field(rest[0]); ok {
		return &problem{"Values of resources are not available", fmt.Sprintf("%s.%s cannot be read: what a resource's arguments say is not available elsewhere. Put the value into locals { } and use it in both places.", a, f.Name)}
	}
	detail := fmt.Sprintf("%s has no part %q that can be referred to.", a, name)
	if len(b.shape.kind.Sides) > 0 {
		detail += fmt.Sprintf(" Its side relations are %s.", quotedList(b.shape.kind.Sides)) + l.didYouMean(name, b.shape.kind.Sides)
	}
	return &problem{"Invalid reference", detail}
}

// undeclared explains that there is no such resource, and looks for one like it.
func (l *loader) undeclared(a addr.Resource) string {
	detail := fmt.Sprintf("%s is not declared.", a)
	var same, all []string
	for other := range l.blocks {
		if other.Block == a.Block {
			same = append(same, other.String())
		}
		if other.Name == a.Name {
			all = append(all, other.String())
		}
	}
	slices.Sort(same)
	slices.Sort(all)
	if near := l.didYouMean(a.Whole().String(), same); near != "" {
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
	if refers(expr) {
		return d.computedReference(f, expr, path)
	}
	v, ok := d.l.value(expr, d.l.ctx)
	if !ok || v.IsNull() {
		return v, ok
	}
	d.l.failExpr(expr, d.l.ctx, "A reference is required", fmt.Sprintf("The argument %q takes a reference to a resource, written without quotes: %s = %s.", f.Name, f.Name, expand.Example(f)))
	return v, false
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
	ref, p := d.l.resourceReference(e.Traversal, false)
	if p != nil {
		d.l.failReference(e.Traversal, p)
		return cty.DynamicVal, false
	}
	return d.refer(f, ref, e.Range(), path)
}

// refer notes that an argument refers to a resource, if it may refer to such.
func (d *decoder) refer(f schema.Field, ref Reference, at hcl.Range, path string) (cty.Value, bool) {
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
