package compile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/rows"
	"github.com/streamform/streamform/runtime/query/statement"
)

// Shown is a view that an ad-hoc query reads.
type Shown struct {
	Name    string
	Program *Program
}

// mostKeys is how many keys are looked up one by one; a query that concerns more reads everything.
const mostKeys = 10_000

// Lookups finds the keys that an ad-hoc query can concern, where it compares all groups of an aggregate with constants: by view
// (lower case) and operator, the keys as the operator's memory has them. An operator that is absent must be read whole. The query
// itself is not judged: one with a mistake concerns no keys.
func (c *Compiler) Lookups(ctx context.Context, sql string, relations []Relation, views []Shown) (map[string]map[string][][]byte, error) {
	if !slices.ContainsFunc(views, Shown.canLookUp) {
		return nil, nil
	}
	conn, err := c.worker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { c.workers <- conn }()
	if err := conn.Exec(ctx, "BEGIN"); err != nil {
		return nil, fmt.Errorf("finding keys: %w", err)
	}
	found, err := lookups(ctx, conn, sql, looking{relations, views})
	if back := conn.Exec(ctx, "ROLLBACK"); back != nil {
		return nil, errors.Join(err, fmt.Errorf("finding keys: %w", back))
	}
	var mistake *statement.Error
	var unknown *bound.Unsupported
	if errors.As(err, &mistake) || errors.As(err, &unknown) {
		return nil, nil
	}
	return found, err
}

// canLookUp reports whether the view's rows are those of aggregates with keys that look the same whenever they are equal.
func (s Shown) canLookUp() bool { return len(s.aggregates()) > 0 }

func (s Shown) aggregates() []Aggregate {
	var out []Aggregate
	if s.Program.FullRefresh != "" || s.Program.HoldsResult() {
		return nil
	}
	for _, o := range s.Program.Steps {
		a, ok := o.(Aggregate)
		if ok && !a.Scalar() && !slices.ContainsFunc(a.GroupTypes, looksDifferent) && slices.Contains(logical.Leaves(s.Program.Final), a.ID) {
			out = append(out, a)
		}
	}
	return out
}

// looksDifferent reports whether equal values of a type may differ in their bytes, as 0.0 and -0.0 do, or are kept in another form.
func looksDifferent(t string) bool {
	simple := []string{"BIGINT", "INTEGER", "SMALLINT", "TINYINT", "UBIGINT", "UINTEGER", "USMALLINT", "UTINYINT", "HUGEINT", "UHUGEINT", "VARCHAR",
		"BLOB", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE", "UUID"}
	return !slices.Contains(simple, t) && !strings.HasPrefix(t, "DECIMAL(")
}

// looking is what a query may read.
type looking struct {
	relations []Relation
	views     []Shown
}

// held is the table that stands for the output of an aggregate of a view.
func held(view int, operator string) string { return fmt.Sprintf("sf$held%d$%s", view, operator) }

func lookups(ctx context.Context, conn *duck.Conn, sql string, l looking) (map[string]map[string][][]byte, error) {
	s, err := statement.Parse(ctx, conn, sql)
	if err != nil {
		return nil, err
	}
	b := &binding{ctx: ctx, conn: conn, relations: map[string]Relation{}, pending: map[string]string{}}
	if err := b.declare(s.Names(), l.relations); err != nil {
		return nil, err
	}
	for i, v := range l.views {
		if err := b.declareShown(i, v); err != nil {
			return nil, err
		}
	}
	doc, err := b.plan(sql)
	if err != nil {
		return nil, err
	}
	op, err := bound.Decode(doc)
	if err != nil {
		return nil, err
	}
	scans := map[string][]*bound.Op{}
	collectScans(op, scans)
	out := map[string]map[string][][]byte{}
	for i, v := range l.views {
		for _, a := range v.aggregates() {
			keys, err := keysOf(ctx, conn, a, scans[held(i, a.ID)])
			if err != nil || keys == nil {
				continue // the operator is read whole, which is never wrong
			}
			name := strings.ToLower(v.Name)
			if out[name] == nil {
				out[name] = map[string][][]byte{}
			}
			out[name][a.ID] = keys
		}
	}
	return out, nil
}

// declareShown makes a view over tables that stand for the outputs of its aggregates; a view that has others is a table.
func (b *binding) declareShown(i int, v Shown) error {
	name := bound.Ident(strings.ToLower(v.Name))
	ddl := []string{"CREATE TABLE " + name + "(" + ColumnList(v.Program.Columns) + ")"}
	aggregates := v.aggregates()
	body, err := logical.Replace(v.Program.Final, func(leaf string) (string, error) {
		if !slices.ContainsFunc(aggregates, func(a Aggregate) bool { return a.ID == leaf }) {
			return "", bound.Unsupportedf(bound.ByForm, "rows of another kind")
		}
		return bound.Ident(held(i, leaf)), nil
	})
	if err == nil && len(aggregates) > 0 {
		ddl[0] = "CREATE VIEW " + name + " AS " + body
		for _, a := range aggregates {
			ddl = append([]string{"CREATE TABLE " + bound.Ident(held(i, a.ID)) + "(" + ColumnList(a.OutputColumns()) + ")"}, ddl...)
		}
	}
	for _, statement := range ddl {
		if err := b.conn.Exec(b.ctx, statement); err != nil {
			return bound.Unsupportedf(bound.ByType, "remembered columns that cannot be declared")
		}
	}
	return nil
}

func collectScans(op *bound.Op, to map[string][]*bound.Op) {
	if _, table, ok := op.Table(); ok {
		to[table] = append(to[table], op)
	}
	for _, c := range op.Children {
		collectScans(c, to)
	}
}

// keysOf are the keys that all scans of an aggregate's output together can concern; nil when one of them is not bound by its keys.
func keysOf(ctx context.Context, conn *duck.Conn, a Aggregate, scans []*bound.Op) ([][]byte, error) {
	seen := map[string]bool{}
	var out [][]byte
	for _, scan := range scans {
		tuples := tuplesOf(scan, len(a.GroupTypes))
		if tuples == nil {
			return nil, nil
		}
		keys, err := encodeTuples(ctx, conn, a.GroupTypes, tuples)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			if !seen[string(k)] {
				seen[string(k)] = true
				out = append(out, k)
			}
		}
	}
	return out, nil
}

