package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

// firstOfMoving are first rows over rows that are taken back: counts, sums and what a join gives.
func firstOfMoving() []view {
	n := "(SELECT id, op, count(*) AS n, sum(c) AS s, max(seq) AS m FROM t GROUP BY id, op)"
	return []view{
		{"v0", `SELECT * FROM ` + n + ` QUALIFY rank() OVER (PARTITION BY op ORDER BY n DESC) = 1`},
		{"v1", `SELECT id, op, s FROM ` + n + ` QUALIFY row_number() OVER (PARTITION BY op ORDER BY s DESC NULLS LAST, m) <= 2`},
		{"v2", `SELECT id, op, s FROM ` + n + ` QUALIFY row_number() OVER (PARTITION BY op ORDER BY s NULLS FIRST, n DESC, m) <= 2`},
		{"v3", `SELECT id, n FROM ` + n + ` QUALIFY dense_rank() OVER (ORDER BY n) <= 2`},
		{"v4", `SELECT id, n, rank() OVER (PARTITION BY n % 2 ORDER BY s, op) AS r FROM ` + n + ` QUALIFY r < 4`},
		{"v5", `SELECT id, n, m FROM ` + n + ` ORDER BY n DESC, m LIMIT 3`},
		{"v6", `SELECT DISTINCT ON (n) n, s, m FROM ` + n + ` ORDER BY n, s DESC NULLS LAST, m`},
		{"v7", `SELECT id, x FROM (SELECT a.id, b.s AS x, a.seq FROM t a LEFT JOIN ` + n + ` b ON a.id = b.id AND a.op = b.op) QUALIFY row_number() OVER (PARTITION BY x ORDER BY seq) <= 2`},
		{"v8", `SELECT op, n FROM (SELECT op, n FROM ` + n + `) QUALIFY row_number() OVER (PARTITION BY op ORDER BY n DESC) <= 2`},
		// of a row that moved in no column that is read, nothing is touched
		{"v9", `SELECT id, lo FROM (SELECT id, op, min(c) AS lo, count(*) AS n FROM t GROUP BY id, op) QUALIFY rank() OVER (PARTITION BY op ORDER BY lo DESC) <= 2`},
		{"n", `SELECT id, op, count(*) AS n, min(c) AS lo FROM t GROUP BY id, op`},
		{"v10", `SELECT id, lo FROM n QUALIFY rank() OVER (PARTITION BY id ORDER BY lo) = 1`},
		{"v11", `SELECT op, lo FROM n QUALIFY dense_rank() OVER (PARTITION BY op ORDER BY lo NULLS FIRST) <= 2`},
		{"v12", `SELECT op, lo FROM (SELECT op, lo FROM n UNION ALL SELECT op, lo FROM n WHERE n > 3) QUALIFY row_number() OVER (PARTITION BY op ORDER BY lo) <= 3`},
		{"v13", `SELECT DISTINCT ON (id) id, lo FROM n ORDER BY id, lo`},
	}
}

// fewAndMany is a history of epochs of few rows and of many, with a restart and an epoch in which rows come once more, and others behind them. c gives the
// value of c, as JSON.
func fewAndMany(random *rand.Rand, c func(epoch int) string, behind ...string) history {
	columns, _ := manyTypes()
	h, seq := history{columns: columns}, 0
	for i, n := range []int{25, 1, 9, 2, 40, 3, 12, 1} {
		var rows []string
		for range n {
			seq++
			value := c(i)
			rows = append(rows, fmt.Sprintf(`{"id":%d,"seq":%d,"op":"%c","c":%s}`, random.IntN(9), seq, 'a'+rune(random.IntN(3)), value))
		}
		if i == 2 {
			rows = append(append(rows, rows[:4]...), behind...)
		}
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: i == 3})
	}
	return h
}

// TestFirstRowsOfMoving: the first rows of a key are right after every epoch where rows are taken back, with ties, NULLs and rows that are there twice.
func TestFirstRowsOfMoving(t *testing.T) {
	l := newLab(t)
	random := rand.New(rand.NewPCG(7, 1))
	h := fewAndMany(random, func(int) string { return []string{"null", "-3", "0", "1", "2"}[random.IntN(5)] })
	for range 3 {
		require.Nil(t, l.replay(h, firstOfMoving()))
		l.restart(2) // and as large epochs
	}
}

