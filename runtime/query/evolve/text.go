package evolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/query/logical"
)

// term is a column of what is held: the canonical text of its values, and the SQL that reads it.
type term struct {
	text, sql string
	typ       string
	grid      *grid // set when the values are where buckets begin
}

// terms are all columns of what is held, the longest texts first.
type terms []term

func newTerms(texts, types []string, prefix string) terms {
	var out terms
	for i, t := range texts {
		if _, _, _, ok := logical.Next(t); !ok {
			continue // a constant follows from nothing
		}
		g, _ := gridAt(t, 0)
		if g != nil && (g.end != len(t) || g.part) {
			g = nil
		}
		out = append(out, term{text: t, sql: fmt.Sprint(prefix, i), typ: types[i], grid: g})
	}
	slices.SortStableFunc(out, func(a, b term) int { return cmp.Compare(len(b.text), len(a.text)) })
	return out
}

// derivation writes a canonical text as SQL over what is held.
type derivation struct {
	held    terms
	used    map[string]bool // SQL of the terms read as they are
	nested  []string        // sentences about buckets that nest
	missing string          // why there is no such SQL
}

// sql is the SQL of a canonical text; ok is false when it does not follow from what is held.
func (d *derivation) sql(text string) (string, bool) {
	if text == "" {
		return "NULL", true
	}
	var out strings.Builder
	for i := 0; i < len(text); {
		if t, ok := d.held.at(text, i); ok {
			out.WriteString(t.sql)
			d.used[t.sql] = true
			i += len(t.text)
			continue
		}
		if g, ok := gridAt(text, i); ok {
			if sql, ok := d.bucket(text[i:g.end], g); ok {
				out.WriteString(sql)
				i = g.end
				continue
			}
		}
		end := lexeme(text, i)
		if text[i] == 0 {
			d.miss(words(text[i:end]) + " is not among what is held")
			return "", false
		}
		out.WriteString(text[i:end])
		i = end
	}
	return out.String(), true
}

func (d *derivation) miss(reason string) {
	if d.missing == "" {
		d.missing = reason
	}
}

// at is the held column whose text stands at a place, as a whole expression.
func (ts terms) at(text string, i int) (term, bool) {
	if i > 0 && isWord(text[i-1]) && isWord(text[i]) {
		return term{}, false
	}
	for _, t := range ts {
		end := i + len(t.text)
		if strings.HasPrefix(text[i:], t.text) && (end == len(text) || !isWord(text[end]) || !isWord(text[end-1])) {
			return t, true
		}
	}
	return term{}, false
}

// bucket writes buckets as those of narrower buckets that are held.
func (d *derivation) bucket(text string, want *grid) (string, bool) {
	for _, t := range d.held {
		if t.grid == nil || t.grid.of != want.of {
			continue
		}
		if !t.grid.nests(want) {
			d.miss(t.grid.refusal(want))
			continue
		}
		inner := t.sql
		if typ := typeOf(want.of); typ != t.typ {
			if typ == "" {
				continue
			}
			inner = "CAST(" + inner + " AS " + typ + ")"
		}
		d.nested = append(d.nested, fmt.Sprintf("%s nest in %s", t.grid.label(), want.those()))
		if want.kind == division {
			return fmt.Sprintf("(%s // %d)", inner, want.width/t.grid.width), true
		}
		return strings.ReplaceAll(text, want.of, inner), true
	}
	return "", false
}

// typeOf is the type of a canonical text, where it shows; else empty.
func typeOf(text string) string {
	if c, start, end, ok := logical.Next(text); ok && start == 0 && end == len(text) {
		return c.Type
	}
	if inner, typ, end := castAt(text, 0); inner != "" && end == len(text) {
		return typ
	}
	return ""
}

// lexeme is where the piece of SQL that begins at a place ends: a column, a quoted text, a word, or one sign.
func lexeme(text string, i int) int {
	switch c := text[i]; {
	case c == 0, c == '\'', c == '"':
		for j := i + 1; j < len(text); j++ {
			if text[j] == c {
				return j + 1
			}
		}
		return len(text)
	case isWord(c):
		for i < len(text) && isWord(text[i]) {
			i++
		}
		return i
	}
	return i + 1
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// group is where the parenthesis that opens at a place closes, and the parts that sep divides its content into.
func group(text string, open int, sep string) (parts []string, end int) {
	depth, from := 0, open+1
	for i := open; i < len(text); {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		}
		if depth == 0 {
			return append(parts, text[from:i]), i + 1
		}
		if depth == 1 && strings.HasPrefix(text[i:], sep) {
			parts = append(parts, text[from:i])
			i += len(sep)
			from = i
			continue
		}
		i = lexeme(text, i)
	}
	return nil, len(text)
}

// callAt reads a function call: its name and arguments. The name is empty when there is none.
func callAt(text string, i int) (name string, args []string, end int) {
	if i >= len(text) || text[i] != '"' {
		return "", nil, i
	}
	open := lexeme(text, i)
	if open >= len(text) || text[open] != '(' {
		return "", nil, i
	}
	args, end = group(text, open, ", ")
	return text[i+1 : open-1], args, end
}

// castAt reads CAST(… AS …); inner is empty when there is none.
func castAt(text string, i int) (inner, typ string, end int) {
	if !strings.HasPrefix(text[i:], "CAST(") || i > 0 && isWord(text[i-1]) {
		return "", "", i
	}
	parts, end := group(text, i+len("CAST"), " AS ")
	if len(parts) != 2 {
		return "", "", i
	}
	return parts[0], parts[1], end
}
