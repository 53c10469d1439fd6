package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
)

// Policy is a plan_policy block: what a plan may not do unless -allow names the resource.
type Policy struct {
	Name string
	// MaxReplay bounds what one change may read again of sources that were read before, in bytes; -1: no bound.
	MaxReplay int64
	// ProtectSinks denies plans that destroy or replace a sink.
	ProtectSinks bool
	// RequireApproval lists classes, spelled as plan spells them, whose changes need -allow.
	RequireApproval []string
	// AppliesTo lists the resources the policy is about; empty: all.
	AppliesTo []addr.Resource
	Range     diag.Range // the block's header
}

// approvable are the classes that a policy can require an approval for: those that cost something.
func approvable() []string {
	return []string{"in_place", "migrate", "rebuild_from_state", "replay_from_source"}
}

func (l *loader) evaluatePolicy(b namedBlock) Policy {
	p := Policy{Name: b.name, MaxReplay: -1, Range: rangeOf(b.DefRange)}
	content, diags := b.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "max_replay"}, {Name: "protect_sinks"}, {Name: "require_approval"}, {Name: "applies_to"},
	}})
	l.report(diags)
	if attr, ok := content.Attributes["max_replay"]; ok {
		l.maxReplay(&p, attr)
	}
	if attr, ok := content.Attributes["protect_sinks"]; ok {
		if v, ok := l.plain(attr, cty.Bool, l.ctx); ok && !v.IsNull() {
			p.ProtectSinks = v.True()
		}
	}
	if attr, ok := content.Attributes["require_approval"]; ok {
		l.requireApproval(&p, attr)
	}
	if attr, ok := content.Attributes["applies_to"]; ok {
		l.appliesTo(&p, attr)
	}
	if len(content.Attributes) == 0 && !diags.HasErrors() {
		l.fail(&b.DefRange, "Policy without rule", "A plan_policy block needs at least one of max_replay, protect_sinks and require_approval.")
	}
	return p
}

func (l *loader) maxReplay(p *Policy, attr *hcl.Attribute) {
	v, ok := l.plain(attr, cty.String, l.ctx)
	if !ok || v.IsNull() {
		return
	}
	size, err := schema.ParseSize(v.AsString())
	if err != nil {
		l.failExpr(attr.Expr, l.ctx, "Invalid size", fmt.Sprintf("The argument \"max_replay\" takes an amount of data: %s", err))
		return
	}
	p.MaxReplay = int64(size)
}

func (l *loader) requireApproval(p *Policy, attr *hcl.Attribute) {
	v, ok := l.plain(attr, cty.List(cty.String), l.ctx)
	if !ok || v.IsNull() {
		return
	}
	for _, e := range v.AsValueSlice() {
		if e.IsNull() || !slices.Contains(approvable(), e.AsString()) {
			name := ""
			if !e.IsNull() {
				name = e.AsString()
			}
			l.failExpr(attr.Expr, l.ctx, "Unknown class", fmt.Sprintf("%q is not a class of changes that can need an approval; there are %s.%s", name, quotedList(approvable()), l.didYouMean(name, approvable())))
			continue
		}
		p.RequireApproval = append(p.RequireApproval, e.AsString())
	}
}

// appliesTo reads references, which stand bare as everywhere.
func (l *loader) appliesTo(p *Policy, attr *hcl.Attribute) {
	exprs := []hcl.Expression{attr.Expr}
	if list, ok := attr.Expr.(*hclsyntax.TupleConsExpr); ok {
		exprs = exprs[:0]
		for _, e := range list.Exprs {
			exprs = append(exprs, e)
		}
	} else if t, diags := hcl.AbsTraversalForExpr(attr.Expr); !diags.HasErrors() && t != nil || !refers(attr.Expr) {
		l.failExpr(attr.Expr, l.ctx, "A list of references is required", "The argument \"applies_to\" takes references to resources, written without quotes: applies_to = [view.NAME].")
		return
	}
	for _, e := range exprs {
		refs, ok, reported := []Reference(nil), false, false
		if refers(e) {
			refs, ok, reported = l.referred(e)
		}
		if !ok && !reported {
			l.failExpr(e, l.ctx, "A reference is required", "The argument \"applies_to\" takes references to resources, written without quotes: applies_to = [view.NAME].")
		}
		for _, ref := range refs {
			p.AppliesTo = append(p.AppliesTo, ref.To)
		}
	}
}
