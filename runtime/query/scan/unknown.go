package scan

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/result"
)

// NoColumn is the reason of rescued values that the source has no column for.
const NoColumn = "the source has no such column"

// Unknown reports whether files hold values that the source has no column for, where these matter, as far as that can be told without
// reading them as rows. A file that cannot be looked at is left to whoever reads it.
func Unknown(ctx context.Context, conn *duck.Conn, s batch.Scan, files []batch.File) (bool, error) {
	if s.Unknown == "" {
		return false, nil
	}
	switch s.Format.Name {
	case "csv":
		for _, f := range files {
			if h, err := header(s, dialectOf(s.Format), f.Path); err == nil && len(strangers(s, h.names)) > 0 {
				return true, nil
			}
		}
		return false, nil
	case "parquet":
		for _, f := range files {
			there, err := ParquetColumns(ctx, conn, f)
			if err != nil {
				return false, nil
			}
			for _, c := range there {
				if at := columnAt(s.Columns, c.Name); at < 0 || lacks(result.MembersOf(c.Type), result.MembersOf(s.Columns[at].Type)) {
					return true, nil
				}
			}
		}
		return false, nil
	}
	for _, f := range files {
		if found, err := unknownMembers(ctx, s, f); err != nil || found {
			return found, err
		}
	}
	return false, nil
}

func columnAt(columns batch.Schema, name string) int {
	for i, c := range columns {
		if strings.EqualFold(c.Name, name) {
			return i
		}
	}
	return -1
}

// lacks reports whether a type has a member that another has no place for.
func lacks(there, known *result.Members) bool {
	if there == nil || known == nil {
		return false
	}
	for name, m := range there.Of {
		if k, ok := known.Of[name]; known.Of != nil && (!ok || lacks(m, k)) {
			return true
		}
	}
	return lacks(there.Element, known.Element)
}

// ParquetColumns are the columns that a file has by itself.
func ParquetColumns(ctx context.Context, conn *duck.Conn, f batch.File) (batch.Schema, error) {
	rows, err := conn.Text(ctx, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_parquet("+list([]string{f.Path})+", hive_partitioning = false))")
	if err != nil {
		return nil, err
	}
	columns := make(batch.Schema, len(rows))
	for i, r := range rows {
		columns[i] = batch.Column{Name: *r[0], Type: *r[1]}
	}
	return columns, nil
}

// strangers are the places of names that no column of the source takes: each column takes the first of its name.
func strangers(s batch.Scan, names []string) []int {
	var out []int
	taken := map[string]bool{}
	for i, n := range names {
		low := strings.ToLower(n)
		if known := columnAt(s.Columns, n) >= 0 && !taken[low]; !known {
			out = append(out, i)
		}
		taken[low] = true
	}
	return out
}

// unknownMembers looks for a record of a JSON file with something left over.
func unknownMembers(ctx context.Context, s batch.Scan, f batch.File) (bool, error) {
	r, err := Open(f.Path)
	if err != nil {
		return false, nil
	}
	defer r.Close()
	known := membersOf(s.Columns, spelled(s.Columns, f.Path))
	whole, err := firstIsWhole(f.Path)
	if err != nil {
		return false, nil
	}
	if !whole {
		dec := json.NewDecoder(bufio.NewReaderSize(r, 1<<20))
		for ctx.Err() == nil {
			var value json.RawMessage
			if dec.Decode(&value) != nil {
				return false, nil
			}
			if leftInside(value, &result.Members{Element: known}) || leftOver(value, known) != nil {
				return true, nil
			}
		}
		return false, ctx.Err()
	}
	in := bufio.NewReaderSize(r, 1<<20)
	for ctx.Err() == nil {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			var rest []byte
			line = bytes.Clone(line)
			rest, err = in.ReadBytes('\n')
			line = append(line, rest...)
		}
		if leftOver(line, known) != nil {
			return true, nil
		}
		if err != nil {
			return false, nil // the end, or damage that the reader tells of
		}
	}
	return false, ctx.Err()
}

// membersOf are the members that a source has columns for, under the names that a file has for them.
func membersOf(columns batch.Schema, names []string) *result.Members {
	m := &result.Members{Of: make(map[string]*result.Members, len(columns))}
	for i, c := range columns {
		m.Of[names[i]] = result.MembersOf(c.Type)
	}
	return m
}

