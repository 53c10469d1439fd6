package query_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/logical"
	remember "github.com/streamform/streamform/runtime/query/memory"
	"github.com/stretchr/testify/require"
)

// life is one view v, whose query is edited between epochs, over the source t, the view b of each id's last row, and the view w of sums.
type life struct {
	*world
	compiler *query.Compiler
	random   *rand.Rand
	epochs   int
}

func itemColumns() batch.Schema {
	return batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "k", Type: "VARCHAR"}, {Name: "v", Type: "INTEGER"},
		{Name: "d", Type: "DECIMAL(8,2)"}, {Name: "f", Type: "DOUBLE"}, {Name: "ts", Type: "TIMESTAMP"}}
}

const (
	lastRows = "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1"
	sumRows  = "SELECT k, v // 3 AS q, count(*) AS n, sum(d) AS s FROM b GROUP BY ALL"
)

func newLife(t testing.TB, c *query.Compiler, seed uint64) *life {
	l := &life{world: newWorld(t, itemColumns()), compiler: c, random: rand.New(rand.NewPCG(seed, 7))}
	for _, r := range [][2]string{{"b", lastRows}, {"w", sumRows}} {
		l.steps = append(l.steps, query.Step{Relation: r[0], Program: l.compile(r[1]), Memory: l.memory(r[0])})
	}
	return l
}

// compile knows relations by identities that no edit changes.
func (l *life) compile(sql string) *query.Program {
	known := []query.Relation{{Name: "t", Columns: query.Columns(l.scan), AppendOnly: true, Identity: "t"}}
	for _, s := range l.steps {
		known = append(known, query.Relation{Name: s.Relation, Columns: s.Program.Columns, AppendOnly: s.Program.AppendOnly, Identity: s.Relation})
	}
	p, err := l.compiler.Compile(context.Background(), query.Query{SQL: sql, Relations: known})
	require.NoError(l.t, err, sql)
	return p
}

// feed runs an epoch of random rows.
func (l *life) feed() {
	l.epochs++
	var out strings.Builder
	for i := range l.random.IntN(20) {
		value := func(format string, n int) string {
			if l.random.IntN(8) == 0 {
				return "null"
			}
			return fmt.Sprintf(format, l.random.IntN(n))
		}
		fmt.Fprintf(&out, `{"id":%d,"seq":%d,"k":%s,"v":%s,"d":%s,"f":%s,"ts":"2026-03-%02d %02d:%02d:30"}`+"\n", l.random.IntN(25), l.epochs*100+i,
			value(`"k%d"`, 4), value("%d", 40), value("%d.25", 30), value("%d.5", 9), 1+l.random.IntN(3), l.random.IntN(24), l.random.IntN(60))
	}
	_, err := l.epoch(l.file(fmt.Sprintf("e%d.json", l.epochs), out.String()))
	require.NoError(l.t, err)
}

// check compares v with plain DuckDB.
func (l *life) check(sql string) {
	l.t.Helper()
	all := map[string]string{"b": lastRows, "w": sumRows, "v": sql}
	want := l.batch("v", all, []string{"b", "w", "v"}, l.files)
	require.Equal(l.t, want, l.rows("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM v"), sql)
}

// begin makes v anew.
func (l *life) begin(sql string) {
	l.steps = append(l.steps, query.Step{Relation: "v", Program: l.compile(sql), Memory: l.memory("v")})
}

// edit goes on with another query for v; it reports whether no source had to be read.
func (l *life) edit(sql string) (evolve.Evolution, bool) {
	last := len(l.steps) - 1
	old := l.steps[last]
	l.steps = l.steps[:last]
	next := query.Step{Relation: "v", Program: l.compile(sql), Memory: old.Memory}
	e := evolve.Compare(old.Program, next.Program, evolve.Held{"b": true, "w": true})
	switch {
	case e.Class == evolve.Noop:
		l.steps = append(l.steps, next)
		return e, true
	case e.Carry == nil:
		l.steps = append(l.steps, old)
		return e, false
	}
	before := map[string]*memory{}
	for id, m := range l.memories {
		if operator, ok := strings.CutPrefix(id, "v/"); ok {
			before[operator] = m
			delete(l.memories, id)
		}
	}
	seeded := next
	plan, err := json.Marshal(e.Carry)
	require.NoError(l.t, err)
	var carry evolve.Carry
	require.NoError(l.t, json.Unmarshal(plan, &carry))
	seeded.Seed = &query.Seed{Carry: carry, Memory: func(operator string) query.Memory {
		require.Contains(l.t, before, operator, "%s: nothing was remembered", sql)
		return before[operator]
	}}
	work := query.Work{Steps: []query.Step{seeded}}
	for leaf, from := range e.Carry.Leaves {
		if from.From == nil {
			i := slices.IndexFunc(l.steps, func(s query.Step) bool { return s.Relation == leaf })
			whole := l.steps[i]
			whole.Whole = true
			work.Steps = append([]query.Step{whole}, work.Steps...)
		}
	}
	result, err := l.engine.Run(context.Background(), work)
	require.NoError(l.t, err, "%s\n%+v", sql, e)
	l.remember(result)
	for operator, origin := range e.Carry.Operators {
		if origin.Keep != "" {
			l.memories["v/"+operator] = before[origin.Keep]
		}
	}
	l.steps = append(l.steps, next)
	return e, true
}

