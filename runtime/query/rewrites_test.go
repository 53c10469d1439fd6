package query_test

import (
	"fmt"
	"testing"

	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/stretchr/testify/require"
)

// TestRewrites: what is cut otherwise than the plan has it, or has constants of its own, is incremental and gives what plain
// DuckDB does, also where NULLs come late.
func TestRewrites(t *testing.T) {
	c := newCompiler(t)
	for name, sql := range map[string]string{
		"in, as a value":                          "SELECT k, v, k IN (SELECT k FROM t WHERE v > 40) AS m FROM t",
		"not in":                                  "SELECT k, v FROM t WHERE k NOT IN (SELECT k FROM t WHERE v > 45)",
		"not in, without NULL":                    "SELECT k, v FROM t WHERE v NOT IN (SELECT v FROM t WHERE k IS NULL)",
		"not in nothing":                          "SELECT k, v FROM t WHERE k NOT IN (SELECT k FROM t WHERE v > 1000)",
		"in, or":                                  "SELECT k, v FROM t WHERE v > 30 OR k IN (SELECT k FROM t WHERE v < -45) OR v IN (SELECT -v FROM t)",
		"in, over a view that moves":              "SELECT k, v FROM t WHERE v IN (SELECT max(v) FROM t GROUP BY k) IS NOT TRUE",
		"two equal to one":                        "SELECT a.v, b.k FROM t a JOIN t b ON a.v = b.v AND abs(a.v) = b.v",
		"one equal to two":                        "SELECT a.v, b.k FROM t a JOIN t b ON a.v = b.v AND a.v = abs(b.v)",
		"a chain of equals":                       "SELECT a.v, b.k, c.d FROM t a JOIN t b ON a.v = b.v JOIN t c ON c.v = b.v AND c.v = a.v AND a.v > 0",
		"one equality twice":                      "SELECT a.v, b.k FROM t a JOIN t b ON a.v = b.v AND b.v = a.v",
		"one aggregate twice":                     "SELECT a.k, a.n, b.s FROM (SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k) a JOIN (SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k) b ON a.s = b.s AND a.n <= b.n",
		"aggregates nobody reads":                 "SELECT k, n FROM (SELECT k, count(*) AS n, sum(CAST(v + 9223372036854775000 AS BIGINT))::BIGINT AS s, max(v) FILTER (v > 3) AS m FROM t GROUP BY k)",
		"aggregates over everything nobody reads": "SELECT 1 AS one FROM (SELECT CAST(sum(v) AS UTINYINT) AS n, sum(v) AS s FROM t)",
		"grouping sets of which some is read":     "SELECT k, g FROM (SELECT k, grouping(k) AS g, count(*) AS n, sum(v) AS s FROM t GROUP BY ROLLUP (k))",
		"counts of some rows over windows":        "SELECT k, v, count(*) FILTER (v > 0) OVER (PARTITION BY k ORDER BY v) AS n, count(*) FILTER (v IS NULL OR k <> 'a') OVER (ORDER BY v RANGE BETWEEN 3 PRECEDING AND 1 FOLLOWING) AS m FROM t",
		"times":                                   "SELECT k, count(*) AS n FROM t WHERE ts >= TIMESTAMP '2026-05-01 09:30:00.5' AND CAST(ts AS DATE) < DATE '2026-05-01' + INTERVAL 1 DAY GROUP BY k",
		"decimals":                                "SELECT k, sum(d * (1 - d) + d - 2 * d) AS s FROM t GROUP BY k",
		"an equality in every arm of an OR":       "SELECT a.v, b.k FROM t a, t b WHERE (a.v = b.v AND a.k = 'a' AND b.v > 10) OR (b.v = a.v AND a.k <> 'a' AND b.v < 10) OR (a.v = b.v AND a.k IS NULL AND b.k IN ('a', 'b'))",
		"an arm that says no more":                "SELECT a.v, b.k FROM t a JOIN t b ON (a.v = b.v AND a.k = 'a') OR a.v = b.v",
		"arms about both sides and one":           "SELECT a.v, b.k FROM t a JOIN t b ON a.k = b.k AND ((a.v > 0 AND b.v < a.v) OR (a.v < 0 AND b.v BETWEEN -10 AND 10))",
		"arms of a left join":                     "SELECT a.v, b.k FROM t a LEFT JOIN t b ON (a.v = b.v AND a.k = 'a' AND b.v > 0) OR (a.v = b.v AND a.k = 'b')",
		"arms of a full join":                     "SELECT a.v, b.v AS w FROM t a FULL JOIN t b ON (a.v = b.v AND a.k = 'a') OR (a.v = b.v AND b.k = 'b')",
		"arms of a membership":                    "SELECT a.v FROM t a WHERE EXISTS (FROM t b WHERE (a.v = b.v AND b.k = 'a' AND a.k <> 'a') OR (a.v = b.v AND b.k = 'b' AND a.k <> 'b'))",
		"arms that may fail":                      "SELECT a.v, b.k FROM t a JOIN t b ON (a.v = b.v AND a.v = 3 AND CAST(a.v AS UTINYINT) > 1) OR (a.v = b.v AND a.v = 4 AND CAST(b.v AS UTINYINT) > 1)",
		"arms whose key may fail":                 "SELECT a.v, b.k FROM t a, t b WHERE (a.v = b.v AND regexp_matches(b.k, '^[0-9]+$') AND CAST(b.k AS INTEGER) < a.v AND CAST(b.k AS INTEGER) = a.v AND a.k = 'a') OR (a.v = b.v AND regexp_matches(b.k, '^[0-9]+$') AND CAST(b.k AS INTEGER) = a.v AND a.k = 'b')",
		"a filter on a long expression": "SELECT k, m FROM (SELECT k, CASE WHEN v > 40 THEN 'very large indeed' WHEN v > 20 THEN 'rather large' WHEN v > 0 THEN 'not so large at all' " +
			"WHEN v > -20 THEN 'small' WHEN v > -40 THEN 'rather small' ELSE 'very small indeed' END AS m, count(*) AS n FROM t GROUP BY ALL) WHERE m LIKE '%small%'",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, eventColumns())
			defer func() { w.close() }()
			p, err := w.relation(c, "r", sql, false)
			require.NoError(t, err)
			require.Empty(t, p.FullRefresh)
			for i, n := range []int{5, 1, 40, 7} {
				_, err := w.epoch(w.file(fmt.Sprintf("%d.json", i), events(i*50+1, n)))
				require.NoError(t, err)
				require.Equal(t, w.batch("r", map[string]string{"r": sql}, []string{"r"}, w.files), w.rows("SELECT * FROM r"), "epoch %d", i)
				if i == 1 {
					w.restart()
				}
			}
		})
	}
}

