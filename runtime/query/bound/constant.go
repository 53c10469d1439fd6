package bound

import (
	"fmt"
	"slices"
	"strings"
)

// Constant reports rows that come from no relation, and that SQL can make.
func (o *Op) Constant() bool {
	if o.Stored != "" {
		return false
	}
	switch o.Type {
	case "LOGICAL_DUMMY_SCAN", "LOGICAL_EMPTY_RESULT":
		return true
	case "LOGICAL_GET":
		return o.Made()
	case "LOGICAL_UNION", "LOGICAL_EXPRESSION_GET", "LOGICAL_FILTER", "LOGICAL_PROJECTION", "LOGICAL_UNNEST":
		timed := slices.ContainsFunc(o.Expressions, func(e *Expr) bool { return len(e.Clocks()) > 0 })
		return len(o.Children) > 0 && !timed && (o.Type != "LOGICAL_UNION" || o.SetOpAll) && !slices.ContainsFunc(o.Children, func(c *Op) bool { return !c.Constant() })
	}
	return false
}

// ConstantTypes are the types of constant rows' columns; ok is false where the plan does not say.
func (o *Op) ConstantTypes() (types []Type, ok bool) {
	switch o.Type {
	case "LOGICAL_DUMMY_SCAN":
		return []Type{{ID: "INTEGER"}}, true
	case "LOGICAL_EMPTY_RESULT":
		return o.ResultTypes, true
	case "LOGICAL_EXPRESSION_GET":
		return o.ExprTypes, true
	case "LOGICAL_GET":
		return o.ReturnedTypes, len(o.ReturnedTypes) == len(o.ColumnIndexes)
	case "LOGICAL_PROJECTION":
		for _, e := range o.Expressions {
			types = append(types, e.ResultType())
		}
		return types, true
	}
	below, ok := o.Children[0].ConstantTypes()
	switch o.Type {
	case "LOGICAL_FILTER":
		if len(o.ProjectionMap) == 0 {
			return below, ok
		}
		for _, k := range o.ProjectionMap {
			types = append(types, below[k])
		}
		return types, ok
	case "LOGICAL_UNNEST":
		types = slices.Clone(below)
		for _, e := range o.Expressions {
			types = append(types, e.ResultType())
		}
		return types, ok
	}
	return below, ok
}

// ConstantSQL writes rows that are made of nothing else (one row, none, VALUES, a table function's) with columns c0, c1, …, and says how many these are.
func (o *Op) ConstantSQL() (sql string, columns int, err error) {
	switch {
	case o.Type == "LOGICAL_DUMMY_SCAN":
		return "SELECT NULL AS c0", 1, nil
	case o.Type == "LOGICAL_EMPTY_RESULT":
		parts := make([]string, len(o.ResultTypes))
		for i, t := range o.ResultTypes {
			typ, err := t.SQL()
			if err != nil {
				return "", 0, err
			}
			parts[i] = fmt.Sprintf("CAST(NULL AS %s) AS c%d", typ, i)
		}
		return "SELECT " + strings.Join(parts, ", ") + " WHERE false", len(parts), nil
	case o.Made():
		args := make([]string, len(o.Parameters))
		for i, p := range o.Parameters {
			if args[i], err = p.SQL(); err != nil {
				return "", 0, err
			}
		}
		return "SELECT * FROM " + Ident(o.Name) + "(" + strings.Join(args, ", ") + ") AS " + Ident("sf$made") + "(c0)", 1, nil
	case o.Type == "LOGICAL_EXPRESSION_GET" && o.Constant():
		cells, err := Scope{}.All(o.Expressions)
		if err != nil {
			return "", 0, err
		}
		var rows, names []string
		for row := range slices.Chunk(cells, len(o.ExprTypes)) {
			rows = append(rows, "("+strings.Join(row, ", ")+")")
		}
		for i := range o.ExprTypes {
			names = append(names, fmt.Sprintf("c%d", i))
		}
		return "SELECT * FROM (VALUES " + strings.Join(rows, ", ") + ") AS " + Ident("sf$values") + "(" + strings.Join(names, ", ") + ")", len(names), nil
	}
	return "", 0, UnsupportedOp(o)
}

// mostConstant is how many constant rows a join may have inside of its SQL, where they are made in every epoch.
const mostConstant = 1000

// LinearJoin reports a join whose one side is few constant rows, and whose rows come from rows of the other side, one by one.
func (o *Op) LinearJoin() bool {
	if len(o.Children) != 2 || o.DelimFlipped || o.Type == "LOGICAL_DELIM_JOIN" || o.Type == "LOGICAL_ASOF_JOIN" {
		return false
	}
	left, right := o.Children[0].fewConstant(), o.Children[1].fewConstant()
	switch o.JoinType {
	case "LEFT", "SEMI", "ANTI":
		return right && !left
	case "RIGHT":
		return left && !right
	case "INNER":
		return left != right
	}
	return o.Type == "LOGICAL_CROSS_PRODUCT" && left != right
}

func (o *Op) fewConstant() bool {
	n := o.constantCount()
	return o.Constant() && n >= 0 && n <= mostConstant
}

// constantCount is how many constant rows there are at most; -1 when the plan does not say.
func (o *Op) constantCount() int64 {
	switch o.Type {
	case "LOGICAL_DUMMY_SCAN":
		return 1
	case "LOGICAL_EMPTY_RESULT":
		return 0
	case "LOGICAL_GET":
		return o.madeRows()
	case "LOGICAL_EXPRESSION_GET":
		return int64(len(o.Expressions) / max(len(o.ExprTypes), 1))
	case "LOGICAL_FILTER", "LOGICAL_PROJECTION":
		return o.Children[0].constantCount()
	case "LOGICAL_UNION":
		sum := int64(0)
		for _, c := range o.Children {
			n := c.constantCount()
			if n < 0 {
				return -1
			}
			sum += n
		}
		return sum
	}
	return -1
}
