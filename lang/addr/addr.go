// Package addr holds addresses: how one declared thing is named everywhere.
package addr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Block is the kind of block a resource is written in.
type Block string

// The blocks that declare resources.
const (
	Source  Block = "source"
	Stream  Block = "stream"
	View    Block = "view"
	Sink    Block = "sink"
	Trigger Block = "trigger"
	Monitor Block = "monitor"
)

// Blocks lists every block that declares a resource, in the order people read them.
func Blocks() []Block { return []Block{Source, Stream, View, Sink, Trigger, Monitor} }

// HasType reports whether the block carries a type label before its name:
// source "files" "x" does, view "x" does not.
func (b Block) HasType() bool { return b != Stream && b != View }

// IsRelation reports whether SQL can read what the block declares.
func (b Block) IsRelation() bool { return b == Source || b == Stream || b == View }

// Resource is the address of one declared resource, or of one instance of a block that declares many. It is
// comparable. The zero value is no address.
type Resource struct {
	Block Block
	Type  string // "files" in source.files.x; empty for stream and view
	Name  string
	Key   Key // none, unless the block has for_each or count
}

// Kind names what is declared: source.files, sink.delta, view.
func (r Resource) Kind() string {
	if r.Type == "" {
		return string(r.Block)
	}
	return string(r.Block) + "." + r.Type
}

// String is the address as written in HCL references and on the command line.
func (r Resource) String() string {
	if r == (Resource{}) {
		return ""
	}
	return r.Kind() + "." + r.Name + r.Key.String()
}

// Header is the block header as a person writes it, which is the same for all instances: source "files" "purchases".
func (r Resource) Header() string {
	if r.Type == "" {
		return fmt.Sprintf("%s %q", r.Block, r.Name)
	}
	return fmt.Sprintf("%s %q %q", r.Block, r.Type, r.Name)
}

// Compare orders addresses as they are listed: by text, and the instances of one block by their keys.
func (r Resource) Compare(o Resource) int {
	return cmp.Or(cmp.Compare(r.Whole().String(), o.Whole().String()), r.Key.Compare(o.Key))
}

// MarshalText writes the address as text, so that maps and documents keyed by
// address read as people write them.
func (r Resource) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (r *Resource) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Resource{}
		return nil
	}
	got, err := Parse(string(text))
	if err != nil {
		return err
	}
	*r = got
	return nil
}

// ValidName reports whether s can name a resource or a kind: a letter or an
// underscore, then letters, digits, underscores or dashes.
func ValidName(s string) bool { return validName(s) }

func validName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// ParseReference reads a reference as values hold it: an address, or the address of
// a source, stream or view followed by the name of one of its side relations
// (source.files.purchases.malformed). side is empty for the resource itself.
func ParseReference(s string) (to Resource, side string, err error) {
	head, key, rest, err := split(s)
	if err != nil {
		return Resource{}, "", err
	}
	parts := strings.Split(head, ".")
	block := Block(parts[0])
	switch length := block.parts(); {
	case !block.IsRelation():
	case key != (Key{}) && strings.HasPrefix(rest, "."):
		side, rest = rest[1:], ""
	case key == (Key{}) && len(parts) == length+1:
		side, head = parts[length], strings.Join(parts[:length], ".")
	}
	if side != "" && !validName(side) {
		return Resource{}, "", fmt.Errorf("%q is not a reference: %q is not a valid name", s, side)
	}
	to, err = parse(s, head, key, rest)
	return to, side, err
}

// Parse reads an address such as source.files.purchases, view.sales or view.sales["eu"]. The
// error says what is wrong in words for the command line.
func Parse(s string) (Resource, error) {
	head, key, rest, err := split(s)
	if err != nil {
		return Resource{}, err
	}
	return parse(s, head, key, rest)
}

// split takes an address apart: what stands before the key, the key, and what follows it.
func split(s string) (head string, k Key, rest string, err error) {
	at := strings.IndexByte(s, '[')
	if at < 0 {
		return s, k, "", nil
	}
	if k, rest, err = parseKey(s[at:]); err != nil {
		err = fmt.Errorf("%q is not an address: %w", s, err)
	}
	return s[:at], k, rest, err
}

// parts is the number of words in an address.
func (b Block) parts() int {
	if b.HasType() {
		return 3
	}
	return 2
}

func parse(s, head string, key Key, rest string) (Resource, error) {
	parts := strings.Split(head, ".")
	block := Block(parts[0])
	if !slices.Contains(Blocks(), block) {
		return Resource{}, fmt.Errorf("%q is not an address: it must begin with one of source, stream, view, sink, trigger, monitor", s)
	}
	if len(parts) != block.parts() || rest != "" {
		return Resource{}, fmt.Errorf("%q is not an address: a %s is written %s", s, block, block.form(key))
	}
	for _, p := range parts[1:] {
		if !validName(p) {
			return Resource{}, fmt.Errorf("%q is not an address: %q is not a valid name", s, p)
		}
	}
	r := Resource{Block: block, Name: parts[len(parts)-1], Key: key}
	if block.HasType() {
		r.Type = parts[1]
	}
	return r, nil
}

// form is how an address is written.
func (b Block) form(key Key) string {
	form := string(b) + ".NAME"
	if b.HasType() {
		form = string(b) + ".TYPE.NAME"
	}
	if key != (Key{}) {
		form += "[KEY]"
	}
	return form
}