// TestArmsShareAKey: a join whose condition is an OR, each arm of which has the same equality, meets rows by key, and keeps only rows that some
// arm may want.
func TestArmsShareAKey(t *testing.T) {
	c := newCompiler(t)
	for sql, want := range map[string][2]string{
		"SELECT a.k, b.v FROM t a, t b WHERE (a.k = b.k AND a.v > 3) OR (a.k = b.k AND b.v > 4)":                              {"", ""},
		"SELECT a.k, b.v FROM t a, t b WHERE (a.k = b.k AND a.v > 3 AND b.v > 7) OR (b.k = a.k AND a.v < 5 AND b.v < 9)":      {"> CAST(3", "> CAST(7"},
		"SELECT a.k, b.v FROM t a JOIN t b ON a.k = b.k AND ((a.v = 3 AND b.v = 7) OR (a.v = 5 AND b.v < abs(a.v)))":          {"= CAST(3", ""},
		"SELECT a.k, b.v FROM t a, t b WHERE (a.k = b.k AND a.v > 3 AND b.v = 1) OR (a.k = b.k AND a.v > 3 AND b.v = a.v)":    {"> CAST(3", ""},
		"SELECT a.k, b.v FROM t a, t b WHERE (a.k = b.k AND abs(a.v) > 3 AND b.v = 1) OR (a.k = b.k AND a.v > 3 AND b.v < 0)": {"", "< CAST(0"},
	} {
		p, err := c.Compile(t.Context(), query.Query{SQL: sql, Relations: known()})
		require.NoError(t, err)
		require.Empty(t, p.FullRefresh, sql)
		join := p.Steps[0].(compile.Keyed)
		for side, filter := range want {
			require.Len(t, join.Inputs[side].Keys, 1, sql)
			if filter == "" {
				require.NotContains(t, join.Inputs[side].SQL, "WHERE", sql)
			} else {
				require.Contains(t, join.Inputs[side].SQL, filter, sql)
			}
		}
	}
}

