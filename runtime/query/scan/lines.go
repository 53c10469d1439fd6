package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// Lines are the records of a few small files of JSON lines.
type Lines struct {
	Records [][2][]byte // a record as it stands, and with the columns of the scan as its only members
	Rows    []int64     // per file
}

// mostLines bounds the bytes that are read as Lines: beyond it DuckDB's reader is cheaper.
const mostLines = 32 << 10

// flatType is a type without members: what it takes of a value does not depend on the names in it.
var flatType = regexp.MustCompile(`^[A-Za-z0-9_ ]+(\([0-9, ]+\))?$`)

// ReadLines reads small files that hold one record in each line. It is false for all that is to be left to DuckDB's reader.
func ReadLines(s batch.Scan, files []batch.File) (Lines, bool) {
	if s.Format.Name != "json" || len(s.Format.Options) > 0 || needsFile(s) {
		return Lines{}, false
	}
	size := int64(0)
	for _, f := range files {
		if size += f.Size; size > mostLines || Compressed(f.Path) {
			return Lines{}, false
		}
	}
	p, ok := newPicker(s.Columns)
	if !ok {
		return Lines{}, false
	}
	l := Lines{Rows: make([]int64, len(files))}
	for i, f := range files {
		data, err := readSmall(f)
		if err != nil {
			return Lines{}, false
		}
		for line := range bytes.SplitSeq(data, []byte{'\n'}) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			picked, ok := p.pick(line)
			if !ok || l.Rows[i] == 0 && (p.respelled || !json.Valid(line)) {
				return Lines{}, false
			}
			l.Records = append(l.Records, [2][]byte{line, picked})
			l.Rows[i]++
		}
	}
	return l, len(l.Records) > 0
}

// readSmall reads a file that has the size that is known of it.
func readSmall(known batch.File) ([]byte, error) {
	f, err := os.Open(known.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, known.Size+1)
	n, err := io.ReadFull(f, data)
	if err == nil || n < int(known.Size) {
		return nil, fmt.Errorf("%s does not have %d bytes", known.Path, known.Size)
	}
	return data[:n], nil
}

// FromLines is a SELECT of the source's columns from a table of Lines' records, in the columns l and p. It takes no record that
// DuckDB's reader rejects, and gives the same values. It may fail at some that the reader takes: that one is to be asked then.
func FromLines(s batch.Scan, table string) string {
	shape, values := make([]string, len(s.Columns)), make([]string, len(s.Columns))
	for i, c := range s.Columns {
		f := fitOf(c.Type)
		shape[i] = string(jsonText(c.Name)) + ":" + string(jsonText(f.wide))
		values[i] = f.strict("v["+bound.Text(c.Name)+"]") + " AS " + bound.Ident(c.Name)
	}
	// A strict conversion wants exactly the declared members, and none twice; the reader wants only the latter.
	return "SELECT " + strings.Join(values, ", ") + " FROM (SELECT CASE WHEN json_type(l) = 'OBJECT' THEN from_json_strict(p, " + bound.Text("{"+strings.Join(shape, ",")+"}") +
		") ELSE error('a record for the reader') END AS v FROM " + table + ")"
}

func jsonText(s string) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return []byte(`""`)
	}
	return bytes.TrimSpace(out.Bytes())
}

// picker finds the members of records that are columns.
type picker struct {
	columns   map[string]int // by name, as it stands between quotes
	folded    map[string]int // by name in lower case
	names     [][]byte       // quoted
	values    [][]byte       // of the record at hand
	respelled bool           // the record at hand has a column under a name in another case alone
}

func newPicker(columns batch.Schema) (*picker, bool) {
	p := &picker{columns: map[string]int{}, folded: map[string]int{}, values: make([][]byte, len(columns))}
	for i, c := range columns {
		name := jsonText(c.Name)
		p.columns[string(name[1:len(name)-1])] = i
		p.names = append(p.names, name)
		p.folded[strings.ToLower(c.Name)] = i
		if !flatType.MatchString(c.Type) || bytes.IndexByte(name, '\\') >= 0 {
			return nil, false
		}
	}
	return p, true
}

// pick returns a record that is an object with nothing but its columns as members, NULL where it has none. It is false for what is
// not plainly an object, or has a member twice. Whether it is JSON at all is not looked at.
func (p *picker) pick(line []byte) ([]byte, bool) {
	clear(p.values)
	others := map[string]bool{}
	var variants []int // columns that members are named like, but for the case
	rest, ok := after(line, '{')
	for more := ok && !closes(rest); more; {
		name, tail, ok := member(rest)
		if !ok {
			return nil, false
		}
		n := valueLength(tail)
		value := bytes.TrimSpace(tail[:n])
		i, known := p.columns[string(name)]
		if at, folds := p.folded[strings.ToLower(string(name))]; folds && !known {
			variants = append(variants, at)
		}
		switch {
		case len(value) == 0, known && p.values[i] != nil, others[string(name)]:
			return nil, false
		case known:
			p.values[i] = value
		default:
			others[string(name)] = true
		}
		rest, more = after(tail[n:], ',')
	}
	if !ok || !closes(rest) {
		return nil, false
	}
	p.respelled = slices.ContainsFunc(variants, func(i int) bool { return p.values[i] == nil })
	return p.object(len(line)), true
}

func (p *picker) object(size int) []byte {
	out := append(make([]byte, 0, size+16), '{')
	for i, v := range p.values {
		if i > 0 {
			out = append(out, ',')
		}
		if v == nil {
			v = []byte("null")
		}
		out = append(append(append(out, p.names[i]...), ':'), v...)
	}
	return append(out, '}')
}

// after takes a character off the text, if it comes next.
func after(text []byte, c byte) ([]byte, bool) {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if len(trimmed) == 0 || trimmed[0] != c {
		return text, false
	}
	return trimmed[1:], true
}

// closes reports whether the text is the end of an object, and nothing else.
func closes(text []byte) bool {
	rest, ok := after(text, '}')
	return ok && len(bytes.TrimSpace(rest)) == 0
}

// member splits a text that begins with a member's name from what follows its colon. Names with escapes are left to the reader.
func member(text []byte) (name, rest []byte, ok bool) {
	if text, ok = after(text, '"'); !ok {
		return nil, nil, false
	}
	end := bytes.IndexByte(text, '"')
	if end < 0 || bytes.IndexByte(text[:end], '\\') >= 0 {
		return nil, nil, false
	}
	rest, ok = after(text[end+1:], ':')
	return text[:end], rest, ok
}

// valueLength is how many bytes there are up to the comma or brace that ends a member's value.
func valueLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case ']':
			depth--
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}
