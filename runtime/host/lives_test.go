package host_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	. "github.com/streamform/streamform/runtime/host/hosttest"
	"github.com/streamform/streamform/runtime/query/evolve"
)

// editable are definitions of the views of a chain, and of views that have operators in common with them; %s is what each reads.
var editable = map[string][]string{
	"totals": {
		"SELECT customer, sum(v) AS total, count(*) AS n FROM %s GROUP BY ALL",
		"SELECT customer, sum(v) * 10 AS total, count(*) AS n FROM %s GROUP BY ALL HAVING count(*) > 1",
		"SELECT customer, sum(v) AS total, count(*) AS n FROM %s WHERE v > 1 GROUP BY ALL",
		"SELECT customer, CAST(max(v) AS HUGEINT) AS total, count(*) AS n FROM %s GROUP BY ALL",
		"SELECT customer, CAST(v AS HUGEINT) AS total, CAST(1 AS BIGINT) AS n FROM %s QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 2",
	},
	"large": {
		"SELECT customer, total FROM %s WHERE total > 0",
		"SELECT customer, total + n AS total FROM %s",
		"SELECT 'all' AS customer, CAST(sum(total) AS HUGEINT) AS total FROM %s",
	},
	"twin": {
		"SELECT customer, sum(v) AS total, count(*) AS n FROM %s GROUP BY ALL",
		"SELECT customer, avg(v) AS a FROM %s GROUP BY ALL",
		"SELECT n, count(*) AS customers FROM (SELECT customer, sum(v) AS total, count(*) AS n FROM %s GROUP BY ALL) GROUP BY n",
		"SELECT max(v) AS most FROM (SELECT customer, v FROM %s QUALIFY row_number() OVER (PARTITION BY customer ORDER BY v DESC) <= 2)",
		"SELECT DISTINCT customer FROM %s WHERE v > 1",
	},
	"mirror": {
		"SELECT n + 1 AS n FROM (SELECT count(*) AS n, CAST(sum(total) AS HUGEINT) AS t FROM %s)",
		"SELECT CAST(sum(total) AS HUGEINT) AS t FROM %s",
	},
	"many": {
		"SELECT count(*) AS n, CAST(sum(total) AS HUGEINT) AS t FROM %s",
		"SELECT count(*) FILTER (total > 3) AS n, CAST(max(total) AS HUGEINT) AS t FROM %s",
	},
}

var upstream = map[string]string{"totals": "purchases", "large": "totals", "many": "large", "twin": "purchases", "mirror": "large"}

// chained are the editable views, what is read before what reads it.
func chained() []string { return []string{"totals", "large", "many", "twin", "mirror"} }

// life is a chain of views under random edits, rollbacks, restarts and new files.
type life struct {
	*world
	rng        *rand.Rand
	number     map[string]int64 // generation last put
	definition map[string]string
	evolution  *evolve.Evolution // of the last edit, where it takes over what can be
}

// batch is the SQL of a view over the source alone.
func (l *life) batch(view string) string {
	of := upstream[view]
	if of != "purchases" {
		of = "(" + l.batch(of) + ")"
	}
	return fmt.Sprintf(l.definition[view], of)
}

func (l *life) edit(view string) {
	all := editable[view]
	l.definition[view] = all[l.rng.IntN(len(all))]
	l.number[view]++
	sql := fmt.Sprintf(l.definition[view], upstream[view])
	if l.rng.IntN(3) > 0 && l.number[view] > 1 {
		e := l.Edit("view."+view, l.number[view], sql)
		l.evolution = &e
		return
	}
	l.evolution = nil
	attrs := Attributes{"sql": Text(sql)}
	for name, v := range l.Keeping {
		attrs[name] = v
	}
	l.Put("view."+view, l.number[view], attrs)
}

// goBack rolls a view back, and what was replaced with it.
func (l *life) goBack(name string) {
	for _, r := range l.rollback(name) {
		if r.Addr.Block != addr.View {
			continue
		}
		var value struct {
			SQL string `json:"sql"`
		}
		require.NoError(l.T, json.Unmarshal(r.Value, &value))
		view := r.Addr.Name
		l.definition[view] = strings.Replace(value.SQL, "FROM "+upstream[view], "FROM %s", 1)
		l.Resource("view."+view, l.number[view], Attributes{"sql": Text(value.SQL)})
	}
}

