package scan

import (
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// Narrowed is a scan of the columns used, by name in lower case; of one where none is.
func Narrowed(s batch.Scan, used map[string]bool) batch.Scan {
	unused := func(name string) bool { return !used[strings.ToLower(name)] }
	all := s.Columns
	s.Columns = slices.DeleteFunc(slices.Clone(all), func(c batch.Column) bool { return unused(c.Name) })
	s.Metadata = slices.DeleteFunc(slices.Clone(s.Metadata), unused)
	if len(s.Columns) == 0 {
		s.Columns = all[:1]
	}
	return s
}
