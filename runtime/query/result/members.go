package result

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Members says which members the objects inside a JSON value have a place for in a type; nil: the type has none for objects, or one for any.
type Members struct {
	Of      map[string]*Members // of a STRUCT, by name
	Element *Members            // of a list
}

// MembersOf reads a type as DESCRIBE prints it.
func MembersOf(typ string) *Members { return shapeOf(typ).inside() }

func (s shape) inside() *Members {
	switch s.kind {
	case list:
		if element := s.members[0].of.inside(); element != nil {
			return &Members{Element: element}
		}
	case object:
		m := &Members{Of: map[string]*Members{}}
		for _, member := range s.members {
			m.Of[member.name] = member.of.inside()
		}
		return m
	}
	return nil
}

// Lost is SQL, TRUE where a JSON value has something, not null, at a place where the value x that was made of it in a type has nothing.
func Lost(typ, x, raw string) string { return shapeOf(typ).lost(x, raw, 0) }

func (s shape) lost(x, raw string, depth int) string {
	out := "(" + x + " IS NULL AND json_type(" + raw + ") <> 'NULL'"
	each := func(list, element, at string, of shape) string {
		return fmt.Sprintf(" OR coalesce(list_bool_or(list_transform(%s, lambda i%d: %s)), false)", list, depth, of.lost(element, "json_extract("+raw+", "+at+")", depth+1))
	}
	i := fmt.Sprintf("i%d", depth)
	switch s.kind {
	case list:
		out += each("range(len("+x+"))", x+"["+i+" + 1]", "'$[' || "+i+" || ']'", s.members[0].of)
	case mapping:
		out += each("map_entries("+x+")", i+".value", "'/' || replace(replace(CAST("+i+".key AS VARCHAR), '~', '~0'), '/', '~1')", s.members[1].of)
	case object:
		for _, m := range s.members {
			out += " OR " + m.of.lost("struct_extract("+x+", "+bound.Text(m.name)+")", "json_extract("+raw+", "+bound.Text("/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(m.name))+")", depth)
		}
	}
	return out + ")"
}
