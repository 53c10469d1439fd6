package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/bound"
)

// TestRewritesHelp: a query that is a full refresh says why, and written as its hint says it is incremental.
func TestRewritesHelp(t *testing.T) {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "c", Type: "INTEGER"}, {Name: "s", Type: "VARCHAR"}, {Name: "iv", Type: "INTERVAL"}, {Name: "u", Type: "UNION(a INTEGER, b VARCHAR)"},
		{Name: "l", Type: "INTEGER[]"}, {Name: "ts", Type: "TIMESTAMP"}}
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}, {Name: "v", Columns: columns, Identity: "v"}}
	c := newCompiler(t)
	compiled := func(sql string) *query.Program {
		p, err := c.Compile(t.Context(), query.Query{SQL: sql, Relations: known})
		require.NoError(t, err, sql)
		return p
	}
	for _, x := range []struct {
		by           bound.Obstacle
		full, better string
	}{
		{bound.ByOrder, `SELECT id FROM v LIMIT 3`, `SELECT id FROM v ORDER BY id, c, s LIMIT 3`},
		{bound.ByLimit, `SELECT id FROM v ORDER BY id LIMIT (SELECT count(*) FROM t)`, `SELECT id FROM v QUALIFY row_number() OVER (ORDER BY id) <= 3`},
		{bound.ByRecursion, `WITH RECURSIVE r AS (SELECT id, c FROM v UNION SELECT v.id, r.c FROM v JOIN r ON v.c = r.id) SELECT id FROM r`, `SELECT a.id FROM v a JOIN v b ON a.c = b.id`},
		{bound.ByKeys, `SELECT iv, count(*) AS n FROM v GROUP BY iv`, `SELECT e, count(*) AS n FROM (SELECT epoch_us(iv) AS e FROM v) GROUP BY e`},
		{bound.ByType, `SELECT count(*) AS n FROM v GROUP BY u`, `SELECT u, count(*) AS n FROM (SELECT CAST(id AS VARCHAR) AS u FROM v) GROUP BY u`},
		{bound.ByPosition, `SELECT a.id, b.c FROM (SELECT id FROM v) a POSITIONAL JOIN (SELECT c FROM t) b`,
			`SELECT a.id, b.c FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM v) a JOIN (SELECT c, row_number() OVER (ORDER BY c) AS n FROM t) b USING (n)`},
		{bound.ByTableFunction, `SELECT id, i FROM v, range(ts, ts + INTERVAL 1 DAY, INTERVAL 1 HOUR) WITH ORDINALITY r(i, n)`, `SELECT id, i FROM v, range(ts, ts + INTERVAL 1 DAY, INTERVAL 1 HOUR) r(i)`},
	} {
		p := compiled(x.full)
		require.NotEmpty(t, p.FullRefresh, x.full)
		require.Equal(t, x.by.Rewrite(), p.Rewrite, "%s: %s", x.full, p.FullRefresh)
		last := p.Operators[len(p.Operators)-1]
		require.Equal(t, "full_refresh", last.Kind)
		require.Equal(t, p.Rewrite, last.Rewrite)
		require.Empty(t, compiled(x.better).FullRefresh, x.better)
	}
}

// TestReasonsOfOperators: an operator that costs more than its kind does says why, and how to write the query instead.
func TestReasonsOfOperators(t *testing.T) {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "c", Type: "INTEGER"}, {Name: "f", Type: "DOUBLE"}}
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}, {Name: "v", Columns: columns, Identity: "v"}}
	c := newCompiler(t)
	for _, x := range []struct{ sql, kind, formula, reason, rewrite string }{
		{`SELECT c, count(*) AS n FROM v GROUP BY c`, "aggregate", "d + k", "", ""},
		{`SELECT c, max(id) AS n FROM t GROUP BY c`, "aggregate", "d + k", "", ""},
		{`SELECT c, max(id) AS n FROM v GROUP BY c`, "aggregate", "d + r", "max over rows that may be taken back", bound.ByRetraction.Rewrite()},
		{`SELECT c, median(f) AS m FROM t GROUP BY c`, "aggregate", "d + r", "the aggregate median", bound.ByAggregate.Rewrite()},
		{`SELECT id, rank() OVER (PARTITION BY c ORDER BY f) AS r FROM v`, "window", "d + r", "", ""},
		{`SELECT id, rank() OVER (ORDER BY f) AS r FROM v`, "window", "n", "no key", "PARTITION BY"},
		{`SELECT id FROM v ORDER BY id LIMIT 3`, "top", "n", "no key", "QUALIFY"},
		{`SELECT id FROM t ORDER BY id LIMIT 3`, "top", "d", "", ""},
		{`SELECT DISTINCT ON (c) * FROM t ORDER BY c, id`, "top", "d + k", "", ""},
		{`SELECT i, count(*) AS n FROM range(3) r(i) LEFT JOIN v ON c = i GROUP BY i`, "rows", "0", "", ""},
		{`SELECT v.id FROM v JOIN t ON v.c = t.c`, "join", "d + r", "", ""},
		{`SELECT v.id FROM v JOIN t ON v.c < t.c`, "join", "d · n", "no key", "equality"},
		{`SELECT v.id FROM v LEFT JOIN t ON v.c < t.c`, "join", "n", "no key", "equality"},
	} {
		p, err := c.Compile(t.Context(), query.Query{SQL: x.sql, Relations: known})
		require.NoError(t, err)
		o := p.Operators[0]
		require.Equal(t, x.kind, o.Kind, x.sql)
		require.Equal(t, x.formula, o.Cost.Formula, x.sql)
		require.Contains(t, o.Reason, x.reason, x.sql)
		require.Contains(t, o.Rewrite, x.rewrite, x.sql)
		require.Equal(t, o.Reason == "", o.Rewrite == "", x.sql)
	}
}
