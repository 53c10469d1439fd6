package query_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/query"
)

// scanned counts how often a memory is read whole.
type scanned struct {
	query.Memory
	times *int
}

func (s scanned) Scan(fn func(key, value []byte) error) error {
	*s.times++
	return s.Memory.Scan(fn)
}

// TestLookups asks for keys of views made of aggregates, and of others, and compares with reading them whole.
func TestLookups(t *testing.T) {
	c := newCompiler(t)
	w := newWorld(t, eventColumns())
	defer w.close()
	for name, sql := range map[string]string{
		"by_k":    "SELECT k, count(*) AS n, sum(v) AS s FROM t GROUP BY k",
		"several": "SELECT v, k || '!' AS name, count(*) AS n FROM t GROUP BY v, name HAVING sum(v) > 1",
		"by_f":    "SELECT f, count(*) AS n FROM t GROUP BY f",
		"firsts":  "SELECT DISTINCT ON (k) k, v FROM t ORDER BY v",
	} {
		_, err := w.relation(c, name, sql, false)
		require.NoError(t, err)
	}
	_, err := w.epoch(w.file("a.json", benchRows(0, 3000)))
	require.NoError(t, err)
	for _, tc := range []struct {
		sql  string
		keys map[string]int // by view, of its only operator with keys to look up
	}{
		{"SELECT * FROM by_k WHERE k = 'key7'", map[string]int{"by_k": 1}},
		{"SELECT * FROM BY_K WHERE 'key7' = K AND n > 0", map[string]int{"by_k": 1}},
		{"SELECT * FROM by_k WHERE k IN ('key7', 'key8', 'nobody', 'key7')", map[string]int{"by_k": 3}},
		{"SELECT count(*) FROM by_k WHERE k = 'key7' OR k = 'key8' OR k = 'key9'", map[string]int{"by_k": 3}},
		{"SELECT * FROM by_k WHERE k = 'key7' OR n = 3", nil},
		{"SELECT * FROM by_k WHERE k IN ('key7', NULL)", nil},
		{"SELECT * FROM by_k WHERE k <> 'key7'", nil},
		{"SELECT * FROM by_k WHERE upper(k) = 'KEY7'", nil},
		{"SELECT * FROM by_k WHERE k LIKE 'key7'", map[string]int{"by_k": 1}}, // DuckDB makes it an equality
		{"SELECT * FROM by_k WHERE k LIKE 'key7%'", nil},
		{"SELECT * FROM by_k", nil},
		{"SELECT a.n, b.s FROM by_k a JOIN by_k b ON a.k = b.k WHERE a.k = 'key7'", map[string]int{"by_k": 1}},
		{"SELECT a.n, b.s FROM by_k a, by_k b WHERE a.k = 'key7' AND b.k = 'key8'", map[string]int{"by_k": 2}},
		{"SELECT a.n, (SELECT max(s) FROM by_k) FROM by_k a WHERE a.k = 'key7'", nil},
		{"SELECT * FROM by_k WHERE k = (SELECT min(k) FROM by_k)", nil},
		{"SELECT * FROM several WHERE v = 7919 AND name = 'key1!'", map[string]int{"several": 1}},
		{"SELECT * FROM several WHERE v = 7919", nil},
		{"SELECT * FROM by_f WHERE f = 0.5", nil},
		{"SELECT * FROM firsts WHERE k = 'key7'", nil},
		{"SELECT b.n FROM by_k b, firsts r WHERE b.k = 'key7' AND r.k = 'key7'", map[string]int{"by_k": 1}},
		{"SELECT b.n, t.v FROM by_k b JOIN t USING (k) WHERE b.k = 'key7'", map[string]int{"by_k": 1}},
		{"WITH x AS (SELECT * FROM by_k) SELECT n FROM x WHERE k = 'key7'", map[string]int{"by_k": 1}},
		{"SELECT * FROM by_k WHERE k = 'key7' LIMIT 1", map[string]int{"by_k": 1}},
		{"SELECT * FROM (SELECT * FROM by_k ORDER BY k LIMIT 1) WHERE k = 'key7'", nil},
		{"SELECT nothing FROM by_k WHERE k = 'key7'", nil},
	} {
		t.Run(tc.sql, func(t *testing.T) { lookUp(t, c, w, tc.sql, tc.keys) })
	}
}

func lookUp(t *testing.T, c *query.Compiler, w *world, sql string, keys map[string]int) {
	var shown []query.Shown
	for _, s := range w.steps {
		shown = append(shown, query.Shown{Name: s.Relation, Program: s.Program})
	}
	found, err := c.Lookups(context.Background(), sql, []query.Relation{{Name: "t", Columns: query.Columns(w.scan)}}, shown)
	require.NoError(t, err)
	got := map[string]int{}
	for view, operators := range found {
		for _, k := range operators {
			got[view] += len(k)
		}
	}
	if len(keys) == 0 {
		require.Empty(t, got)
		return
	}
	require.Equal(t, keys, got)
	whole := w.rows(sql)
	times := 0
	all := w.steps
	defer func() { w.steps = all }()
	w.steps = nil
	for _, s := range all {
		next := s
		next.Memory = func(operator string) query.Memory {
			if k, ok := found[s.Relation][operator]; ok {
				return query.Chosen{Memory: scanned{s.Memory(operator), &times}, Keys: k}
			}
			return s.Memory(operator)
		}
		w.steps = append(w.steps, next)
	}
	require.NotEmpty(t, whole)
	require.Equal(t, whole, w.rows(sql))
	require.Zero(t, times, "a memory was read whole")
}
