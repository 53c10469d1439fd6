// Package expand makes instances of blocks that have for_each or count, and says what references to them stand for.
package expand

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/function"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// most bounds the instances of one block: more is a mistake, and would take the memory that is to tell so.
const most = 10_000

// Instance is one instance of a block.
type Instance struct {
	Key   addr.Key
	Value cty.Value       // each.value; cty.NilVal where there is none
	of    addr.Repetition // of an instance of which nothing else is known
}

// Unknown stands for the instances of a block that has none, or of which it is not known what they are.
func Unknown(mode addr.Repetition) Instance { return Instance{of: mode} }

// Variables are the names that expressions of the instance may use beside those that all may.
func (i Instance) Variables() map[string]cty.Value {
	switch i.of {
	case addr.ForEach:
		return map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": cty.UnknownVal(cty.String), "value": cty.DynamicVal})}
	case addr.Count:
		return map[string]cty.Value{"count": cty.ObjectVal(map[string]cty.Value{"index": cty.UnknownVal(cty.Number)})}
	}
	if text, ok := i.Key.Text(); ok {
		return map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal(text), "value": i.Value})}
	}
	if n, ok := i.Key.Number(); ok {
		return map[string]cty.Value{"count": cty.ObjectVal(map[string]cty.Value{"index": cty.NumberIntVal(int64(n))})}
	}
	return nil
}

// ForEach makes an instance of each element of a map, an object or a set of texts, in the order of their keys. The error says what is wrong with it, as sentences.
func ForEach(v cty.Value) ([]Instance, error) {
	ty := v.Type()
	switch {
	case v.IsMarked():
		return nil, hidden(v, addr.ForEach)
	case v.IsNull():
		return nil, fmt.Errorf("The value of for_each is null. It takes a map, or a set of texts.")
	case ty.IsTupleType() || ty.IsListType():
		return nil, fmt.Errorf("The value of for_each is a list, whose elements have no names that would stay when one is put in or taken out. If all are different texts, make them a set: for_each = toset([…]). Or write a map.")
	case ty.IsSetType() && ty.ElementType() != cty.String && v.LengthInt() > 0:
		return nil, fmt.Errorf("The value of for_each is a set of type %s. It takes a map, or a set of texts.", ty.ElementType().FriendlyName())
	case !ty.IsSetType() && !ty.IsMapType() && !ty.IsObjectType():
		return nil, fmt.Errorf("The value of for_each has the type %s. It takes a map, or a set of texts.", ty.FriendlyName())
	case v.LengthInt() > most:
		return nil, fmt.Errorf("The value of for_each has %d elements. A block can have up to %d instances.", v.LengthInt(), most)
	}
	out := make([]Instance, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if ty.IsSetType() {
			key = value
		}
		if key.IsNull() {
			return nil, fmt.Errorf("The set given to for_each holds null, which cannot be a key.")
		}
		out = append(out, Instance{Key: addr.TextKey(key.AsString()), Value: value})
	}
	slices.SortFunc(out, func(a, b Instance) int { return a.Key.Compare(b.Key) })
	return out, nil
}

// hidden refuses values that addresses would show.
func hidden(v cty.Value, argument addr.Repetition) error {
	if v.HasMark(function.Sensitive) {
		return fmt.Errorf("The value of %s is sensitive, and would show in addresses. Only the values of a map may be sensitive, not its keys; take the part that may be shown with nonsensitive().", argument)
	}
	return fmt.Errorf("The value of %s is made of a secret reference, which only arguments for secrets take.", argument)
}

// Count makes as many instances as a number says. The error says what is wrong with it, as sentences.
func Count(v cty.Value) ([]Instance, error) {
	if v.IsMarked() {
		return nil, hidden(v, addr.Count)
	}
	if v.IsNull() {
		return nil, fmt.Errorf("The value of count is null. It takes a whole number.")
	}
	v, err := convert.Convert(v, cty.Number)
	if err != nil {
		return nil, fmt.Errorf("The value of count is unsuitable: %w. It takes a whole number.", err)
	}
	number := v.AsBigFloat()
	n, accuracy := number.Int64()
	switch {
	case number.Sign() < 0:
		return nil, fmt.Errorf("The value of count is negative. It must be 0 or more.")
	case number.Cmp(big.NewFloat(most)) > 0:
		return nil, fmt.Errorf("The value of count is %s. A block can have up to %d instances.", number.Text('f', -1), most)
	case accuracy != big.Exact:
		return nil, fmt.Errorf("The value of count is %s, which is not a whole number.", number.Text('f', -1))
	}
	out := make([]Instance, n)
	for i := range out {
		out[i].Key = addr.NumberKey(i)
	}
	return out, nil
}

// Duplicate finds a key that is written twice in { … }, which evaluation would take no notice of.
func Duplicate(expr hcl.Expression, ctx *hcl.EvalContext) (key string, at hcl.Range, found bool) {
	e, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return "", at, false
	}
	seen := map[string]bool{}
	for _, item := range e.Items {
		v, diags := item.KeyExpr.Value(ctx)
		if diags.HasErrors() || v.IsMarked() || !v.IsKnown() || v.IsNull() {
			continue
		}
		if v, err := convert.Convert(v, cty.String); err == nil && seen[v.AsString()] {
			return v.AsString(), item.KeyExpr.Range(), true
		} else if err == nil {
			seen[v.AsString()] = true
		}
	}
	return "", at, false
}
