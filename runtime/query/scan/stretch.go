package scan

import (
	"maps"
	"strings"
)

// Stretch is a part of the sources' files, by relation in lower case: those behind after, up to until where it says so.
type Stretch struct{ after, until map[string]int64 }

// Has reports whether a file of a source is in the stretch.
func (s Stretch) Has(source string, ordinal int64) bool {
	until, bounded := s.until[source]
	return ordinal > s.after[source] && (!bounded || ordinal <= until)
}

// To is the part of a stretch up to a former query's end, and the rest.
func (s Stretch) To(until map[string]int64) (first, rest Stretch) {
	first, rest = Stretch{after: s.after, until: maps.Clone(s.until)}, Stretch{after: maps.Clone(s.after), until: s.until}
	if first.until == nil {
		first.until = map[string]int64{}
	}
	if rest.after == nil {
		rest.after = map[string]int64{}
	}
	for name, end := range until {
		source := strings.ToLower(name)
		if was, bounded := first.until[source]; !bounded || end < was {
			first.until[source] = end
		}
		rest.after[source] = max(rest.after[source], end)
	}
	return first, rest
}
