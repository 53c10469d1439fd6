package logical

import (
	"fmt"
	"strconv"
	"strings"
)

// Rendered is SQL for a plan or a part of it. Its columns are named c0, c1, … by position.
type Rendered struct {
	SQL     string
	Columns int
	// Unnamed are column positions that hold no value, such as a row id nobody reads.
	Unnamed map[int]bool
}

// Leaf is where rendered SQL reads a relation or a stored operator: Mark stands
// in the text and is replaced when the SQL is run.
func Leaf(name string) string { return "\x00" + name + "\x00" }

// Replace puts what to read in the place of each leaf. read gets the leaf's name.
func Replace(sql string, read func(name string) (string, error)) (string, error) {
	parts := strings.Split(sql, "\x00")
	for i := 1; i < len(parts); i += 2 {
		text, err := read(parts[i])
		if err != nil {
			return "", err
		}
		parts[i] = text
	}
	return strings.Join(parts, ""), nil
}

// RelationLeaf is the leaf name of a relation; schema is empty for the default one.
func RelationLeaf(schema, name string) string {
	if schema == "" {
		return strings.ToLower(name)
	}
	return strings.ToLower(schema + "." + name)
}

func column(i int) string { return "c" + strconv.Itoa(i) }

func (r Rendered) scope() scope {
	s := make(scope, r.Columns)
	for i := range s {
		if !r.Unnamed[i] {
			s[i] = column(i)
		}
	}
	return s
}

// Render turns a linear plan (scans, filters, projections, unnest, UNION ALL and
// stored leaves) into SQL. Anything else is *Unsupported.
func Render(op *Op) (Rendered, error) {
	if op.Stored != "" {
		return Rendered{SQL: "SELECT * FROM " + Leaf(op.Stored), Columns: op.StoredColumns}, nil
	}
	switch op.Type {
	case "LOGICAL_GET":
		return renderGet(op)
	case "LOGICAL_FILTER":
		return renderFilter(op)
	case "LOGICAL_PROJECTION":
		return renderProjection(op)
	case "LOGICAL_UNNEST":
		return renderUnnest(op)
	case "LOGICAL_UNION":
		return renderUnion(op)
	}
	return Rendered{}, unsupported("%s", Describe(op))
}

func renderGet(op *Op) (Rendered, error) {
	schema, name, ok := op.Table()
	if !ok {
		return Rendered{}, unsupported("the table function %s", op.Name)
	}
	names, err := op.scanColumns()
	if err != nil {
		return Rendered{}, err
	}
	r := Rendered{Columns: len(names), Unnamed: map[int]bool{}}
	var list []string
	for i, n := range names {
		if n == "" {
			r.Unnamed[i] = true
			list = append(list, "NULL AS "+column(i))
			continue
		}
		list = append(list, Ident(n)+" AS "+column(i))
	}
	r.SQL = "SELECT " + strings.Join(list, ", ") + " FROM " + Leaf(RelationLeaf(schema, name))
	where, err := op.scanFilters()
	if err != nil {
		return Rendered{}, err
	}
	if len(where) > 0 {
		r.SQL += " WHERE " + strings.Join(where, " AND ")
	}
	return r, nil
}

// scanColumns are the names of the columns a scan hands on, empty for a row id.
func (o *Op) scanColumns() ([]string, error) {
	var all []string
	for _, c := range o.ColumnIndexes {
		i, err := c.Index.Int64()
		if err != nil || i >= int64(len(o.Names)) {
			all = append(all, "")
			continue
		}
		all = append(all, o.Names[i])
	}
	if len(o.ProjectionIDs) == 0 {
		return all, nil
	}
	var out []string
	for _, p := range o.ProjectionIDs {
		if p < 0 || p >= len(all) {
			return nil, unsupported("a scan of an unknown form")
		}
		out = append(out, all[p])
	}
	return out, nil
}

func (o *Op) scanFilters() ([]string, error) {
	var where []string
	for _, f := range o.TableFilters.Filters {
		if f.Key < 0 || f.Key >= len(o.Names) {
			return nil, unsupported("a filter on the row identifier")
		}
		text, err := f.Value.sql(Ident(o.Names[f.Key]))
		if err != nil {
			return nil, err
		}
		where = append(where, text)
	}
	return where, nil
}

func renderFilter(op *Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	where, err := in.scope().joined(op.Expressions, "", " AND ", "")
	if err != nil {
		return Rendered{}, err
	}
	list, r := project(op.ProjectionMap, in)
	r.SQL = "SELECT " + list + " FROM (" + in.SQL + ") WHERE " + where
	return r, nil
}

// project keeps the columns of a projection map, all of them when it is empty.
func project(keep []uint64, in Rendered) (string, Rendered) {
	if len(keep) == 0 {
		return "*", Rendered{Columns: in.Columns, Unnamed: in.Unnamed}
	}
	out := Rendered{Columns: len(keep), Unnamed: map[int]bool{}}
	var list []string
	for i, k := range keep {
		list = append(list, column(int(k))+" AS "+column(i))
		if in.Unnamed[int(k)] {
			out.Unnamed[i] = true
		}
	}
	return strings.Join(list, ", "), out
}

func renderProjection(op *Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	parts, err := in.scope().all(op.Expressions)
	if err != nil {
		return Rendered{}, err
	}
	return Rendered{SQL: "SELECT " + aliased(parts, 0) + " FROM (" + in.SQL + ")", Columns: len(parts)}, nil
}

func aliased(parts []string, from int) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		out[i] = p + " AS " + column(from+i)
	}
	return strings.Join(out, ", ")
}

func renderUnnest(op *Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	var parts []string
	for _, e := range op.Expressions {
		if e.Class != "BOUND_UNNEST" || e.Child == nil {
			return Rendered{}, unsupported("an UNNEST of an unknown form")
		}
		text, err := in.scope().sql(e.Child)
		if err != nil {
			return Rendered{}, err
		}
		parts = append(parts, "unnest("+text+")")
	}
	return Rendered{
		SQL:     fmt.Sprintf("SELECT *, %s FROM (%s)", aliased(parts, in.Columns), in.SQL),
		Columns: in.Columns + len(parts), Unnamed: in.Unnamed,
	}, nil
}

func renderUnion(op *Op) (Rendered, error) {
	if !op.SetOpAll {
		return Rendered{}, unsupported("UNION without ALL")
	}
	var parts []string
	columns := 0
	for _, c := range op.Children {
		in, err := Render(c)
		if err != nil {
			return Rendered{}, err
		}
		parts = append(parts, "("+in.SQL+")")
		columns = in.Columns
	}
	return Rendered{SQL: strings.Join(parts, " UNION ALL "), Columns: columns}, nil
}
