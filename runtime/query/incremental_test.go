package query_test

import (
	"fmt"
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
)

// manyTypes are rows that come, change and go, with a column of each type whose constants have a form of their own.
func manyTypes() (batch.Schema, [][]string) {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "op", Type: "VARCHAR"}, {Name: "c", Type: "INTEGER"},
		{Name: "u", Type: "UUID"}, {Name: "b", Type: "BLOB"}, {Name: "tm", Type: "TIME"}, {Name: "iv", Type: "INTERVAL"}, {Name: "ts", Type: "TIMESTAMP"}, {Name: "d", Type: "DATE"},
		{Name: "s", Type: "STRUCT(a INTEGER, b VARCHAR)"}, {Name: "l", Type: "INTEGER[]"}}
	return columns, [][]string{
		{`{"id":1,"seq":1,"op":"u","c":1,"u":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","b":"a","tm":"10:00:00","iv":"30 days","ts":"2026-01-01","d":"2026-01-02","s":{"a":1,"b":"x"},"l":[1,2]}`,
			`{"id":2,"seq":2,"op":"u","c":2,"u":"fba7b810-9dad-11d1-80b4-00c04fd430c8","b":"\\x00\\xFF","tm":"10:00:00.5","iv":"1 month","ts":"infinity","d":"infinity","s":{"a":1,"b":null},"l":[]}`,
			`{"id":3,"seq":3,"op":"u","c":null,"u":null,"b":null,"tm":null,"iv":null,"ts":null,"d":null,"s":null,"l":null}`},
		{`{"id":1,"seq":4,"op":"u","c":2,"u":"00000000-0000-0000-0000-000000000001","b":"it's","tm":"23:59:59.999999","iv":"-1 day","ts":"2026-01-02","d":"2026-01-01","s":{"a":2,"b":"x"},"l":[3,null]}`,
			`{"id":4,"seq":5,"op":"u","c":1,"u":"6ba7b810-9dad-11d1-80b4-00c04fd430c8","b":"a","tm":"10:00:00","iv":"720 hours","ts":"-infinity","d":"2026-01-02","s":{"a":1,"b":"x"},"l":[2]}`},
		{`{"id":2,"seq":6,"op":"d"}`, `{"id":5,"seq":7,"op":"u","c":3,"tm":"09:00:00","l":[1]}`},
		{`{"id":3,"seq":8,"op":"d"}`, `{"id":1,"seq":9,"op":"d"}`},
	}
}

