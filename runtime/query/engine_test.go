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
		{name: "median", sql: "SELECT k, median(v) AS m FROM t GROUP BY k", full: true},
		{name: "count distinct", sql: "SELECT k, count(DISTINCT v) AS m FROM t GROUP BY k", full: true},
		{name: "window", sql: "SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v, ts, d, f) AS r FROM t", full: true},
		{name: "max of counts", sql: "SELECT max(n) AS m FROM (SELECT k, count(*) n FROM t GROUP BY k)", full: true},
		{name: "self join", sql: "SELECT a.k, count(*) AS n FROM t a JOIN t b ON a.k = b.k AND a.v < b.v GROUP BY a.k", full: true},
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