// leftOver is what a record holds that its columns have no place for, as a JSON object with values as they stand; nil where there is
// nothing but null. Of a list with such a value in it, it is the whole list. What is not JSON is left to others.
func leftOver(record []byte, known *result.Members) []byte {
	var out []byte
	add := func(name, value []byte) {
		if out == nil {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	rest, ok := after(bytes.TrimSpace(record), '{')
	for ok && !closes(rest) {
		var name []byte
		if name, rest, ok = nameOf(rest); !ok {
			return nil
		}
		n := valueLength(rest)
		value := bytes.TrimSpace(rest[:n])
		within, has := known.Of[string(name[1:len(name)-1])]
		if !has && bytes.IndexByte(name, '\\') >= 0 {
			var plain string
			if json.Unmarshal(name, &plain) == nil {
				within, has = known.Of[plain]
			}
		}
		switch {
		case len(value) == 0:
			return nil
		case !has && string(value) != "null":
			add(name, value)
		case !has || within == nil:
		case within.Of != nil && value[0] == '{':
			if left := leftOver(value, within); left != nil {
				add(name, left)
			}
		case leftInside(value, within):
			add(name, value)
		}
		rest, ok = after(rest[n:], ',')
	}
	if out == nil {
		return nil
	}
	return append(out, '}')
}

// leftInside reports whether something of a list's elements is left over.
func leftInside(value []byte, known *result.Members) bool {
	if known == nil || len(value) == 0 {
		return false
	}
	if value[0] == '{' {
		return known.Of != nil && leftOver(value, known) != nil
	}
	if known.Element == nil || value[0] != '[' {
		return false
	}
	for rest := bytes.TrimSuffix(value[1:], []byte{']'}); ; {
		n := valueLength(rest)
		if leftInside(bytes.TrimSpace(rest[:n]), known.Element) {
			return true
		}
		var more bool
		if rest, more = after(rest[n:], ','); !more {
			return false
		}
	}
}

// nameOf splits a text that begins with a member's name, in its quotes, from what follows its colon.
func nameOf(text []byte) (name, rest []byte, ok bool) {
	if rest, ok = after(text, '"'); !ok {
		return nil, nil, false
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			tail, colon := after(rest[i+1:], ':')
			return text[len(text)-len(rest)-1:][:i+2], tail, colon
		}
	}
	return nil, nil, false
}

// stray is SQL, TRUE where a value has something, not NULL, at a place that its column has not.
func stray(x string, there, known *result.Members, depth int) string {
	var tests []string
	for _, name := range slices.Sorted(maps.Keys(there.Of)) {
		inner := "struct_extract(" + x + ", " + bound.Text(name) + ")"
		k, ok := known.Of[name]
		switch m := there.Of[name]; {
		case known.Of != nil && !ok:
			tests = append(tests, inner+" IS NOT NULL")
		case lacks(m, k):
			tests = append(tests, stray(inner, m, k, depth))
		}
	}
	if lacks(there.Element, known.Element) {
		e := fmt.Sprintf("e%d", depth)
		tests = append(tests, "list_bool_or(list_transform("+x+", lambda "+e+": "+stray(e, there.Element, known.Element, depth+1)+"))")
	}
	return "coalesce(" + strings.Join(tests, " OR ") + ", false)"
}

// leftColumn is a column of a file with values that the source has no place for.
type leftColumn struct {
	name string // as the file has it
	x    string // SQL for its value
	test string // SQL, TRUE where the value is not to be lost
}

// unknownColumns gathers what the source has no place for: a JSON object, or NULL.
func unknownColumns(columns []leftColumn) string {
	if len(columns) == 0 {
		return "CAST(NULL AS JSON)"
	}
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = "CASE WHEN " + c.test + " THEN json_object(" + bound.Text(c.name) + ", to_json(" + c.x + ")) ELSE '{}'::JSON END"
	}
	merged := parts[0]
	if len(parts) > 1 {
		merged = "json_merge_patch(" + strings.Join(parts, ", ") + ")"
	}
	return "nullif(" + merged + ", '{}'::JSON)"
}
