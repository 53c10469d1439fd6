package groups

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/memory"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
	"github.com/streamform/streamform/runtime/query/table"
)

// drawn are columns of every type that is merged without SQL, each with an expression that draws a value from $r, a number of [0, 1).
func drawn() map[string]string {
	return map[string]string{
		"BIGINT": "CAST($r * 7 AS BIGINT) - 3", "INTEGER": "CAST($r * 9 AS INTEGER) - 4", "SMALLINT": "CAST($r * 3 AS SMALLINT) - 1", "TINYINT": "CAST($r * 255 AS INTEGER) - 128",
		"UBIGINT": "CASE WHEN $r < 0.2 THEN 18446744073709551615 ELSE CAST($r * 9 AS UBIGINT) END", "UINTEGER": "CASE WHEN $r < 0.2 THEN 4294967295 ELSE CAST($r * 9 AS UINTEGER) END",
		"DOUBLE":        "CASE WHEN $r < 0.01 THEN ['nan'::DOUBLE, '-nan'::DOUBLE, 'inf'::DOUBLE, '-inf'::DOUBLE, 1e308][1 + CAST(floor($r * 500) AS INTEGER) % 5] ELSE ['0.0'::DOUBLE, '-0.0'::DOUBLE, 0.1, -7][1 + CAST(floor($r * 30) AS INTEGER) % 4] END",
		"DECIMAL(9,2)":  "CAST($r * 100 AS DECIMAL(9,2)) - 50",
		"DECIMAL(38,3)": "CAST(CAST($r * 100 AS DECIMAL(9,2)) - 50 AS DECIMAL(38,3)) * 100000000000000000000",
		"VARCHAR":       "['', 'a', 'ab', 'é', 'a longer text than fits', 'zz'][1 + CAST(floor($r * 60) AS INTEGER) % 6]",
		"BOOLEAN":       "$r < 0.5", "DATE": "DATE '1969-12-30' + CAST($r * 5 AS INTEGER)", "TIMESTAMP": "TIMESTAMP '1969-12-31 23:59:59' + to_seconds(CAST($r * 5 AS INTEGER))",
		"TIMESTAMP WITH TIME ZONE": "TIMESTAMPTZ '1969-12-31 23:59:59' + to_seconds(CAST($r * 5 AS INTEGER))", "TIME": "TIME '10:00:00' + to_seconds(CAST($r * 5 AS INTEGER))",
	}
}

// lab is a database and an aggregate of which all partials are merged without SQL.
type lab struct {
	set *table.Set
	a   compile.Aggregate
	row string // draws the rows of an epoch by $seed
}

