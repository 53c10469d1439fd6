package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/schema"
)

// body is the inside of a block: attributes by name, then nested blocks.
type body struct {
	text   *text
	indent int // column of the symbols
	fields []schema.Field
}

// write shows what differs; before is nil for what is made, after for what is destroyed.
func (b body) write(before, after map[string]any) {
	blocks := map[string]schema.Field{}
	forces := map[string]bool{}
	for _, f := range b.fields {
		if f.Block {
			blocks[f.Name] = f
		}
		forces[f.Name] = f.Cost == schema.CostRecreate
	}
	b.attributes(before, after, func(name string) bool { _, is := blocks[name]; return !is }, forces)
	hidden := 0
	for _, f := range b.fields {
		if f.Block {
			hidden += b.block(f, before[f.Name], after[f.Name])
		}
	}
	if hidden > 0 {
		b.text.line("")
		b.hidden(hidden, "block")
	}
}

func (b body) attributes(before, after map[string]any, isAttribute func(string) bool, forces map[string]bool) {
	names := slices.Sorted(maps.Keys(union(before, after)))
	hidden, width := 0, 0
	var shown []string
	for _, name := range names {
		was, is := before[name], after[name]
		switch {
		case !isAttribute(name) || absent(was) && absent(is):
		case same(was, is):
			hidden++
		default:
			shown = append(shown, name)
			width = max(width, len(name))
		}
	}
	v := value{text: b.text, indent: b.indent}
	for _, name := range shown {
		v.note = ""
		if forces[name] && before != nil && after != nil {
			v.note = " " + b.text.paint(bold+red, "# forces replacement")
		}
		v.attribute(fmt.Sprintf("%-*s = ", width, name), before[name], after[name])
	}
	if hidden > 0 {
		b.hidden(hidden, "attribute")
	}
}

func (b body) hidden(n int, word string) {
	b.text.line("%s%s", strings.Repeat(" ", b.indent+2), b.text.paint(dim, fmt.Sprintf("# (%s hidden)", plan.Plural(int64(n), "unchanged "+word))))
}

// block shows one nested block, or several of one name, and returns how many are not shown.
func (b body) block(f schema.Field, before, after any) (hidden int) {
	type pair struct {
		label       string
		before, now map[string]any
	}
	var pairs []pair
	find := func(label string) *pair {
		for i := range pairs {
			if pairs[i].label == label {
				return &pairs[i]
			}
		}
		pairs = append(pairs, pair{label: label})
		return &pairs[len(pairs)-1]
	}
	for i, m := range objects(before) {
		find(labelOf(f, m, i)).before = m
	}
	for i, m := range objects(after) {
		find(labelOf(f, m, i)).now = m
	}
	for _, p := range pairs {
		if same(p.before, p.now) {
			hidden++
			continue
		}
		symbol := "~"
		if p.before == nil {
			symbol = "+"
		} else if p.now == nil {
			symbol = "-"
		}
		header := f.Name
		if f.Labeled {
			header += fmt.Sprintf(" %q", p.label)
			delete(p.before, "name")
			delete(p.now, "name")
		}
		b.text.line("")
		b.text.line("%s%s %s {", strings.Repeat(" ", b.indent), b.text.symbol(symbol), header)
		body{text: b.text, indent: b.indent + 4, fields: f.Nested}.write(p.before, p.now)
		b.text.line("%s}", strings.Repeat(" ", b.indent+2))
	}
	return hidden
}

func labelOf(f schema.Field, m map[string]any, i int) string {
	if name, ok := m["name"].(string); ok && f.Labeled {
		return name
	}
	return fmt.Sprint(i)
}

// objects are the blocks in a value: one object, or a list of them.
func objects(v any) []map[string]any {
	switch v := v.(type) {
	case map[string]any:
		return []map[string]any{maps.Clone(v)}
	case []any:
		var out []map[string]any
		for _, e := range v {
			if m, ok := e.(map[string]any); ok {
				out = append(out, maps.Clone(m))
			}
		}
		return out
	}
	return nil
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// absent values are not shown where nothing changes into or out of them.
func absent(v any) bool {
	list, isList := v.([]any)
	return v == nil || isList && len(list) == 0
}

func same(a, b any) bool { return reflect.DeepEqual(a, b) }
