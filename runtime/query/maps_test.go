package query_test

import (
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// TestMapsOfAnything: what Arrow has no type of its own for is remembered inside of maps as well, in small and in large epochs.
func TestMapsOfAnything(t *testing.T) {
	l := newLab(t)
	columns, epochs := manyTypes()
	h := history{columns: columns}
	for i, rows := range epochs {
		h.epochs = append(h.epochs, querytest.Epoch{Files: [][]string{rows}, Restart: i == 2})
	}
	views := []view{{"b", `SELECT * FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)`},
		{"v0", `SELECT op, histogram(CAST(c AS HUGEINT)) AS h, histogram(u) AS i, histogram(c > 1) AS j FROM b GROUP BY op`},
		{"v1", `SELECT id, MAP {u: c, u: 2} AS m FROM b WHERE c IS NOT NULL AND false`},
		{"v2", `SELECT id, MAP {coalesce(u, uuid '00000000-0000-0000-0000-000000000009'): CAST(c AS HUGEINT)} AS m, [MAP {id: c > 1}] AS n FROM b`},
		{"v3", `SELECT seq, MAP {seq: CAST(c AS HUGEINT), -1: 7} AS m, MAP {'j': to_json(c)} AS j FROM t`},
		{"v4", `SELECT DISTINCT ON (id) id, MAP {seq: u} AS m FROM t ORDER BY id, seq DESC`},
		{"v5", `SELECT a.id, b.m FROM b a JOIN v4 b USING (id)`},
	}
	for range 2 {
		f := l.replay(h, views)
		require.Nil(t, f, "%+v", f)
		l.restart(2)
	}
}
