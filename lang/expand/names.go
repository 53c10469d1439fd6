package expand

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Address reads the address that a traversal begins with, and the names behind it.
func Address(t hcl.Traversal) (a addr.Resource, rest []string, ok bool) {
	a.Block = addr.Block(t.RootName())
	if !slices.Contains(addr.Blocks(), a.Block) {
		return a, nil, false
	}
	length := 2
	if a.Block.HasType() {
		length = 3
	}
	var names []string
	for i, step := range t[1:] {
		switch step := step.(type) {
		case hcl.TraverseAttr:
			names = append(names, step.Name)
		case hcl.TraverseIndex:
			if a.Key, ok = KeyOf(step.Key); !ok || i != length-1 {
				return a, nil, false
			}
		default:
			return a, nil, false
		}
	}
	if len(names) < length-1 {
		return a, nil, false
	}
	if length == 3 {
		a.Type, names = names[0], names[1:]
	}
	a.Name = names[0]
	return a, names[1:], true
}

// KeyOf is the key that an index stands for; ok is false when there cannot be such a key.
func KeyOf(v cty.Value) (k addr.Key, ok bool) {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return k, false
	}
	switch v.Type() {
	case cty.String:
		return addr.TextKey(v.AsString()), true
	case cty.Number:
		n, accuracy := v.AsBigFloat().Int64()
		return addr.NumberKey(int(n)), accuracy == 0 && n >= 0
	}
	return k, false
}

// As is a key in the form that a block's keys have: "0" and 0 mean the same, as everywhere in the language.
func As(mode addr.Repetition, k addr.Key) addr.Key {
	if n, ok := k.Number(); ok && mode == addr.ForEach {
		return addr.TextKey(strconv.Itoa(n))
	}
	if text, ok := k.Text(); ok && mode == addr.Count {
		v, err := convert.Convert(cty.StringVal(text), cty.Number)
		if number, whole := KeyOf(v); err == nil && whole {
			return number
		}
	}
	return k
}

// Missing says of a reference by a key, or by none, that there is no such instance. declared is the place of the block.
func (b Block) Missing(k addr.Key, declared string) (summary, detail string) {
	text, isText := k.Text()
	switch none := k == (addr.Key{}); {
	case none && b.Mode == addr.ForEach:
		return "Missing resource instance key", fmt.Sprintf("%s has for_each, so a reference must say which instance is meant, as in %s[each.key].", b.Addr, b.Addr) + b.list()
	case none:
		return "Missing resource instance key", fmt.Sprintf("%s has count, so a reference must say which instance is meant, as in %s[count.index].", b.Addr, b.Addr) + b.list()
	case b.Mode == addr.Once:
		return "Unexpected resource instance key", fmt.Sprintf("%s has neither for_each nor count, so there is one, which is referred to without a key.", b.Addr)
	}
	detail = fmt.Sprintf("There is no %s: the block at %s has %s.", b.Addr.Instance(k), declared, b.Mode)
	var all []string
	for _, other := range b.Keys {
		if t, ok := other.Text(); ok && isText {
			all = append(all, t)
		}
	}
	if near := schema.Nearest(text, all); near != "" {
		return "Reference to undeclared instance", fmt.Sprintf("%s Did you mean %s?", detail, b.Addr.Instance(addr.TextKey(near)))
	}
	return "Reference to undeclared instance", detail + b.list()
}

// list ends a detail with the instances of a block, the ends of many.
func (b Block) list() string {
	const shown = 5
	switch n := len(b.Keys); {
	case n == 0:
		return " It has no instances."
	case n == 1:
		return fmt.Sprintf(" Its only instance is %s.", b.Addr.Instance(b.Keys[0]))
	case n > shown:
		return fmt.Sprintf(" Its %d instances are %s to %s.", n, b.Addr.Instance(b.Keys[0]), b.Addr.Instance(b.Keys[n-1]))
	}
	var texts []string
	for _, k := range b.Keys {
		texts = append(texts, b.Addr.Instance(k).String())
	}
	return " Its instances are " + strings.Join(texts[:len(texts)-1], ", ") + " and " + texts[len(texts)-1] + "."
}

// Block is a block with what can be referred to.
type Block struct {
	Addr   addr.Resource // without a key
	Mode   addr.Repetition
	Keys   []addr.Key
	Parts  []string // side relations and arguments
	Faulty bool     // what its instances are is not known
}

// Texts are values for the blocks' names, by which references in SQL evaluate to the names that SQL knows relations by.
func Texts(blocks []Block) map[string]cty.Value {
	return tree(blocks, func(b Block, a addr.Resource) cty.Value { return cty.StringVal(a.SQL()) }, addr.Block.IsRelation)
}

