package function

import (
	"strings"

	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

// Mark is what a value may carry along wherever it flows.
type Mark string

const (
	// Sensitive values come from variables marked so, and must not reach resources or plain outputs.
	Sensitive Mark = "sensitive"
	// SecretReference is the text secret() returns; only secret fields take it.
	SecretReference Mark = "secret reference"
)

func marks() map[string]ctyfunction.Function {
	anything := ctyfunction.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowMarked: true, AllowDynamicType: true}
	sameType := func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }
	return map[string]ctyfunction.Function{
		"sensitive": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{anything},
			Type:   sameType,
			Impl:   func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0].Mark(Sensitive), nil },
		}),
		"nonsensitive": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{anything},
			Type:   sameType,
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				v, had := args[0].Unmark()
				delete(had, Sensitive)
				return v.WithMarks(had), nil
			},
		}),
		"issensitive": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{anything},
			Type:   ctyfunction.StaticReturnType(cty.Bool),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				return cty.BoolVal(args[0].HasMark(Sensitive)), nil
			},
		}),
		"secret": ctyfunction.New(&ctyfunction.Spec{
			Params: []ctyfunction.Parameter{{Name: "reference", Type: cty.String}},
			Type:   ctyfunction.StaticReturnType(cty.String),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				text := schema.SecretText(args[0].AsString())
				if _, _, err := schema.ParseSecret(text); err != nil {
					reason := strings.TrimSuffix(err.Error(), ".") // the evaluator ends the sentence
					return cty.NilVal, ctyfunction.NewArgErrorf(0, "%s", reason)
				}
				return cty.StringVal(text).Mark(SecretReference), nil
			},
		}),
	}
}
