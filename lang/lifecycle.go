package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/expand"
	"github.com/zclconf/go-cty/cty"
)

// Lifecycle is the lifecycle block of a resource.
type Lifecycle struct {
	PreventDestroy bool
	PreventReplay  bool // a plan that reads sources from their start again for it is blocked
	// IgnoreChanges are top-level attributes and blocks whose recorded values stay, whatever is written.
	IgnoreChanges []string
	IgnoreAll     bool // ignore_changes = all
	// ReplaceTriggeredBy replaces the resource when one of these changes.
	ReplaceTriggeredBy []Trigger
}

// laterLifecycle are arguments of Terraform's that this version does not have.
func laterLifecycle() []string { return []string{"create_before_destroy", "destroy"} }

func (d *decoder) lifecycle(blocks hcl.Blocks) {
	for i, b := range blocks {
		if i > 0 {
			d.l.fail(&b.DefRange, "Duplicate lifecycle block", fmt.Sprintf("Only one lifecycle block is allowed, and there is one at %s.", rangeOf(blocks[0].DefRange)))
			continue
		}
		s := &hcl.BodySchema{}
		for _, name := range append(laterLifecycle(), "prevent_destroy", "prevent_replay", "ignore_changes", "replace_triggered_by") {
			s.Attributes = append(s.Attributes, hcl.AttributeSchema{Name: name})
		}
		content, diags := b.Body.Content(s)
		d.l.report(diags)
		for _, name := range laterLifecycle() {
			if attr, ok := content.Attributes[name]; ok {
				d.l.fail(&attr.NameRange, fmt.Sprintf("Argument %q is not supported in this version", name),
					"A replacement is always made before what it replaces goes. Of a lifecycle block, this version knows prevent_destroy, prevent_replay, ignore_changes and replace_triggered_by.")
			}
		}
		d.out.Lifecycle.PreventDestroy = d.flag(content.Attributes["prevent_destroy"])
		d.out.Lifecycle.PreventReplay = d.flag(content.Attributes["prevent_replay"])
		d.ignoreChanges(content.Attributes["ignore_changes"])
		d.replaceTriggeredBy(content.Attributes["replace_triggered_by"])
	}
}

// flag evaluates a true or false; without the attribute it is false.
func (d *decoder) flag(attr *hcl.Attribute) bool {
	if attr == nil {
		return false
	}
	v, ok := d.l.plain(attr, cty.Bool, d.l.ctx)
	return ok && !v.IsNull() && v.True()
}

// ignoreChanges reads a list of attributes, or the word all.
func (d *decoder) ignoreChanges(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	if hcl.ExprAsKeyword(attr.Expr) == "all" {
		d.out.Lifecycle.IgnoreAll = true
		return
	}
	for _, expr := range d.list(attr, "a list of attributes, such as [path], or the word all") {
		at := expr.Range()
		t, diags := hcl.AbsTraversalForExpr(expr)
		switch {
		case diags.HasErrors() || len(t) != 1:
			d.l.fail(&at, "Invalid attribute", "ignore_changes lists attributes and blocks at the top of the resource, by their names without quotes.")
			continue
		}
		name := t.RootName()
		if _, ok := d.out.Kind.Field(name); !ok {
			var names []string
			for _, f := range d.out.Kind.Fields() {
				names = append(names, f.Name)
			}
			d.l.fail(&at, "Unknown attribute", fmt.Sprintf("A %s has no attribute or block %q.", d.out.Kind.Name(), name)+d.l.didYouMean(name, names))
			continue
		}
		d.out.Lifecycle.IgnoreChanges = append(d.out.Lifecycle.IgnoreChanges, name)
	}
}

// replaceTriggeredBy reads a list of resources and of their attributes.
func (d *decoder) replaceTriggeredBy(attr *hcl.Attribute) {
	if attr == nil {
		return
	}
	for _, expr := range d.list(attr, "a list of references, such as [source.files.purchases, view.sales.sql]") {
		at := expr.Range()
		for _, by := range d.triggersIn(expr) {
			if d.triggers(by, at) {
				d.out.Lifecycle.ReplaceTriggeredBy = append(d.out.Lifecycle.ReplaceTriggeredBy, by)
			}
		}
	}
}

// triggersIn reads an entry of replace_triggered_by. A block with several instances stands for all of them.
func (d *decoder) triggersIn(expr hcl.Expression) (out []Trigger) {
	t, diags := hcl.AbsTraversalForExpr(expr)
	a, rest, ok := addr.Resource{}, []string(nil), false
	if !diags.HasErrors() {
		a, rest, ok = expand.Address(t)
	}
	b := d.l.blocks[a.Whole()]
	switch {
	case ok && len(rest) <= 1 && b != nil && b.Mode != addr.Once && a.Key == addr.Key{}:
		for _, k := range b.Keys {
			out = append(out, Trigger{To: a.Instance(k), Attr: strings.Join(rest, "")})
		}
		return out
	case ok && len(rest) <= 1:
		if b != nil {
			a.Key = expand.As(b.Mode, a.Key)
		}
		return []Trigger{{To: a, Attr: strings.Join(rest, "")}}
	case diags.HasErrors() && refers(expr):
		refs, ok, reported := d.l.referred(expr)
		for _, ref := range refs {
			out = append(out, Trigger{To: ref.To, Attr: ref.Side})
		}
		if ok || reported {
			return out
		}
	}
	at := expr.Range()
	d.l.fail(&at, "Invalid reference", "replace_triggered_by lists resources (view.sales) and attributes of resources (view.sales.sql), without quotes.")
	return nil
}

// triggers checks that there is what should trigger a replacement.
func (d *decoder) triggers(by Trigger, at hcl.Range) bool {
	other, declared := d.l.resources[by.To]
	switch {
	case d.l.faulty[by.To.Whole()] || d.l.trusting && !declared:
		return false
	case !declared && d.l.blocks[by.To.Whole()] != nil:
		p := d.l.checkKey(d.l.blocks[by.To.Whole()], by.To.Key)
		d.l.fail(&at, p.summary, p.detail)
		return false
	case !declared:
		d.l.fail(&at, "Reference to undeclared resource", d.l.undeclared(by.To))
		return false
	case by.To == d.out.Addr:
		d.l.fail(&at, "Invalid reference", "A resource cannot be replaced because of its own changes.")
		return false
	}
	if _, ok := other.Kind.Field(by.Attr); by.Attr != "" && !ok {
		d.l.fail(&at, "Unknown attribute", fmt.Sprintf("A %s has no attribute or block %q.", other.Kind.Name(), by.Attr))
		return false
	}
	return true
}

// list reads the expressions of a list that is written out.
func (d *decoder) list(attr *hcl.Attribute, want string) []hcl.Expression {
	exprs, diags := hcl.ExprList(attr.Expr)
	if diags.HasErrors() {
		at := attr.Expr.Range()
		d.l.fail(&at, "Invalid "+attr.Name, fmt.Sprintf("%s is %s.", attr.Name, want))
	}
	return exprs
}
