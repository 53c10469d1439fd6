package function

import (
	"errors"
	"fmt"
	"sort"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyfunction "github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

func collections() map[string]ctyfunction.Function {
	return map[string]ctyfunction.Function{
		"alltrue":   allOrAny(false),
		"anytrue":   allOrAny(true),
		"coalesce":  coalesceFunc(),
		"index":     indexFunc(),
		"length":    lengthFunc(),
		"lookup":    lookupFunc(),
		"matchkeys": matchkeysFunc(),
		"one":       oneFunc(),
		"sum":       sumFunc(),
		"transpose": transposeFunc(),
	}
}

func anyParam(name string) ctyfunction.Parameter {
	return ctyfunction.Parameter{Name: name, Type: cty.DynamicPseudoType}
}

// lengthFunc counts elements, attributes, or characters as a person sees them.
func lengthFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{anyParam("value")},
		Type:   ctyfunction.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v := args[0]
			switch ty := v.Type(); {
			case ty == cty.String:
				n, err := textseg.TokenCount([]byte(v.AsString()), textseg.ScanGraphemeClusters)
				return cty.NumberIntVal(int64(n)), err
			case ty.IsObjectType():
				return cty.NumberIntVal(int64(len(ty.AttributeTypes()))), nil
			case v.CanIterateElements():
				return v.Length(), nil
			}
			return cty.NilVal, ctyfunction.NewArgErrorf(0, "a string, a list, a set, a map or an object is required")
		},
	})
}

func allOrAny(wanted bool) ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   ctyfunction.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, e := range args[0].AsValueSlice() {
				if e.IsNull() && !wanted || !e.IsNull() && e.True() == wanted {
					return cty.BoolVal(wanted), nil
				}
			}
			return cty.BoolVal(!wanted), nil
		},
	})
}

// coalesceFunc returns the first argument that is neither null nor "".
func coalesceFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		VarParam: &ctyfunction.Parameter{Name: "values", Type: cty.DynamicPseudoType, AllowNull: true, AllowDynamicType: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			types := make([]cty.Type, len(args))
			for i, a := range args {
				types[i] = a.Type()
			}
			ty, _ := convert.UnifyUnsafe(types)
			if ty == cty.NilType {
				return ty, errors.New("all arguments must have the same type")
			}
			return ty, nil
		},
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			for _, a := range args {
				v, err := convert.Convert(a, ty)
				if err != nil {
					return cty.NilVal, err
				}
				if !v.IsNull() && !v.RawEquals(cty.StringVal("")) {
					return v, nil
				}
			}
			return cty.NilVal, errors.New("every argument is null or empty")
		},
	})
}

func indexFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{anyParam("list"), anyParam("value")},
		Type:   ctyfunction.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if ty := args[0].Type(); !ty.IsListType() && !ty.IsTupleType() {
				return cty.NilVal, ctyfunction.NewArgErrorf(0, "a list is required")
			}
			for i, e := range args[0].AsValueSlice() {
				eq, err := stdlib.Equal(e, args[1])
				if err == nil && eq.IsKnown() && eq.True() {
					return cty.NumberIntVal(int64(i)), nil
				}
			}
			return cty.NilVal, errors.New("the list does not hold the value")
		},
	})
}

// lookupFunc takes a map or object, a key, and what to return without the key.
func lookupFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params:   []ctyfunction.Parameter{anyParam("map"), {Name: "key", Type: cty.String}},
		VarParam: &ctyfunction.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowNull: true},
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := lookup(args)
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return lookup(args) },
	})
}

func lookup(args []cty.Value) (cty.Value, error) {
	from, key := args[0], args[1]
	if len(args) > 3 {
		return cty.NilVal, errors.New("lookup takes a map, a key and at most one default")
	}
	switch ty := from.Type(); {
	case !ty.IsMapType() && !ty.IsObjectType():
		return cty.NilVal, ctyfunction.NewArgErrorf(0, "a map is required")
	case !from.IsKnown() || !key.IsKnown():
		return cty.DynamicVal, nil
	case ty.IsObjectType() && ty.HasAttribute(key.AsString()):
		return from.GetAttr(key.AsString()), nil
	case ty.IsMapType() && from.HasIndex(key).True():
		return from.Index(key), nil
	case len(args) == 3 && ty.IsMapType():
		return convert.Convert(args[2], ty.ElementType())
	case len(args) == 3:
		return args[2], nil
	}
	return cty.NilVal, fmt.Errorf("the map has no element %q, and no default was given", key.AsString())
}

