package host_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/streamform/streamform/runtime/host/hosttest"
)

// A power cut before or after any file that Delta sinks write when they publish a cut-over: a view, what reads it and a stream change
// together. The view and the tables show what they had or what they are to have; the next backfill finishes it, and each table
// is given its change once, be it a difference or everything. With the versions before, a checkpoint is due in the cut-over.
func TestPowerCutsDuringPublishing(t *testing.T) {
	for _, versions := range []int{2, 10} {
		t.Run(fmt.Sprint(versions, " versions"), func(t *testing.T) {
			w, c := crashable(t)
			w.Film(c)
			for i := range versions {
				w.Land(fmt.Sprintf("%d.json", i), Purchase("ann", 1), Purchase("bob", 2))
			}
			w.Shop()
			w.Put("view.big", 1, Attributes{"sql": Text("SELECT max(total) AS m FROM totals")})
			w.Put("sink.delta.big", 1, Attributes{"from": Text("view.big"), "path": Text("lake/big")})
			w.Backfill()
			edit := func() {
				w.Put("stream.valid", 2, Attributes{"sql": Text("SELECT customer, -v AS v FROM purchases WHERE v > 1")})
				w.Put("view.totals", 2, Attributes{"sql": Text("SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM purchases GROUP BY ALL")})
				w.Put("view.fresh", 1, Attributes{"sql": Text("SELECT customer, count(*) AS n FROM valid GROUP BY ALL")})
				w.Put("sink.delta.fresh", 1, Attributes{"from": Text("view.fresh"), "path": Text("lake/fresh")})
			}
			var valid, rest []string
			for range versions {
				valid, rest = append(valid, "ann|1", "bob|2"), append(rest, "bob|-2")
			}
			n := versions
			states := map[string][2][]string{
				"totals": {Want(fmt.Sprintf("ann|%d|%d", n, n), fmt.Sprintf("bob|%d|%d", 2*n, n)), Want(fmt.Sprintf("ann|%d|%d", 10*n, n), fmt.Sprintf("bob|%d|%d", 20*n, n))},
				"big":    {Want(fmt.Sprint(2 * n)), Want(fmt.Sprint(20 * n))},
				"valid":  {Want(valid...), Want(rest...)},
				"fresh":  {nil, Want(fmt.Sprintf("bob|%d", n))},
			}
			moments := c.Inside(func() {
				edit()
				w.Backfill()
			})
			require.GreaterOrEqual(t, len(moments), 8, "four tables are written")
			require.Equal(t, versions == 10, len(moments) > 8, "a checkpoint is due")
			after := map[string]int64{}
			for name := range states {
				_, after[name] = w.Table("lake/" + name)
			}
			for i, m := range moments {
				w.Cut(m)
				for name, two := range states {
					if rows, version := w.Table("lake/" + name); version >= 0 {
						require.Contains(t, [][]string{two[0], two[1]}, rows, "cut %d: the table of %s", i, name)
					}
				}
				served := w.Query("FROM totals")
				now := 0
				if served[0] == states["totals"][1][0] {
					now = 1
				}
				for _, name := range []string{"totals", "big"} {
					require.Equal(t, states[name][now], w.Query("FROM "+name), "cut %d: %s", i, name)
				}
				edit()
				w.Backfill()
				for name, two := range states {
					rows, version := w.Table("lake/" + name)
					require.Equal(t, two[1], rows, "cut %d: the table of %s", i, name)
					require.Equal(t, after[name], version, "cut %d: commits to the table of %s", i, name)
				}
				f := w.Facts()
				require.EqualValues(t, 2, f.Resources[Address(t, "view.totals")].Rows, "cut %d", i)
				require.EqualValues(t, n, f.Resources[Address(t, "stream.valid")].Delivered, "cut %d: rows of the new generation", i)
			}
		})
	}
}
