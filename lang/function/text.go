package function

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
)

func texts() map[string]ctyfunction.Function {
	return map[string]ctyfunction.Function{
		"endswith":    predicate(strings.HasSuffix),
		"startswith":  predicate(strings.HasPrefix),
		"strcontains": predicate(strings.Contains),
		"replace":     replaceFunc(),
		"timecmp":     timecmpFunc(),
	}
}

func textParams(names ...string) []ctyfunction.Parameter {
	params := make([]ctyfunction.Parameter, len(names))
	for i, n := range names {
		params[i] = ctyfunction.Parameter{Name: n, Type: cty.String}
	}
	return params
}

func predicate(holds func(text, part string) bool) ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: textParams("text", "part"),
		Type:   ctyfunction.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(holds(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

// replaceFunc replaces a text, or what a /regular expression/ between slashes matches.
func replaceFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: textParams("text", "search", "replacement"),
		Type:   ctyfunction.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			text, search, with := args[0].AsString(), args[1].AsString(), args[2].AsString()
			if len(search) < 2 || search[0] != '/' || search[len(search)-1] != '/' {
				return cty.StringVal(strings.ReplaceAll(text, search, with)), nil
			}
			pattern, err := regexp.Compile(search[1 : len(search)-1])
			if err != nil {
				return cty.NilVal, ctyfunction.NewArgError(1, err)
			}
			return cty.StringVal(pattern.ReplaceAllString(text, with)), nil
		},
	})
}

func timecmpFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: textParams("a", "b"),
		Type:   ctyfunction.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			var times [2]time.Time
			for i, a := range args {
				t, err := time.Parse(time.RFC3339, a.AsString())
				if err != nil {
					return cty.NilVal, ctyfunction.NewArgError(i, fmt.Errorf("%q is not a time such as 2026-01-31T00:00:00Z", a.AsString()))
				}
				times[i] = t
			}
			return cty.NumberIntVal(int64(times[0].Compare(times[1]))), nil
		},
	})
}

// textFunc is a function of one text that yields one text.
func textFunc(name string, f func(string) (string, error)) ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: textParams(name),
		Type:   ctyfunction.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f(args[0].AsString())
			if err != nil {
				return cty.NilVal, ctyfunction.NewArgError(0, err)
			}
			return cty.StringVal(out), nil
		},
	})
}

var errNotText = errors.New("the content is not UTF-8 text")
