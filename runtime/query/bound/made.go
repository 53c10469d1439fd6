package bound

import (
	"encoding/json"
	"slices"
)

// Made reports rows that a table function makes of constants: range, generate_series or unnest.
func (o *Op) Made() bool {
	return o.maker() && len(o.Children) == 0 && len(o.ColumnIndexes) == 1 && len(o.ReturnedTypes) == 1 && len(o.TableFilters.Filters) == 0
}

// maker reports a table function that makes rows of its arguments alone, without their numbers.
func (o *Op) maker() bool {
	if o.Type != "LOGICAL_GET" || o.Stored != "" || o.Ordinality.String() != "" && o.Ordinality.String() != noIndex {
		return false
	}
	return o.Name == "range" || o.Name == "generate_series" || o.Name == "unnest"
}

// noIndex is how the plan writes that there is none.
const noIndex = "18446744073709551615"

// madeRows is how many rows a table function makes at most; -1 where that is not seen at once.
func (o *Op) madeRows() int64 {
	if o.Name == "unnest" {
		return o.madeOfList()
	}
	at := []int64{0, 0, 1} // from, to, step
	numbers := make([]int64, len(o.Parameters))
	for i, p := range o.Parameters {
		if p.Type.ID != "BIGINT" || json.Unmarshal(p.Data, &numbers[i]) != nil {
			return -1
		}
	}
	switch len(numbers) {
	case 1:
		at[1] = numbers[0]
	case 2, 3:
		copy(at, numbers)
	default:
		return -1
	}
	if at[2] == 0 {
		return -1
	}
	return max((at[1]-at[0])/at[2], 0) + 1
}

func (o *Op) madeOfList() int64 {
	if len(o.Parameters) != 1 {
		return -1
	}
	list, err := o.Parameters[0].members()
	if err != nil {
		return -1
	}
	return int64(len(list))
}

// normal gives parts of a plan that can be written in several ways one form: VALUES of one row are a projection, VALUES that read
// an outer row a union of projections, and a table function over outer rows an UNNEST of the list that it makes.
func normal(op *Op, done map[*Op]*Op) *Op {
	if out, ok := done[op]; ok {
		return out
	}
	for i, c := range op.Children {
		op.Children[i] = normal(c, done)
	}
	out := op
	switch {
	case op.Type == "LOGICAL_EXPRESSION_GET" && len(op.Children) == 1:
		out = valuesOf(op)
	case op.maker() && len(op.Children) == 1 && len(op.Parameters) == 0:
		out = madeByRow(op)
	}
	done[op] = out
	return out
}

func valuesOf(op *Op) *Op {
	width := len(op.ExprTypes)
	if width == 0 || len(op.Expressions)%width != 0 {
		return op
	}
	rows := len(op.Expressions) / width
	if rows > 1 && op.Children[0].Type == "LOGICAL_DUMMY_SCAN" {
		return op
	}
	var arms []*Op
	for i := range rows {
		arms = append(arms, &Op{Type: "LOGICAL_PROJECTION", Children: op.Children, Expressions: op.Expressions[i*width : (i+1)*width]})
	}
	if len(arms) == 1 {
		return arms[0]
	}
	return &Op{Type: "LOGICAL_UNION", SetOpAll: true, ColumnCount: width, Children: arms}
}

// madeByRow is a function's rows for each outer row: the list that the function of the same name makes, taken apart. The plan has
// the arguments, then what is handed on of the outer row, in a projection of what a correlated subquery runs over.
func madeByRow(op *Op) *Op {
	list, args := op.Children[0], len(op.Arguments)
	if list.Type != "LOGICAL_PROJECTION" || args == 0 || args > len(list.Expressions) || len(op.ColumnIndexes) != 1 || len(list.Children) != 1 {
		return op
	}
	outer := list.Children[0]
	call := &Expr{Class: "BOUND_FUNCTION", Name: op.Name, Return: Type{ID: "LIST", Info: &typeInfo{Type: "LIST_TYPE_INFO", Child: &op.ReturnedTypes[0]}}}
	resolved := make([]*Expr, len(list.Expressions))
	for i, e := range list.Expressions {
		if resolved[i] = e.resolved(outer); resolved[i] == nil {
			return op
		}
		if i < args {
			call.Children = append(call.Children, resolved[i].as(op.Arguments[i]))
		}
	}
	if op.Name == "unnest" { // of the list itself
		if call = resolved[0]; call.ResultType().ID != "LIST" {
			return op
		}
	}
	project := []*Expr{Ref(len(outer.ChunkTypes))}
	for _, p := range op.ProjectedInput {
		if p >= len(resolved) {
			return op
		}
		project = append(project, resolved[p])
	}
	unnest := &Op{Type: "LOGICAL_UNNEST", Children: []*Op{outer}, Expressions: []*Expr{{Class: "BOUND_UNNEST", Child: call, Return: op.ReturnedTypes[0]}}}
	return &Op{Type: "LOGICAL_PROJECTION", Children: []*Op{unnest}, Expressions: project}
}

// resolved is an expression whose columns, which the plan names by table and column here, are positions in the outer row; nil
// where one is of another table.
func (e *Expr) resolved(outer *Op) *Expr {
	if e.Class == "BOUND_COLUMN_REF" {
		if outer.Type != "LOGICAL_DELIM_GET" || e.Binding.Table != outer.TableIndex || e.Binding.Column >= len(outer.ChunkTypes) {
			return nil
		}
		return &Expr{Class: "BOUND_REF", Index: e.Binding.Column, Return: outer.ChunkTypes[e.Binding.Column]}
	}
	out := *e
	for _, part := range []**Expr{&out.Child, &out.Left, &out.Right} {
		if *part == nil {
			continue
		}
		if *part = (*part).resolved(outer); *part == nil {
			return nil
		}
	}
	out.Children = slices.Clone(e.Children)
	for i, c := range e.Children {
		if out.Children[i] = c.resolved(outer); out.Children[i] == nil {
			return nil
		}
	}
	if len(e.CaseChecks) > 0 || e.Input != nil {
		return nil
	}
	return &out
}

// as casts an argument to the type that the function has it in.
func (e *Expr) as(typ Type) *Expr {
	have, err1 := e.ResultType().SQL()
	want, err2 := typ.SQL()
	if err1 != nil || err2 != nil || have == want {
		return e
	}
	return &Expr{Class: "BOUND_CAST", Child: e, Return: typ}
}
