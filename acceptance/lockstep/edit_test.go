package lockstep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/logical"
	remember "github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
	"github.com/stretchr/testify/require"
)

// life is one view v, whose query is edited between epochs, over the source t, the view b of each id's last row, and the view w of sums.
type life struct {
	*Run
	t      testing.TB
	random *rand.Rand
	files  []batch.File
	named  int
}

func itemColumns() batch.Schema {
	return batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "k", Type: "VARCHAR"}, {Name: "v", Type: "INTEGER"},
		{Name: "d", Type: "DECIMAL(8,2)"}, {Name: "f", Type: "DOUBLE"}, {Name: "ts", Type: "TIMESTAMP"}}
}

func newLife(t testing.TB) *life {
	r, err := Open(t.Context(), Options{Dir: t.TempDir(), Threads: 2, Sources: []Source{{Name: "t", Columns: itemColumns()}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return &life{Run: r, t: t}
}

// begin forgets everything, and makes b, w and v anew.
func (l *life) begin(seed uint64, sql string) {
	l.random, l.files = rand.New(rand.NewPCG(seed, 7)), nil
	l.relations, l.memories = nil, map[string]*inmap.Memory{}
	require.NoError(l.t, l.plain.Exec(l.t.Context(), "DELETE FROM t"))
	l.add("b", "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1")
	l.add("w", "SELECT k, v // 3 AS q, count(*) AS n, sum(d) AS s FROM b GROUP BY ALL")
	l.add("v", sql)
}

func (l *life) add(name, sql string) {
	_, err := l.Add(l.t.Context(), Relation{Name: name, SQL: sql})
	require.NoError(l.t, err, sql)
}

// feed runs an epoch of random rows.
func (l *life) feed() {
	l.named++
	var out strings.Builder
	for i := range l.random.IntN(20) {
		value := func(format string, n int) string {
			if l.random.IntN(8) == 0 {
				return "null"
			}
			return fmt.Sprintf(format, l.random.IntN(n))
		}
		fmt.Fprintf(&out, `{"id":%d,"seq":%d,"k":%s,"v":%s,"d":%s,"f":%s,"ts":"2026-03-%02d %02d:%02d:30"}`+"\n", l.random.IntN(25), l.named*100+i,
			value(`"k%d"`, 4), value("%d", 40), value("%d.25", 30), value("%d.5", 9), 1+l.random.IntN(3), l.random.IntN(24), l.random.IntN(60))
	}
	path := filepath.Join(l.options.Dir, fmt.Sprintf("e%d.json", l.named))
	require.NoError(l.t, os.WriteFile(path, []byte(out.String()), 0o600))
	l.files = append(l.files, batch.File{Ordinal: int64(l.named), Path: path, Version: "1", Size: int64(out.Len())})
	_, err := l.Epoch(l.t.Context(), map[string]string{"t": path})
	require.NoError(l.t, err)
}

func (l *life) edit(sql string) evolve.Evolution {
	e, err := l.Edit(l.t.Context(), sql)
	require.NoError(l.t, err, "%s\n%+v", sql, e)
	l.asForeseen(sql, e)
	return e.Evolution
}

// asForeseen compares what was done for each operator, and how many rows were read, with what the comparison of the queries foretold.
func (l *life) asForeseen(sql string, e Edited) {
	l.t.Helper()
	if e.Taken == nil {
		require.Nil(l.t, e.Carry, sql)
		return
	}
	require.Equal(l.t, e.Class, e.Taken.Class(), "%s: %s", sql, e.Reason)
	fates := map[string]evolve.FateKind{}
	for _, f := range e.Operators {
		if f.Fate != evolve.Dropped {
			fates[f.Name] = f.Fate
		}
	}
	made := map[string]evolve.FateKind{}
	for _, m := range e.Taken.Operators {
		made[m.Operator] = m.Fate
	}
	require.Equal(l.t, fates, made, sql)
	require.Equal(l.t, e.Foreseen, e.Taken.Rows()+e.Views, "%s: rows read", sql)
}

// check compares v with plain DuckDB.
func (l *life) check(sql string) {
	l.t.Helper()
	_, err := l.Compare(l.t.Context(), "v")
	require.NoError(l.t, err, sql)
}

// sameAsReplay compares what v remembers with what it would, had it read everything (G3). Sums of rows taken back may be 0 or
// NULL, and the last digits of a variance hang on the order of the rows.
func (l *life) sameAsReplay(sql string) {
	l.t.Helper()
	fresh := &Run{engine: l.engine, memories: map[string]*inmap.Memory{}}
	work := query.Work{Inputs: []query.Input{{Relation: "t", Epoch: 1, Files: l.files,
		Scan: batch.Scan{Format: batch.Format{Name: "json"}, Columns: l.options.Sources[0].Columns, OnMalformed: "quarantine"}}}}
	for _, rel := range l.relations {
		work.Steps = append(work.Steps, query.Step{Relation: rel.Name, Program: rel.Program, Memory: fresh.memory(rel.Name)})
	}
	result, err := l.engine.Run(context.Background(), work)
	require.NoError(l.t, err)
	for _, m := range result.Remember["v"] {
		fresh.memoryOf("v", m.Operator).Keep(m)
	}
	p := l.relations[len(l.relations)-1].Program
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
			require.Equal(l.t, contents(l.t, fresh.memories["v/"+o.ID], keyed), contents(l.t, l.memories["v/"+o.ID], keyed), "%s: %s", sql, o.ID)
		}
	}
}

// contents is what a memory holds, rows by key in whatever chunks they lie.
func contents(t testing.TB, m *inmap.Memory, keyed bool) []string {
	if m == nil {
		return nil
	}
	var out []string
	require.NoError(t, m.Scan(func(key, value []byte) error {
		if !keyed || key[0] == 0xff {
			out = append(out, fmt.Sprintf("%x=%x", key, value))
		}
		return nil
	}))
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
	l := newLife(t)
	for name, edits := range editsToTry() {
		t.Run(name, func(t *testing.T) {
			l.t = t
			l.begin(1, edits[0])
			for i, sql := range edits {
				if i > 0 {
					e := l.edit(sql)
					require.NotEqual(t, evolve.ReplayFromSource, e.Class, "%s: %s", sql, e.Reason)
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
	for name, sql := range map[string]string{
		"aggregate": "SELECT v, count(*) AS n, sum(v) AS s, min(d) AS lo, max(d) AS hi, avg(d) AS a FROM t WHERE v IS NOT NULL GROUP BY ALL",
		"rows":      "SELECT k, median(d) AS m, max(v) AS hi FROM t GROUP BY ALL",
		"window":    "SELECT id, v, d FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC, seq) <= 2",
		"linear":    "SELECT id, v, d FROM t WHERE v IS NOT NULL",
	} {
		t.Run(name, func(t *testing.T) {
			l := newLife(t)
			l.begin(1, sql)
			l.relations = l.relations[2:]
			for range 3 {
				l.feed()
			}
			wider := itemColumns()
			for column, typ := range map[int]string{0: "HUGEINT", 3: "BIGINT", 4: "DECIMAL(20,3)"} {
				wider[column].Type = typ
				require.NoError(t, l.plain.Exec(t.Context(), "ALTER TABLE t ALTER "+wider[column].Name+" TYPE "+typ))
			}
			l.options.Sources = []Source{{Name: "t", Columns: wider}}
			e := l.edit(sql)
			require.Contains(t, []evolve.Class{evolve.Migrate, evolve.RebuildFromState}, e.Class, e.Reason)
			for range 3 {
				l.check(sql)
				l.sameAsReplay(sql)
				l.feed()
			}
		})
	}
}
