package opening

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/query"
)

// Former compiles the query that a stream had up to a boundary, giving the columns that it has now: one that it did not
// have is NULL. nil where its rows cannot be computed again, as it kept keyed data.
func (o *Opener) Former(ctx context.Context, n *catalog.Network, a addr.Resource, b catalog.Boundary) (*query.Program, error) {
	if b.Relation == nil || n.Record(a).Live == nil {
		return nil, nil
	}
	was := &catalog.Generation{Value: b.Value, Relation: b.Relation}
	q, err := Asked(n, a, func(r *catalog.Record) *catalog.Generation {
		if r.Addr == a {
			return was
		}
		return r.Live
	})
	if err != nil {
		return nil, err
	}
	q.SQL = asNow(q.SQL, b.Relation.Columns, n.Record(a).Live.Relation.Columns)
	program, err := o.compiler.Compile(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("compiling the former query of %s: %w", a, err)
	}
	if len(program.Steps) > 0 || program.FullRefresh != "" {
		return nil, nil
	}
	return program, nil
}

// asNow selects the columns of now from a query that had others.
func asNow(sql string, was, now batch.Schema) string {
	list := make([]string, len(now))
	for i, c := range now {
		name := `"` + strings.ReplaceAll(c.Name, `"`, `""`) + `"`
		from := "NULL"
		if slices.ContainsFunc(was, func(w batch.Column) bool { return strings.EqualFold(w.Name, c.Name) }) {
			from = name
		}
		list[i] = fmt.Sprintf("CAST(%s AS %s) AS %s", from, c.Type, name)
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM (" + strings.TrimRight(sql, "; \n\t") + "\n)"
}