func newLab(t *testing.T) lab {
	c, err := compile.NewCompiler(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	conn, err := duck.Open(t.Context(), "SET threads = 1")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	l := lab{set: table.NewSet(conn)}
	columns, calls := batch.Schema{{Name: "k", Type: "BIGINT"}}, []string{"count(*) AS n"}
	picks := []string{"CAST(i % 13 AS BIGINT) AS k"}
	for typ, sql := range drawn() {
		name := fmt.Sprintf("x%d", len(columns))
		columns = append(columns, batch.Column{Name: name, Type: typ})
		r := fmt.Sprintf("(hash(i, '%s', $seed) %% 10007) / 10007", name)
		picks = append(picks, fmt.Sprintf("CAST(CASE WHEN (hash(i, '%s', 'null', $seed) %% 10) > 3 THEN %s END AS %s) AS %s", name, strings.ReplaceAll(sql, "$r", r), typ, name))
		for _, call := range callsOf(typ) {
			calls = append(calls, fmt.Sprintf("%s AS a%d", strings.ReplaceAll(call, "@", name), len(calls)))
		}
	}
	l.row = "SELECT " + strings.Join(picks, ", ") + " FROM range(40) AS s(i)"
	p, err := c.Compile(t.Context(), compile.Query{SQL: "SELECT k, " + strings.Join(calls, ", ") + " FROM t GROUP BY k", Relations: []compile.Relation{{Name: "t", Columns: columns, AppendOnly: true}}})
	require.NoError(t, err)
	require.Empty(t, p.FullRefresh)
	require.Len(t, p.Steps, 1)
	l.a = p.Steps[0].(compile.Aggregate)
	return l
}

func callsOf(typ string) []string {
	switch {
	case typ == "BOOLEAN":
		return []string{"bool_or(@)", "bool_and(@)", "count_if(@)", "count(@)"}
	case strings.HasPrefix(typ, "DECIMAL"):
		return []string{"sum(@)", "avg(@)", "count(@)"}
	case typ == "DOUBLE":
		return []string{"sum(@)", "min(@)", "max(@)", "avg(@)"}
	case strings.HasSuffix(typ, "INT") || typ == "INTEGER" || typ == "UINTEGER":
		return []string{"sum(@)", "min(@)", "max(@)"}
	}
	return []string{"min(@)", "max(@)"}
}

// partials makes a table of the partials of an epoch's rows.
func (l lab) partials(t *testing.T, seed int) string {
	rows, err := l.set.Make(t.Context(), strings.ReplaceAll(l.row, "$seed", fmt.Sprint(seed)))
	require.NoError(t, err)
	input, err := logical.Replace(l.a.Input, func(string) (string, error) { return rows, nil })
	require.NoError(t, err)
	now, err := l.set.Make(t.Context(), l.a.TypedPartials("("+input+")"))
	require.NoError(t, err)
	return now
}

// shown are the rows that groups give and take back, in order.
func (l lab) shown(t *testing.T, b Brought) (out []string) {
	given, taken, _ := b.Rows(l.a)
	for _, rows := range []string{given, taken} {
		all, err := l.set.Conn.Text(t.Context(), "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "+rows+" ORDER BY ALL")
		require.NoError(t, err)
		for _, row := range all {
			var cells []string
			for _, c := range row {
				if c == nil {
					c = new(string)
				}
				cells = append(cells, *c)
			}
			out = append(out, strings.Join(cells, "|"))
		}
	}
	return out
}

// TestMergingIsWhatSQLDoes: partials merged byte by byte are those that SQL merges, whatever their type, NULLs included, and give the same rows.
func TestMergingIsWhatSQLDoes(t *testing.T) {
	l := newLab(t)
	m, ok := newMerger(l.a.Partials, l.a.PartialTypes)
	require.True(t, ok, "%v", l.a.PartialTypes)
	merged := 0
	for seed := range 25 {
		require.NoError(t, l.set.Begin(t.Context(), true, true))
		mem := inmap.New()
		_, first, err := Update{Set: l.set, Aggregate: l.a, Memory: mem, Now: l.partials(t, 2*seed)}.Merge(t.Context())
		require.NoError(t, err)
		mem.Keep(first)
		u := Update{Set: l.set, Aggregate: l.a, Memory: mem, Now: l.partials(t, 2*seed+1)}
		merged += l.compare(t, u, m)
		require.NoError(t, l.set.Clear(context.WithoutCancel(t.Context())))
	}
	require.Greater(t, merged, 5, "few epochs were merged without SQL")
}

// compare compares both ways, and returns 1 where one of them is not by SQL.
func (l lab) compare(t *testing.T, u Update, m merger) int {
	now, err := Encode(t.Context(), u.Set, u.Aggregate, u.Now)
	require.NoError(t, err)
	keys := make([][]byte, now.Len())
	for i := range keys {
		keys[i] = now.Key(i)
	}
	old, err := memory.Get(u.Memory, keys)
	require.NoError(t, err)
	bySQL, whole, err := u.inSQL(t.Context(), old)
	require.NoError(t, err)
	now, err = Encode(t.Context(), u.Set, u.Aggregate, u.Now)
	require.NoError(t, err)
	now.InOrder()
	g, ok, err := u.inBytes(m, now)
	require.NoError(t, err)
	if !ok {
		return 0
	}
	b, err := g.brought(t.Context())
	require.NoError(t, err)
	mem := inmap.New()
	mem.Keep(whole)
	for i := range g.changes.Len() {
		key, value, was := g.changes.At(i)
		want, err := memory.Get(mem, [][]byte{key})
		require.NoError(t, err)
		require.Equal(t, want[0], value)
		had, err := memory.Get(u.Memory, [][]byte{key})
		require.NoError(t, err)
		if had[0] == nil {
			require.Equal(t, memory.Absent, was)
		} else {
			require.Len(t, had[0], was)
		}
	}
	require.Equal(t, l.shown(t, bySQL), l.shown(t, b))
	return 1
}

// TestSumsThatDoNotFit: a sum beyond its type is left to SQL, which refuses it; one that just fits is not.
func TestSumsThatDoNotFit(t *testing.T) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
	digits := new(big.Int).Sub(new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil), big.NewInt(1))
	bytes := func(n *big.Int, width int) []byte {
		v := new(big.Int).And(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*width)), big.NewInt(1))).FillBytes(make([]byte, width))
		out := []byte{1}
		for i := range v {
			out = append(out, v[len(v)-1-i])
		}
		return out
	}
	for typ, c := range map[string]struct {
		most  *big.Int
		width int
	}{"BIGINT": {big.NewInt(math.MaxInt64), 8}, "HUGEINT": {most, 16}, "DECIMAL(38,2)": {digits, 16}} {
		column, ok := columnOf("sum", typ)
		require.True(t, ok)
		m := merger{column}
		for _, sign := range []int64{1, -1} {
			edge, one := new(big.Int).Mul(c.most, big.NewInt(sign)), big.NewInt(sign)
			near := new(big.Int).Sub(edge, one)
			sum, ok := m.merge(nil, bytes(near, c.width), bytes(one, c.width))
			require.True(t, ok, typ)
			require.Equal(t, bytes(edge, c.width), sum, typ)
			beyond := one
			if typ == "BIGINT" && sign < 0 {
				beyond = big.NewInt(-2) // the least has no counterpart
			}
			_, ok = m.merge(nil, bytes(edge, c.width), bytes(beyond, c.width))
			require.False(t, ok, "%s %d", typ, sign)
		}
	}
}

// TestDamagedPartials: bytes that are too few are left to SQL, which says so.
func TestDamagedPartials(t *testing.T) {
	for _, kind := range [][2]string{{"sum", "HUGEINT"}, {"max", "VARCHAR"}, {"bool_or", "BOOLEAN"}} {
		c, ok := columnOf(kind[0], kind[1])
		require.True(t, ok)
		for _, b := range [][]byte{{}, {1}, {1, 9}, {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}} {
			if kind[1] == "BOOLEAN" && len(b) > 1 {
				continue
			}
			_, ok = merger{c}.merge(nil, b, b)
			require.False(t, ok, "%v %v", kind, b)
		}
	}
}