// matchkeysFunc keeps the values whose keys (at the same places) are searched for.
func matchkeysFunc() ctyfunction.Function {
	list := cty.List(cty.DynamicPseudoType)
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{{Name: "values", Type: list}, {Name: "keys", Type: list}, {Name: "searched", Type: list}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			values, keys := args[0].AsValueSlice(), args[1].AsValueSlice()
			if len(values) != len(keys) {
				return cty.NilVal, errors.New("values and keys must have the same length")
			}
			var out []cty.Value
			for i, k := range keys {
				for _, s := range args[2].AsValueSlice() {
					if eq, err := stdlib.Equal(k, s); err == nil && eq.True() {
						out = append(out, values[i])
						break
					}
				}
			}
			if out == nil {
				return cty.ListValEmpty(ty.ElementType()), nil
			}
			return cty.ListVal(out), nil
		},
	})
}

// oneFunc turns a list of at most one element into the element or null.
func oneFunc() ctyfunction.Function {
	one := func(v cty.Value) (cty.Value, error) {
		if ty := v.Type(); !ty.IsListType() && !ty.IsSetType() && !ty.IsTupleType() {
			return cty.NilVal, ctyfunction.NewArgErrorf(0, "a list, a set or a tuple is required")
		}
		switch n := v.LengthInt(); n {
		case 0:
			if v.Type().IsTupleType() {
				return cty.NullVal(cty.DynamicPseudoType), nil
			}
			return cty.NullVal(v.Type().ElementType()), nil
		case 1:
			return v.AsValueSlice()[0], nil
		default:
			return cty.NilVal, ctyfunction.NewArgErrorf(0, "at most one element is allowed, there are %d", n)
		}
	}
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{anyParam("list")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].IsKnown() {
				return cty.DynamicPseudoType, nil
			}
			v, err := one(args[0])
			if err != nil {
				return cty.NilType, err
			}
			return v.Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return one(args[0]) },
	})
}

func sumFunc() ctyfunction.Function {
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
		Type:   ctyfunction.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			total := cty.Zero
			if args[0].LengthInt() == 0 {
				return cty.NilVal, ctyfunction.NewArgErrorf(0, "the sum of no numbers is not defined")
			}
			for _, n := range args[0].AsValueSlice() {
				if n.IsNull() {
					return cty.NilVal, ctyfunction.NewArgErrorf(0, "elements must not be null")
				}
				total = total.Add(n)
			}
			return total, nil
		},
	})
}

// transposeFunc turns key → values into value → keys.
func transposeFunc() ctyfunction.Function {
	ty := cty.Map(cty.List(cty.String))
	return ctyfunction.New(&ctyfunction.Spec{
		Params: []ctyfunction.Parameter{{Name: "map", Type: ty}},
		Type:   ctyfunction.StaticReturnType(ty),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			turned := map[string][]string{}
			for key, list := range args[0].AsValueMap() {
				if list.IsNull() {
					continue
				}
				for _, e := range list.AsValueSlice() {
					if e.IsNull() {
						return cty.NilVal, ctyfunction.NewArgErrorf(0, "elements must not be null")
					}
					turned[e.AsString()] = append(turned[e.AsString()], key)
				}
			}
			if len(turned) == 0 {
				return cty.MapValEmpty(cty.List(cty.String)), nil
			}
			out := map[string]cty.Value{}
			for value, keys := range turned {
				sort.Strings(keys)
				list := make([]cty.Value, len(keys))
				for i, k := range keys {
					list[i] = cty.StringVal(k)
				}
				out[value] = cty.ListVal(list)
			}
			return cty.MapVal(out), nil
		},
	})
}
