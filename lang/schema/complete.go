package schema

import (
	"fmt"
	"slices"
	"sort"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// AttrError is one thing wrong with a value a user wrote.
type AttrError struct {
	Path    cty.Path // of the attribute or block, in the kind's object
	Summary string   // a short sentence without a full stop
	Detail  string   // what to do about it
}

// Complete turns what a user wrote (an object or map, attributes in any convertible
// type, blocks as objects or lists of objects; known, unmarked) into a value of
// exactly the kind's type with defaults filled in. The value is complete, and Bind
// accepts it, only when no error is returned; it always has the kind's type.
func (k Kind) Complete(v cty.Value) (cty.Value, []AttrError) {
	c := completer{kind: k.Name()}
	return c.object(k.Fields(), v, nil), c.errs
}

type completer struct {
	kind string
	errs []AttrError
}

func (c *completer) fail(path cty.Path, summary, detail string) {
	c.errs = append(c.errs, AttrError{Path: path.Copy(), Summary: summary, Detail: detail})
}

func (c *completer) object(fields []Field, v cty.Value, path cty.Path) cty.Value {
	written := map[string]cty.Value{}
	switch {
	case v.IsNull():
	case v.Type().IsObjectType(), v.Type().IsMapType():
		written = v.AsValueMap()
	default:
		c.fail(path, "Incorrect value type", fmt.Sprintf("An object is required, not %s.", v.Type().FriendlyName()))
	}
	c.unknownNames(fields, written, path)
	attrs := make(map[string]cty.Value, len(fields))
	for _, f := range fields {
		got, ok := written[f.Name]
		if !ok {
			got = cty.NullVal(cty.DynamicPseudoType)
		}
		attrs[f.Name] = c.field(f, got, path.GetAttr(f.Name))
	}
	return cty.ObjectVal(attrs)
}

func (c *completer) unknownNames(fields []Field, written map[string]cty.Value, path cty.Path) {
	var extra []string
	for name := range written {
		if !slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name }) {
			extra = append(extra, name)
		}
	}
	sort.Strings(extra)
	for _, name := range extra {
		detail := fmt.Sprintf("%s has no attribute %q.", c.kind, name)
		if near := Nearest(name, fieldNames(fields)); near != "" {
			detail += fmt.Sprintf(" Did you mean %q?", near)
		}
		c.fail(path.GetAttr(name), "Unsupported argument", detail)
	}
}

func fieldNames(fields []Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

func (c *completer) field(f Field, v cty.Value, path cty.Path) cty.Value {
	switch {
	case f.Repeated:
		return c.blocks(f, v, path)
	case v.IsNull() && f.Required && f.Block:
		c.fail(path, "Missing required block", fmt.Sprintf("The block %q is required: %s", f.Name, f.Doc))
		return cty.NullVal(f.Type)
	case v.IsNull() && f.Required:
		c.fail(path, "Missing required argument", fmt.Sprintf("The argument %q is required, but no value was given for it. %s", f.Name, f.Doc))
		return cty.NullVal(f.Type)
	case v.IsNull() && f.Default != cty.NilVal:
		return f.Default
	case v.IsNull():
		return cty.NullVal(f.Type)
	case f.Block:
		return c.object(f.Nested, v, path)
	}
	return c.attribute(f, v, path)
}

func (c *completer) blocks(f Field, v cty.Value, path cty.Path) cty.Value {
	var elems []cty.Value
	seen := map[string]bool{}
	if !v.IsNull() && v.CanIterateElements() {
		for i, e := range v.AsValueSlice() {
			at := path.IndexInt(i)
			got := c.object(f.Nested, e, at)
			elems = append(elems, got)
			if name, ok := labelOf(f, got); ok && seen[name] {
				c.fail(at, fmt.Sprintf("Duplicate %s block", f.Name), fmt.Sprintf("There is already a block %s %q here; each needs its own label.", f.Name, name))
			} else {
				seen[name] = ok
			}
		}
	}
	if len(elems) == 0 {
		if f.Required {
			c.fail(path, "Missing required block", fmt.Sprintf("At least one block %q is required: %s", f.Name, f.Doc))
		}
		return cty.ListValEmpty(f.Type)
	}
	return cty.ListVal(elems)
}

func labelOf(f Field, block cty.Value) (string, bool) {
	if !f.Labeled || block.GetAttr("name").IsNull() {
		return "", false
	}
	return block.GetAttr("name").AsString(), true
}

func (c *completer) attribute(f Field, v cty.Value, path cty.Path) cty.Value {
	got, err := convert.Convert(v, f.Type)
	if err == nil && !got.IsWhollyKnown() {
		err = fmt.Errorf("the value is not known")
	}
	if err == nil && hasNull(got) {
		err = fmt.Errorf("elements must not be null")
	}
	if err != nil {
		c.fail(path, "Incorrect attribute value type", fmt.Sprintf("Inappropriate value for attribute %q: %s.", f.Name, err))
		return cty.NullVal(f.Type)
	}
	if err := f.Check(got); err != nil {
		c.fail(path, "Invalid value for attribute", fmt.Sprintf("Invalid value for attribute %q: %s", f.Name, err))
	}
	return got
}

func hasNull(v cty.Value) bool {
	if v.IsNull() || !v.CanIterateElements() {
		return false
	}
	for _, e := range v.AsValueSlice() {
		if e.IsNull() {
			return true
		}
	}
	return false
}
