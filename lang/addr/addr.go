// Package addr holds addresses: how one declared thing is named everywhere.
package addr

import (
	"cmp"
	"fmt"
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

// Resource is the address of one declared resource. It is comparable. The zero
// value is no address.
type Resource struct {
	Block Block
	Type  string // "files" in source.files.x; empty for stream and view
	Name  string
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
	return r.Kind() + "." + r.Name
}

// Header is the block header as a person writes it: source "files" "purchases".
func (r Resource) Header() string {
	if r.Type == "" {
		return fmt.Sprintf("%s %q", r.Block, r.Name)
	}
	return fmt.Sprintf("%s %q %q", r.Block, r.Type, r.Name)
}

// Compare orders addresses as they are listed: by text.
func (r Resource) Compare(o Resource) int { return cmp.Compare(r.String(), o.String()) }

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
	parts := strings.Split(s, ".")
	length := 2
	if block := Block(parts[0]); block.HasType() {
		length = 3
	}
	if len(parts) == length+1 && Block(parts[0]).IsRelation() {
		side = parts[length]
		if !validName(side) {
			return Resource{}, "", fmt.Errorf("%q is not a reference: %q is not a valid name", s, side)
		}
		s = strings.Join(parts[:length], ".")
	}
	to, err = Parse(s)
	return to, side, err
}

// Parse reads an address such as source.files.purchases or view.sales. The
// error says what is wrong in words for the command line.
func Parse(s string) (Resource, error) {
	parts := strings.Split(s, ".")
	block := Block(parts[0])
	known := false
	for _, b := range Blocks() {
		known = known || b == block
	}
	if !known {
		return Resource{}, fmt.Errorf("%q is not an address: it must begin with one of source, stream, view, sink, trigger, monitor", s)
	}
	want := 2
	if block.HasType() {
		want = 3
	}
	if len(parts) != want {
		form := string(block) + ".NAME"
		if block.HasType() {
			form = string(block) + ".TYPE.NAME"
		}
		return Resource{}, fmt.Errorf("%q is not an address: a %s is written %s", s, block, form)
	}
	for _, p := range parts[1:] {
		if !validName(p) {
			return Resource{}, fmt.Errorf("%q is not an address: %q is not a valid name", s, p)
		}
	}
	if want == 2 {
		return Resource{Block: block, Name: parts[1]}, nil
	}
	return Resource{Block: block, Type: parts[1], Name: parts[2]}, nil
}
