package query_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// mixed are columns of all kinds, and the JSON values that their rows draw from.
func mixed() (columns batch.Schema, values [][]string) {
	columns = batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "op", Type: "VARCHAR"}}
	for _, c := range [][2]string{
		{"k INTEGER", `1 | 2 | 3 | 0 | null | 1`}, {"g VARCHAR", `"a" | "b" | "A" | "" | null | "é" | "a " | "E"`},
		{"v INTEGER", `1 | 2 | -1 | 0 | null | 10 | 2147483646`}, {"d DECIMAL(10,2)", `1.50 | 0.00 | -2.25 | 99999999.99 | null | 1.5`},
		{"x DOUBLE", `0.5 | 0.0 | "NaN" | "Infinity" | null | 1e10 | 2.5`}, {"f BOOLEAN", `true | false | null`},
		{"ts TIMESTAMP", `"2026-03-01 08:00:00" | "2026-03-01 08:10:00" | "2026-03-01 09:30:00" | "2026-03-29 02:30:00" | null | "2026-03-01 08:00:00.000001"`},
		{"day DATE", `"2026-01-31" | "2026-02-28" | "2024-02-29" | null | "2026-03-01"`},
		{"tz TIMESTAMPTZ", `"2026-03-29 00:30:00+00" | "2026-03-29 01:30:00+00" | "2026-10-25 00:30:00+00" | "2026-10-25 01:30:00+00" | null`},
		{"l INTEGER[]", `[] | [1] | [1,2] | [null] | [2,null,1] | null | [2,1]`}, {"z VARCHAR[]", `["a","b"] | ["a"] | [] | [null] | null`},
		{"s STRUCT(a INTEGER, b VARCHAR)", `{"a":1,"b":"x"} | {"a":null,"b":null} | null | {"a":1,"b":null} | {"a":2,"b":"x"}`},
		{"m MAP(VARCHAR, INTEGER)", `{} | {"a":1} | {"a":1,"b":2} | {"b":2,"a":1} | null | {"a":null}`},
		{"h HUGEINT", `170141183460469231731687303715884105727 | -170141183460469231731687303715884105727 | 1 | 0 | null`},
		{"t VARCHAR", `"1" | "2" | "x" | "" | "10" | null | "1.5" | "2026-03-01" | "0"`}, {"j JSON", `{"a":1} | {"a":null} | null | [1,2] | "s" | {"b":{"c":2}}`},
		{"iv INTERVAL", `"1 day" | "24 hours" | "1 month" | "30 days" | null | "-1 hour"`}, {"tm TIME", `"08:00:00" | "23:59:59.999999" | null | "00:00:00"`},
		{"u UUID", `"00000000-0000-4000-8000-000000000001" | "ffffffff-0000-4000-8000-000000000002" | null`},
		{"big DECIMAL(38,10)", `1.5 | 1234567890123456789012345678.1234567890 | -1.5 | null`}, {"ub UBIGINT", `18446744073709551615 | 0 | 1 | null`},
		{"ns TIMESTAMP_NS", `"2026-03-01 08:00:00.000000001" | "2026-03-01 08:00:00" | null`}, {"ee ENUM('low', 'mid', 'high')", `"low" | "mid" | "high" | null`},
	} {
		name, typ, _ := strings.Cut(c[0], " ")
		columns, values = append(columns, batch.Column{Name: name, Type: typ}), append(values, strings.Split(c[1], " | "))
	}
	return columns, values
}

// mixedRows are changes of some rows of mixed columns; in the last epoch but one all rows go.
func mixedRows(seed uint64) history {
	columns, values := mixed()
	g, h, seq := rand.New(rand.NewPCG(seed, 5)), history{columns: columns}, 0
	row := func(id int, op string) string {
		seq++
		parts := []string{fmt.Sprintf(`"id":%d,"seq":%d,"op":%q`, id, seq, op)}
		for i, v := range values {
			parts = append(parts, fmt.Sprintf("%q:%s", columns[3+i].Name, v[g.IntN(len(v))]))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	for e, n := range []int{6, 1, 9, 0, 5} {
		var rows []string
		for range n {
			rows = append(rows, row(g.IntN(8), []string{"u", "u", "d"}[g.IntN(3)]))
		}
		for id := range []int{0, 0, 0, 8, 0}[e] {
			rows = append(rows, row(id, "d"))
		}
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: e == 1})
	}
	return h
}

