package query_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// regression is a case that failed once, as TestOracle prints it.
type regression struct {
	name    string
	columns batch.Schema
	views   []view
	epochs  [][]string
	full    bool // the last view may run in full each epoch
}

const latest = `SELECT * EXCLUDE (op) FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)`

func rowsOf(typ string) batch.Schema {
	return batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "op", Type: "VARCHAR"}, {Name: "c", Type: typ}}
}

// small are a few rows of one column that come, change and go.
func small(a, b, c string) [][]string {
	return [][]string{
		{`{"id":1,"seq":1,"op":"u","c":` + a + `}`, `{"id":2,"seq":2,"op":"u","c":` + b + `}`},
		{`{"id":1,"seq":3,"op":"u","c":` + b + `}`, `{"id":3,"seq":4,"op":"u","c":` + c + `}`},
		{`{"id":2,"seq":5,"op":"d","c":null}`, `{"id":4,"seq":6,"op":"u","c":` + a + `}`},
		{`{"id":3,"seq":7,"op":"d","c":null}`},
	}
}

// manySums are changes of numbers whose sum depends on the order of addition.
func manySums() [][]string {
	g, seq := rand.New(rand.NewPCG(1, 1)), 0
	out := make([][]string, 4)
	for e := range out {
		for range 60 {
			seq++
			out[e] = append(out[e], fmt.Sprintf(`{"id":%d,"seq":%d,"op":%q,"c":%g}`, g.IntN(80), seq, []string{"u", "u", "d"}[g.IntN(3)], g.NormFloat64()*1e5))
		}
	}
	return out
}

// manyZeros are more and more rows of one value that is written in two ways.
func manyZeros() [][]string {
	seq := 0
	out := make([][]string, 14)
	for e := range out {
		for range []int{56, 3}[min(e, 1)] {
			seq++
			out[e] = append(out[e], fmt.Sprintf(`{"id":%d,"seq":%d,"op":"u","c":%s}`, seq-seq%7*e, seq, []string{"-0.0", "0.0"}[seq%2]))
		}
	}
	return out
}

