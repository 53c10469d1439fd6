package scan

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
)

// Dialect is how CSV is written; the defaults are RFC 4180 with a header.
type dialect struct {
	delim, quote, escape string
	header               bool
	skip                 int
}

func dialectOf(f batch.Format) dialect {
	d := dialect{delim: ",", quote: `"`, header: true}
	escape := false
	for k, v := range f.Options {
		switch k {
		case "delim", "sep", "delimiter":
			d.delim = v
		case "quote":
			d.quote = v
		case "escape":
			d.escape, escape = v, true
		case "header":
			d.header = v != "false"
		case "skip":
			_, _ = fmt.Sscan(v, &d.skip)
		}
	}
	if !escape {
		d.escape = d.quote // a quote inside quotes is written twice
	}
	return d
}

func (d dialect) options(skip int) string {
	return fmt.Sprintf(", auto_detect = false, header = %t, delim = %s, quote = %s, escape = %s, skip = %d",
		d.header, bound.Text(d.delim), bound.Text(d.quote), bound.Text(d.escape), skip)
}

func dialectOptions() []string {
	return []string{"delim", "sep", "delimiter", "quote", "escape", "header", "skip"}
}

// csvGroups reads files of equal headers together, each group's columns by name.
func csvGroups(s batch.Scan, files []batch.File) (string, error) {
	groups, order, err := headerGroups(s, files)
	if err != nil {
		return "", err
	}
	var arms []string
	for _, h := range order {
		arms = append(arms, csvArm(s, *groups[h]))
	}
	return "(" + strings.Join(arms, " UNION ALL ") + ")", nil
}

// headerGroup is the files that begin in the same way.
type headerGroup struct {
	heading
	paths []string
}

func headerGroups(s batch.Scan, files []batch.File) (map[string]*headerGroup, []string, error) {
	d := dialectOf(s.Format)
	groups := map[string]*headerGroup{}
	var order []string
	for _, f := range files {
		h, err := header(s, d, f.Path)
		if err != nil {
			return nil, nil, err
		}
		if h.names == nil {
			continue
		}
		id := fmt.Sprintf("%q %d", h.names, h.skip)
		if groups[id] == nil {
			groups[id] = &headerGroup{heading: h}
			order = append(order, id)
		}
		groups[id].paths = append(groups[id].paths, f.Path)
	}
	if len(order) == 0 {
		return map[string]*headerGroup{"": {}}, []string{""}, nil
	}
	return groups, order, nil
}

// Positional reports whether files tell their columns by place only, so that the order in which they are declared decides.
func Positional(s batch.Scan) bool { return s.Format.Name == "csv" && !dialectOf(s.Format).header }

// header reads the names in a file's first record. Without a header the declared order holds.
func header(s batch.Scan, d dialect, path string) (heading, error) {
	if !d.header {
		h := heading{skip: d.skip, names: make([]string, len(s.Columns))}
		for i, c := range s.Columns {
			h.names[i] = c.Name
		}
		return h, nil
	}
	r, err := Open(path)
	if err != nil {
		return heading{}, &FileError{Path: path, Err: err}
	}
	defer r.Close()
	h, err := d.heading(bufio.NewReader(r))
	if err == nil && h.names != nil && len(s.Columns) > 0 && !slices.ContainsFunc(s.Columns, func(c batch.Column) bool { return has(h.names, c.Name) }) {
		err = fmt.Errorf("its header names none of the source's columns: %s. Where files have no header, set format_options = { header = \"false\" }; another separator is \"delim\" there",
			shortened(strings.Join(h.names, d.delim)))
	}
	if err != nil {
		return heading{}, &FileError{Path: path, Err: err}
	}
	return h, nil
}

// shortened is a text as far as a message can hold it.
func shortened(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func csvArm(s batch.Scan, g headerGroup) string {
	if len(g.paths) == 0 {
		return "SELECT *, CAST(NULL AS VARCHAR) AS \"" + FileColumn + "\" FROM (" + Empty(batch.Scan{Columns: s.Columns}) + ")"
	}
	list1 := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		list1[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
		if has(g.names, c.Name) {
			list1[i] = csvFit(c.Type).strict(bound.Ident(c.Name)) + " AS " + bound.Ident(c.Name)
		}
	}
	types := fileColumns(s, g.names)
	for i, c := range types {
		types[i].Type = csvFit(c.Type).wide
	}
	return "SELECT " + strings.Join(list1, ", ") + `, "` + FileColumn + `" FROM read_csv(` + list(g.paths) +
		", columns = " + structOf(types) + ", filename = '" + FileColumn + "'" + dialectOf(s.Format).options(g.skip) + options(s.Format, dialectOptions()...) + ")"
}

func has(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// fileColumns gives a file's columns their declared types; those nobody declared are text.
func fileColumns(s batch.Scan, names []string) batch.Schema {
	var out batch.Schema
	seen := map[string]bool{}
	for i, n := range names {
		c := batch.Column{Name: n, Type: "VARCHAR"}
		for _, want := range s.Columns {
			if strings.EqualFold(want.Name, n) {
				c = want
			}
		}
		if low := strings.ToLower(c.Name); seen[low] || low == "" {
			c = batch.Column{Name: fmt.Sprintf("sf$column%d", i), Type: "VARCHAR"}
		}
		seen[strings.ToLower(c.Name)] = true
		out = append(out, c)
	}
	return out
}
