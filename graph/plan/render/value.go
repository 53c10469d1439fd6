package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
)

// value writes values, and how they differ.
type value struct {
	text   *text
	indent int    // column of the symbols
	note   string // behind the value
}

func (v value) deeper() value { return value{text: v.text, indent: v.indent + 4} }

// put writes one line with its symbol; " " stands for none.
func (v value) put(symbol, s string) {
	v.text.line("%s%s %s", strings.Repeat(" ", v.indent), v.text.symbol(symbol), s)
}

func (v value) arrow() string { return " " + v.text.paint(yellow, "->") + " " }

// attribute writes a value that differs, behind its label.
func (v value) attribute(label string, before, after any) {
	switch {
	case before == nil:
		v.whole("+", label, after, v.note)
	case after == nil:
		v.whole("-", label, before, v.text.paint(dim, " -> null")+v.note)
	default:
		v.differing(label, before, after, v.note)
	}
}

func (v value) differing(label string, before, after any, suffix string) {
	was, isList := before.([]any)
	is, staysList := after.([]any)
	fromMap, isMap := before.(map[string]any)
	toMap, staysMap := after.(map[string]any)
	fromJSON, isJSON := embedded(before)
	toJSON, staysJSON := embedded(after)
	switch {
	case isList && staysList:
		v.put("~", label+"[")
		v.deeper().list(was, is)
		v.put(" ", "]"+suffix)
	case isMap && staysMap:
		v.put("~", label+"{")
		v.deeper().mapping(fromMap, toMap)
		v.put(" ", "}"+suffix)
	case isJSON && staysJSON:
		v.put("~", label+"jsonencode(")
		v.deeper().attribute("", fromJSON, toJSON)
		v.put(" ", ")"+suffix)
	case multiline(before) || multiline(after):
		v.heredoc(label, before, after, suffix)
	default:
		was, is := inline(before), inline(after)
		if len([]rune(label+was+is)) <= oneLine {
			v.put("~", label+was+v.arrow()+is+suffix)
			return
		}
		v.put("~", label+was)
		v.text.line("%s%s%s%s", strings.Repeat(" ", max(0, v.indent+len([]rune(label))-2)), v.arrow(), is, suffix)
	}
}

// oneLine is how long an attribute and its two values may be, in characters, to stand on one line. Longer values stand one below the other,
// where the eye finds what differs.
const oneLine = 100

// whole writes a value that is the same throughout: all new, all gone, or (" ") context.
func (v value) whole(symbol, label string, x any, suffix string) {
	if inner, ok := embedded(x); ok {
		v.put(symbol, label+"jsonencode(")
		v.deeper().whole(symbol, "", inner, "")
		v.put(" ", ")"+suffix)
		return
	}
	switch x := x.(type) {
	case []any:
		if len(x) == 0 {
			v.put(symbol, label+"[]"+suffix)
			return
		}
		v.put(symbol, label+"[")
		for _, e := range x {
			v.deeper().whole(symbol, "", e, ",")
		}
		v.put(" ", "]"+suffix)
	case map[string]any:
		if len(x) == 0 {
			v.put(symbol, label+"{}"+suffix)
			return
		}
		v.put(symbol, label+"{")
		keys := slices.Sorted(maps.Keys(x))
		width := keyWidth(keys)
		for _, k := range keys {
			v.deeper().whole(symbol, fmt.Sprintf("%-*s = ", width, key(k)), x[k], "")
		}
		v.put(" ", "}"+suffix)
	default:
		if multiline(x) {
			v.put(symbol, label+"<<-EOT")
			for _, l := range lines(x) {
				v.text.line("%s%s", strings.Repeat(" ", v.indent+6), printable(l))
			}
			v.put(" ", "EOT"+suffix)
			return
		}
		v.put(symbol, label+inline(x)+suffix)
	}
}

// heredoc shows a text of several lines with the lines that differ marked.
func (v value) heredoc(label string, before, after any, suffix string) {
	v.put("~", label+"<<-EOT")
	was, is := lines(before), lines(after)
	inner := v.deeper()
	for _, s := range align(was, is, func(a, b string) bool { return a == b }) {
		switch {
		case s.before >= 0 && s.after >= 0:
			v.text.line("%s%s", strings.Repeat(" ", v.indent+6), printable(is[s.after]))
		case s.before >= 0:
			inner.put("-", printable(was[s.before]))
		default:
			inner.put("+", printable(is[s.after]))
		}
	}
	v.put(" ", "EOT"+suffix)
}

// list shows what differs between two lists, with a neighbour for orientation.
func (v value) list(before, after []any) {
	steps := align(before, after, same)
	changed := func(i int) bool { return i >= 0 && i < len(steps) && (steps[i].before < 0 || steps[i].after < 0) }
	hidden := 0
	for i, s := range steps {
		switch {
		case s.after < 0:
			v.whole("-", "", before[s.before], ",")
		case s.before < 0:
			v.whole("+", "", after[s.after], ",")
		case changed(i-1) || changed(i+1):
			v.flushHidden(&hidden)
			v.whole(" ", "", after[s.after], ",")
		default:
			hidden++
		}
	}
	v.flushHidden(&hidden)
}

func (v value) flushHidden(n *int) {
	if *n > 0 {
		v.put(" ", v.text.paint(dim, fmt.Sprintf("# (%s hidden)", plan.Plural(int64(*n), "unchanged element"))))
	}
	*n = 0
}

// mapping shows the keys that differ.
func (v value) mapping(before, after map[string]any) {
	hidden := 0
	var shown []string
	for _, k := range slices.Sorted(maps.Keys(union(before, after))) {
		if same(before[k], after[k]) {
			hidden++
		} else {
			shown = append(shown, k)
		}
	}
	width := keyWidth(shown)
	for _, k := range shown {
		label := fmt.Sprintf("%-*s = ", width, key(k))
		if after[k] == nil {
			v.whole("-", label, before[k], "")
			continue
		}
		v.attribute(label, before[k], after[k])
	}
	v.flushHidden(&hidden)
}

// key is a map's key: bare when it is a name, else quoted.
func key(k string) string {
	if addr.ValidName(k) {
		return k
	}
	return quote(k)
}

func keyWidth(keys []string) int {
	width := 0
	for _, k := range keys {
		width = max(width, len(key(k)))
	}
	return width
}

// inline writes a value on one line.
func inline(x any) string {
	switch x := x.(type) {
	case nil:
		return "null"
	case sensitive:
		return "(sensitive value)"
	case string:
		return quote(x)
	case bool:
		return strconv.FormatBool(x)
	case json.Number:
		return x.String()
	}
	data, err := json.Marshal(x)
	if err != nil {
		return "(a value that cannot be shown)"
	}
	return string(data)
}

// quote writes text as an HCL string.
func quote(s string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(s))
}

// printable keeps control characters of a text from reaching a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return '\uFFFD'
		}
		return r
	}, s)
}

func multiline(x any) bool {
	s, ok := x.(string)
	return ok && strings.Contains(s, "\n")
}

func lines(x any) []string {
	s, ok := x.(string)
	if !ok {
		return []string{inline(x)}
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// embedded reads text that is a JSON object or list.
func embedded(x any) (any, bool) {
	s, ok := x.(string)
	if !ok {
		return nil, false
	}
	if t := strings.TrimSpace(s); t == "" || t[0] != '{' && t[0] != '[' || !json.Valid([]byte(t)) {
		return nil, false
	}
	v, err := parse([]byte(s))
	return v, err == nil
}
