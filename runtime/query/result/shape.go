package result

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Texts is the type that has the shape of a type and text in place of every value inside it, as DuckDB would print that
// value: cast to it, a value loses nothing on its way through Go. A type of an unknown form is one text.
func Texts(typ string) string { return shapeOf(typ).texts() }

// shape is a type as far as JSON cares: what is nested in what.
type shape struct {
	kind    kind
	scalar  string // type of a scalar
	length  string // "[]", "[3]" of a list
	members []member
}

type kind int

const (
	scalar  kind = iota
	list         // one member, the element
	mapping      // two members, key and value
	object       // a STRUCT
	choice       // a UNION
)

type member struct {
	name string
	of   shape
}

// shapeOf reads a type as DESCRIBE prints it.
func shapeOf(typ string) shape {
	p := &shapeParser{rest: typ}
	s, err := p.parse()
	if err != nil || p.rest != "" {
		return shape{scalar: typ}
	}
	return s
}

func (s shape) texts() string {
	switch s.kind {
	case list:
		return s.members[0].of.texts() + s.length
	case mapping:
		return "MAP(VARCHAR, " + s.members[1].of.texts() + ")"
	case object, choice:
		parts := make([]string, len(s.members))
		for i, m := range s.members {
			parts[i] = bound.Ident(m.name) + " " + m.of.texts()
		}
		return map[kind]string{object: "STRUCT(", choice: "UNION("}[s.kind] + strings.Join(parts, ", ") + ")"
	}
	return "VARCHAR"
}

// shapeParser takes a type's text from its front.
type shapeParser struct {
	rest  string
	depth int
}

// maxDepth bounds nesting, so that no text exhausts the stack.
const maxDepth = 200

func (p *shapeParser) parse() (shape, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return shape{}, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	s, err := p.base()
	for err == nil && strings.HasPrefix(p.rest, "[") {
		end := strings.IndexByte(p.rest, ']')
		if end < 0 {
			return s, fmt.Errorf("%s is not closed", p.rest)
		}
		s = shape{kind: list, length: p.rest[:end+1], members: []member{{of: s}}}
		p.rest = p.rest[end+1:]
	}
	return s, err
}

func (p *shapeParser) base() (shape, error) {
	for prefix, k := range map[string]kind{"STRUCT(": object, "UNION(": choice, "MAP(": mapping} {
		if rest, ok := strings.CutPrefix(p.rest, prefix); ok {
			p.rest = rest
			return p.nest(k)
		}
	}
	name, err := p.word("[,)")
	return shape{scalar: name}, err
}

// nest reads the members up to the parenthesis that closes them.
func (p *shapeParser) nest(k kind) (shape, error) {
	s := shape{kind: k}
	for {
		var m member
		var err error
		if k != mapping {
			if m.name, err = p.name(); err != nil {
				return s, err
			}
		}
		if m.of, err = p.parse(); err != nil {
			return s, err
		}
		s.members = append(s.members, m)
		if rest, ok := strings.CutPrefix(p.rest, ", "); ok {
			p.rest = rest
			continue
		}
		rest, ok := strings.CutPrefix(p.rest, ")")
		if !ok || k == mapping && len(s.members) != 2 {
			return s, fmt.Errorf("unexpected %q", p.rest)
		}
		p.rest = rest
		return s, nil
	}
}

// name reads a member's name and the space behind it; names that are not plain are in quotes.
func (p *shapeParser) name() (string, error) {
	text, err := p.word(" ,)")
	if err != nil || !strings.HasPrefix(p.rest, " ") {
		return "", fmt.Errorf("a member without a name at %q", p.rest)
	}
	p.rest = p.rest[1:]
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		return strings.ReplaceAll(strings.TrimSuffix(quoted, `"`), `""`, `"`), nil
	}
	return text, nil
}

// word takes everything up to one of the given characters that stands outside quotes and parentheses.
func (p *shapeParser) word(until string) (string, error) {
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case depth == 0 && i > 0 && strings.IndexByte(until, c) >= 0:
			text := p.rest[:i]
			p.rest = p.rest[i:]
			return text, nil
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '"', c == '\'':
			end := strings.IndexByte(p.rest[i+1:], c)
			if end < 0 {
				return "", fmt.Errorf("%s is not closed", p.rest[i:])
			}
			i += end + 1
		}
	}
	if depth != 0 || p.rest == "" {
		return "", fmt.Errorf("unexpected end")
	}
	text := p.rest
	p.rest = ""
	return text, nil
}
