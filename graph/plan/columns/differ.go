package columns

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// Differ lists what differs between two schemas; empty when nothing does, or when one was not looked at.
func Differ(was, is batch.Schema) string {
	if was == nil || is == nil {
		return ""
	}
	before, after := map[string]string{}, map[string]string{}
	for _, c := range was {
		before[c.Name] = c.Type
	}
	for _, c := range is {
		after[c.Name] = c.Type
	}
	var out []string
	for _, c := range was {
		switch now, there := after[c.Name]; {
		case !there:
			out = append(out, "- "+c.Name+" "+c.Type)
		case now != c.Type:
			out = append(out, fmt.Sprintf("%s is %s, was %s", c.Name, now, c.Type))
		}
	}
	for _, c := range is {
		if _, there := before[c.Name]; !there {
			out = append(out, "+ "+c.Name+" "+c.Type)
		}
	}
	return strings.Join(out, ", ")
}
