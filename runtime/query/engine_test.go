package query_test

import (
	"fmt"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/stretchr/testify/require"
)

func eventColumns() batch.Schema {
	return batch.Schema{{Name: "k", Type: "VARCHAR"}, {Name: "v", Type: "BIGINT"}, {Name: "d", Type: "DECIMAL(10,2)"}, {Name: "f", Type: "DOUBLE"}, {Name: "ts", Type: "TIMESTAMP"}, {Name: "l", Type: "INTEGER[]"}, {Name: "b", Type: "BOOLEAN"}}
}

func events(from, n int) string {
	out := ""
	for i := from; i < from+n; i++ {
		k := fmt.Sprintf("%q", fmt.Sprintf("key%d", i%7))
		if i%11 == 0 {
			k = "null"
		}
		out += fmt.Sprintf(`{"k":%s,"v":%d,"d":%d.%02d,"f":%g,"ts":"2026-05-01 %02d:%02d:00","l":[%d,%d],"b":%t}`+"\n",
			k, (i*37)%101-50, i%50, i%100, float64(i%16)/4, i%5+8, i%60, i%3, i%4, i%2 == 0)
	}
	return out
}

// TestIncrementalEqualsBatch runs each query over several epochs and compares after every one.
func TestIncrementalEqualsBatch(t *testing.T) {
	c := newCompiler(t)
	for _, tc := range []struct {
		name, sql string
		full      bool
	}{
		{name: "count by key", sql: "SELECT k, count(*) AS n FROM t GROUP BY k"},
		{name: "many aggregates", sql: "SELECT time_bucket(INTERVAL 1 HOUR, ts) AS w, count(*) n, count(k) nk, sum(v) s, sum(d) sd, avg(v) a, avg(d) ad, min(v) mi, max(k) ma, bool_and(b) ba, bool_or(b) bo, bit_xor(v) x FROM t GROUP BY ALL"},
		{name: "filter and having", sql: "SELECT k, count(*) FILTER (v > 0) AS n, sum(v) AS s FROM t WHERE d > 3 GROUP BY k HAVING count(*) > 2"},
		{name: "no key", sql: "SELECT count(*) AS n, sum(v) AS s, max(ts) AS m FROM t"},
		{name: "two levels", sql: "SELECT n, count(*) AS c, sum(s) AS t FROM (SELECT k, count(*) n, sum(v) s FROM t GROUP BY k) GROUP BY n"},
		{name: "cte and order", sql: "WITH x AS (SELECT k, v*2 AS w FROM t) SELECT k, sum(w) AS s FROM x GROUP BY k ORDER BY s DESC"},
		{name: "distinct", sql: "SELECT DISTINCT k, b FROM t"},
		{name: "unnest", sql: "SELECT k, u, count(*) n FROM (SELECT k, unnest(l) AS u FROM t) GROUP BY ALL"},
		{name: "linear view", sql: "SELECT k, v + 1 AS w, upper(k) AS u FROM t WHERE v BETWEEN -10 AND 20"},
		{name: "union all", sql: "SELECT k, sum(v) AS s FROM (SELECT k, v FROM t WHERE v > 0 UNION ALL SELECT k, -v FROM t WHERE v < 0) GROUP BY k"},
		{name: "union of levels", sql: "SELECT k, count(*) AS n FROM t GROUP BY k UNION ALL SELECT 'row', v FROM t WHERE v > 45"},
		{name: "stddev", sql: "SELECT k, round(stddev(v), 6) AS sd, round(var_pop(f), 6) AS vp FROM t GROUP BY k"},
		{name: "case and cast", sql: "SELECT CASE WHEN v > 0 THEN 'pos' WHEN v < 0 THEN 'neg' ELSE 'zero' END AS sign, count(*) AS n, sum(CAST(f AS INTEGER)) AS s FROM t GROUP BY 1"},
		{name: "lambda in a view", sql: "SELECT k, list_transform(l, x -> x + 1) AS l2 FROM t"},
		{name: "median", sql: "SELECT k, median(v) AS m, string_agg(k, ';') AS sa, quantile_cont(v, [0.1, 0.5]) AS q FROM t GROUP BY k"},
		{name: "count distinct", sql: "SELECT k, count(DISTINCT v) AS m FROM t GROUP BY k"},
		{name: "global median", sql: "SELECT median(v) AS m, count(DISTINCT k) AS d FROM t"},
		{name: "window", sql: "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, ts, d, f) AS r FROM t"},
		{name: "windows of several partitions", sql: "SELECT k, v, sum(v) OVER (PARTITION BY k ORDER BY ts, v, d ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS s, rank() OVER (PARTITION BY b ORDER BY v) AS r, lag(v, 2, 0) OVER (PARTITION BY k ORDER BY ts, v, d) AS g FROM t"},
		{name: "top per key", sql: "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, ts, d, f) <= 2"},
		{name: "top", sql: "SELECT k, v, d FROM t ORDER BY v DESC, d LIMIT 5 OFFSET 1"},
		{name: "distinct on", sql: "SELECT DISTINCT ON (k) k, v, d FROM t ORDER BY k, v DESC, d"},
		{name: "max of counts", sql: "SELECT max(n) AS m, min(k) AS am FROM (SELECT k, count(*) n FROM t WHERE k IS NOT NULL GROUP BY k)"},
		{name: "self join", sql: "SELECT a.k, count(*) AS n FROM t a JOIN t b ON a.k = b.k AND a.v < b.v GROUP BY a.k"},
		{name: "left join", sql: "SELECT a.k, a.v, b.n FROM t a LEFT JOIN (SELECT k, count(*) AS n FROM t WHERE b GROUP BY k) b ON a.k = b.k AND a.v > b.n"},
		{name: "right join", sql: "SELECT a.k, a.v, b.n FROM (SELECT * FROM t WHERE v > 30) a RIGHT JOIN (SELECT k, count(*) AS n FROM t GROUP BY k) b USING (k)"},
		{name: "full join", sql: "SELECT a.k, b.k AS k2, a.n, b.m FROM (SELECT k, count(*) AS n FROM t WHERE v > 20 GROUP BY k) a FULL JOIN (SELECT k, max(d) AS m FROM t WHERE v < 0 GROUP BY k) b ON a.k = b.k"},
		{name: "semi and anti", sql: "SELECT k, v FROM t WHERE k IN (SELECT k FROM t WHERE v > 40) AND NOT EXISTS (SELECT 1 FROM t u WHERE u.k = t.k AND u.v < -45)"},
		{name: "scalar subquery", sql: "SELECT k, v FROM t WHERE v > (SELECT avg(v) FROM t)"},
		{name: "correlated subquery", sql: "SELECT k, v, (SELECT count(*) FROM t u WHERE u.k = t.k AND u.v > t.v) AS above FROM t"},
		{name: "cross join", sql: "SELECT a.k, b.m FROM (SELECT DISTINCT k FROM t) a CROSS JOIN (SELECT max(v) AS m FROM t) b"},
		{name: "except and intersect", sql: "SELECT k FROM t WHERE v > 0 EXCEPT ALL SELECT k FROM t WHERE v < -20"},
		{name: "intersect", sql: "SELECT k, b FROM t WHERE v > 0 INTERSECT SELECT k, b FROM t WHERE v < -20"},
		{name: "union", sql: "SELECT k FROM t WHERE v > 0 UNION SELECT upper(k) FROM t"},
		{name: "rollup", sql: "SELECT k, b, count(*) AS n, sum(v) AS s, grouping(k) AS g FROM t GROUP BY ROLLUP (k, b)"},
		{name: "cte read twice", sql: "WITH c AS (SELECT k, count(*) AS n FROM t GROUP BY k) SELECT a.k, a.n, b.n AS m FROM c a JOIN c b ON a.n = b.n AND a.k < b.k"},
		{name: "asof", sql: "SELECT a.k, a.ts, b.v FROM (SELECT * FROM t WHERE b) a ASOF JOIN (SELECT k, ts, max(v) AS v FROM t WHERE NOT b GROUP BY ALL) b ON a.k = b.k AND a.ts >= b.ts"},
		{name: "limit without order", sql: "SELECT count(*) AS n FROM (SELECT k FROM t LIMIT 3)", full: true},
		{name: "not in", sql: "SELECT k, v FROM t WHERE k NOT IN (SELECT k FROM t WHERE v > 48 AND k IS NOT NULL)"},
		{name: "recursive", sql: "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < (SELECT least(count(*), 5) FROM t)) SELECT n FROM r", full: true},
		{name: "nested types", sql: "SELECT {'k': k, 'l': l} AS s, count(*) AS n FROM t GROUP BY 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, eventColumns())
			defer w.close()
			p, err := w.relation(c, "r", tc.sql, false)
			require.NoError(t, err)
			require.Equal(t, tc.full, p.FullRefresh != "", "full refresh: %s", p.FullRefresh)
			sqls := map[string]string{"r": tc.sql}
			for i, n := range []int{5, 1, 40, 7} {
				_, err := w.epoch(w.file(fmt.Sprintf("%d.json", i), events(i*50, n)))
				require.NoError(t, err)
				require.Equal(t, w.batch("r", sqls, []string{"r"}, w.files), w.rows("SELECT * FROM r"), "epoch %d", i)
				if i == 1 {
					w.restart()
				}
			}
		})
	}
}
