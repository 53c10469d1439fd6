package expand

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Templatefile is the function that reads a file as a template and fills it from an object. read gives a file's text, and the name that diagnostics
// use for it.
func Templatefile(functions map[string]function.Function, read func(path string) (text, shown string, err error)) function.Function {
	render := func(args []cty.Value) (cty.Value, error) {
		path := args[0].AsString()
		src, shown, err := read(path)
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		expr, diags := hclsyntax.ParseTemplate([]byte(src), shown, hcl.InitialPos)
		if diags.HasErrors() {
			return cty.NilVal, diags
		}
		if ty := args[1].Type(); !ty.IsObjectType() && !ty.IsMapType() || args[1].IsNull() {
			return cty.NilVal, function.NewArgErrorf(1, "an object or a map is required")
		}
		v, diags := expr.Value(&hcl.EvalContext{Variables: args[1].AsValueMap(), Functions: functions})
		if diags.HasErrors() {
			return cty.NilVal, diags
		}
		return v, nil
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}, {Name: "values", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() || !args[1].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := render(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return render(args) },
	})
}
