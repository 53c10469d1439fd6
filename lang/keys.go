package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// keys lists the keys of a map in the order a person wrote them, which its value does not keep. It follows locals and
// looks into merge() and tomap(); nil when the map is computed in another way, so that nobody chose an order.
func (l *loader) keys(expr hcl.Expression) []string {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return l.keys(e.Expression)
	case *hclsyntax.ObjectConsExpr:
		return l.itemKeys(e)
	case *hclsyntax.FunctionCallExpr:
		return l.argumentKeys(e)
	case *hclsyntax.ScopeTraversalExpr:
		name, ok := localName(e.Traversal)
		if loc := l.locals[name]; ok && loc != nil {
			return l.keys(loc.expr)
		}
	}
	return nil
}

// itemKeys lists the keys of { … }. A key written twice keeps its first place.
func (l *loader) itemKeys(e *hclsyntax.ObjectConsExpr) []string {
	out := make([]string, 0, len(e.Items))
	for _, item := range e.Items {
		key, diags := item.KeyExpr.Value(l.ctx)
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

func (l *loader) argumentKeys(e *hclsyntax.FunctionCallExpr) []string {
	if e.Name != "merge" && e.Name != "tomap" || e.ExpandFinal {
		return nil
	}
	var out []string
	for _, arg := range e.Args {
		found := l.keys(arg)
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

// localName is the name in a reference that is local.NAME and no more.
func localName(t hcl.Traversal) (string, bool) {
	if len(t) != 2 || t.RootName() != "local" {
		return "", false
	}
	attr, ok := t[1].(hcl.TraverseAttr)
	return attr.Name, ok
}
