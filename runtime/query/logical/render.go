// Package logical cuts a bound plan into operators, renders what is linear as SQL, and gives plans a canonical form.
package logical

import (
	"fmt"
	"github.com/streamform/streamform/runtime/query/bound"
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

// Leaves are the leaf names in SQL, as often as they stand there.
func Leaves(sql string) []string {
	var out []string
	parts := strings.Split(sql, "\x00")
	for i := 1; i < len(parts); i += 2 {
		out = append(out, parts[i])
	}
	return out
}

// RelationLeaf is the leaf name of a relation; schema is empty for the default one.
func RelationLeaf(schema, name string) string {
	if schema == "" {
		return strings.ToLower(name)
	}
	return strings.ToLower(schema + "." + name)
}

func column(i int) string { return "c" + strconv.Itoa(i) }

func (r Rendered) scope() bound.Scope {
	s := make(bound.Scope, r.Columns)
	for i := range s {
		if !r.Unnamed[i] {
			s[i] = column(i)
		}
	}
	return s
}

// Render turns a linear plan (scans, filters, projections, unnest, UNION ALL and
// stored leaves) into SQL. Anything else is *bound.Unsupported.
func Render(op *bound.Op) (Rendered, error) {
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
	case "LOGICAL_COMPARISON_JOIN", "LOGICAL_ANY_JOIN", "LOGICAL_CROSS_PRODUCT":
		return renderJoin(op)
	}
	return renderConstant(op)
}

func renderGet(op *bound.Op) (Rendered, error) {
	if op.Made() {
		return renderConstant(op)
	}
	schema, name, ok := op.Table()
	if !ok {
		return Rendered{}, bound.Unsupportedf(bound.ByTableFunction, "the table function %s", op.Name)
	}
	names, err := op.ScanColumns()
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
		list = append(list, bound.Ident(n)+" AS "+column(i))
	}
	r.SQL = "SELECT " + strings.Join(list, ", ") + " FROM " + Leaf(RelationLeaf(schema, name))
	where, err := op.ScanFilters()
	if err != nil {
		return Rendered{}, err
	}
	if len(where) > 0 {
		r.SQL += " WHERE " + strings.Join(where, " AND ")
	}
	return r, nil
}

func renderFilter(op *bound.Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	where, err := in.scope().Joined(op.Expressions, "", " AND ", "")
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

func renderProjection(op *bound.Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	parts, err := in.scope().All(op.Expressions)
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

func renderUnnest(op *bound.Op) (Rendered, error) {
	in, err := Render(op.Children[0])
	if err != nil {
		return Rendered{}, err
	}
	var parts []string
	for _, e := range op.Expressions {
		if e.Class != "BOUND_UNNEST" || e.Child == nil {
			return Rendered{}, bound.Unsupportedf(bound.ByForm, "an UNNEST of an unknown form")
		}
		text, err := in.scope().SQL(e.Child)
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

func renderUnion(op *bound.Op) (Rendered, error) {
	if !op.SetOpAll {
		return Rendered{}, bound.Unsupportedf(bound.ByForm, "UNION without ALL")
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
