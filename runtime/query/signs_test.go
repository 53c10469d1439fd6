package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// alike are types with values that SQL takes as equal and shows differently.
var alike = []struct {
	typ    string
	values []string
}{
	{"DOUBLE", []string{"0.0", "-0.0", `"NaN"`, `"-NaN"`, "1.5", "null"}},
	{"FLOAT", []string{"0.0", "-0.0", `"NaN"`, `"-NaN"`, "-1.5", "null"}},
	{"DOUBLE[]", []string{"[0.0]", "[-0.0]", `[null,"NaN"]`, `[null,"-NaN"]`, "[]", "null"}},
	{"STRUCT(x DOUBLE, y INTEGER)", []string{`{"x":0.0,"y":1}`, `{"x":-0.0,"y":1}`, `{"x":-0.0,"y":null}`, "null"}},
	{"MAP(VARCHAR, FLOAT)", []string{`{"a":0.0}`, `{"a":-0.0}`, `{"a":"-NaN"}`, `{"a":"NaN"}`, "{}", "null"}},
	{"INTERVAL", []string{`"1 month"`, `"30 days"`, `"720 hours"`, `"1 day"`, `"24 hours"`, "null"}},
}

// sameRows show what tells such values apart. Where SQL gives one of several equal values, as text, which one is not compared, but a
// text that is taken back has to be the one that was given.
func sameRows(typ string) []view {
	views := []view{{"b", latest}, {"bag", `SELECT c FROM b`}, {"texts", `SELECT CAST(c AS VARCHAR) AS x, count(*) AS n FROM bag GROUP BY x`},
		{"rows", `SELECT id, md5(CAST(c AS VARCHAR)) AS h FROM b`}, {"turned", `SELECT md5(v) AS h FROM (SELECT CAST(c AS VARCHAR) AS a FROM bag) UNPIVOT INCLUDE NULLS (v FOR k IN (a))`},
		{"ranks", `SELECT md5(CAST(c AS VARCHAR)) AS h, rank() OVER (PARTITION BY id % 2 ORDER BY seq) AS r FROM b`},
		{"outer_rows", `SELECT x.id, md5(CAST(x.c AS VARCHAR)) AS h, y.i FROM b x LEFT JOIN (SELECT id AS i, seq AS s FROM b) y ON y.i = x.id + 1 AND y.s > x.seq`},
		{"latest_rows", `SELECT DISTINCT ON (id) id, md5(CAST(c AS VARCHAR)) AS h FROM t ORDER BY id, seq DESC`}}
	if typ == "INTERVAL" {
		return views
	}
	for i, sql := range []string{`SELECT min(c) AS c, max(c) AS d FROM b GROUP BY id % 2`, `SELECT min(c) AS c, max(c) AS d FROM t GROUP BY id % 2`,
		`SELECT c, max(c) OVER (PARTITION BY id % 2) AS d FROM b`, `SELECT c, count(*) AS d FROM b GROUP BY c`, `SELECT DISTINCT c, 1 AS d FROM b`,
		`SELECT c, len(list(id)) AS d FROM b GROUP BY c`, `SELECT c, 1 AS d FROM b EXCEPT ALL SELECT c, 1 FROM b WHERE id % 2 = 0`,
		`SELECT c, 1 AS d FROM b INTERSECT SELECT c, 1 FROM b WHERE id % 2 = 0`, `SELECT c, sum(DISTINCT id) OVER (PARTITION BY c) AS d FROM b`,
		`SELECT c, rank() OVER (PARTITION BY id % 2 ORDER BY c) AS d FROM b`, `SELECT x.c, y.d FROM b x ASOF JOIN (SELECT id % 2 AS g, c AS d FROM b) y ON x.id % 2 = y.g AND x.c >= y.d`} {
		if strings.Contains(sql, "ASOF") && typ != "DOUBLE" && typ != "FLOAT" {
			continue
		}
		name := fmt.Sprintf("one%d", i)
		views = append(views, view{name, sql}, view{name + "_read", `SELECT CAST(c AS VARCHAR) AS x, CAST(d AS VARCHAR) AS y FROM ` + name},
			view{name + "_inside", `SELECT CAST(c AS VARCHAR) AS x, CAST(d AS VARCHAR) AS y FROM (` + sql + `)`})
	}
	return append(views, view{"same", `SELECT x.id, y.i, md5(CAST(x.c AS VARCHAR)) AS h, md5(CAST(y.d AS VARCHAR)) AS g FROM b x JOIN (SELECT id AS i, c AS d FROM b) y ON x.c = y.d`},
		view{"of_row", `SELECT id, (SELECT count(*) FROM bag WHERE bag.c = b.c) AS n, md5(CAST(c AS VARCHAR)) AS h FROM b`})
}