// The attributes of the objects that references evaluate to. No expression can name them by accident.
const (
	addressOf = "(address)"
	partOf    = "(part)"
)

// References are values for the blocks' names, by which references evaluate to what Gather understands.
func References(blocks []Block) map[string]cty.Value {
	one := func(a addr.Resource, part string) map[string]cty.Value {
		return map[string]cty.Value{addressOf: cty.StringVal(a.String()), partOf: cty.StringVal(part)}
	}
	return tree(blocks, func(b Block, a addr.Resource) cty.Value {
		attrs := one(a, "")
		for _, part := range b.Parts {
			attrs[part] = cty.ObjectVal(one(a, part))
		}
		return cty.ObjectVal(attrs)
	}, func(addr.Block) bool { return true })
}

// Found is what one reference means.
type Found struct {
	To   addr.Resource
	Part string // a side relation or an argument; empty: the resource
}

// Gather lists what is meant by a value that was evaluated with References: one reference, or any collection of them. ok is false
// when the value holds something else.
func Gather(v cty.Value) (out []Found, ok bool) {
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case v.IsNull() || !v.IsKnown():
		return nil, false
	case ty.IsObjectType() && ty.HasAttribute(addressOf):
		to, err := addr.Parse(v.GetAttr(addressOf).AsString())
		return []Found{{to, v.GetAttr(partOf).AsString()}}, err == nil
	case !v.CanIterateElements():
		return nil, false
	}
	for it := v.ElementIterator(); it.Next(); {
		_, element := it.Element()
		more, ok := Gather(element)
		if !ok {
			return nil, false
		}
		out = append(out, more...)
	}
	return out, true
}

// tree arranges what stands for each instance as references name it: view.NAME["key"], source.TYPE.NAME[0].
func tree(blocks []Block, leaf func(Block, addr.Resource) cty.Value, wanted func(addr.Block) bool) map[string]cty.Value {
	names := map[addr.Block]map[string]map[string]cty.Value{} // by block and type
	for _, b := range addr.Blocks() {
		if wanted(b) {
			names[b] = map[string]map[string]cty.Value{}
		}
	}
	for _, b := range blocks {
		types, ok := names[b.Addr.Block]
		if !ok {
			continue
		}
		if types[b.Addr.Type] == nil {
			types[b.Addr.Type] = map[string]cty.Value{}
		}
		types[b.Addr.Type][b.Addr.Name] = b.value(leaf)
	}
	out := map[string]cty.Value{}
	for block, types := range names {
		values := map[string]cty.Value{}
		for name, of := range types {
			values[name] = cty.ObjectVal(of)
		}
		out[string(block)] = cty.ObjectVal(values)
		if !block.HasType() {
			out[string(block)] = cty.ObjectVal(types[""])
		}
	}
	return out
}

func (b Block) value(leaf func(Block, addr.Resource) cty.Value) cty.Value {
	switch {
	case b.Faulty:
		return cty.DynamicVal
	case b.Mode == addr.Once:
		return leaf(b, b.Addr)
	}
	attrs, elems := map[string]cty.Value{}, make([]cty.Value, 0, len(b.Keys))
	for _, k := range b.Keys {
		v := leaf(b, b.Addr.Instance(k))
		if text, ok := k.Text(); ok {
			attrs[text] = v
		}
		elems = append(elems, v)
	}
	if b.Mode == addr.Count {
		return cty.TupleVal(elems)
	}
	return cty.ObjectVal(attrs)
}

// CheckSelf says what is wrong with a reference that begins with each or count; empty when nothing is.
func CheckSelf(t hcl.Traversal, ctx *hcl.EvalContext) (summary, detail string) {
	root, names, argument := "each", []string{"key", "value"}, addr.ForEach
	if t.RootName() == "count" {
		root, names, argument = "count", []string{"index"}, addr.Count
	}
	if _, ok := ctx.Variables[root]; !ok {
		return fmt.Sprintf("Reference to %q where there is none", root), fmt.Sprintf("%s.%s can only be used in the block of a resource that has the argument %s.", root, names[0], argument)
	}
	if len(t) > 1 {
		if attr, ok := t[1].(hcl.TraverseAttr); ok && slices.Contains(names, attr.Name) {
			return "", ""
		}
	}
	return "Invalid reference", fmt.Sprintf("%q has nothing but %s.%s.", root, root, strings.Join(names, " and "+root+"."))
}

// Example is what could be written as the value of an argument that takes references.
func Example(f schema.Field) string {
	block := addr.View
	if len(f.RefBlocks) > 0 {
		block = f.RefBlocks[0]
	}
	example := string(block) + ".NAME"
	if block.HasType() {
		example = string(block) + ".TYPE.NAME"
	}
	if f.Type.IsListType() {
		return "[" + example + "]"
	}
	return example
}