// meaning is a query, what it holds, and whether it runs in full each epoch.
type meaning struct {
	holds, sql string
	full       bool
}

// meanings reads testdata/cases.sql: a comment says what the queries below it hold.
func meanings(t *testing.T) (out []meaning) {
	text, err := os.ReadFile("testdata/cases.sql")
	require.NoError(t, err)
	holds, full := "", false
	for _, line := range strings.Split(string(text), "\n") {
		if comment, ok := strings.CutPrefix(line, "-- "); ok {
			holds, full = strings.CutPrefix(comment, "in full: ")
		} else if line != "" {
			out = append(out, meaning{holds: holds, sql: strings.TrimSuffix(line, ";"), full: full})
		}
	}
	return out
}

// TestMeanings: what SQL means where engines that work by changes went wrong: over rows that come, change and go, in small epochs and in
// large ones, and over what is read from such a view.
func TestMeanings(t *testing.T) {
	l := newLab(t)
	l.clear()
	columns, _ := mixed()
	l.declare(columns)
	views := []view{{"b", `SELECT * EXCLUDE (op) FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1 AND op <> 'd'`}, {"bag", `SELECT * EXCLUDE (id, seq) FROM b`},
		{"r", `SELECT id AS rid, seq AS rseq, k AS rk, g AS rg, v AS rv, d AS rd, x AS rx, ts AS rts, day AS rday, t AS rt, l AS rl, s AS rs FROM b WHERE id % 3 <> 0`}}
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}}
	add := func(v view) *query.Program {
		p, err := l.compiler.Compile(t.Context(), query.Query{SQL: v.sql, Relations: known})
		require.NoError(t, err, v.sql)
		l.programs[v] = p
		known = append(known, query.Relation{Name: v.name, Columns: p.Columns, AppendOnly: p.AppendOnly, Identity: p.Identity})
		return p
	}
	for _, v := range views {
		add(v)
	}
	holds := map[string]meaning{}
	for i, m := range meanings(t) {
		v := view{fmt.Sprintf("m%d", i), m.sql}
		p := add(v)
		if m.full != (p.FullRefresh != "") {
			t.Errorf("%s:\n%s\nfull refresh: %t, for it has %q", m.holds, m.sql, !m.full, p.FullRefresh)
		}
		views, holds[v.name] = append(views, v), m
		if i%6 == 0 && len(p.Columns) < 6 {
			sums := view{v.name + "_read", fmt.Sprintf("SELECT count(*) AS n, sum(hash(CAST(x AS VARCHAR))) AS h FROM (SELECT [%s] AS x FROM %s)", texted(p.Columns), v.name)}
			add(sums)
			views, holds[sums.name] = append(views, sums), meaning{holds: "the changes of a view: " + m.holds, sql: m.sql}
		}
	}
	require.Greater(t, len(holds), 250)
	for seed, threads := range []int{1, 2} {
		l.restart(threads)
		for left := views; ; {
			h := mixedRows(uint64(seed))
			if threads > 1 {
				h.epochs = h.epochs[2:]
			}
			f := l.replay(h, left)
			if f == nil {
				break
			}
			m := holds[f.views[0]]
			t.Errorf("%s:\n%s\nepoch %d: %s", m.holds, m.sql, f.epoch, f.what)
			left = withoutReaders(left, f.views[0])
		}
	}
}

// texted are the columns as texts, but for those whose last digits are open.
func texted(columns batch.Schema) string {
	list := []string{"''"}
	for _, c := range columns {
		if !querytest.Fuzzy(c) {
			list = append(list, fmt.Sprintf("CAST(%s AS VARCHAR)", `"`+strings.ReplaceAll(c.Name, `"`, `""`)+`"`))
		}
	}
	return strings.Join(list, ", ")
}
