package query_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query"
	"github.com/stretchr/testify/require"
)

func known() []query.Relation {
	return []query.Relation{{Name: "t", Columns: eventColumns(), AppendOnly: true, Identity: "t"},
		{Name: "corrected", Columns: eventColumns(), Identity: "c"}}
}

func TestErrorsHavePlaces(t *testing.T) {
	c := newCompiler(t)
	for _, tc := range []struct {
		sql, summary, at, detail string
		stream                   bool
	}{
		{sql: "SELECT k FROM t WHERE", summary: "SQL syntax error", at: ""},
		{sql: "SELECT kk FROM t", summary: "Unknown column", at: "kk", detail: `"k"`},
		{sql: "SELECT k FROM tt", summary: "Unknown name in SQL", at: "tt", detail: "Did you mean"},
		{sql: "SELECT sum(k) FROM t", summary: "Invalid SQL", at: "sum", detail: "argument types"},
		{sql: "SELECT k, now() FROM t", summary: "Volatile function", at: "now", detail: "A view may filter its rows by the time"},
		{sql: "SELECT k FROM t WHERE random() > 0.5", summary: "Volatile function", at: "random"},
		{sql: "SELECT k FROM t WHERE ts > current_date", summary: "Volatile function", at: "current_date", stream: true, detail: "event time"},
		{sql: "SELECT * FROM read_csv('/etc/passwd')", summary: "SQL may not read files", at: "read_csv"},
		{sql: "SELECT * FROM '/etc/passwd'", summary: "", at: ""},
		{sql: "COPY t TO '/tmp/x'", summary: "Only a SELECT can define a relation"},
		{sql: "SELECT 1; SELECT 2", summary: "One SELECT is needed"},
		{sql: "ATTACH 'x.db'", summary: "Only a SELECT can define a relation"},
		{sql: "SELECT k, k FROM t", summary: "Two columns of one name"},
		{sql: "SELECT rowid, k FROM t", summary: "Rows have no identifier", detail: "_row_number"},
		{sql: "SELECT rowid, k FROM t", summary: "Rows have no identifier", stream: true},
		{sql: "SELECT union_value(num := k) AS u FROM t", summary: "A type that rows cannot be kept in", detail: `"u" is of type UNION(num VARCHAR)`},
		{sql: "SELECT [{'a': k}::VARIANT] AS u FROM t", summary: "A type that rows cannot be kept in", detail: "JSON or VARCHAR"},
		{sql: "PIVOT t ON k USING count(*)", summary: "PIVOT without its columns", detail: "IN ('a', 'b')"},
		{sql: "SELECT k, sum(v) AS s FROM t GROUP BY k", summary: "A stream cannot take rows back", at: "sum", stream: true, detail: "Declare a view"},
		{sql: "SELECT k FROM t ORDER BY v LIMIT 3", summary: "A stream cannot take rows back", stream: true},
		{sql: "SELECT k FROM corrected", summary: "A stream cannot take rows back", stream: true},
	} {
		t.Run(tc.sql, func(t *testing.T) {
			_, err := c.Compile(context.Background(), query.Query{SQL: tc.sql, Relations: known(), Stream: tc.stream})
			var bad *query.Error
			require.True(t, errors.As(err, &bad), "%v", err)
			if tc.summary != "" {
				require.Equal(t, tc.summary, bad.Summary, bad.Detail)
			}
			if tc.at != "" {
				require.True(t, strings.HasPrefix(tc.sql[bad.Start:bad.End], tc.at), "points at %q", tc.sql[bad.Start:bad.End])
			}
			require.Contains(t, bad.Detail, tc.detail)
		})
	}
}

func identity(t *testing.T, c *query.Compiler, sql string) string {
	p, err := c.Compile(context.Background(), query.Query{SQL: sql, Relations: known()})
	require.NoError(t, err, sql)
	return p.Identity
}

func TestIdentityFollowsMeaning(t *testing.T) {
	c := newCompiler(t)
	same := [][]string{
		{"SELECT k, count(*) AS n FROM t WHERE v > 1 AND b GROUP BY k", "select K,\n COUNT(*) n from T /* x */ where b and 1 < v group by all;",
			"WITH x AS (SELECT * FROM t WHERE b) SELECT k, count(*) AS n FROM x AS y WHERE v > 1 GROUP BY ALL ORDER BY n"},
		{"SELECT a.k AS k FROM (SELECT k, v FROM t) a WHERE a.v = 3", "SELECT k FROM t WHERE 3 = v"},
	}
	for _, group := range same {
		for _, sql := range group[1:] {
			require.Equal(t, identity(t, c, group[0]), identity(t, c, sql), sql)
		}
	}
	for _, pair := range [][2]string{
		{"SELECT k FROM t WHERE v > 1", "SELECT k FROM t WHERE v >= 1"},
		{"SELECT k, sum(v) AS s FROM t GROUP BY k", "SELECT k, sum(v) AS s FROM t GROUP BY k, b"},
		{"SELECT k FROM t", "SELECT k FROM corrected"},
		{"SELECT v - 1 AS x FROM t", "SELECT 1 - v AS x FROM t"},
		{"SELECT DISTINCT k FROM t", "SELECT k FROM t"},
		{"SELECT k, count(*) FILTER (b) AS n FROM t GROUP BY k", "SELECT k, count(*) AS n FROM t GROUP BY k"},
	} {
		require.NotEqual(t, identity(t, c, pair[0]), identity(t, c, pair[1]), pair[0])
	}
}

func TestNames(t *testing.T) {
	c := newCompiler(t)
	sql := `WITH x AS (SELECT * FROM a), y AS (SELECT * FROM x JOIN s.malformed USING (k)) SELECT * FROM y, "B c" WHERE EXISTS (SELECT 1 FROM a)`
	names, err := c.Names(context.Background(), sql)
	require.NoError(t, err)
	var got []string
	for _, n := range names {
		got = append(got, sql[n.Start:n.End])
	}
	require.Equal(t, []string{"a", "s.malformed", `"B c"`, "a"}, got)
}

func TestKeys(t *testing.T) {
	c := newCompiler(t)
	for sql, want := range map[string][]string{
		"SELECT count(*) AS n, k AS kk, b FROM t GROUP BY k, b": {"kk", "b"},
		"SELECT count(*) AS n, upper(k) AS u FROM t GROUP BY k": nil,
		"SELECT k FROM t": nil,
	} {
		p, err := c.Compile(context.Background(), query.Query{SQL: sql, Relations: known()})
		require.NoError(t, err)
		require.Equal(t, want, p.Key, sql)
	}
	_, err := c.Compile(context.Background(), query.Query{SQL: "SELECT k FROM t", Relations: known(), Keys: []string{"zz"}})
	var bad *query.Error
	require.ErrorAs(t, err, &bad)
}

func TestTypes(t *testing.T) {
	c := newCompiler(t)
	got, err := c.Types(context.Background(), []string{"int", "decimal(10, 2)", "struct(a text)[]"})
	require.NoError(t, err)
	require.Equal(t, []string{"INTEGER", "DECIMAL(10,2)", "STRUCT(a VARCHAR)[]"}, got)
	_, err = c.Types(context.Background(), []string{"BIGNT"})
	var bad *query.Error
	require.ErrorAs(t, err, &bad)
	require.Contains(t, bad.Detail, `Did you mean "INTEGER"`)
}
