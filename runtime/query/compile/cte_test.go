package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
)

// TestCTEsAreComputedOnce: what a query contains several times is one operator, whatever each place makes of it.
func TestCTEsAreComputedOnce(t *testing.T) {
	c := newCompiler(t)
	columns := batch.Schema{{Name: "k", Type: "VARCHAR"}, {Name: "v", Type: "BIGINT"}}
	const sums = "WITH s AS (SELECT k, sum(v) AS total, count(*) AS n FROM t GROUP BY k) "
	for name, q := range map[string]struct {
		sql   string
		kinds []string // of operators but the last
	}{
		"read three times":       {sums + "SELECT a.k, b.total, c.n FROM s a JOIN s b ON a.total = b.total JOIN s c ON a.k = c.k", []string{"aggregate", "join", "join"}},
		"by arms of a union":     {sums + "SELECT k FROM s UNION ALL SELECT k || '!' FROM s WHERE n > 1 UNION ALL SELECT CAST(total AS VARCHAR) FROM s", []string{"aggregate"}},
		"filtered in each place": {sums + "SELECT k, 'large' AS c FROM s WHERE total > 100 UNION ALL SELECT k, 'small' FROM s WHERE total < 10 UNION ALL SELECT k, 'none' FROM s WHERE total IS NULL", []string{"aggregate"}},
		"filtered by its key":    {sums + "SELECT k FROM s WHERE k > 'm' UNION ALL SELECT k FROM s WHERE k < 'c' UNION ALL SELECT k FROM s", []string{"aggregate"}},
		"other columns":          {sums + "SELECT k, total FROM s UNION ALL SELECT k, n FROM s UNION ALL SELECT k, 1 FROM s", []string{"aggregate"}},
		"inside of an aggregate": {sums + "SELECT k FROM s WHERE total = (SELECT max(total) FROM s) OR n = (SELECT max(n) FROM s)", []string{"aggregate", "aggregate", "aggregate", "join", "aggregate", "aggregate", "join"}},
		"materialized":           {"WITH s AS MATERIALIZED (SELECT k, sum(v) AS total FROM t GROUP BY k) SELECT a.k FROM s a JOIN s b ON a.total = b.total JOIN s c ON a.k = c.k", []string{"aggregate", "join", "join"}},
		"not materialized":       {"WITH s AS NOT MATERIALIZED (SELECT k, sum(v) AS total FROM t GROUP BY k) SELECT a.k FROM s a JOIN s b ON a.total = b.total JOIN s c ON a.k = c.k", []string{"aggregate", "join", "join"}},
		"the same text twice":    {"SELECT a.k FROM (SELECT k, sum(v) AS total FROM t GROUP BY k) a JOIN (SELECT k, sum(v) AS total FROM t GROUP BY k) b USING (total)", []string{"aggregate", "join"}},
		"ranks":                  {"WITH r AS (SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM t) SELECT k, v, n FROM r WHERE v > 3 UNION ALL SELECT k, -v, n FROM r UNION ALL SELECT k, 0, n FROM r", []string{"window"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := c.Compile(t.Context(), compile.Query{SQL: q.sql, Relations: []compile.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}}})
			require.NoError(t, err)
			require.Empty(t, p.FullRefresh)
			var kinds []string
			for _, o := range p.Operators[:len(p.Operators)-1] {
				kinds = append(kinds, o.Kind)
			}
			require.ElementsMatch(t, q.kinds, kinds)
		})
	}
}
