package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query"
)

const sessions = `WITH m AS (SELECT %[2]s AS k, c, c > lag(c) OVER (PARTITION BY %[2]s ORDER BY c) + 1 AS fresh FROM %[1]s),
 s AS (SELECT k, c, count(*) FILTER (fresh) OVER (PARTITION BY k ORDER BY c) AS i FROM m) `

// fused are windows of which something else is computed, and whether they are one operator with it.
func fused() map[view]bool {
	net := "(SELECT id, max(c) AS c, max(op) AS op FROM t GROUP BY id)"
	return map[view]bool{
		{"v0", fmt.Sprintf(sessions, "t", "op") + `SELECT k, count(*) AS n, min(c) AS a, max(c) AS z FROM s GROUP BY k, i`}:                                                                   true,
		{"v1", fmt.Sprintf(sessions, net, "op") + `SELECT k, i, count(*) AS n, min(c) AS a, string_agg(c, ',' ORDER BY c) AS l FROM s GROUP BY ALL`}:                                          true,
		{"v2", fmt.Sprintf(sessions, "t", "CAST(id AS DOUBLE) * -0.0") + `SELECT count(*) AS n, max(c) AS z, i, k FROM s GROUP BY i, k`}:                                                      true,
		{"v3", `SELECT op, id, b, sum(id) OVER (PARTITION BY op, b ORDER BY c, id) AS s FROM (SELECT op, id, c, max(c) OVER (PARTITION BY op ORDER BY id) AS b FROM t) WHERE b > 0`}:          true,
		{"v4", `SELECT op, c, r, lag(r) OVER (PARTITION BY op ORDER BY r) AS l FROM (SELECT *, row_number() OVER (PARTITION BY op ORDER BY c, seq) AS r FROM t)`}:                             true,
		{"v5", `SELECT b, min(id) AS a, max(id) AS z FROM (SELECT op, id, c, max(c) OVER (PARTITION BY op) AS b FROM t) GROUP BY b`}:                                                          false,
		{"v6", `SELECT op, id, b, sum(id) OVER (PARTITION BY b) AS s FROM (SELECT op, id, max(c) OVER (PARTITION BY op) AS b FROM t)`}:                                                        false,
		{"v7", `WITH w AS (SELECT op, id, max(c) OVER (PARTITION BY op) AS b FROM t) SELECT op, min(b) AS a, max(id) AS z FROM w GROUP BY op UNION ALL SELECT op, b, id FROM w WHERE id > 4`}: false,
		{"v8", `SELECT op, id, c, lag(c) OVER (PARTITION BY op ORDER BY c, id) AS l FROM (SELECT DISTINCT op, id, c FROM t)`}:                                                                 false,
		{"v9", `SELECT op, min(b) AS a, max(r) AS z FROM (SELECT op, max(c) OVER (PARTITION BY op ORDER BY id) AS b, rank() OVER (PARTITION BY op ORDER BY c DESC) AS r FROM t) GROUP BY op`}: true,
		{"v10", `SELECT op, k, min(n) AS a FROM (SELECT op, id % 2 AS k, count(*) OVER (PARTITION BY id % 2, op ORDER BY seq ROWS 1 PRECEDING) AS n FROM t) GROUP BY k, op`}:                  false,
	}
}

// TestFused: windows and what alone is computed of their rows are one operator, and right after every epoch, with ties, NULLs, rows that come late and
// rows that are taken back.
func TestFused(t *testing.T) {
	l := newLab(t)
	random := rand.New(rand.NewPCG(3, 9))
	h := fewAndMany(random, func(epoch int) string {
		c := fmt.Sprint(random.IntN(8) + epoch)
		if random.IntN(6) == 0 {
			c = "null"
		}
		return c
	}, `{"id":3,"seq":1000,"c":2}`)
	known := []query.Relation{{Name: "t", Columns: h.columns, AppendOnly: true, Identity: "t"}}
	var views []view
	for v, one := range fused() {
		p, err := l.compiler.Compile(t.Context(), query.Query{SQL: v.sql, Relations: known})
		require.NoError(t, err, v.sql)
		require.Empty(t, p.FullRefresh, v.sql)
		together := slices.ContainsFunc(p.Operators, func(o query.Operator) bool { return strings.Contains(o.Detail, ", then ") })
		require.Equal(t, one, together, "%s: %v", v.sql, p.Operators)
		views = append(views, v)
	}
	for range 3 {
		require.Nil(t, l.replay(h, views))
		l.restart(2) // and as large epochs
	}
}