// sameAsReplay compares what v remembers with what it would, had it read everything (G3). Sums of
// rows taken back may be 0 or NULL, and the last digits of a variance hang on the order of the rows.
func (l *life) sameAsReplay(sql string) {
	l.t.Helper()
	fresh := &world{t: l.t, dir: l.dir, engine: l.engine, oracle: l.oracle, scan: l.scan, memories: map[string]*memory{}, steps: slices.Clone(l.steps)}
	for i, s := range fresh.steps {
		fresh.steps[i].Memory = fresh.memory(s.Relation)
	}
	_, err := fresh.epoch(l.files...)
	require.NoError(l.t, err)
	p := l.steps[len(l.steps)-1].Program
	for _, o := range p.Operators {
		step := slices.IndexFunc(p.Steps, func(s compile.Stateful) bool { return s.Name() == o.ID })
		keyed := false
		if step >= 0 {
			a, aggregate := p.Steps[step].(compile.Aggregate)
			if keyed = !aggregate; aggregate && (a.Retracts || slices.ContainsFunc(a.Partials, func(p logical.Partial) bool { return p.Kind == "variance" })) {
				continue
			}
		}
		if o.Holds != "nothing" {
			require.Equal(l.t, held(l.t, fresh.memories["v/"+o.ID], keyed), held(l.t, l.memories["v/"+o.ID], keyed), "%s: %s", sql, o.ID)
		}
	}
}

// held is what a memory holds, rows by key in whatever chunks they lie.
func held(t testing.TB, m *memory, keyed bool) []string {
	if m == nil {
		return nil
	}
	var out []string
	for key, value := range m.rows {
		if !keyed || key[0] == 0xff {
			out = append(out, fmt.Sprintf("%x=%x", key, value))
		}
	}
	for prefix := range byte(3) {
		if !keyed {
			break
		}
		require.NoError(t, remember.Multimap{Mem: m, Prefix: prefix}.All(func(row []byte) error {
			out = append(out, fmt.Sprintf("%d: %x", prefix, row))
			return nil
		}))
	}
	slices.Sort(out)
	return out
}

// TestEdits: v is edited from one query to the next between epochs, and is right after each; nothing is read again.
func TestEdits(t *testing.T) {
	c := newCompiler(t)
	for name, edits := range editsToTry() {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, c, 1)
			defer l.close()
			l.begin(edits[0])
			for i, sql := range edits {
				if i > 0 {
					_, ok := l.edit(sql)
					require.True(t, ok, sql)
					l.check(sql)
					l.sameAsReplay(sql)
				}
				for range 3 {
					l.feed()
					l.check(sql)
				}
			}
		})
	}
}

