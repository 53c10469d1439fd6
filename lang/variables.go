package lang

import (
	"fmt"
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/streamform/streamform/lang/function"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// variable is a declared input variable and, once set, its value.
type variable struct {
	name      string
	at        hcl.Range // the header
	typ       cty.Type
	typed     bool // a type was written
	defaults  *typeexpr.Defaults
	fallback  cty.Value // the default; cty.NilVal when the variable is required
	sensitive bool
	nullable  bool
	rules     []*hcl.Block
	broken    bool      // the declaration has a mistake; its values are not judged
	value     cty.Value // marked when sensitive; unknown when there is no usable one
}

func variableSchema() *hcl.BodySchema {
	return &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "type"}, {Name: "default"}, {Name: "description"}, {Name: "sensitive"}, {Name: "nullable"}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "validation"}},
	}
}

func (l *loader) declareVariable(b *hcl.Block) {
	name := b.Labels[0]
	if !l.validName("a variable", name, b.LabelRanges[0]) {
		return
	}
	if other, ok := l.variables[name]; ok {
		l.fail(&b.DefRange, "Duplicate variable", fmt.Sprintf("The variable %q is already declared at %s.", name, rangeOf(other.at)))
		return
	}
	v := &variable{name: name, at: b.DefRange, typ: cty.DynamicPseudoType, nullable: true, value: cty.DynamicVal}
	l.variables[name] = v
	before := len(l.diags)
	content, diags := b.Body.Content(variableSchema())
	l.report(diags)
	v.rules = content.Blocks
	if attr, ok := content.Attributes["type"]; ok {
		ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
		l.report(diags)
		v.typ, v.defaults, v.typed = ty, defaults, true
	}
	if attr, ok := content.Attributes["description"]; ok {
		l.literal(attr, cty.String)
	}
	for name, target := range map[string]*bool{"sensitive": &v.sensitive, "nullable": &v.nullable} {
		if attr, ok := content.Attributes[name]; ok {
			if flag, ok := l.literal(attr, cty.Bool); ok {
				*target = flag.True()
			}
		}
	}
	if attr, ok := content.Attributes["default"]; ok && len(l.diags) == before {
		l.declareDefault(v, attr)
	}
	v.broken = len(l.diags) > before
}

func (l *loader) declareDefault(v *variable, attr *hcl.Attribute) {
	got, diags := attr.Expr.Value(nil)
	l.report(diags)
	if diags.HasErrors() {
		return
	}
	at := attr.Expr.Range()
	fallback, err := v.convert(got)
	switch {
	case err != nil:
		l.fail(&at, "Invalid default value for variable", fmt.Sprintf("The default does not fit the variable's type: %s.", errorWithPath(err)))
	case fallback.IsNull() && !v.nullable:
		l.fail(&at, "Invalid default value for variable", "A variable with nullable = false cannot have null as its default.")
	default:
		v.fallback = fallback
	}
}

// convert fits a value to the variable's type, optional attributes filled in.
func (v *variable) convert(got cty.Value) (cty.Value, error) {
	if v.defaults != nil && !got.IsNull() {
		got = v.defaults.Apply(got)
	}
	return convert.Convert(got, v.typ)
}

// errorWithPath names the part of a value an error is about.
func errorWithPath(err error) string {
	if pathErr, ok := err.(cty.PathError); ok && len(pathErr.Path) > 0 {
		return pathString(pathErr.Path) + ": " + pathErr.Error()
	}
	return err.Error()
}

// setVariables gives every variable the value of this run, later sources winning.
func (l *loader) setVariables() {
	given := l.givenValues()
	for _, name := range sortedKeys(l.variables) {
		v := l.variables[name]
		if v.broken {
			continue
		}
		l.setVariable(v, given[name])
	}
}

func (l *loader) setVariable(v *variable, in *given) {
	value := v.fallback
	if in != nil {
		got, ok := l.parseGiven(v, in)
		if !ok {
			v.broken = true
			return
		}
		if !got.IsNull() || v.nullable {
			value = got
		}
		if got.IsNull() && !v.nullable && v.fallback == cty.NilVal {
			l.fail(in.place(v), "Required variable not set", fmt.Sprintf("The variable %q must not be null: it says nullable = false, and has no default.", v.name))
			v.broken = true
			return
		}
	}
	if value == cty.NilVal {
		l.fail(&v.at, "No value for required variable", fmt.Sprintf("The variable %q is not set, and has no default. Set it with -var '%s=…', in a .sfvars file given with -var-file, or as STREAMFORM_VAR_%s in the environment.", v.name, v.name, v.name))
		v.broken = true
		return
	}
	if v.sensitive {
		value = value.Mark(function.Sensitive)
	}
	v.value = value
}

// checkVariables applies the validation rules, once everything they may refer to has a value.
func (l *loader) checkVariables() {
	for _, name := range sortedKeys(l.variables) {
		v := l.variables[name]
		for _, rule := range v.rules {
			l.checkRule(v, rule)
		}
	}
}

func (l *loader) checkRule(v *variable, rule *hcl.Block) {
	r, ok := l.evaluateRule(rule)
	if !ok || r.holds || v.broken {
		return
	}
	l.fail(&v.at, "Invalid value for variable", fmt.Sprintf("%s\n\nThis was checked by the validation rule at %s.", r.message, rangeOf(rule.DefRange)))
	l.diags[len(l.diags)-1].Values = valuesIn(r.condition, l.ctx)
}

func sortedKeys[T any](m map[string]T) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
