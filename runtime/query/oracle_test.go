package query_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

var (
	oracleCases = flag.Int("oracle-cases", casesOf(os.Getenv("STREAMFORM_ORACLE_CASES")), "random cases of TestOracle: queries, each under one history; default from $STREAMFORM_ORACLE_CASES")
	oracleTime  = flag.Duration("oracle-time", timeOf(os.Getenv("STREAMFORM_ORACLE_TIME")), "TestOracle begins no world after this time, however many cases are left; default from $STREAMFORM_ORACLE_TIME; 0: no bound")
	oracleSeed  = flag.Uint64("oracle-seed", 1, "first seed of TestOracle")
)

func timeOf(env string) time.Duration {
	d, err := time.ParseDuration(env)
	if err != nil {
		return 0
	}
	return d
}

// quickCases is how many cases an ordinary run of the tests takes.
const quickCases = 400

func casesOf(env string) int {
	if n, err := strconv.Atoi(env); err == nil && n > 0 {
		return n
	}
	return quickCases
}

// A world has some random queries, which live through some histories: each query under each history is a case.
const (
	viewsPerWorld     = 20
	historiesPerWorld = 4
)

// incrementalFloor is the least part of random queries, in percent, that run without full refresh.
const incrementalFloor = 90

// tally counts what the queries of all worlds came to.
type tally struct {
	sync.Mutex
	begun    time.Time
	next     uint64 // seed of the next world
	views    int
	cases    int
	full     map[string]int // by reason
	refused  map[string]int // what generated SQL DuckDB refuses, by message
	failures int
}

// maxFailures ends the test: each is shrunk, which takes time.
const maxFailures = 12

// TestOracle: for random data, queries over it and over each other, cuts and
// restarts, every view equals plain DuckDB after every epoch. A failure prints a case for regressions_test.go.
func TestOracle(t *testing.T) {
	sum := &tally{begun: time.Now(), next: *oracleSeed, full: map[string]int{}, refused: map[string]int{}}
	t.Run("worlds", func(t *testing.T) {
		for i := range 2 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				l := newLab(t)
				for seed, ok := sum.seed(*oracleCases); ok; seed, ok = sum.seed(*oracleCases) {
					l.world(seed, sum)
				}
			})
		}
	})
	full := 0
	for _, reason := range slices.SortedFunc(maps.Keys(sum.full), func(a, b string) int { return sum.full[b] - sum.full[a] }) {
		t.Logf("%5d full refresh: %s", sum.full[reason], reason)
		full += sum.full[reason]
	}
	for reason, n := range sum.refused {
		t.Logf("%5d refused: %s", n, reason)
	}
	t.Logf("seeds %d to %d: %d cases of %d queries, %d of these incremental", *oracleSeed, sum.next-1, sum.cases, sum.views, sum.views-full)
	require.GreaterOrEqual(t, (sum.views-full)*100, sum.views*incrementalFloor, "random queries are incremental, but for a few")
}

func (s *tally) seed(cases int) (uint64, bool) {
	s.Lock()
	defer s.Unlock()
	if s.cases >= cases || s.failures >= maxFailures || *oracleTime > 0 && time.Since(s.begun) > *oracleTime {
		return 0, false
	}
	s.next++
	return s.next - 1, true
}

func (s *tally) count(m map[string]int, reason string) {
	s.Lock()
	defer s.Unlock()
	m[reason]++
}

// world makes queries and replays histories through them.
func (l *lab) world(seed uint64, sum *tally) {
	g := querytest.New(seed)
	clear(l.programs)
	columns := g.Columns()
	views := l.generate(g, columns, sum)
	for range historiesPerWorld {
		views = l.live(seed, history{columns, g.Epochs(columns)}, views, sum)
		sum.Lock()
		sum.cases += len(views)
		sum.Unlock()
	}
}

// live replays a history; a view that fails is reported, and the others go on without it.
func (l *lab) live(seed uint64, h history, views []view, sum *tally) []view {
	for {
		f := l.replay(h, views)
		if f == nil {
			break
		}
		if f.both && len(f.views) == 1 {
			views = withoutReaders(views, f.views[0])
			continue
		}
		if l.undecided(h, views, f) {
			l.t.Logf("seed %d: by another plan DuckDB has no other answer than ours, or none: %s", seed, f.what)
			views = withoutReaders(views, f.views[0])
			continue
		}
		smaller, few, why := l.shrink(h, views, f)
		l.t.Errorf("seed %d of %d views: %s", seed, len(views), regressionText(smaller, few, why))
		sum.Lock()
		sum.failures++
		sum.Unlock()
		guilty := few[len(few)-1].name
		if guilty == "b" || guilty == "bag" {
			return nil
		}
		views = withoutReaders(views, guilty)
	}
	return views
}

