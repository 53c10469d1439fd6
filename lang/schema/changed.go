package schema

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// FieldChange is one difference between two values of a kind.
type FieldChange struct {
	Path   string    // as a person writes it: format_options, watermark.delay, expect["positive"].condition
	Field  Field     // the field at Path
	Cost   Cost      // what the change costs
	Before cty.Value // null when a block or value was not there
	After  cty.Value // null when it is gone
}

// Changed lists what differs in meaning between two complete values of the kind, in
// the order of its fields: a default spelled out, "60s" for "1m", or "1024KiB" for "1MiB" is no
// difference. SQL is compared as text; what it means is for the caller to judge (CostSemantics).
func Changed(k Kind, before, after cty.Value) []FieldChange {
	return changedFields(k.Fields(), before, after, "")
}

func changedFields(fields []Field, before, after cty.Value, prefix string) []FieldChange {
	var out []FieldChange
	for _, f := range fields {
		a, b := attrOrNull(before, f), attrOrNull(after, f)
		path := prefix + f.Name
		switch {
		case f.Repeated:
			out = append(out, changedBlocks(f, a, b, path)...)
		case f.Block && !a.IsNull() && !b.IsNull():
			out = append(out, changedFields(f.Nested, a, b, path+".")...)
		case f.Block:
			if a.IsNull() != b.IsNull() {
				out = append(out, FieldChange{path, f, f.Cost, a, b})
			}
		case !f.same(a, b):
			out = append(out, FieldChange{path, f, f.Cost, a, b})
		}
	}
	return out
}

func attrOrNull(v cty.Value, f Field) cty.Value {
	if v.IsNull() || !v.Type().HasAttribute(f.Name) {
		return cty.NullVal(f.ValueType())
	}
	return v.GetAttr(f.Name)
}

type block struct {
	path  string
	value cty.Value
}

// blocksOf lists repeated blocks under the path each is told apart by: its label, or its place.
func blocksOf(f Field, v cty.Value, path string) []block {
	if v.IsNull() {
		return nil
	}
	var out []block
	for i, e := range v.AsValueSlice() {
		at := fmt.Sprintf("%s[%d]", path, i)
		if name, ok := labelOf(f, e); ok {
			at = fmt.Sprintf("%s[%q]", path, name)
		}
		out = append(out, block{at, e})
	}
	return out
}

func changedBlocks(f Field, before, after cty.Value, path string) []FieldChange {
	var out []FieldChange
	none := cty.NullVal(f.Type)
	was := map[string]cty.Value{}
	is := map[string]bool{}
	for _, b := range blocksOf(f, before, path) {
		was[b.path] = b.value
	}
	for _, b := range blocksOf(f, after, path) {
		is[b.path] = true
		old, ok := was[b.path]
		if !ok {
			out = append(out, FieldChange{b.path, f, f.Cost, none, b.value})
			continue
		}
		out = append(out, changedFields(f.Nested, old, b.value, b.path+".")...)
	}
	for _, b := range blocksOf(f, before, path) {
		if !is[b.path] {
			out = append(out, FieldChange{b.path, f, f.Cost, b.value, none})
		}
	}
	return out
}
