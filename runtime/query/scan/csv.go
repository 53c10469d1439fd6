package scan

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
	d := dialect{delim: ",", quote: `"`, escape: `"`, header: true}
	for k, v := range f.Options {
		switch k {
		case "delim", "sep", "delimiter":
			d.delim = v
		case "quote":
			d.quote = v
		case "escape":
			d.escape = v
		case "header":
			d.header = v != "false"
		case "skip":
			_, _ = fmt.Sscan(v, &d.skip)
		}
	}
	return d
}

func (d dialect) options() string {
	return fmt.Sprintf(", auto_detect = false, header = %t, delim = %s, quote = %s, escape = %s, skip = %d",
		d.header, bound.Text(d.delim), bound.Text(d.quote), bound.Text(d.escape), d.skip)
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
		arms = append(arms, csvArm(s, groups[h].columns, groups[h].paths))
	}
	return "(" + strings.Join(arms, " UNION ALL ") + ")", nil
}

type headerGroup struct {
	columns []string
	paths   []string
}

func headerGroups(s batch.Scan, files []batch.File) (map[string]*headerGroup, []string, error) {
	d := dialectOf(s.Format)
	groups := map[string]*headerGroup{}
	var order []string
	for _, f := range files {
		columns, err := header(s, d, f.Path)
		if err != nil {
			return nil, nil, err
		}
		if columns == nil {
			continue
		}
		id := strings.Join(columns, "\x00")
		if groups[id] == nil {
			groups[id] = &headerGroup{columns: columns}
			order = append(order, id)
		}
		groups[id].paths = append(groups[id].paths, f.Path)
	}
	if len(order) == 0 {
		return map[string]*headerGroup{"": {}}, []string{""}, nil
	}
	return groups, order, nil
}

// header reads the names in a file's first line; nil for an empty file. Without a header the declared order holds.
func header(s batch.Scan, d dialect, path string) ([]string, error) {
	if !d.header {
		names := make([]string, len(s.Columns))
		for i, c := range s.Columns {
			names[i] = c.Name
		}
		return names, nil
	}
	r, err := Open(path)
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	defer r.Close()
	in := bufio.NewReader(r)
	for range d.skip {
		if _, err := in.ReadString('\n'); err != nil {
			return nil, nil
		}
	}
	if bom, err := in.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	c := csv.NewReader(in)
	c.Comma = []rune(d.delim + ",")[0]
	c.LazyQuotes = true
	names, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, &FileError{Path: path, Err: err}
	}
	return names, nil
}

func csvArm(s batch.Scan, names, paths []string) string {
	if len(paths) == 0 {
		return "SELECT *, CAST(NULL AS VARCHAR) AS \"" + FileColumn + "\" FROM (" + Empty(batch.Scan{Columns: s.Columns}) + ")"
	}
	d := dialectOf(s.Format)
	list1 := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		list1[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
		if has(names, c.Name) {
			list1[i] = bound.Ident(c.Name)
		}
	}
	return "SELECT " + strings.Join(list1, ", ") + `, "` + FileColumn + `" FROM read_csv(` + list(paths) +
		", columns = " + structOf(fileColumns(s, names)) + ", filename = '" + FileColumn + "'" + d.options() + options(s.Format, dialectOptions()...) + ")"
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
