package schema

import (
	"fmt"
	"math/big"
	"reflect"

	"github.com/zclconf/go-cty/cty"
)

// Value is a Go type a field can fill. The pointers tell "not written" from Go's zero value.
type Value interface {
	string | bool | int64 | float64 | Duration | Size | Ref | SQL |
		[]string | []Ref | map[string]string | *bool | *int64
}

// typeOf is the type of values that fill target.
func typeOf(target any) cty.Type {
	switch target.(type) {
	case *bool, **bool:
		return cty.Bool
	case *int64, *float64, **int64:
		return cty.Number
	case *[]string, *[]Ref:
		return cty.List(cty.String)
	case *map[string]string:
		return cty.Map(cty.String)
	}
	return cty.String
}

func formatOf(target any) string {
	switch target.(type) {
	case *Duration:
		return FormatDuration
	case *Size:
		return FormatSize
	case *Ref, *[]Ref:
		return FormatReference
	case *SQL:
		return FormatSQL
	}
	return ""
}

// decode fills target from a known value of its type; the error is a sentence for the user.
func decode(target any, v cty.Value) error {
	var err error
	switch t := target.(type) {
	case *string:
		*t = v.AsString()
	case *SQL:
		*t = SQL(v.AsString())
	case *Ref:
		*t = Ref(v.AsString())
	case *bool:
		*t = v.True()
	case **bool:
		*t = new(bool)
		**t = v.True()
	case *int64:
		*t, err = wholeNumber(v)
	case **int64:
		*t = new(int64)
		**t, err = wholeNumber(v)
	case *float64:
		*t, _ = v.AsBigFloat().Float64()
	case *Duration:
		*t, err = ParseDuration(v.AsString())
	case *Size:
		*t, err = ParseSize(v.AsString())
	case *[]string:
		*t = texts(v)
	case *[]Ref:
		for _, s := range texts(v) {
			*t = append(*t, Ref(s))
		}
	case *map[string]string:
		*t = make(map[string]string, v.LengthInt())
		for k, e := range v.AsValueMap() {
			(*t)[k] = e.AsString()
		}
	}
	return err
}

// decodeOrKeep is decode that leaves target alone when v is null.
func decodeOrKeep(target any, v cty.Value) error {
	if v.IsNull() {
		return nil
	}
	// A slice is appended to by decode, so it starts empty.
	reflect.ValueOf(target).Elem().SetZero()
	return decode(target, v)
}

// encode turns what a field's variable holds into a value; cty.NilVal when it holds nothing.
func encode(target any) cty.Value {
	switch t := target.(type) {
	case *bool:
		return cty.BoolVal(*t)
	case **bool:
		if *t != nil {
			return cty.BoolVal(**t)
		}
		return cty.NilVal
	case **int64:
		if *t != nil {
			return cty.NumberIntVal(**t)
		}
		return cty.NilVal
	}
	if isEmpty(reflect.ValueOf(target).Elem()) {
		return encodeEmpty(target)
	}
	switch t := target.(type) {
	case *int64:
		return cty.NumberIntVal(*t)
	case *float64:
		return cty.NumberFloatVal(*t)
	case *Duration:
		return cty.StringVal(t.String())
	case *Size:
		return cty.StringVal(t.String())
	case *[]string:
		return textList(*t)
	case *[]Ref:
		return textList(*t)
	case *map[string]string:
		m := make(map[string]cty.Value, len(*t))
		for k, e := range *t {
			m[k] = cty.StringVal(e)
		}
		return cty.MapVal(m)
	}
	return cty.StringVal(reflect.ValueOf(target).Elem().String())
}

// encodeEmpty tells a collection that is empty on purpose from one that is not there.
func encodeEmpty(target any) cty.Value {
	v := reflect.ValueOf(target).Elem()
	switch {
	case v.Kind() == reflect.Slice && !v.IsNil():
		return cty.ListValEmpty(cty.String)
	case v.Kind() == reflect.Map && !v.IsNil():
		return cty.MapValEmpty(cty.String)
	}
	return cty.NilVal
}

func isEmpty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Map {
		return v.Len() == 0
	}
	return v.IsZero()
}

func textList[T ~string](list []T) cty.Value {
	vals := make([]cty.Value, len(list))
	for i, s := range list {
		vals[i] = cty.StringVal(string(s))
	}
	return cty.ListVal(vals)
}

// texts lists the texts of a string, or of a list or map of strings.
func texts(v cty.Value) []string {
	if v.Type() == cty.String {
		return []string{v.AsString()}
	}
	var out []string
	if v.CanIterateElements() {
		for _, e := range v.AsValueSlice() {
			out = append(out, e.AsString())
		}
	}
	return out
}

func wholeNumber(v cty.Value) (int64, error) {
	n, acc := v.AsBigFloat().Int64()
	if acc != big.Exact {
		return 0, fmt.Errorf("a whole number is required.")
	}
	return n, nil
}

func boundValue(b any) cty.Value {
	switch n := b.(type) {
	case int:
		return cty.NumberIntVal(int64(n))
	case int64:
		return cty.NumberIntVal(n)
	case Duration:
		return cty.NumberIntVal(int64(n))
	case Size:
		return cty.NumberIntVal(int64(n))
	}
	return cty.NumberFloatVal(b.(float64))
}

// magnitude is the number that bounds are compared with: a number itself, nanoseconds,
// bytes, characters of a text, elements of a collection.
func magnitude(format string, v cty.Value) (cty.Value, error) {
	switch {
	case v.Type() == cty.Number:
		return v, nil
	case format == FormatDuration:
		d, err := ParseDuration(v.AsString())
		return cty.NumberIntVal(int64(d)), err
	case format == FormatSize:
		s, err := ParseSize(v.AsString())
		return cty.NumberIntVal(int64(s)), err
	case v.Type() == cty.String:
		return cty.NumberIntVal(int64(len([]rune(v.AsString())))), nil
	}
	return cty.NumberIntVal(int64(v.LengthInt())), nil
}

func (f Field) boundText(bound cty.Value) string {
	n, _ := bound.AsBigFloat().Int64()
	switch {
	case f.Format == FormatDuration:
		return fmt.Sprintf("%q", Duration(n))
	case f.Format == FormatSize:
		return fmt.Sprintf("%q", Size(n))
	case f.Type == cty.Number:
		return bound.AsBigFloat().Text('f', -1)
	case f.Type == cty.String:
		return fmt.Sprintf("%d characters", n)
	}
	return fmt.Sprintf("%d elements", n)
}