// editsToTry are queries for v, each made from the one before it by an edit that needs no source.
func editsToTry() map[string][]string {
	return map[string][]string{
		"aggregate of a stream": {
			"SELECT time_bucket(INTERVAL 5 MINUTE, ts) AS w, k, v // 2 AS h, count(*) AS n, sum(d) AS s, min(v) AS lo, max(d) AS hi, bool_or(v > 3) AS bo, bit_xor(v) AS x, round(stddev(v), 6) AS sd FROM t GROUP BY ALL",
			"SELECT time_bucket(INTERVAL 5 MINUTE, ts) AS w, k, v // 2 AS h, count(*) AS n, avg(d) AS s, min(v) AS lo, max(d) AS hi, bool_or(v > 3) AS bo, bit_xor(v) AS x, round(stddev(v), 6) AS sd FROM t GROUP BY ALL HAVING count(*) < 9",
			"SELECT k, date_trunc('hour', ts) AS w, v // 6 AS h, count(*) AS n, avg(d) AS s, min(v) AS lo, max(d) AS hi, bool_or(v > 3) AS bo, bit_xor(v) AS x, round(stddev(v), 6) AS sd FROM t WHERE k <> 'k1' GROUP BY ALL",
			"SELECT k, CAST(ts AS DATE) AS w, count(*) AS n, avg(d) AS s, min(v) AS lo, round(stddev(v), 6) AS sd FROM t WHERE k <> 'k1' GROUP BY ALL",
			"SELECT date_trunc('month', ts) AS w, count(*) AS n, max(k) AS s, round(stddev(v), 6) AS sd FROM t WHERE k <> 'k1' GROUP BY ALL",
			"SELECT count(*) AS n, max(k) AS s, round(stddev(v), 6) AS sd FROM t WHERE k <> 'k1'",
		},
		"aggregate of a view": {
			"SELECT k, v, count(*) AS n, sum(d) AS s, count(f) AS c FROM b GROUP BY ALL", "SELECT v, k, sum(d) + 1 AS s, count(*) AS n FROM b GROUP BY v, k",
			"SELECT k, sum(d) AS s, avg(d) AS a FROM b WHERE k > 'k0' GROUP BY ALL", "SELECT k, min(v) AS lo, sum(d) AS s FROM b GROUP BY ALL", "SELECT sum(d) AS s FROM b", "SELECT DISTINCT k FROM b",
		},
		"values": {
			"SELECT time_bucket(INTERVAL 5 MINUTE, ts) AS w, k, count(*) AS n, count(DISTINCT v) AS dv, sum(d) AS s FROM t GROUP BY ALL", "SELECT date_trunc('hour', ts) AS w, k, count(*) AS n, count(DISTINCT v) AS dv, sum(d) AS s FROM t GROUP BY ALL",
			"SELECT k, count(*) AS n, count(DISTINCT v) AS dv FROM t WHERE k > 'k0' GROUP BY ALL", "SELECT count(*) AS n, count(DISTINCT v) AS dv FROM t WHERE k > 'k0'", "SELECT count(*) AS n FROM t WHERE k > 'k0'",
		},
		"distinct": {"SELECT DISTINCT k, v, d FROM t", "SELECT DISTINCT v, k FROM t", "SELECT DISTINCT upper(k) AS u FROM t WHERE v < 30"},
		"rows by key": {
			"SELECT k, median(d) AS m, sum(v) AS s FROM t GROUP BY ALL", "SELECT k, v, median(d) AS m FROM t GROUP BY ALL", "SELECT median(d) AS m, count(DISTINCT k) AS n FROM t", "SELECT k, count(*) AS n, max(d) AS hi FROM t GROUP BY ALL", "SELECT count(*) AS n FROM t",
		},
		"windows": {
			"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, seq) <= 2", "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, seq) <= 3",
			"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k, v ORDER BY d DESC, seq) <= 2", "SELECT id, k FROM t WHERE v > 5", "SELECT k FROM t WHERE v > 5 AND id < 20",
		},
		"joins": {
			"SELECT b.id, b.v, w.n FROM b JOIN w ON b.k = w.k", "SELECT b.id, b.v, w.n FROM b LEFT JOIN w ON b.k = w.k AND w.n > b.v", "SELECT b.id, b.v, w.n, w.s FROM b LEFT JOIN w ON b.k = w.k AND w.n > b.v",
			"SELECT b.id, b.v, w.n FROM b JOIN w ON b.v // 3 = w.q", "SELECT id, v FROM b WHERE k IN (SELECT k FROM w WHERE n > 2)", "SELECT b.id, w.n FROM b, w WHERE b.v < w.n",
		},
		"two levels": {
			"SELECT n, count(*) AS c FROM (SELECT k, v, count(*) AS n FROM t GROUP BY ALL) GROUP BY ALL", "SELECT n, count(*) AS c, max(k) AS hi FROM (SELECT k, count(*) AS n FROM t GROUP BY ALL) GROUP BY ALL",
			"SELECT k, n, rank() OVER (ORDER BY n) AS r FROM (SELECT k, count(*) AS n FROM t GROUP BY ALL)",
		},
		"full refresh": {
			"SELECT k, n FROM w", "SELECT k, n FROM w LIMIT 1000", "SELECT k, s FROM w LIMIT 1001", "SELECT k, sum(n) AS n FROM w GROUP BY ALL",
		},
	}
}

// TestWiderColumns: columns of a source get types that hold more; partials and rows follow.
func TestWiderColumns(t *testing.T) {
	c := newCompiler(t)
	for name, sql := range map[string]string{
		"aggregate": "SELECT v, count(*) AS n, sum(v) AS s, min(d) AS lo, max(d) AS hi, avg(d) AS a FROM t WHERE v IS NOT NULL GROUP BY ALL",
		"rows":      "SELECT k, median(d) AS m, max(v) AS hi FROM t GROUP BY ALL",
		"window":    "SELECT id, v, d FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, seq) <= 2",
		"linear":    "SELECT id, v, d FROM t WHERE v IS NOT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t, c, 1)
			defer l.close()
			l.steps = nil
			l.begin(sql)
			for range 3 {
				l.feed()
			}
			l.scan.Columns = itemColumns()
			l.scan.Columns[3].Type, l.scan.Columns[4].Type, l.scan.Columns[0].Type = "BIGINT", "DECIMAL(20,3)", "HUGEINT"
			e, ok := l.edit(sql)
			require.True(t, ok, "%+v", e)
			require.NotEqual(t, evolve.Noop, e.Class)
			for range 3 {
				want := l.batch("v", map[string]string{"v": sql}, []string{"v"}, l.files)
				require.Equal(t, want, l.rows("SELECT CAST(COLUMNS(*) AS VARCHAR) FROM v"))
				l.sameAsReplay(sql)
				l.feed()
			}
		})
	}
}