// TestWindowsOfTwoOrders: rows that are the same have stable numbers by one order; by two, one of them may be first here and second there.
func TestWindowsOfTwoOrders(t *testing.T) {
	c := newCompiler(t)
	for list, unstable := range map[string]bool{
		"row_number() OVER (PARTITION BY k ORDER BY v) AS a, lag(v) OVER (PARTITION BY k ORDER BY v) AS b":                       false,
		"row_number() OVER (PARTITION BY k ORDER BY v) AS a, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS b":            true,
		"rank() OVER (PARTITION BY k ORDER BY v) AS a, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS b":                  false,
		"ntile(2) OVER (PARTITION BY k ORDER BY v) AS a, row_number() OVER (PARTITION BY k ORDER BY k DESC, v NULLS FIRST) AS b": true,
	} {
		p, err := c.Compile(t.Context(), query.Query{SQL: "SELECT *, " + list + " FROM (SELECT k, v FROM t)", Relations: known()})
		require.NoError(t, err)
		require.Empty(t, p.FullRefresh, list)
		require.Equal(t, unstable, p.Steps[0].(compile.Keyed).Unstable, list)
	}
}

// TestRowsOfLists: rows joined with what their own lists hold are rows that need no memory, in a stream, too.
func TestRowsOfLists(t *testing.T) {
	c := newCompiler(t)
	for _, sql := range []string{"SELECT k, u FROM t, unnest(l) q(u)", "SELECT t.k, q.u, p.w FROM t, unnest(l) q(u), unnest([u, v]) p(w) WHERE w > 0 AND k <> ''", "SELECT k, u FROM t CROSS JOIN unnest([v, 1]) q(u)",
		"SELECT k, u FROM t JOIN unnest(l) q(u) ON u > v", "SELECT k, q.u FROM t, LATERAL (SELECT unnest(l) + v AS u) q", "SELECT k, i FROM t, range(v) r(i)"} {
		p, err := c.Compile(t.Context(), query.Query{SQL: sql, Relations: known(), Stream: true})
		require.NoError(t, err, sql)
		require.Empty(t, p.Steps, sql)
	}
}

// TestWindowsCountByValues: rows that pass a condition are counted by it, since DuckDB counts rows without a value frame by frame.
func TestWindowsCountByValues(t *testing.T) {
	c := newCompiler(t)
	for sql, want := range map[string]string{
		"SELECT k, count(*) FILTER (v > 0) OVER (PARTITION BY k ORDER BY v) AS n FROM t": `"count"((c1 > `,
		"SELECT k, count(*) OVER (PARTITION BY k ORDER BY v) AS n FROM t":                `"count"() OVER`,
		"SELECT k, count(v) FILTER (v > 0) OVER (PARTITION BY k ORDER BY v) AS n FROM t": `"count"(c1) FILTER`,
	} {
		p, err := c.Compile(t.Context(), query.Query{SQL: sql, Relations: known()})
		require.NoError(t, err)
		require.Empty(t, p.FullRefresh, sql)
		require.Contains(t, p.Steps[0].(compile.Keyed).Body, want, sql)
	}
}
