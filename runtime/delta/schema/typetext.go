package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseDuckDB reads DuckDB's type text and returns the Delta type that holds its values.
func ParseDuckDB(text string) (Type, error) {
	p := typeParser{rest: text}
	t, err := p.parse()
	if err == nil && strings.TrimSpace(p.rest) != "" {
		err = fmt.Errorf("unexpected %q", p.rest)
	}
	if err != nil {
		return Type{}, fmt.Errorf("type %s: %w", text, err)
	}
	return t, nil
}

// typeParser takes a type text from its front.
type typeParser struct {
	rest  string
	depth int
}

// maxDepth bounds nesting, so that no text can exhaust the stack.
const maxDepth = 100

func (p *typeParser) parse() (Type, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return Type{}, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	t, err := p.base()
	if err != nil {
		return Type{}, err
	}
	for p.accept("[") {
		length := p.takeWhile(func(c byte) bool { return c >= '0' && c <= '9' })
		if !p.accept("]") {
			return Type{}, fmt.Errorf("missing ] after [%s", length)
		}
		element := t
		t = Type{Name: Array, Element: &element, HasNulls: true}
	}
	return t, nil
}

func (p *typeParser) base() (Type, error) {
	word := p.word()
	switch strings.ToUpper(word) {
	case "STRUCT", "ROW":
		return p.structType()
	case "MAP":
		return p.mapType()
	case "DECIMAL", "NUMERIC":
		return p.decimal()
	case "ENUM":
		return Type{Name: String}, p.skipParens()
	case "VARCHAR", "TEXT", "BIT":
		// A length, as in VARCHAR(10), means nothing to DuckDB.
		if p.peek() == '(' {
			if err := p.skipParens(); err != nil {
				return Type{}, err
			}
		}
	}
	t, ok := deltaOf(word)
	if !ok {
		return Type{}, fmt.Errorf("%q has no equivalent in a Delta table; cast the column", word)
	}
	return t, nil
}

// word takes a type's name, together with the words that belong to it.
func (p *typeParser) word() string {
	p.space()
	if p.peek() == '"' {
		name, err := p.quoted()
		if err != nil {
			return ""
		}
		return name
	}
	word := p.takeWhile(letter)
	const zone = " WITH TIME ZONE"
	if len(p.rest) >= len(zone) && strings.EqualFold(p.rest[:len(zone)], zone) {
		p.rest = p.rest[len(zone):]
		word += zone
	}
	return word
}

func (p *typeParser) structType() (Type, error) {
	t := Type{Name: Struct}
	if !p.accept("(") {
		return t, fmt.Errorf("STRUCT without members")
	}
	for {
		name, err := p.memberName()
		if err != nil {
			return t, err
		}
		member, err := p.parse()
		if err != nil {
			return t, fmt.Errorf("member %q: %w", name, err)
		}
		t.Fields = append(t.Fields, Field{Name: name, Type: member, Nullable: true})
		if p.accept(")") {
			return t, nil
		}
		if !p.accept(",") {
			return t, fmt.Errorf("expected , or ) after member %q", name)
		}
	}
}

func (p *typeParser) memberName() (string, error) {
	p.space()
	if p.peek() == '"' {
		return p.quoted()
	}
	name := p.takeWhile(letter)
	if name == "" {
		return "", fmt.Errorf("expected a member name at %q", p.rest)
	}
	return name, nil
}

func (p *typeParser) mapType() (Type, error) {
	if !p.accept("(") {
		return Type{}, fmt.Errorf("MAP without types")
	}
	key, err := p.parse()
	if err != nil {
		return Type{}, err
	}
	if !p.accept(",") {
		return Type{}, fmt.Errorf("MAP without a value type")
	}
	value, err := p.parse()
	if err != nil {
		return Type{}, err
	}
	if !p.accept(")") {
		return Type{}, fmt.Errorf("MAP is not closed")
	}
	return Type{Name: Map, Key: &key, Element: &value, HasNulls: true}, nil
}

func (p *typeParser) decimal() (Type, error) {
	t := Type{Name: Decimal, Precision: 18, Scale: 3}
	if !p.accept("(") {
		return t, nil
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	var err error
	p.space()
	if t.Precision, err = strconv.Atoi(p.takeWhile(digit)); err != nil {
		return t, fmt.Errorf("DECIMAL without a precision")
	}
	t.Scale = 0
	if p.accept(",") {
		p.space()
		if t.Scale, err = strconv.Atoi(p.takeWhile(digit)); err != nil {
			return t, fmt.Errorf("DECIMAL without a scale")
		}
	}
	if !p.accept(")") || t.Precision < 1 || t.Precision > 38 || t.Scale > t.Precision {
		return t, fmt.Errorf("bad DECIMAL(%d,%d)", t.Precision, t.Scale)
	}
	return t, nil
}

// skipParens takes "(…)" with quoted texts inside.
func (p *typeParser) skipParens() error {
	if !p.accept("(") {
		return fmt.Errorf("expected (")
	}
	quoted := false
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\'':
			quoted = !quoted
		case c == ')' && !quoted:
			p.rest = p.rest[i+1:]
			return nil
		}
	}
	return fmt.Errorf("missing )")
}

// quoted takes a "…" name; a doubled quote stands for one.
func (p *typeParser) quoted() (string, error) {
	var out strings.Builder
	for i := 1; i < len(p.rest); i++ {
		if p.rest[i] != '"' {
			out.WriteByte(p.rest[i])
			continue
		}
		if i+1 < len(p.rest) && p.rest[i+1] == '"' {
			out.WriteByte('"')
			i++
			continue
		}
		p.rest = p.rest[i+1:]
		return out.String(), nil
	}
	return "", fmt.Errorf("name is not closed: %s", p.rest)
}

func (p *typeParser) accept(token string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.rest, token)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *typeParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\n") }

func (p *typeParser) peek() byte {
	if p.rest == "" {
		return 0
	}
	return p.rest[0]
}

func (p *typeParser) takeWhile(keep func(byte) bool) string {
	n := 0
	for n < len(p.rest) && keep(p.rest[n]) {
		n++
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