// TestSameAndEqual: rows are given back as they were seen, to the sign of a zero, whatever SQL takes as equal.
func TestSameAndEqual(t *testing.T) {
	l := newLab(t)
	for _, a := range alike {
		for seed := range uint64(1) {
			t.Run(fmt.Sprint(a.typ, " ", seed), func(t *testing.T) {
				l.t = t
				clear(l.programs)
				g := rand.New(rand.NewPCG(seed, 11))
				h, seq := history{columns: rowsOf(a.typ)}, 0
				for range 6 {
					var rows []string
					for range 1 + g.IntN(8) {
						seq++
						rows = append(rows, fmt.Sprintf(`{"id":%d,"seq":%d,"op":%q,"c":%s}`, g.IntN(9), seq, []string{"u", "u", "d"}[g.IntN(3)], a.values[g.IntN(len(a.values))]))
					}
					h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: g.IntN(3) == 0})
				}
				if f := l.replay(h, sameRows(a.typ)); f != nil {
					t.Fatalf("epoch %d: %v: %s", f.epoch, f.views, f.what)
				}
			})
		}
	}
}

// TestOneOfEqual: where SQL gives one of several equal values, it is 0.0 of zeros and nan of NaNs, whichever came first.
func TestOneOfEqual(t *testing.T) {
	l := newLab(t)
	for _, first := range []string{"-0.0", "0.0"} {
		for _, threads := range []int{1, 2} {
			l.restart(threads)
			w := newWorldBeside(t, rowsOf("DOUBLE"), l.oracle)
			require.NoError(t, w.engine.Close())
			w.engine, w.dir = l.engine, l.dir
			sqls := map[string]string{"grouped": `SELECT c, count(*) AS n FROM t GROUP BY c`, "distinct_rows": `SELECT DISTINCT [c] AS c, 1 AS n FROM t`,
				"listed": `SELECT c, len(list(id)) AS n FROM t GROUP BY c`, "met": `SELECT c, 1 AS n FROM t INTERSECT SELECT c, 1 FROM t`}
			for name, sql := range sqls {
				_, err := w.relation(l.compiler, name, sql, false)
				require.NoError(t, err)
			}
			for i, rows := range [][]string{{first, "-0.0", `"-NaN"`}, {"0.0"}, {`"NaN"`, "-0.0"}} {
				var lines []string
				for j, v := range rows {
					lines = append(lines, fmt.Sprintf(`{"id":%d,"seq":%d,"op":"u","c":%s}`, i, j, v))
				}
				_, err := w.epoch(w.file(fmt.Sprintf("same%s%d%d.json", first, threads, i), strings.Join(lines, "\n")+"\n"))
				require.NoError(t, err)
				n := []int{2, 3, 4}[i]
				nans := max(1, i)
				require.Equal(t, []string{fmt.Sprintf("0.0|%d", n), fmt.Sprintf("nan|%d", nans)}, w.rows("SELECT * FROM grouped"))
				require.Equal(t, []string{fmt.Sprintf("0.0|%d", n), fmt.Sprintf("nan|%d", nans)}, w.rows("SELECT * FROM listed"))
				require.Equal(t, []string{"[0.0]|1", "[nan]|1"}, w.rows("SELECT * FROM distinct_rows"))
				require.Equal(t, []string{"0.0|1", "nan|1"}, w.rows("SELECT * FROM met"))
			}
		}
	}
}
