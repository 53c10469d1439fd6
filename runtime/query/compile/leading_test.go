//go:build duckdb_arrow

package compile

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
)

// TestLeading: the first column of an order leaves rows out where its values alone tell how they are ordered, and nowhere else.
func TestLeading(t *testing.T) {
	ctx := context.Background()
	c, err := NewCompiler(ctx, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	known := []Relation{{Name: "t", AppendOnly: true, Identity: "t", Columns: batch.Schema{
		{Name: "k", Type: "BIGINT"}, {Name: "v", Type: "INTEGER"}, {Name: "s", Type: "VARCHAR"}, {Name: "d", Type: "DOUBLE"}}}}
	leading := func(sql string) string {
		p, err := c.Compile(ctx, Query{SQL: sql, Relations: known})
		require.NoError(t, err)
		return p.Steps[0].(Keyed).Leading("rows")
	}
	for sql, part := range map[string]string{
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST, s) = 1": "max(c1) AS sf$m",
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v, s) = 1":                 "min(c1) AS sf$m",
		"SELECT * FROM t QUALIFY rank() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST) <= 3":         "list_min(max(c1, 3))",
		"SELECT DISTINCT ON (k) k, v, s FROM t ORDER BY k, v DESC NULLS LAST":                          "max(c1) AS sf$m",
		"SELECT * FROM t QUALIFY dense_rank() OVER (PARTITION BY k ORDER BY v) <= 3":                   "",
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v NULLS FIRST) = 1":        "",
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY s, v) = 1":                 "",
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY d, v) = 1":                 "",
		"SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY k ORDER BY v) <= 1000":                "",
		"SELECT * FROM t QUALIFY row_number() OVER (ORDER BY v) <= 3":                                  "",
		"SELECT * FROM t ORDER BY v LIMIT 3":                                                           "",
	} {
		if part == "" {
			require.Equal(t, "rows", leading(sql), sql)
		} else {
			require.Contains(t, leading(sql), part, sql)
		}
	}
}
