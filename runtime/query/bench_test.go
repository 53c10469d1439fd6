package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkEpoch times epochs of 1 and 1,000 rows over views that already hold 100,000 rows and 10,000 keys.
func BenchmarkEpoch(b *testing.B) {
	c := newCompiler(b)
	for _, q := range []struct{ name, sql string }{
		{"linear", "SELECT k, v FROM t WHERE v > 0"},
		{"aggregate", "SELECT v % 10000 AS g, count(*) AS n, sum(d) AS s FROM t GROUP BY ALL"},
		{"join", "SELECT a.v, b.n FROM t a JOIN (SELECT v % 10000 AS g, count(*) AS n FROM t GROUP BY ALL) b ON a.v = b.g"},
		{"left", "SELECT a.v, b.d FROM t a LEFT JOIN (SELECT * FROM t WHERE b) b ON a.v % 10000 = b.v"},
		{"top3", "SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY v % 10000 ORDER BY d DESC, ts, f) <= 3"},
		{"distinct", "SELECT DISTINCT v FROM t"},
	} {
		for _, rows := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/%d", q.name, rows), func(b *testing.B) {
				w := newWorld(b, eventColumns())
				defer w.close()
				_, err := w.relation(c, "r", q.sql, false)
				require.NoError(b, err)
				_, err = w.epoch(w.file("base.json", benchRows(0, 100_000)))
				require.NoError(b, err)
				f := w.file("next.json", benchRows(100_000, rows))
				b.ResetTimer()
				for range b.N {
					_, err := w.epoch(f)
					require.NoError(b, err)
				}
			})
		}
	}
}

func benchRows(from, n int) string {
	var s strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&s, `{"k":"key%d","v":%d,"d":%d.25,"f":%d.5,"ts":"2026-05-01 08:%02d:00","l":[1],"b":%t}`+"\n", i%1000, (i*7919)%10000, i%1000, i, i%60, i%10 == 0)
	}
	return s.String()
}
