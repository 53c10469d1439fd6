package scan

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// spelled gives each column the name that the file's first record has for it: names are compared without case, and one that is
// equal goes before others. A column that the record does not have keeps its own.
func spelled(columns batch.Schema, path string) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.Name
	}
	members := firstMembers(path)
	for i, c := range columns {
		if slices.Contains(members, c.Name) {
			continue
		}
		if at := slices.IndexFunc(members, func(m string) bool { return strings.EqualFold(m, c.Name) }); at >= 0 {
			out[i] = members[at]
		}
	}
	return out
}

// firstMembers are the names in the first object of a JSON file, as far as it can be read.
func firstMembers(path string) (names []string) {
	r, err := Open(path)
	if err != nil {
		return nil
	}
	defer r.Close()
	dec := json.NewDecoder(io.LimitReader(r, firstLineLimit))
	token, err := dec.Token()
	if err == nil && token == json.Delim('[') {
		token, err = dec.Token()
	}
	if err != nil || token != json.Delim('{') {
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		text, ok := name.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return names
		}
		names = append(names, text)
	}
	return names
}

// alike are files whose first records have the same names for the columns.
type alike struct {
	names []string
	files []batch.File
}

// byNames puts files together that are read with the same names, in order.
func byNames(columns batch.Schema, files []batch.File) []alike {
	var out []alike
	for _, f := range files {
		names := spelled(columns, f.Path)
		at := slices.IndexFunc(out, func(a alike) bool { return slices.Equal(a.names, names) })
		if at < 0 {
			at = len(out)
			out = append(out, alike{names: names})
		}
		out[at].files = append(out[at].files, f)
	}
	return out
}

// named are the columns under other names.
func named(columns batch.Schema, names []string) batch.Schema {
	out := slices.Clone(columns)
	for i := range out {
		out[i].Name = names[i]
	}
	return out
}

// together reads files of JSON, those with the same names at once.
func together(s batch.Scan, files []batch.File, read func(of alike) string) string {
	all := byNames(s.Columns, files)
	if len(all) == 1 {
		return read(all[0])
	}
	arms := make([]string, len(all))
	for i, of := range all {
		arms[i] = "SELECT * FROM " + read(of)
	}
	return "(" + strings.Join(arms, " UNION ALL ") + ")"
}
