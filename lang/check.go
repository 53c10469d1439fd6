package lang

import (
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/diag"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Check is a check block: assertions over the configuration's values. One that does not hold is a warning of a plan and
// stops nothing.
type Check struct {
	Name    string
	Asserts []Assert
	Range   diag.Range // the block's header
}

// Assert is one assertion of a check block, and what came of it.
type Assert struct {
	Holds   bool
	Message string          // its error_message, when it does not hold
	Finding diag.Diagnostic // the warning that says so; zero when it holds
}

// namedBlock is a check or plan_policy block before it is evaluated.
type namedBlock struct {
	name string
	*hcl.Block
}

// declareNamed enters a check or plan_policy block, whose name is one of its kind of block.
func (l *loader) declareNamed(b *hcl.Block) {
	name := b.Labels[0]
	if !l.validName("a "+b.Type+" block", name, b.LabelRanges[0]) {
		return
	}
	for _, other := range l.named[b.Type] {
		if other.name == name {
			l.fail(&b.DefRange, fmt.Sprintf("Duplicate %s block", b.Type), fmt.Sprintf("There is already a %s %q at %s. Each needs a name of its own.", b.Type, name, rangeOf(other.DefRange)))
			return
		}
	}
	l.named[b.Type] = append(l.named[b.Type], namedBlock{name, b})
}

// evaluateNamed evaluates the check and plan_policy blocks, by name.
func (l *loader) evaluateNamed() {
	for _, list := range l.named {
		sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	}
	for _, b := range l.named["check"] {
		l.checks = append(l.checks, l.evaluateCheck(b))
	}
	for _, b := range l.named["plan_policy"] {
		l.policies = append(l.policies, l.evaluatePolicy(b))
	}
}

func (l *loader) evaluateCheck(b namedBlock) Check {
	c := Check{Name: b.name, Range: rangeOf(b.DefRange)}
	content, diags := b.Body.Content(&hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "assert"}}})
	l.report(diags)
	if len(content.Blocks) == 0 && !diags.HasErrors() {
		l.fail(&b.DefRange, "Check without assertion", `A check block needs at least one assert block, with a condition and an error_message.`)
	}
	for _, rule := range content.Blocks {
		result, ok := l.evaluateRule(rule)
		if !ok {
			continue
		}
		a := Assert{Holds: result.holds, Message: result.message}
		if !a.Holds {
			at := result.condition.Range()
			a.Finding = diag.NewWarning(toRange(&at), "Check block assertion failed", result.message)
			a.Finding.Alone = true
			a.Finding.Values = valuesIn(result.condition, l.ctx)
			a.Finding.Context = fmt.Sprintf("check %q", b.name)
		}
		c.Asserts = append(c.Asserts, a)
	}
	return c
}

// ruleResult is what a block with a condition and an error_message came to.
type ruleResult struct {
	holds     bool
	message   string // when it does not hold
	condition hcl.Expression
}

// evaluateRule evaluates a condition. ok is false when it has no answer, which is then reported.
func (l *loader) evaluateRule(rule *hcl.Block) (r ruleResult, ok bool) {
	content, diags := rule.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "condition", Required: true}, {Name: "error_message", Required: true},
	}})
	l.report(diags)
	condition, message := content.Attributes["condition"], content.Attributes["error_message"]
	if condition == nil || message == nil {
		return r, false
	}
	value, ok := l.value(condition.Expr, l.ctx)
	if !ok {
		return r, false
	}
	value, _ = value.UnmarkDeep()
	value, err := convert.Convert(value, cty.Bool)
	if err != nil || value.IsNull() {
		l.failExpr(condition.Expr, l.ctx, fmt.Sprintf("Invalid %s condition", rule.Type), "The condition must be true or false.")
		return r, false
	}
	r.holds, r.condition = value.True(), condition.Expr
	if !r.holds {
		r.message = "The error_message itself could not be shown."
		if text, ok := l.plain(message, cty.String, l.ctx); ok && !text.IsNull() {
			r.message = text.AsString()
		}
	}
	return r, true
}