func regressions() []regression {
	return []regression{
		{name: "sums of DOUBLEs whose order changes are taken back as they were shown", columns: rowsOf("DOUBLE"), epochs: manySums(),
			views: []view{{"b", latest}, {"v", `SELECT seq % 2 AS g, sum(c) AS f_s, avg(c) AS f_a, stddev(c) AS f_d FROM b GROUP BY g`},
				{"w", `SELECT id, sum(c) OVER (PARTITION BY seq % 2) AS f_s FROM b`}, {"x", `SELECT sum(c) AS f_s, median(c) AS m FROM b`}}},
		{name: "the choice among equal rows is taken back as it was shown", columns: rowsOf("INTEGER"), epochs: [][]string{
			{`{"id":1,"seq":1,"op":"u","c":1}`, `{"id":2,"seq":2,"op":"u","c":1}`, `{"id":3,"seq":3,"op":"u","c":1}`, `{"id":4,"seq":4,"op":"u","c":1}`},
			{`{"id":1,"seq":5,"op":"d","c":1}`, `{"id":9,"seq":6,"op":"u","c":1}`}, {`{"id":2,"seq":7,"op":"d","c":1}`, `{"id":8,"seq":8,"op":"u","c":1}`}},
			views: []view{{"b", latest}, {"v", `SELECT count(first) AS n, count(l) AS m FROM (SELECT c, first(id) AS first, list(id) AS l FROM b GROUP BY c)`},
				{"w", `SELECT count(*) AS n FROM (SELECT DISTINCT ON (c) * FROM b ORDER BY c)`}, {"x", `SELECT count(*) AS n FROM (SELECT id FROM b ORDER BY c LIMIT 2)`},
				{"y", `SELECT n, c FROM (SELECT row_number() OVER (PARTITION BY c ORDER BY c) AS n, c, id FROM b)`}}},
		{name: "subqueries correlated by a list that holds NULL", columns: rowsOf("VARCHAR[]"), epochs: small(`["b",null]`, `["a"]`, "null"),
			views: []view{{"b", latest}, {"v", `SELECT id, (SELECT count(x) FROM (SELECT id AS x, c AS y FROM b) WHERE c IS NOT DISTINCT FROM y) AS n FROM b`}}},
		{name: "approximate counts are taken back as they were shown", columns: rowsOf("TIMESTAMP"),
			epochs: small(`"2026-03-01 09:30:00"`, `"2026-03-02 08:45:00"`, `"2026-03-01 08:15:00"`),
			views:  []view{{"b", latest}, {"v", `SELECT id % 2 AS g, approx_count_distinct(c) AS n FROM b GROUP BY g`}}},
		{name: "NaN and Infinity as constants", columns: rowsOf("DOUBLE"), epochs: small(`"NaN"`, `"Infinity"`, "1.5"),
			views: []view{{"b", latest}, {"v", `SELECT id, c >= 'NaN'::DOUBLE AS n, c < 'Infinity'::DOUBLE AS i, 'NaN,Infinity' AS t FROM b WHERE c > '-Infinity'::DOUBLE`}, {"w", `SELECT id, c < 1e400 AS x FROM b WHERE c > -1e400`}}},
		{name: "VALUES beside a relation", columns: rowsOf("VARCHAR"), epochs: small(`"one"`, `"two"`, "null"), full: true,
			views: []view{{"b", latest}, {"v", `SELECT c, count(i) AS n FROM b LEFT JOIN (VALUES (1, 'one'), (2, 'two')) x(i, t) ON t = c GROUP BY c`}}},
		{name: "ASOF LEFT JOIN of few rows", columns: rowsOf("BIGINT"), epochs: small("1", "2", "3"),
			views: []view{{"b", latest}, {"v", `SELECT a.*, z.t, z.n FROM b a ASOF LEFT JOIN (SELECT c AS t, count(*) AS n FROM b GROUP BY c) z ON a.id < z.t`}}},
		{name: "ASOF JOIN of rows at one moment", columns: rowsOf("DOUBLE"), epochs: manyZeros(),
			views: []view{{"b", latest}, {"v", `SELECT CAST(x.c AS VARCHAR) AS c, y.i * 1e-12 AS f_i FROM b x ASOF LEFT JOIN (SELECT id AS i, c AS t FROM b) y ON x.c >= y.t`}}},
		{name: "EXISTS that does not ask about the outer row", columns: rowsOf("INTEGER"), epochs: small("1", "2", "3"),
			views: []view{{"b", latest}, {"v", `SELECT id FROM b WHERE EXISTS (SELECT 1 FROM b WHERE c = 3)`}, {"w", `SELECT id, NOT EXISTS (SELECT 1 FROM t WHERE c = 3 AND op = 'u') AS x FROM b`},
				{"x", `SELECT EXISTS (SELECT c FROM b WHERE c > 5) AS x, EXISTS (FROM b) AS y`}, {"y", `SELECT count(*) AS n FROM (SELECT id FROM b ORDER BY id LIMIT 1)`}}},
		{name: "an order of INTERVALs", columns: rowsOf("INTERVAL"), epochs: small(`"1 day"`, `"2 hours"`, `"3 days 1 hour"`),
			views: []view{{"b", latest}, {"v", `SELECT id, c FROM b ORDER BY c DESC, id LIMIT 2`}, {"w", `SELECT id, rank() OVER (ORDER BY c) AS r FROM b`}, {"x", `SELECT id % 2 AS g, list(id ORDER BY c, id) AS l FROM b GROUP BY g`}}},
		{name: "LIMIT with OFFSET", columns: rowsOf("BIGINT"), epochs: small("1", "2", "3"),
			views: []view{{"b", latest}, {"v", `SELECT id, c FROM b ORDER BY c DESC, id LIMIT 2 OFFSET 1`}}},
		{name: "rows beside what their own lists hold", columns: rowsOf("INTEGER[]"), epochs: small("[1,2]", "[]", "[null,1]"),
			views: []view{{"b", latest}, {"v", `SELECT id, u FROM t, unnest(c) q(u)`}, {"w", `SELECT b.id, q.u, p.w FROM b, unnest(c) q(u), unnest([u, id]) p(w) WHERE w > 0`},
				{"x", `SELECT u, count(*) AS n FROM b CROSS JOIN unnest(c) q(u) GROUP BY u`}, {"y", `SELECT id, u FROM b JOIN unnest(c) q(u) ON u < id`},
				{"a", `SELECT id, u FROM b LEFT JOIN unnest(c) q(u) ON true`}}},
		{name: "a filter on a struct's member", columns: rowsOf("STRUCT(x INTEGER, y VARCHAR)"), epochs: small(`{"x":1,"y":"a"}`, `{"x":2,"y":"b"}`, `{"x":null,"y":"a"}`),
			views: []view{{"b", latest}, {"v", `SELECT c.x AS x, count(*) AS n FROM b WHERE c.y = 'a' GROUP BY x`}}},
		{name: "ROLLUP below a filter, and constants in UNION ALL", columns: rowsOf("VARCHAR"), epochs: small(`"a"`, `"b"`, `"c"`),
			views: []view{{"b", latest}, {"v", `SELECT * FROM (SELECT c AS k, max(id) AS m FROM b GROUP BY ROLLUP (c)) WHERE k > 'a'`},
				{"w", `SELECT 'all' AS k, count(*) AS n FROM b UNION ALL SELECT 'some', count(*) FROM b WHERE c IS NULL`}}},
		{name: "enumerations inside of rows and lists", columns: rowsOf("ENUM('a', 'it''s)', 'é')"), epochs: small(`"a"`, `"it's)"`, "null"),
			views: []view{{"b", `SELECT last.* EXCLUDE (op) FROM (SELECT arg_max(t, seq) AS last FROM t GROUP BY id) WHERE last.op = 'u'`}, {"v", `SELECT c, list(c ORDER BY id) AS l, {'e': c} AS s FROM b GROUP BY c`},
				{"w", `SELECT id, {'e': c} AS s, [c] AS l FROM t`}, {"x", `SELECT s, count(*) AS n FROM w GROUP BY s`}}},
		{name: "lists as constants", columns: rowsOf("INTEGER[]"), epochs: small("[1,2]", "[]", "[null]"),
			views: []view{{"b", latest}, {"v", `SELECT id, c FROM b WHERE c = []`}, {"w", `SELECT id FROM b WHERE c = [1, 2]`},
				{"u", `SELECT * FROM (SELECT id, CAST(c AS VARCHAR) AS a FROM b) UNPIVOT INCLUDE NULLS (v FOR k IN (a))`}}},
		{name: "lambdas and RANGE frames", columns: rowsOf("INTEGER[]"), epochs: small("[1,2]", "[3,null]", "[]"),
			views: []view{{"b", latest}, {"v", `SELECT id, list_transform(c, x -> x + id) AS l, list_filter(c, x -> x > 1) AS f, list_transform(c, x -> len(list_filter(c, y -> y < x + id))) AS m FROM b`},
				{"w", `SELECT id, count(*) OVER (ORDER BY id DESC RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM b`}}},
	}
}

// TestRegressions: what failed once holds, and is incremental where it came to be.
func TestRegressions(t *testing.T) {
	l := newLab(t)
	for _, r := range regressions() {
		t.Run(r.name, func(t *testing.T) {
			l.t = t
			h := history{columns: r.columns}
			for _, rows := range r.epochs {
				h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}})
			}
			if f := l.replay(h, r.views); f != nil {
				t.Fatalf("epoch %d: %v: %s", f.epoch, f.views, f.what)
			}
			known := []query.Relation{{Name: "t", Columns: r.columns, AppendOnly: true, Identity: "t"}}
			for _, v := range r.views {
				p, err := l.compiler.Compile(t.Context(), query.Query{SQL: v.sql, Relations: known})
				require.NoError(t, err)
				require.True(t, r.full || p.FullRefresh == "", "%s: %s", v.name, p.FullRefresh)
				known = append(known, query.Relation{Name: v.name, Columns: p.Columns, AppendOnly: p.AppendOnly, Identity: p.Identity})
			}
		})
	}
}
