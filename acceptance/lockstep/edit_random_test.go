package lockstep

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/stretchr/testify/require"
)

// draft is a random query, in parts that an edit changes one by one.
type draft struct {
	shape   string // aggregate, rows, top, join, outer
	from    string // t or b
	groups  []string
	calls   []string
	where   []string
	limit   int
	exact   bool   // with aggregates that have no partials
	above   string // what is done with the result, in SQL with %s
	columns []string
}

// narrowed is a list with some of its members left out: edits often are of this kind.
func narrowed(r *rand.Rand, list []string, all ...string) []string {
	if len(list) < 2 || r.IntN(2) == 0 {
		return pick(r, all, 1)
	}
	at := r.IntN(len(list))
	return slices.Delete(slices.Clone(list), at, at+1)
}

func pick(r *rand.Rand, from []string, atLeast int) []string {
	out := slices.Clone(from)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:min(len(out), atLeast+r.IntN(3))]
}

func one(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

func shapes() []string {
	return []string{"aggregate", "aggregate", "aggregate", "aggregate", "rows", "top", "join", "outer"}
}

func newDraft(r *rand.Rand) draft {
	d := draft{shape: one(r, shapes()...), from: one(r, "t", "b"), limit: 1 + r.IntN(3), exact: r.IntN(3) == 0}
	for _, part := range []string{"groups", "calls", "where", "above", "columns"} {
		d.redo(r, part)
	}
	return d
}

// redo makes one part anew.
func (d *draft) redo(r *rand.Rand, part string) {
	switch part {
	case "shape":
		d.shape = one(r, shapes()...)
	case "groups":
		d.groups = narrowed(r, d.groups, "k", "v", "v // 2", "v // 4", "v // 5", "v - v % 3", "upper(k)", "date_trunc('hour', ts)", "time_bucket(INTERVAL 5 MINUTE, ts)",
			"time_bucket(INTERVAL 30 MINUTE, ts)", "CAST(ts AS DATE)", "hour(ts)", "k IS NULL")
	case "calls":
		all := []string{"count(*)", "count(v)", "sum(v)", "sum(d)", "avg(d)", "avg(v)", "min(v)", "max(k)", "count(*) FILTER (v > 9)", "bool_or(v > 20)", "sum(v + 1)", "bit_xor(v)"}
		if d.exact {
			all = append(all, "count(DISTINCT v)", "median(d)")
		}
		d.calls = narrowed(r, d.calls, all...)
	case "where":
		d.where = pick(r, []string{"k <> 'k1'", "v > 5", "v // 2 < 15", "d IS NOT NULL", "CAST(ts AS DATE) > DATE '2026-03-01'", "k IS NOT NULL AND v < 35"}, 0)
	case "limit":
		d.limit = 1 + r.IntN(4)
	case "above":
		d.above = one(r, "%s", "%s", "SELECT * FROM (%s) WHERE c0 IS NOT NULL", "SELECT *, 1 AS extra FROM (%s)", "SELECT c0, count(*) AS n FROM (%s) GROUP BY ALL")
	case "columns":
		d.columns = pick(r, []string{"id", "seq", "k", "v", "d", "ts"}, 1)
	}
}

// edited is the draft with a part or two made anew.
func (d draft) edited(r *rand.Rand) draft {
	parts := map[string][]string{"aggregate": {"groups", "groups", "calls", "calls", "where", "above", "shape"}, "rows": {"columns", "where", "above", "shape"},
		"top": {"groups", "columns", "where", "above", "limit", "shape"}, "join": {"columns", "where", "above", "limit", "shape"}, "outer": {"columns", "where", "above", "limit", "shape"}}[d.shape]
	before := d.sql()
	for left := 1 + r.IntN(2); left > 0 || d.sql() == before; left-- {
		d.redo(r, one(r, parts...))
	}
	return d
}

func (d draft) sql() string {
	where := ""
	if len(d.where) > 0 {
		where = " WHERE " + strings.Join(d.where, " AND ")
	}
	var text string
	switch d.shape {
	case "aggregate":
		text = "SELECT " + numbered(append(slices.Clone(d.groups), d.calls...)) + " FROM " + d.from + where
		if len(d.groups) > 0 {
			text += " GROUP BY ALL"
		}
	case "rows":
		text = "SELECT " + numbered(d.columns) + " FROM " + d.from + where
	case "top":
		over := "ORDER BY " + strings.Join(append(slices.Clone(d.columns), "seq"), ", ")
		if len(d.groups) > 0 {
			over = "PARTITION BY " + strings.Join(d.groups, ", ") + " " + over
		}
		text = fmt.Sprintf("SELECT %s FROM (SELECT * FROM %s%s QUALIFY row_number() OVER (%s) <= %d)", numbered(d.columns), d.from, where, over, d.limit)
	default:
		word := map[string]string{"join": "JOIN", "outer": "LEFT JOIN"}[d.shape]
		text = "SELECT " + numbered(append(slices.Clone(d.columns), "n", "s")) + " FROM (SELECT * FROM " + d.from + where + ") " + word +
			[]string{"", " w USING (k)", " (SELECT k, n, s FROM w) USING (k)", " (SELECT q AS v, n, s FROM w) USING (v)", " (SELECT k, n, s FROM w WHERE n > 1) USING (k)"}[d.limit]
	}
	return strings.ReplaceAll(d.above, "%s", text)
}

func numbered(list []string) string {
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = fmt.Sprintf("%s AS c%d", e, i)
	}
	return strings.Join(out, ", ")
}

// editCases is how many edits of random queries an ordinary run of the tests makes.
const editCases = 120

// TestRandomEdits: random queries over random rows, and random edits of them. Whatever the class of an edit that needs no source, v is
// right after it and after every later epoch, and remembers what it would, had it read everything.
func TestRandomEdits(t *testing.T) {
	cases := editCases
	if n, err := strconv.Atoi(os.Getenv("STREAMFORM_EDIT_CASES")); err == nil {
		cases = n
	}
	classes := map[evolve.Class]int{}
	l := newLife(t)
	for seed := uint64(1); cases > 0; seed++ {
		r := rand.New(rand.NewPCG(seed, 3))
		d := newDraft(r)
		l.begin(seed, d.sql())
		l.feed()
		for range 10 {
			next := d.edited(r)
			e := l.edit(next.sql())
			classes[e.Class]++
			cases--
			if e.Class != evolve.ReplayFromSource {
				d = next
				l.check(d.sql())
				l.sameAsReplay(d.sql())
			}
			if l.feed(); r.IntN(2) == 0 {
				l.check(d.sql())
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		l.check(d.sql())
	}
	t.Log(classes)
	for _, class := range []evolve.Class{evolve.Migrate, evolve.RebuildFromState, evolve.ReplayFromSource} {
		require.Greater(t, classes[class], editCases/20, class)
	}
}
