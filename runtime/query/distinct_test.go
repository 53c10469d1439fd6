package query_test

import (
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query"
)

// TestDistinctArguments: aggregates of distinct values remember the values and no rows, and are right after every epoch, over
// rows that come and go and over rows that only come.
func TestDistinctArguments(t *testing.T) {
	l := newLab(t)
	columns, epochs := manyTypes()
	h := history{columns: columns}
	for _, rows := range epochs {
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}})
	}
	views := []view{{"b", `SELECT * FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)`},
		{"v0", `SELECT c, count(DISTINCT ts) AS n FROM b GROUP BY c`},
		{"v1", `SELECT count(DISTINCT c) AS n, count(*) AS r, sum(DISTINCT c) AS s, avg(DISTINCT c) AS a, sum(id) AS i FROM b`},
		{"v2", `SELECT d, count(DISTINCT c) AS n, count(DISTINCT c) FILTER (id > 1) AS m, count(DISTINCT c) FILTER (tm IS NULL) AS o, count(DISTINCT op) AS q, count(*) FILTER (c = 1) AS r FROM b GROUP BY d`},
		{"v3", `SELECT count(DISTINCT c) AS n, count(DISTINCT c) FILTER (id > 1 AND c > 0) AS m, count(DISTINCT d) AS o FROM t`},
		{"v4", `SELECT op, count(DISTINCT l) AS n, count(DISTINCT s) AS m, count(*) AS r FROM t GROUP BY op`},
		{"v5", `SELECT op, count(DISTINCT c) FILTER (id > 1) AS m, sum(DISTINCT c) FILTER (id < 3) AS s, count(u) AS n FROM t GROUP BY ALL`},
		{"v6", `SELECT c % 2 AS g, count(DISTINCT id % 2) AS n FROM b GROUP BY ROLLUP (g)`},
		{"v7", `SELECT count(DISTINCT id) AS n FROM b WHERE c > 100`},
		{"v8", `SELECT c, max(op) AS x, min(ts) AS y, max(l) AS z, bool_or(id > 2) AS o, bit_xor(id) AS b, stddev_pop(id) AS d, sum(CAST(id AS DOUBLE)) AS f, count_if(id > 1) AS i, sum(seq) AS s,
			count(DISTINCT id) AS n, count(DISTINCT id) FILTER (seq > 4) AS m, count(DISTINCT op) FILTER (id <> 2) AS k, avg(DISTINCT seq) FILTER (op = 'u') AS a FROM t GROUP BY c`},
		{"v9", `SELECT max(op) FILTER (id > 1) AS x, min(tm) AS y, var_samp(c) FILTER (id < 3) AS d, avg(c) AS a, count(DISTINCT c) FILTER (seq > 4) AS m, count(DISTINCT d) AS n FROM t`},
		{"v11", `SELECT op, count(DISTINCT c) AS m FROM t GROUP BY op`},
		{"v10", `SELECT op, max(c) AS x, stddev(c) AS d, count(DISTINCT c) FILTER (id > 1) AS m FROM t WHERE id > 1 GROUP BY op`},
	}
	require.Nil(t, l.replay(h, views))
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}, {Name: "b", Columns: columns, Identity: "b"}}
	for _, v := range views[1:] {
		p, err := l.compiler.Compile(t.Context(), query.Query{SQL: v.sql, Relations: known})
		require.NoError(t, err)
		require.Empty(t, p.FullRefresh, v.sql)
		for _, o := range p.Operators[:len(p.Operators)-1] {
			require.Equal(t, "aggregate", o.Kind, v.sql)
			require.NotContains(t, o.Holds, "rows", v.sql)
		}
	}
}
