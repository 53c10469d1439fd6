package lang

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/expand"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// reading says what references to resources stand for in the expression at hand.
type reading int

const (
	nowhere    reading = iota // nothing: they may not stand there
	inSQL                     // the names of relations
	inArgument                // what expand.Gather understands
)

// expand makes the instances of every block. Where for_each or count has no usable value, the block counts as faulty.
func (l *loader) expand() {
	for _, b := range l.blocksInOrder() {
		instances, ok := l.instances(b)
		l.faulty[b.Addr] = !ok
		for _, i := range instances {
			d := newDeclared(b, i)
			b.Keys = append(b.Keys, i.Key)
			l.resources[d.Resource.Addr] = d
		}
	}
	l.meanings = map[reading]map[string]cty.Value{}
}

func newDeclared(b *block, self expand.Instance) *declared {
	d := &declared{block: b, self: self}
	d.Resource.Addr, d.Kind, d.Range = b.Addr.Instance(self.Key), b.shape.kind, rangeOf(b.at)
	return d
}

func (l *loader) instances(b *block) ([]expand.Instance, bool) {
	each, count := b.body.Attributes[string(addr.ForEach)], b.body.Attributes[string(addr.Count)]
	switch {
	case each != nil && count != nil:
		l.fail(&each.NameRange, "Invalid combination of count and for_each", fmt.Sprintf("A block has as many instances as one of the two says, and count is set at %s. Remove one of them.", rangeOf(count.NameRange)))
		return nil, false
	case each != nil:
		b.Mode = addr.ForEach
		return l.multiply(each, expand.ForEach)
	case count != nil:
		b.Mode = addr.Count
		return l.multiply(count, expand.Count)
	}
	return []expand.Instance{{}}, true
}

func (l *loader) multiply(attr *hclsyntax.Attribute, by func(cty.Value) ([]expand.Instance, error)) ([]expand.Instance, bool) {
	v, ok := l.value(attr.Expr, l.ctx)
	if !ok {
		return nil, false
	}
	if key, at, twice := expand.Duplicate(attr.Expr, l.ctx); twice {
		l.fail(&at, "Duplicate key", fmt.Sprintf("The key %q is written twice. Each instance needs a key of its own.", key))
		return nil, false
	}
	instances, err := by(v)
	if err != nil {
		l.failExpr(attr.Expr, l.ctx, fmt.Sprintf("Invalid %s argument", attr.Name), err.Error())
	}
	return instances, err == nil
}

// with gives the expressions at hand further names, until what it returns is called.
func (l *loader) with(names map[string]cty.Value) (restore func()) {
	before := l.ctx
	if len(names) > 0 {
		all := maps.Clone(before.Variables)
		maps.Copy(all, names)
		l.ctx = &hcl.EvalContext{Variables: all, Functions: before.Functions}
	}
	return func() { l.ctx = before }
}

// read lets references to resources stand in the expression at hand, until what it returns is called.
func (l *loader) read(r reading) (restore func()) {
	if l.meanings[r] == nil {
		var blocks []expand.Block
		for a, b := range l.blocks {
			of := b.Block
			of.Parts, of.Faulty = slices.Clone(b.shape.kind.Sides), l.faulty[a]
			for _, f := range b.shape.fields {
				of.Parts = append(of.Parts, f.Name)
			}
			blocks = append(blocks, of)
		}
		if r == inSQL {
			l.meanings[r] = expand.Texts(blocks)
		} else {
			l.meanings[r] = expand.References(blocks)
		}
	}
	leave, before := l.with(l.meanings[r]), l.reading
	l.reading = r
	return func() {
		leave()
		l.reading = before
	}
}

// checkKey says what is wrong with a key that an instance of a block is referred to by.
func (l *loader) checkKey(b *block, k addr.Key) *problem {
	if _, ok := l.resources[b.Addr.Instance(k)]; ok {
		return nil
	}
	summary, detail := b.Missing(k, fmt.Sprint(rangeOf(b.at)))
	return &problem{summary, detail}
}

// refers reports whether an expression refers to resources.
func refers(expr hcl.Expression) bool {
	return slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool {
		return slices.Contains(addr.Blocks(), addr.Block(t.RootName()))
	})
}

// checkKeys explains why an expression could not be evaluated, where the reason is a computed key, as in view.x[each.key], by which
// there is no instance. It is true when it found none.
func (l *loader) checkKeys(expr hcl.Expression) bool {
	root, ok := expr.(hclsyntax.Node)
	if l.reading == nowhere || !ok {
		return true
	}
	good := true
	_ = hclsyntax.VisitAll(root, func(n hclsyntax.Node) hcl.Diagnostics {
		index, ok := n.(*hclsyntax.IndexExpr)
		if !ok {
			return nil
		}
		of, diags := hcl.AbsTraversalForExpr(index.Collection)
		if diags.HasErrors() {
			return nil
		}
		a, rest, ok := expand.Address(of)
		b := l.blocks[a]
		if !ok || len(rest) > 0 || b == nil || l.faulty[a] {
			return nil
		}
		v, diags := index.Key.Value(l.ctx)
		if k, ok := expand.KeyOf(v); ok && !diags.HasErrors() {
			if p := l.checkKey(b, expand.As(b.Mode, k)); p != nil {
				l.failExpr(index, l.ctx, p.summary, p.detail)
				good = false
			}
		}
		return nil
	})
	return good
}

// referred evaluates an expression that means resources: one, or a collection of them. ok is false when it means something else, or
// has no value; reported tells that this was reported.
func (l *loader) referred(expr hcl.Expression) (refs []Reference, ok, reported bool) {
	defer l.read(inArgument)()
	v, ok := l.value(expr, l.ctx)
	if !ok {
		return nil, false, true
	}
	found, ok := expand.Gather(v)
	for _, f := range found {
		refs = append(refs, Reference{To: f.To, Side: f.Part, Range: rangeOf(expr.Range())})
	}
	return refs, ok, false
}

// computedReference evaluates an argument whose references are not written out.
func (d *decoder) computedReference(f schema.Field, expr hcl.Expression, path string) (cty.Value, bool) {
	at := expr.Range()
	refs, ok, reported := d.l.referred(expr)
	switch {
	case reported:
		return cty.DynamicVal, false
	case !ok:
		d.l.failExpr(expr, d.l.ctx, "A reference is required", fmt.Sprintf("The argument %q takes a reference to a resource, written without quotes: %s = %s.", f.Name, f.Name, expand.Example(f)))
		return cty.DynamicVal, false
	case !f.Type.IsListType() && len(refs) != 1:
		d.l.failExpr(expr, d.l.ctx, "A single reference is required", fmt.Sprintf("The argument %q takes a reference to one resource, and this means %d.", f.Name, len(refs)))
		return cty.DynamicVal, false
	}
	vals := make([]cty.Value, len(refs))
	for i, ref := range refs {
		b := d.l.blocks[ref.To.Whole()]
		if ref.Side != "" && !slices.Contains(b.shape.kind.Sides, ref.Side) {
			p := d.l.noSuchSide(b, ref.To, []string{ref.Side})
			d.l.fail(&at, p.summary, p.detail)
			return cty.DynamicVal, false
		}
		if vals[i], ok = d.refer(f, ref, at, path); !ok {
			return vals[i], false
		}
	}
	if f.Type.IsListType() {
		return cty.TupleVal(vals), true
	}
	return vals[0], true
}