// tuplesOf are the values, as SQL, that the first n columns of a scan can have; nil when one may have any.
func tuplesOf(scan *bound.Op, n int) [][]string {
	tuples := [][]string{{}}
	for column := range n {
		values := valuesOf(scan, column)
		if values == nil || len(values)*len(tuples) > mostKeys {
			return nil
		}
		var longer [][]string
		for _, t := range tuples {
			for _, v := range values {
				longer = append(longer, append(slices.Clone(t), v))
			}
		}
		tuples = longer
	}
	return tuples
}

func valuesOf(scan *bound.Op, column int) []string {
	for _, f := range scan.TableFilters.Filters {
		if f.Key == column {
			return filterValues(f.Value)
		}
	}
	return nil
}

// filterValues are the constants that a filter on one column asks for, as SQL; nil when it lets others pass.
func filterValues(f bound.Filter) []string {
	switch f.FilterType {
	case "CONSTANT_COMPARISON":
		if f.ComparisonType != "COMPARE_EQUAL" || f.Constant == nil || f.Constant.IsNull {
			return nil
		}
		text, err := f.Constant.SQL()
		if err != nil {
			return nil
		}
		return []string{text}
	case "EXPRESSION_FILTER":
		return exprValues(f.Expr)
	case "CONJUNCTION_AND":
		for _, c := range f.ChildFilters {
			if values := filterValues(c); values != nil {
				return values
			}
		}
	}
	return nil
}

// exprValues are the constants that a condition on one column asks for: column = 1, column IN (1, 2), and such joined by OR.
func exprValues(e *bound.Expr) []string {
	isColumn := func(e *bound.Expr) bool { return e != nil && e.Class == "BOUND_REF" }
	switch {
	case e == nil:
		return nil
	case e.Type == "COMPARE_EQUAL" && isColumn(e.Left):
		return constants(e.Right)
	case e.Type == "COMPARE_EQUAL" && isColumn(e.Right):
		return constants(e.Left)
	case e.Type == "COMPARE_IN" && len(e.Children) > 1 && isColumn(e.Children[0]):
		return constants(e.Children[1:]...)
	case e.Type == "CONJUNCTION_OR":
		var all []string
		for _, c := range e.Children {
			values := exprValues(c)
			if values == nil {
				return nil
			}
			all = append(all, values...)
		}
		return all
	}
	return nil
}

// constants writes constants, and casts of such, as SQL; nil when one is something else. A NULL equals nothing, so a list with one is not followed.
func constants(list ...*bound.Expr) []string {
	var out []string
	for _, e := range list {
		inner := e
		for inner != nil && inner.Class == "BOUND_CAST" {
			inner = inner.Child
		}
		if inner == nil || inner.Value == nil || inner.Value.IsNull {
			return nil
		}
		text, err := bound.Scope{}.SQL(e)
		if err != nil {
			return nil
		}
		out = append(out, text)
	}
	return out
}

// encodeTuples gives keys the form they have in keyed data.
func encodeTuples(ctx context.Context, conn *duck.Conn, types []string, tuples [][]string) ([][]byte, error) {
	lines := make([]string, len(tuples))
	for i, t := range tuples {
		lines[i] = "(" + strings.Join(t, ", ") + ")"
	}
	names := Numbered("g", len(types))
	list := make([]string, len(types))
	for i, t := range types {
		list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", names[i], t, names[i])
	}
	var keys [][]byte
	sql := fmt.Sprintf("SELECT %s FROM (VALUES %s) t(%s)", strings.Join(list, ", "), strings.Join(lines, ", "), strings.Join(names, ", "))
	err := conn.Batches(ctx, sql, func(b arrow.RecordBatch) error {
		e, err := rows.NewKeyEncoder(b, rows.Span(0, len(types)))
		if err != nil {
			return err
		}
		for i := range int(b.NumRows()) {
			keys = append(keys, e.Append(nil, i))
		}
		return nil
	})
	return keys, err
}