// undecided reports that DuckDB alone answers otherwise when it does not rewrite plans: whether a cast fails whose result is not needed
// depends on the plan. So does what it finds when it compares nested values across a subquery, where NULL is among them: the
// whole query is run for these, so that our answer has to be one that DuckDB gives by some plan.
func (l *lab) undecided(h history, views []view, f *failure) bool {
	ctx := context.Background()
	i := slices.IndexFunc(views, func(v view) bool { return len(f.views) > 0 && v.name == f.views[0] })
	if i < 0 {
		return false
	}
	plans := [][2]string{{"PRAGMA disable_optimizer", "PRAGMA enable_optimizer"}}
	if p := l.programs[views[i]]; p != nil && strings.HasSuffix(p.FullRefresh, "nested values") {
		for _, off := range []string{"join_order", "build_side_probe_side", "filter_pushdown", "deliminator", "statistics_propagation", "join_order,build_side_probe_side,statistics_propagation"} {
			plans = append(plans, [2]string{"SET disabled_optimizers = '" + off + "'", "RESET disabled_optimizers"})
		}
	}
	for _, p := range plans {
		l.clear()
		require.NoError(l.t, l.oracle.Exec(ctx, p[0]))
		plain := l.replay(h, ancestors(views, f.views[0]))
		require.NoError(l.t, l.oracle.Exec(ctx, p[1]))
		if plain == nil || plain.epoch > f.epoch || plain.both && slices.Contains(plain.views, f.views[0]) {
			return true
		}
	}
	return false
}

// generate makes the views of a world. Each is bound by DuckDB first, which gives later ones its columns.
func (l *lab) generate(g *querytest.Generator, columns batch.Schema, sum *tally) []view {
	l.clear()
	l.declare(columns)
	g.Describe = l.describe
	known := []query.Relation{{Name: "t", Columns: columns, AppendOnly: true, Identity: "t"}}
	g.Pool = []querytest.Relation{{SQL: "t", Columns: columns}}
	var views []view
	add := func(v view) {
		described, err := l.describe(v.sql)
		if err != nil {
			sum.count(sum.refused, firstWords(err.Error()))
			return
		}
		p, err := l.compiler.Compile(context.Background(), query.Query{SQL: v.sql, Relations: known})
		if err != nil {
			if !refusal(err) {
				l.t.Errorf("DuckDB answers what cannot be compiled: %s: %v", v.sql, err)
			}
			sum.count(sum.refused, firstWords(err.Error()))
			return
		}
		require.NoError(l.t, l.oracle.Exec(context.Background(), "CREATE TABLE "+v.name+" AS SELECT * FROM ("+v.sql+") LIMIT 0"))
		if p.FullRefresh != "" {
			sum.count(sum.full, p.FullRefresh)
		}
		l.programs[v] = p
		sum.views++
		known = append(known, query.Relation{Name: v.name, Columns: p.Columns, AppendOnly: p.AppendOnly, Identity: p.Identity})
		views = append(views, v)
		g.Pool = append(g.Pool, querytest.Relation{SQL: v.name, Columns: described})
	}
	b, bag := g.Bases()
	add(view{"b", b})
	add(view{"bag", bag})
	bases := g.Pool[:len(g.Pool):len(g.Pool)]
	for i := range viewsPerWorld {
		derived := g.Pool
		if !g.Chance(3) {
			g.Pool = append(bases, bases[1:]...)
		}
		v := view{name: fmt.Sprintf("v%d", i)}
		if earlier := views[g.IntN(len(views))]; g.Chance(6) {
			v.sql = g.Over(earlier.sql) // operators that two views have in common
		} else {
			v.sql = g.Query(1)
		}
		g.Pool = derived
		add(v)
	}
	return views
}

func (l *lab) describe(sql string) (batch.Schema, error) {
	rows, err := l.oracle.Text(context.Background(), "SELECT column_name, column_type FROM (DESCRIBE "+sql+")")
	if err != nil {
		return nil, err
	}
	var out batch.Schema
	for _, r := range rows {
		out = append(out, batch.Column{Name: *r[0], Type: *r[1]})
	}
	return out, nil
}

// refusal reports an error that says how the result has to look for a relation.
func refusal(err error) bool {
	var bad *query.Error
	return errors.As(err, &bad) && slices.Contains([]string{"Two columns of one name", "A row without member names", "A type that rows cannot be kept in"}, bad.Summary)
}

func firstWords(s string) string {
	if len(s) > 90 {
		s = s[:90]
	}
	return s
}

// withoutReaders leaves out a view and all that read it.
func withoutReaders(views []view, name string) []view {
	gone := map[string]bool{name: true}
	return slices.DeleteFunc(slices.Clone(views), func(v view) bool {
		for n := range gone {
			if v.name == n || reads(v.sql, n) {
				gone[v.name] = true
				return true
			}
		}
		return false
	})
}