// TestFirstRowsOfZeros: first rows that lose the sign of a zero where they are sorted are found when they are taken back, and others follow them.
func TestFirstRowsOfZeros(t *testing.T) {
	l := newLab(t)
	h := history{columns: batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "c", Type: "INTEGER"}, {Name: "x", Type: "DOUBLE"}}}
	random := rand.New(rand.NewPCG(0, 4))
	for i, n := range []int{25, 1, 9, 2, 40, 3, 12, 1, 30, 2, 2} {
		var rows []string
		for range n {
			pick := func(s ...string) string { return s[random.IntN(len(s))] }
			rows = append(rows, fmt.Sprintf(`{"id":%d,"c":%d,"x":%s}`, random.IntN(9), random.IntN(3), pick("null", "-0.0", "-0.0", "0.0", "-1.5", `"NaN"`)))
		}
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: i%3 == 1})
	}
	n := "(SELECT id, c, count(*) AS n, max(x) AS x FROM t GROUP BY id, c)"
	views := []view{
		{"v0", "SELECT id, n, x FROM " + n + " QUALIFY dense_rank() OVER (PARTITION BY x ORDER BY n DESC, id) <= 2"},
		{"v1", "SELECT id, n, x FROM " + n + " QUALIFY rank() OVER (PARTITION BY c ORDER BY x, n, id) <= 3"},
		{"v2", "SELECT DISTINCT ON (x) x, n, id, c FROM " + n + " ORDER BY x, n DESC, id, c"},
		{"v3", "SELECT id, c, n, x FROM " + n + " ORDER BY x, n, id, c LIMIT 4"},
	}
	for range 3 {
		require.Nil(t, l.replay(h, views))
		l.restart(2) // and as large epochs
	}
}

// TestFirstRows: the first rows of a key over rows that only come are computed from those given before, and right after every epoch.
func TestFirstRows(t *testing.T) {
	l := newLab(t)
	columns, epochs := manyTypes()
	h := history{columns: columns}
	for i, rows := range epochs {
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: i == 1})
	}
	views := []view{
		{"v0", `SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1`},
		{"v1", `SELECT id, seq, r FROM (SELECT *, row_number() OVER (PARTITION BY op ORDER BY c DESC NULLS LAST, seq) AS r FROM t) WHERE r <= 2 AND id > 0`},
		{"v2", `SELECT id, seq, rank() OVER (PARTITION BY d ORDER BY c) AS r FROM t QUALIFY r < 3`},
		{"v3", `SELECT id, seq FROM t QUALIFY dense_rank() OVER (ORDER BY c, op) <= 2`},
		{"v4", `SELECT DISTINCT ON (c) c, seq, op FROM t ORDER BY c, seq`},
		{"v5", `SELECT id, seq, c FROM t ORDER BY c DESC NULLS LAST, seq LIMIT 3`},
		{"v6", `SELECT * FROM (SELECT id + 1 AS i, seq AS s, row_number() OVER (PARTITION BY id + 1 ORDER BY seq) AS r, c FROM t WHERE c IS NOT NULL) WHERE 2 >= r`},
		{"v7", `SELECT op, count(*) AS n, sum(seq) AS s FROM (SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY c ORDER BY seq DESC) = 2) GROUP BY op`},
		{"v8", `SELECT DISTINCT ON (id % 3) id, seq FROM t ORDER BY id % 3, seq DESC`},
		{"v9", `SELECT a.id, a.seq, b.c, row_number() OVER (PARTITION BY a.id ORDER BY b.seq DESC, a.seq) AS r FROM t a JOIN t b ON a.id = b.id AND a.seq >= b.seq QUALIFY r <= 2`},
	}
	joined := len(views) - 1
	for range 3 {
		require.Nil(t, l.replay(h, views))
		l.restart(2) // and as large epochs
	}
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}}
	holds := func(sql string, operator int) string {
		p, err := l.compiler.Compile(t.Context(), query.Query{SQL: sql, Relations: known})
		require.NoError(t, err)
		return p.Operators[operator].Holds
	}
	require.Equal(t, "results by key", holds(views[joined].sql, 1), "the join holds the rows")
	for _, v := range views[:joined] {
		require.True(t, strings.Contains(holds(v.sql, 0), "all rows in order"), "%s: %s", v.sql, holds(v.sql, 0))
	}
	for _, sql := range []string{
		`SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) > 1`,
		`SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = c`,
		`SELECT id, seq, sum(c) OVER (PARTITION BY op ORDER BY seq) AS w FROM t QUALIFY w <= 3`,
		`SELECT id, seq, c FROM t ORDER BY c, seq LIMIT 3 OFFSET 1`,
	} {
		require.NotContains(t, holds(sql, 0), "all rows in order", sql)
	}
}
