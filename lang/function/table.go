// Package function has the functions expressions may call, under Terraform's names.
package function

import (
	"errors"
	"fmt"

	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Table maps the name of each function to its meaning. Files are read through files.
// Functions that work on expressions (try, can, templatefile) are package lang's to add.
func Table(files *Files) map[string]ctyfunction.Function {
	table := standard()
	for _, more := range []map[string]ctyfunction.Function{collections(), texts(), encodings(files), fileFunctions(files), networks(), marks(), refused()} {
		for name, f := range more {
			table[name] = f
		}
	}
	return table
}

// standard lists the functions that go-cty has as Terraform means them.
func standard() map[string]ctyfunction.Function {
	return map[string]ctyfunction.Function{
		"abs":             stdlib.AbsoluteFunc,
		"ceil":            stdlib.CeilFunc,
		"chomp":           stdlib.ChompFunc,
		"chunklist":       stdlib.ChunklistFunc,
		"coalescelist":    stdlib.CoalesceListFunc,
		"compact":         stdlib.CompactFunc,
		"concat":          stdlib.ConcatFunc,
		"contains":        stdlib.ContainsFunc,
		"csvdecode":       stdlib.CSVDecodeFunc,
		"distinct":        stdlib.DistinctFunc,
		"element":         stdlib.ElementFunc,
		"flatten":         stdlib.FlattenFunc,
		"floor":           stdlib.FloorFunc,
		"format":          stdlib.FormatFunc,
		"formatdate":      stdlib.FormatDateFunc,
		"formatlist":      stdlib.FormatListFunc,
		"indent":          stdlib.IndentFunc,
		"join":            stdlib.JoinFunc,
		"jsondecode":      stdlib.JSONDecodeFunc,
		"jsonencode":      stdlib.JSONEncodeFunc,
		"keys":            stdlib.KeysFunc,
		"log":             stdlib.LogFunc,
		"lower":           stdlib.LowerFunc,
		"max":             stdlib.MaxFunc,
		"merge":           stdlib.MergeFunc,
		"min":             stdlib.MinFunc,
		"parseint":        stdlib.ParseIntFunc,
		"pow":             stdlib.PowFunc,
		"range":           stdlib.RangeFunc,
		"regex":           stdlib.RegexFunc,
		"regexall":        stdlib.RegexAllFunc,
		"reverse":         stdlib.ReverseListFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setproduct":      stdlib.SetProductFunc,
		"setsubtract":     stdlib.SetSubtractFunc,
		"setunion":        stdlib.SetUnionFunc,
		"signum":          stdlib.SignumFunc,
		"slice":           stdlib.SliceFunc,
		"sort":            stdlib.SortFunc,
		"split":           stdlib.SplitFunc,
		"strrev":          stdlib.ReverseFunc,
		"substr":          stdlib.SubstrFunc,
		"timeadd":         stdlib.TimeAddFunc,
		"title":           stdlib.TitleFunc,
		"tobool":          stdlib.MakeToFunc(cty.Bool),
		"tolist":          stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":           stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"tonumber":        stdlib.MakeToFunc(cty.Number),
		"toset":           stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":        stdlib.MakeToFunc(cty.String),
		"trim":            stdlib.TrimFunc,
		"trimprefix":      stdlib.TrimPrefixFunc,
		"trimspace":       stdlib.TrimSpaceFunc,
		"trimsuffix":      stdlib.TrimSuffixFunc,
		"upper":           stdlib.UpperFunc,
		"values":          stdlib.ValuesFunc,
		"yamldecode":      ctyyaml.YAMLDecodeFunc,
		"yamlencode":      ctyyaml.YAMLEncodeFunc,
		"zipmap":          stdlib.ZipmapFunc,
	}
}

// refused lists Terraform's functions whose result differs from call to call: with
// them, planning twice would never give the same answer.
func refused() map[string]ctyfunction.Function {
	table := map[string]ctyfunction.Function{}
	for name, instead := range map[string]string{
		"timestamp":     "Use a variable for a fixed time",
		"plantimestamp": "Use a variable for a fixed time",
		"uuid":          "Use a variable for a fixed identifier",
		"bcrypt":        "Use a secret reference instead: secret(\"env:NAME\")",
	} {
		reason := fmt.Sprintf("%s() gives another result at every call, so a plan would never be empty. %s", name, instead)
		table[name] = ctyfunction.New(&ctyfunction.Spec{
			VarParam: &ctyfunction.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowMarked: true, AllowUnknown: true},
			Type:     func([]cty.Value) (cty.Type, error) { return cty.NilType, errors.New(reason) },
			Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.NilVal, errors.New(reason) },
		})
	}
	return table
}
