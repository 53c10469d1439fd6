package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/state"
)

// Outputs writes one line per output by name; a sensitive one shows no value.
func Outputs(outputs map[string]state.Output) string {
	names := make([]string, 0, len(outputs))
	for name := range outputs {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		value := "<sensitive>"
		if o := outputs[name]; !o.Sensitive {
			value = Value(o.Value, 0)
		}
		fmt.Fprintf(&b, "%s = %s\n", name, value)
	}
	return b.String()
}