// incremental are queries over b that run at the cost of the change.
func incremental() map[string][]string {
	return map[string][]string{
		"constants of every type": {
			`SELECT id FROM b WHERE u = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'`, `SELECT id, u > 'fba7b810-9dad-11d1-80b4-00c04fd430c8'::UUID AS x FROM b`,
			`SELECT id FROM b WHERE tm > TIME '10:00:00.25'`, `SELECT id, b = '\x00\xFF'::BLOB AS x, b = 'it''s'::BLOB AS y FROM b`,
			`SELECT id FROM b WHERE iv = INTERVAL 1 MONTH`, `SELECT id, iv > INTERVAL '1 day 2 hours' AS x FROM b`,
			`SELECT id FROM b WHERE ts < 'infinity'::TIMESTAMP`, `SELECT id, ts = '-infinity' AS x, d = 'infinity' AS y FROM b`,
			`SELECT id FROM b WHERE s = {'a': 1, 'b': 'x'}`, `SELECT id, {'a': 1, 'b': NULL::VARCHAR} = s AS x FROM b`,
			`SELECT id, MAP {'a': c} = MAP {'a': 1} AS m FROM b`,
		},
		"membership as a value": {
			`SELECT id, (c, id) IN (SELECT c, id FROM b WHERE id <> 2) AS m, (c, id) NOT IN (SELECT c, id FROM b WHERE c IS NOT NULL AND id > 1) AS n FROM b`,
			`SELECT id FROM b WHERE (c, id) NOT IN (SELECT c, seq FROM b WHERE op = 'u')`,
			`SELECT id, c IN (SELECT c FROM b y WHERE y.id <= x.id AND y.op = x.op) AS m FROM b x`,
			`SELECT id, c IN (SELECT y.c FROM b y WHERE y.id = x.id) AS m, c NOT IN (SELECT y.c + 1 FROM b y WHERE y.op = x.op) AS n FROM b x`,
			`SELECT id FROM b x WHERE c NOT IN (SELECT y.c FROM b y WHERE y.id = x.id + 1)`,
			`SELECT id, c IN (SELECT y.c FROM b y WHERE y.op = x.op AND y.c IS NULL) AS m FROM b x`,
			`SELECT id, c IN (SELECT CAST(NULL AS INTEGER) FROM b y WHERE y.id = x.id + 1) AS m FROM b x`, `SELECT id FROM b x WHERE c NOT IN (SELECT nullif(y.c, y.c) FROM b y WHERE y.d = x.d AND y.id < x.id)`,
			`SELECT id, c > ANY (SELECT c FROM b WHERE id > 1) AS a, c >= ALL (SELECT c FROM b WHERE c IS NOT NULL) AS b1, c < ANY (SELECT c FROM b WHERE c > 5) AS d FROM b`,
			`SELECT id, c <> ANY (SELECT c FROM b WHERE id < 3) AS a, c = ALL (SELECT c FROM b WHERE id > 3) AS e FROM b`,
			`SELECT id, c > ALL (SELECT y.c FROM b y WHERE y.op = x.op AND y.id < x.id) AS a, c <= ANY (SELECT y.c FROM b y WHERE y.op = x.op) AS e FROM b x`,
			`SELECT id, EXISTS (SELECT 1 FROM b y WHERE y.id < x.id AND y.c = x.c) AS m, EXISTS (SELECT 1 FROM b y WHERE y.id = x.id + 1) AS n FROM b x`,
			`SELECT id FROM b x WHERE NOT EXISTS (SELECT 1 FROM b y WHERE y.c = x.c AND y.id > x.id) OR c IS NULL`,
		},
		"constant rows": {
			`SELECT id, i, n FROM b, (VALUES (1, 'a'), (2, 'b')) x(i, n)`, `SELECT id, n FROM b JOIN (VALUES (1, 'a'), (2, 'b'), (2, 'c')) x(i, n) ON b.c = x.i`,
			`SELECT id, n FROM b LEFT JOIN (VALUES (1, 'a'), (3, NULL)) x(i, n) ON b.c = x.i AND b.id > 1`,
			`SELECT i, count(b.id) AS n FROM (VALUES (1, 'a'), (2, 'b'), (9, NULL)) x(i, n) LEFT JOIN b ON b.c = x.i GROUP BY i`,
			`SELECT r.i, b.id FROM range(1, 5) r(i) LEFT JOIN b ON b.c = r.i`, `SELECT i, id FROM generate_series(5, 1, -2) r(i) FULL JOIN b ON b.c = r.i`,
			`SELECT g.day, count(b.id) AS n FROM generate_series(DATE '2026-01-01', DATE '2026-01-04', INTERVAL 1 DAY) g(day) LEFT JOIN b ON b.d = g.day GROUP BY g.day`,
			`SELECT id, i FROM b, unnest([1, 2, NULL]) r(i) WHERE i IS DISTINCT FROM c`, `SELECT id FROM b WHERE c IN (VALUES (1), (2))`, `SELECT id, c IN (VALUES (1), (NULL)) AS m FROM b`,
			`SELECT id FROM b WHERE c NOT IN (VALUES (1))`, `SELECT i FROM (VALUES (1), (2), (7)) x(i) WHERE NOT EXISTS (SELECT 1 FROM b WHERE c = i)`,
			`SELECT id FROM b UNION ALL SELECT 1`, `SELECT id FROM b UNION SELECT unnest([1, 2, 99])`, `SELECT id FROM b EXCEPT SELECT 1`, `SELECT range AS i FROM range(3) INTERSECT ALL SELECT c FROM b`,
			`SELECT 1 AS a, 'x' AS t`, `SELECT * FROM range(3) r(i)`, `SELECT sum(i) AS s, count(*) AS n FROM (VALUES (1), (2)) x(i)`, `SELECT id FROM b WHERE false`,
			`SELECT count(*) AS n FROM (SELECT id FROM b WHERE 1 = 0)`, `SELECT (SELECT max(c) FROM b) AS m, (SELECT count(*) FROM b WHERE id > 2) AS n`,
			`WITH k AS MATERIALIZED (SELECT 2 AS a UNION ALL SELECT 3) SELECT id, a FROM b, k UNION ALL SELECT a, NULL FROM k`,
			`SELECT x.s.a AS a, id FROM (VALUES ({'a': 1}), (NULL)) x(s), b`, `SELECT id, i FROM b, (SELECT i FROM range(2000) r(i) WHERE i % 500 = 1) WHERE i > id`,
		},
		"lambdas of several parameters": {
			`SELECT id, list_reduce(l, (x, y) -> x - 2 * y) AS r FROM b WHERE len(l) > 0`, `SELECT id, list_transform(l, (x, i) -> x + i * id) AS t, list_filter(l, (x, i) -> i > 1) AS f FROM b`,
			`SELECT list_reduce(l, (x, y, i) -> x + y * i) AS r, count(*) AS n FROM b WHERE len(l) > 0 GROUP BY r`, `SELECT id, list_transform(l, x -> list_reduce([x, c], (p, q) -> p * 10 + q)) AS t FROM b`,
		},
		"aggregates of nothing": {
			`SELECT count_if(c > 1) AS n FROM b WHERE id > 2`, `SELECT op, count_if(c > 1) AS n, count_if(b IS NULL) AS m FROM b GROUP BY op`, `SELECT l, count_if(c = 1) FILTER (id > 1) AS n FROM b GROUP BY l`,
			`SELECT id, (SELECT count_if(y.c > 0) FROM b y WHERE y.id < x.id) AS n FROM b x`,
		},
		"aggregates of lists": {
			`SELECT id, array_to_string(l, '+') AS t, list_sum(l) AS s, list_aggr(l, 'string_agg', '/') AS u, list_aggr(l, 'quantile_cont', 0.25) AS q FROM b`,
			`SELECT array_to_string(l, ' - ') AS t, count(*) AS n FROM b GROUP BY t`,
		},
		"rows made for each outer row": {
			`SELECT id, i FROM b, range(c) r(i)`, `SELECT id, i FROM b, generate_series(1, c) r(i) WHERE i <> 2`, `SELECT id, i FROM b, LATERAL (VALUES (c), (c + 1)) x(i)`,
			`SELECT id, i, j FROM b, unnest(l) u(i), range(1, i) r(j)`, `SELECT id, i FROM b LEFT JOIN LATERAL (VALUES (c + id)) x(i) ON i > 2`,
		},
		"rows without member names": {
			`SELECT id FROM b WHERE row(c, id) = row(1, 1)`, `SELECT (c, id) = (2, 1) AS e, (id, c) < (2, 2) AS f FROM b`,
			`SELECT count(DISTINCT (c, op)) AS n FROM b`, `SELECT id FROM b WHERE s = row(1, 'x')`, `SELECT id, k[1] AS x, k[2] AS y FROM (SELECT id, (c, op) AS k FROM b)`,
			`SELECT c, max((id, d))[1] AS m, min((d, id))[2] AS n FROM b GROUP BY c`, `SELECT k[1] AS x, count(*) AS n FROM (SELECT DISTINCT (c, op) AS k FROM b) GROUP BY x`,
			`SELECT c, unnest(max((id, op))) FROM b GROUP BY c`, `SELECT id, lag((c, id)) OVER (PARTITION BY op ORDER BY id)[2] AS x FROM b`, `SELECT y.id FROM b x JOIN b y ON (x.c, x.op) = (y.c, y.op) WHERE x.id < 3`,
		},
	}
}

// TestIncremental: these queries are no full refresh, and right after every epoch.
func TestIncremental(t *testing.T) {
	l := newLab(t)
	columns, epochs := manyTypes()
	h := history{columns: columns}
	for _, rows := range epochs {
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}})
	}
	for name, queries := range incremental() {
		t.Run(name, func(t *testing.T) {
			l.t = t
			known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}, {Name: "b", Columns: columns, Identity: "b"}}
			views := []view{{"b", `SELECT * FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)`}}
			for i, sql := range queries {
				p, err := l.compiler.Compile(t.Context(), query.Query{SQL: sql, Relations: known})
				require.NoError(t, err, sql)
				require.Empty(t, p.FullRefresh, sql)
				views = append(views, view{fmt.Sprintf("v%d", i), sql})
			}
			if f := l.replay(h, views); f != nil {
				t.Fatalf("epoch %d: %v: %s", f.epoch, f.views, f.what)
			}
		})
	}
}