// anew deletes a view and its table, and has others in their places.
func (l *life) anew(view string) {
	require.NoError(l.T, l.Host.Delete(l.T.Context(), Address(l.T, "sink.delta."+view)))
	require.NoError(l.T, l.Host.Delete(l.T.Context(), Address(l.T, "view."+view)))
	require.NoError(l.T, os.RemoveAll(l.Path("lake", view)))
	l.number[view] = 0
	l.edit(view)
	l.Put("sink.delta."+view, 1, Attributes{"from": Text("view." + view), "path": Text("lake/" + view)})
	l.Backfill()
}

// cutOver carries edits out. Whatever they are, and however they build on each other: each table changes with one commit, which holds what differs
// and nothing else; and what one edit alone takes over is what was foreseen.
func (l *life) cutOver(what string, columns map[string]batch.Schema, edited []string) {
	l.T.Helper()
	before, versions := map[string][]string{}, map[string]int64{}
	for view := range editable {
		before[view], versions[view] = l.Table("lake/" + view)
	}
	s := l.Backfill()
	for view := range editable {
		after, version := l.Table("lake/" + view)
		differ := int64(len(lacking(before[view], after)) + len(lacking(after, before[view])))
		if !slices.Equal(columns[view], l.Programs[Address(l.T, "view."+view)].Columns) { // a table that cannot take them in is written anew
			differ = int64(len(before[view]) + len(after))
		}
		require.Equal(l.T, differ, given(s)[view], "%s: rows given to the table of %s", what, view)
		require.LessOrEqual(l.T, version-versions[view], int64(1), "%s: commits to the table of %s", what, view)
	}
	for _, r := range s.Relations {
		if len(edited) == 1 && r.Addr.Name == edited[0] && l.evolution != nil && l.evolution.Carry != nil {
			require.Equal(l.T, l.evolution.Class, r.Class, what)
		}
	}
}

// lacking are the rows of one list that another has not, or not as often.
func lacking(from, rows []string) (out []string) {
	left := map[string]int{}
	for _, r := range from {
		left[r]++
	}
	for _, r := range rows {
		if left[r]--; left[r] < 0 {
			out = append(out, r)
		}
	}
	return out
}

func (l *life) check(what string) {
	l.T.Helper()
	for view := range editable {
		rows := l.Query("FROM " + view)
		require.Equal(l.T, l.Query(l.batch(view)), rows, "%s: %s", what, view)
		if table, version := l.Table("lake/" + view); version >= 0 || len(rows) > 0 { // no table before the first row
			require.Equal(l.T, rows, table, "%s: the table of %s", what, view)
		}
	}
}

// Whatever is edited, and in whichever order: every view equals its SQL over everything read, and so does its table.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := &life{world: newWorld(t), rng: rand.New(rand.NewPCG(seed, 1)), number: map[string]int64{}, definition: map[string]string{}}
			if seed%2 == 1 {
				l.Keeping = Attributes{"rollback_window": Text("24h")}
			}
			l.Land("0.json", Purchase("ann", 1), Purchase("bob", 5))
			l.Purchases(1, nil)
			for _, view := range chained() {
				l.edit(view)
				l.Put("sink.delta."+view, 1, Attributes{"from": Text("view." + view), "path": Text("lake/" + view)})
			}
			l.Backfill()
			l.check("first")
			for step := range 9 {
				what := fmt.Sprintf("step %d", step)
				switch l.rng.IntN(6) {
				case 0:
					l.Reopen()
					fallthrough
				case 1:
					l.Land(fmt.Sprintf("%d.json", step+1), Purchase(string('a'+rune(l.rng.IntN(4))), l.rng.IntN(9)-2), Purchase("ann", l.rng.IntN(5)))
					l.Once()
				case 2:
					view := []string{"view.totals", "view.twin"}[l.rng.IntN(2)]
					if f := l.Facts().Resources[Address(t, view)]; len(f.Former) > 0 {
						what += ", rollback of " + view
						l.goBack(view)
					}
				case 3:
					view := []string{"twin", "mirror"}[l.rng.IntN(2)]
					what += ", new " + view
					l.anew(view)
				default:
					var edited []string
					columns := map[string]batch.Schema{}
					for _, view := range chained() {
						columns[view] = l.Programs[Address(t, "view."+view)].Columns
						if l.rng.IntN(2) == 0 {
							l.edit(view)
							edited = append(edited, view)
						}
					}
					what += fmt.Sprint(", edits of ", edited)
					l.cutOver(what, columns, edited)
				}
				l.check(what)
			}
		})
	}
}
