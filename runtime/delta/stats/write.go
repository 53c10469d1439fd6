// Package stats makes the statistics that a Delta table keeps of each file, and skips files by them.
package stats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/delta/schema"
)

// Defaults of the table properties that bound statistics.
const (
	defaultIndexed = 32 // leaf columns
	defaultPrefix  = 32 // characters of a text
	maxPrefix      = 64 // where looking for a text above all others ends
)

// Table says which statistics a table keeps.
type Table struct {
	Schema        schema.Schema // as in metaData
	Mode          schema.Mode
	Partitions    []string // logical names; their columns have no statistics
	Configuration map[string]string
}

// Copy is what DuckDB's COPY … (FORMAT parquet, RETURN_STATS) says of one file.
type Copy struct {
	Rows int64
	// Columns is column_statistics: "a"."b" → min, max, null_count, has_nan … → text. DuckDB counts no NULLs
	// of lists and maps; a caller that does may add them as {"l": {null_count: …}}.
	Columns map[string]map[string]string
}

// FromCopy writes the statistics of a file that was just written. Bounds are never narrower than the data: what
// cannot be stated exactly is widened or left out.
func FromCopy(t Table, c Copy) (string, error) {
	w := writer{copy: c}
	var err error
	if w.limits, err = limitsOf(t.Configuration); err != nil {
		return "", err
	}
	for _, f := range t.Schema {
		if containsFold(t.Partitions, f.Name) {
			continue
		}
		physical := schema.Schema{f}.Physical(t.Mode)[0]
		if err := w.field(f, physical, nil, nil); err != nil {
			return "", fmt.Errorf("statistics of column %q: %w", f.Name, err)
		}
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, `{"numRecords":%d`, c.Rows)
	if strings.EqualFold(t.Configuration["delta.enableDeletionVectors"], "true") {
		out.WriteString(`,"tightBounds":true`)
	}
	for _, part := range []struct {
		name string
		tree *tree
	}{{"minValues", &w.min}, {"maxValues", &w.max}, {"nullCount", &w.nulls}} {
		fmt.Fprintf(&out, `,"%s":`, part.name)
		part.tree.write(&out)
	}
	out.WriteByte('}')
	return out.String(), nil
}

// limits says which columns have statistics, and how long texts are.
type limits struct {
	leaves  int        // how many from the first; -1 all
	columns [][]string // when set: these, and what is inside them
	prefix  int
}

func limitsOf(configuration map[string]string) (limits, error) {
	out := limits{leaves: defaultIndexed, prefix: defaultPrefix}
	for key, target := range map[string]*int{
		"delta.dataSkippingNumIndexedCols":     &out.leaves,
		"delta.dataSkippingStringPrefixLength": &out.prefix,
	} {
		if text, ok := configuration[key]; ok {
			n, err := strconv.Atoi(text)
			if err != nil {
				return out, fmt.Errorf("reading %s: %w", key, err)
			}
			*target = n
		}
	}
	if text, ok := configuration["delta.dataSkippingStatsColumns"]; ok {
		out.leaves, out.columns = -1, splitColumns(text)
	}
	return out, nil
}

// splitColumns reads a list of dotted names; backticks quote a part.
func splitColumns(text string) [][]string {
	out := [][]string{nil}
	var part strings.Builder
	quoted := false
	end := func() {
		last := len(out) - 1
		out[last] = append(out[last], strings.TrimSpace(part.String()))
		part.Reset()
	}
	for _, r := range text {
		switch {
		case r == '`':
			quoted = !quoted
		case r == '.' && !quoted:
			end()
		case r == ',' && !quoted:
			end()
			out = append(out, nil)
		default:
			part.WriteRune(r)
		}
	}
	end()
	return out
}

// wanted tells whether a leaf has statistics, given how many came before it.
func (l limits) wanted(path []string, before int) bool {
	if l.columns == nil {
		return l.leaves < 0 || before < l.leaves
	}
	return slices.ContainsFunc(l.columns, func(c []string) bool {
		return len(c) <= len(path) && slices.EqualFunc(c, path[:len(c)], strings.EqualFold)
	})
}

type writer struct {
	copy            Copy
	limits          limits
	leaves          int
	min, max, nulls tree
}

// field takes one column or struct member; logical and physical differ in their names only.
func (w *writer) field(logical, physical schema.Field, path, names []string) error {
	path = append(slices.Clone(path), logical.Name)
	names = append(slices.Clone(names), physical.Name)
	if logical.Type.Name == schema.Struct {
		for i, member := range logical.Type.Fields {
			if err := w.field(member, physical.Type.Fields[i], path, names); err != nil {
				return err
			}
		}
		return nil
	}
	w.leaves++
	if !w.limits.wanted(path, w.leaves-1) {
		return nil
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = schema.Identifier(n)
	}
	values, ok := w.copy.Columns[strings.Join(quoted, ".")]
	if !ok {
		return nil
	}
	if text, ok := values["null_count"]; ok {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("null count: %w", err)
		}
		w.nulls.set(names, strconv.FormatInt(n, 10))
	}
	if values["has_nan"] == "true" {
		return nil
	}
	if low, ok := values["min"]; ok {
		w.bound(&w.min, names, lower(logical.Type, low, w.limits.prefix))
	}
	if high, ok := values["max"]; ok {
		w.bound(&w.max, names, upper(logical.Type, high, w.limits.prefix))
	}
	return nil
}

func (w *writer) bound(side *tree, names []string, text string) {
	if text != "" {
		side.set(names, text)
	}
}

// tree is a JSON object whose members keep the order in which they were set.
type tree struct {
	names    []string
	children []*tree
	value    string // a leaf's JSON
}

func (t *tree) set(path []string, value string) {
	if len(path) == 0 {
		t.value = value
		return
	}
	i := slices.Index(t.names, path[0])
	if i < 0 {
		i = len(t.names)
		t.names = append(t.names, path[0])
		t.children = append(t.children, &tree{})
	}
	t.children[i].set(path[1:], value)
}

func (t *tree) write(out *bytes.Buffer) {
	if t.value != "" {
		out.WriteString(t.value)
		return
	}
	out.WriteByte('{')
	for i, name := range t.names {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(quote(name))
		out.WriteByte(':')
		t.children[i].write(out)
	}
	out.WriteByte('}')
}

// quote writes a text as JSON, without escaping what only HTML minds.
func quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(fmt.Sprintf("a text cannot be written as JSON: %v", err))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func containsFold(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}
