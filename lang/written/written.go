// Package written finds out how a person wrote what was evaluated: the place of each part of a text, and the order of a map's keys.
package written

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/literal"
	"github.com/zclconf/go-cty/cty"
)

// World is what expressions stand for where they are evaluated.
type World struct {
	Ctx    *hcl.EvalContext
	Local  func(name string) hclsyntax.Expression // of a local value; nil when there is none such
	Source func(file string) *literal.Source      // a file that was read, by the name ranges use
	Read   func(path string) (text string, src *literal.Source, ok bool)
}

// Keys lists the keys of a map in the order a person wrote them, which its value does not keep. It follows locals and
// looks into merge() and tomap(); nil when the map is computed in another way, so that nobody chose an order.
func (w World) Keys(expr hcl.Expression) []string {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return w.Keys(e.Expression)
	case *hclsyntax.ObjectConsExpr:
		return w.itemKeys(e)
	case *hclsyntax.FunctionCallExpr:
		return w.argumentKeys(e)
	case *hclsyntax.ScopeTraversalExpr:
		if of := w.local(e.Traversal); of != nil {
			return w.Keys(of)
		}
	}
	return nil
}

// itemKeys lists the keys of { … }. A key written twice keeps its first place.
func (w World) itemKeys(e *hclsyntax.ObjectConsExpr) []string {
	out := make([]string, 0, len(e.Items))
	for _, item := range e.Items {
		key, diags := item.KeyExpr.Value(w.Ctx)
		if diags.HasErrors() || !key.IsWhollyKnown() || key.IsNull() {
			return nil
		}
		key, _ = key.Unmark()
		if key.Type() != cty.String {
			return nil
		}
		out = appendNew(out, key.AsString())
	}
	return out
}

func (w World) argumentKeys(e *hclsyntax.FunctionCallExpr) []string {
	if e.Name != "merge" && e.Name != "tomap" || e.ExpandFinal {
		return nil
	}
	var out []string
	for _, arg := range e.Args {
		found := w.Keys(arg)
		if found == nil {
			return nil
		}
		out = appendNew(out, found...)
	}
	return out
}

func appendNew(list []string, names ...string) []string {
	for _, n := range names {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// local is the expression of the local value that a reference is, when it is local.NAME and no more; else nil.
func (w World) local(t hcl.Traversal) hclsyntax.Expression {
	if len(t) != 2 || t.RootName() != "local" {
		return nil
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	if !ok {
		return nil
	}
	return w.Local(attr.Name)
}
