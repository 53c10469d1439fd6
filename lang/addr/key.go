package addr

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key tells the instances of a resource that has for_each or count from each other. It is comparable. The zero
// value is no key: that of a resource that is one.
type Key struct {
	kind   keyKind
	text   string
	number int
}

type keyKind uint8

const (
	noKey keyKind = iota
	numberKey
	textKey
)

// TextKey is the key of an instance made by for_each.
func TextKey(text string) Key { return Key{kind: textKey, text: text} }

// NumberKey is the index of an instance made by count.
func NumberKey(n int) Key { return Key{kind: numberKey, number: n} }

// Text is the key of an instance made by for_each; ok is false for any other.
func (k Key) Text() (text string, ok bool) { return k.text, k.kind == textKey }

// Number is the index of an instance made by count; ok is false for any other.
func (k Key) Number() (n int, ok bool) { return k.number, k.kind == numberKey }

// Value is the key as JSON documents hold it: a text, a number, or nil.
func (k Key) Value() any {
	switch k.kind {
	case textKey:
		return k.text
	case numberKey:
		return k.number
	}
	return nil
}

// String is the key as it ends an address: ["eu"], [0], or nothing.
func (k Key) String() string {
	switch k.kind {
	case textKey:
		return "[" + quote(k.text) + "]"
	case numberKey:
		return "[" + strconv.Itoa(k.number) + "]"
	}
	return ""
}

// Compare orders keys: none, then numbers, then texts.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.kind, o.kind), cmp.Compare(k.number, o.number), cmp.Compare(k.text, o.text))
}

// quote writes a text as HCL reads it back.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, c := range text {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case (c == '$' || c == '%') && strings.HasPrefix(text[i+1:], "{"):
			b.WriteRune(c)
			b.WriteRune(c)
		case !unicode.IsPrint(c) && c > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, c)
		case !unicode.IsPrint(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// parseKey reads the key that text begins with, brackets included, and gives what follows it.
func parseKey(text string) (k Key, rest string, err error) {
	if !strings.HasPrefix(text, `["`) {
		inner, rest, closed := strings.Cut(text[1:], "]")
		n, err := strconv.Atoi(inner)
		switch {
		case !closed:
			return k, "", fmt.Errorf("its key does not end with ]")
		case err == nil && n >= 0 && strconv.Itoa(n) == inner:
			return NumberKey(n), rest, nil
		case err == nil || inner == "":
			return k, "", fmt.Errorf("an index is a whole number that is not negative, such as [0]")
		}
		return k, "", fmt.Errorf("a key stands in quotes, as in [%s]; on a command line, put the whole address into single quotes, as shells take double quotes away", quote(strings.Trim(inner, `'`)))
	}
	decoded, rest, ok := unquote(text[2:])
	switch {
	case !utf8.ValidString(text):
		return k, "", fmt.Errorf("its key is not UTF-8")
	case !ok || !strings.HasPrefix(rest, "]"):
		return k, "", fmt.Errorf(`its key does not end with "]`)
	}
	return TextKey(decoded), rest[1:], nil
}

// unquote reads a text up to its closing quotation mark, and gives what follows that.
func unquote(text string) (out, rest string, ok bool) {
	var b strings.Builder
	for text != "" {
		switch {
		case text[0] == '"':
			return b.String(), text[1:], true
		case strings.HasPrefix(text, "$${") || strings.HasPrefix(text, "%%{"):
			b.WriteString(text[1:3])
			text = text[3:]
			continue
		case text[0] != '\\':
			_, size := utf8.DecodeRuneInString(text)
			b.WriteString(text[:size])
			text = text[size:]
			continue
		}
		c, _, tail, err := strconv.UnquoteChar(text, '"')
		if err != nil {
			return "", "", false
		}
		b.WriteRune(c)
		text = tail
	}
	return "", "", false
}

// Relation is the name by which SQL reads what is declared: the resource's name, and for an instance also its key, after
// two underscores. A key that is not made of up to 40 lower-case letters, digits, underscores and dashes is shortened to such, and ends
// with a digest: names differ for keys that differ, case left out.
func (r Resource) Relation() string {
	switch r.Key.kind {
	case numberKey:
		return r.Name + "__" + strconv.Itoa(r.Key.number)
	case textKey:
		return r.Name + "__" + r.Key.plain()
	}
	return r.Name
}

// SQL is the name as SQL text holds it: in quotes, unless it cannot be taken for anything else.
func (r Resource) SQL() string {
	name := r.Relation()
	if r.Key == (Key{}) || strings.Contains(name, "-") {
		return `"` + name + `"`
	}
	return name
}

func (k Key) plain() string {
	const most, shortened = 40, 24
	short := strings.Map(func(c rune) rune {
		switch {
		case c == '_' || c == '-' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '_'
	}, k.text)
	if short == k.text && short != "" && len(short) <= most {
		return short
	}
	sum := sha256.Sum256([]byte(k.text))
	return strings.TrimLeft(short[:min(len(short), shortened)]+"_", "_") + hex.EncodeToString(sum[:5])
}

// Whole is the address without its key: the block that declares it, and its other instances.
func (r Resource) Whole() Resource {
	r.Key = Key{}
	return r
}

// Instance is one of the instances of the block.
func (r Resource) Instance(k Key) Resource {
	r.Key = k
	return r
}

// Repetition says how a block declares its instances.
type Repetition string

// The repetitions, by the arguments that ask for them.
const (
	Once    Repetition = "" // there is one, without a key
	ForEach Repetition = "for_each"
	Count   Repetition = "count"
)

// Absent says why an instance is not declared by its block, which is repeated in a way, as Terraform does. It begins with a word
// that tells which: key, index or resource.
func (r Resource) Absent(mode Repetition) string {
	switch {
	case mode == ForEach && r.Key.kind == textKey:
		return fmt.Sprintf("key %s is not in for_each map", r.Key)
	case mode == Count && r.Key.kind == numberKey:
		return fmt.Sprintf("index %s is out of range for count", r.Key)
	case r.Key.kind == numberKey:
		return "resource does not use count"
	case r.Key.kind == textKey:
		return "resource does not use for_each"
	}
	return "resource uses count or for_each"
}
