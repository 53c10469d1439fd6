package seed

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// Alike selects the columns that both generations have, as the new one has them. The others are NULL on both sides, unless the step is
// Wide: whoever receives the difference does not read them.
func Alike(now, before batch.Schema) string {
	list := make([]string, len(now))
	for i, c := range now {
		list[i] = bound.Ident(c.Name)
		if !slices.ContainsFunc(before, func(b batch.Column) bool { return strings.EqualFold(b.Name, c.Name) && b.Type == c.Type }) {
			list[i] = "CAST(NULL AS " + c.Type + ") AS " + list[i]
		}
	}
	return strings.Join(list, ", ")
}
