package compile_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/statement"
)

func events() []compile.Relation {
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "ts", Type: "TIMESTAMP"}, {Name: "tz", Type: "TIMESTAMP WITH TIME ZONE"}, {Name: "d", Type: "DATE"},
		{Name: "life", Type: "INTERVAL"}, {Name: "name", Type: "VARCHAR"}, {Name: "tags", Type: "TIMESTAMP[]"}}
	return []compile.Relation{{Name: "events", Columns: columns, AppendOnly: true}, {Name: "others", Columns: columns}}
}

func newCompiler(t *testing.T) *compile.Compiler {
	c, err := compile.NewCompiler(context.Background(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// details are what the filters by the time of a program say.
func details(p *compile.Program) []string {
	var out []string
	for _, o := range p.Operators {
		if o.Kind == "temporal" {
			out = append(out, o.Detail)
		}
	}
	return out
}

func TestTemporalShapes(t *testing.T) {
	c := newCompiler(t)
	for sql, want := range map[string][]string{
		`SELECT id FROM events WHERE ts > now() - INTERVAL 7 DAY`:                                                           {"ts > now() - 7 days"},
		`SELECT id FROM events WHERE now() - INTERVAL 7 DAY < ts AND id > 3`:                                                {"ts > now() - 7 days"},
		`SELECT id FROM events WHERE ts >= current_timestamp - INTERVAL '90 minutes'`:                                       {"ts >= now() - 1h30m0s"},
		`SELECT id FROM events WHERE d > current_date - 7`:                                                                  {"d > date_trunc('day', now()) - 7"},
		`SELECT id FROM events WHERE d = today()`:                                                                           {"d >= date_trunc('day', now()) and d <= date_trunc('day', now())"},
		`SELECT id FROM events WHERE ts::DATE = CURRENT_DATE`:                                                               {"ts >= date_trunc('day', now()) and ts <= date_trunc('day', now())"},
		`SELECT id FROM events WHERE ts BETWEEN localtimestamp - INTERVAL 1 MONTH AND get_current_timestamp()`:              {"ts >= now() - 1 month and ts <= now()"},
		`SELECT id FROM events WHERE now() BETWEEN ts AND tz`:                                                               {"ts <= now() and tz >= now()"},
		`SELECT id FROM events WHERE ts + life > now()`:                                                                     {"+(ts, life) > now()"},
		`SELECT id FROM events WHERE NOT (tz < now())`:                                                                      {"tz >= now()"},
		`SELECT id FROM events WHERE ts >= date_trunc('month', now() AT TIME ZONE 'UTC')`:                                   {"ts >= date_trunc('month', now())"},
		`SELECT id FROM events WHERE tz < date_trunc('week', current_localtimestamp()) + INTERVAL '1 day 2 hours'`:          {"tz < date_trunc('week', now()) + 1 day 2h0m0s"},
		`SELECT name, count(*) FROM events WHERE ts > now() - INTERVAL 7 DAY GROUP BY name`:                                 {"ts > now() - 7 days"},
		`SELECT name, max(ts) AS last FROM events GROUP BY name HAVING max(ts) > now() - INTERVAL 7 DAY`:                    {"max(ts) > now() - 7 days"},
		`SELECT id, ts FROM events QUALIFY row_number() OVER (PARTITION BY id ORDER BY ts) = 1 AND ts < "now"()`:            {"ts < now()"},
		`WITH r AS (SELECT * FROM events WHERE ts > now()) SELECT a.id, b.id AS other FROM r a JOIN r b ON a.name = b.name`: {"ts > now()"},
		`SELECT e.id FROM events e LEFT JOIN others o ON e.id = o.id AND o.ts > now()`:                                      {"ts > now()"},
		`SELECT e.id FROM events e, others o WHERE e.id = o.id AND e.ts > now() AND o.ts < now()`:                           {"ts > now()", "ts < now()"},
		`SELECT e.id FROM events e JOIN others o ON e.id = o.id AND e.ts + o.life > now()`:                                  {"+(ts, life) > now()"},
		`SELECT id FROM events WHERE EXISTS (SELECT 1 FROM others o WHERE o.id = events.id AND o.ts > now ())`:              {"ts > now()"},
		`SELECT id FROM events WHERE id IN (SELECT id FROM others WHERE ts > transaction_timestamp ( ))`:                    {"ts > now()"},
		`SELECT id FROM events WHERE now() > TIMESTAMP '2026-01-01 00:00:00'`:                                               {"an expression < now()"},
		`SELECT id FROM (SELECT id FROM events WHERE ts > now() UNION ALL SELECT id FROM others WHERE ts < now())`:          {"ts > now()", "ts < now()"},
		`SELECT id FROM events WHERE now() - ts < INTERVAL 36 HOUR`:                                                         {"ts > now() - 36h0m0s"},
		`SELECT id FROM events WHERE INTERVAL 1 MONTH >= localtimestamp - ts`:                                               {"ts >= now() - 720h0m0s"},
		`SELECT id FROM events WHERE ts - now() BETWEEN INTERVAL 1 HOUR AND INTERVAL 2 HOUR`:                                {"ts >= now() + 1h0m0s and ts <= now() + 2h0m0s"},
		`SELECT id FROM events WHERE current_date - d <= 7`:                                                                 {"d >= date_trunc('day', now()) - 7"},
	} {
		p, err := c.Compile(context.Background(), compile.Query{SQL: sql, Relations: events()})
		require.NoError(t, err, sql)
		require.Empty(t, p.FullRefresh, sql)
		require.True(t, p.Temporal, sql)
		require.False(t, p.AppendOnly, sql)
		require.ElementsMatch(t, want, details(p), sql)
		require.Equal(t, sql, p.SQL)
	}
}

func TestTemporalKeepsKeys(t *testing.T) {
	c := newCompiler(t)
	p, err := c.Compile(context.Background(), compile.Query{SQL: `SELECT max(ts) AS last, name FROM events GROUP BY name HAVING max(ts) > now() - INTERVAL 7 DAY`, Relations: events()})
	require.NoError(t, err)
	require.Equal(t, []string{"name"}, p.Key)
}

func TestTemporalRefused(t *testing.T) {
	c := newCompiler(t)
	for _, test := range []struct{ sql, at, reason string }{
		{`SELECT id, now() FROM events`, "now()", "outside of WHERE"},
		{`SELECT id, current_date AS today FROM events`, "current_date", "outside of WHERE"},
		{`SELECT id FROM events WHERE ts > now() OR id = 3`, "now()", "under OR"},
		{`SELECT id FROM events WHERE ts > now() - life`, "now()", "same side"},
		{`SELECT id FROM events WHERE age(ts) < INTERVAL 7 DAY`, "age(ts)", "A view may filter"},
		{`SELECT id FROM events WHERE d > today() AND now() - ts < INTERVAL '20 days -3 hours'`, "now()", "differ in sign"},
		{`SELECT id FROM events WHERE now() - ts < life`, "now()", "same side"},
		{`SELECT id FROM events WHERE ts <> now()`, "now()", "compared with <>"},
		{`SELECT id FROM events WHERE id > epoch(now())`, "now()", "another type"},
		{`SELECT e.id FROM events e LEFT JOIN others o ON e.id = o.id AND e.ts > now()`, "now()", "condition of a join"},
		{`SELECT id FROM events ORDER BY ts - now() LIMIT 3`, "now()", ""},
		{`SELECT name, count(*) FILTER (ts > now()) FROM events GROUP BY name`, "now()", "outside of WHERE"},
		{`SELECT count(*) FROM events GROUP BY ts > now()`, "now()", "outside of WHERE"},
		{`SELECT id FROM events WHERE len(list_filter(tags, lambda x: x > now())) > 0`, "now()", ""},
		{`SELECT id FROM events WHERE ts > now() LIMIT 3`, "now()", "LIMIT without ORDER BY"},
		{`WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT id FROM events, r WHERE ts > now()`, "now()", "run in full"},
		{`SELECT * FROM (VALUES (now())) v(x), events`, "now()", ""},
		{`SELECT id FROM events, range(CAST(epoch(now()) AS BIGINT)) r(n)`, "now()", ""},
		{`SELECT id FROM events, UNNEST([now()]) u(x)`, "now()", ""},
		{`SELECT id FROM events WHERE ts > (SELECT now())`, "now()", ""},
		{`SELECT id FROM events WHERE ts IN (SELECT ts FROM others WHERE id > 1 OR ts < now())`, "now()", "under OR"},
		{`SELECT id FROM events WHERE CASE WHEN ts > now() THEN true ELSE id > 3 END`, "now()", "no comparison"},
		{`SELECT id FROM events WHERE ts > greatest(now(), TIMESTAMP '2026-01-01 00:00:00')`, "now()", "not known to grow"},
		{`SELECT id FROM events WHERE ts > date_trunc(name, now())`, "now()", "same side"},
		{`SELECT id FROM events WHERE ts > now() AT TIME ZONE 'Europe/Berlin'`, "now()", "not known to grow"},
		{`SELECT id FROM events WHERE id > random()`, "random()", "hash of a column"},
		{`SELECT id FROM events WHERE ts > $1`, "", "Write the values"},
		{`SELECT id FROM events WHERE ts > ago(INTERVAL 1 DAY)`, "ago(INTERVAL 1 DAY)", "A view may filter"},
	} {
		_, err := c.Compile(context.Background(), compile.Query{SQL: test.sql, Relations: events()})
		var e *statement.Error
		require.True(t, errors.As(err, &e), "%s: %v", test.sql, err)
		require.Contains(t, e.Summary+e.Detail, test.reason, test.sql)
		if test.at != "" {
			require.True(t, strings.HasPrefix(test.at, test.sql[e.Start:e.End]) && e.End > e.Start, "%s: at %q", test.sql, test.sql[e.Start:e.End])
		}
	}
	_, err := c.Compile(context.Background(), compile.Query{SQL: `SELECT id FROM events WHERE ts > now()`, Relations: events(), Stream: true})
	require.ErrorContains(t, err, "A view may filter its rows by the time")
}

// clockTexts are functions of the time with the function in the middle left open.
func clockTexts(rng *rand.Rand) string {
	interval := func() string {
		parts := []string{}
		for _, unit := range []string{"month", "day", "hour", "second"} {
			if rng.IntN(2) == 0 {
				parts = append(parts, fmt.Sprintf("%d %s", rng.IntN(15)-4, unit))
			}
		}
		return "INTERVAL '" + strings.Join(append(parts, "0 days"), " ") + "'"
	}
	out := []string{"now()", "localtimestamp", "current_date"}[rng.IntN(3)]
	for range 1 + rng.IntN(3) {
		switch rng.IntN(7) {
		case 0:
			out = "CAST(" + out + " AS DATE)"
		case 1:
			out = "CAST(" + out + " AS TIMESTAMP)"
		case 2:
			out = "date_trunc('" + []string{"second", "minute", "hour", "day", "week", "month", "quarter", "year"}[rng.IntN(8)] + "', " + out + ")"
		case 3, 4:
			out += " - " + interval()
		default:
			out = "(" + out + " + " + interval() + ")"
		}
	}
	return out
}

// The functions of the time are DuckDB's, at moments of all kinds, and rows are looked at again at the moments at which something changes.
func TestClockFunctionsAreDuckDBs(t *testing.T) {
	ctx := context.Background()
	c := newCompiler(t)
	conn, err := duck.Open(ctx)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	rng := rand.New(rand.NewPCG(3, 14))
	for range 150 {
		text := clockTexts(rng)
		p, err := c.Compile(ctx, compile.Query{SQL: "SELECT id FROM events WHERE ts > " + text, Relations: events()})
		require.NoError(t, err, text)
		step := p.Steps[0].(compile.Temporal)
		f := step.Filter[0].Function
		var list, want []string
		var moments []int64
		for range 40 {
			moments = append(moments, moment(rng))
		}
		for _, m := range moments {
			list = append(list, fmt.Sprint(m))
		}
		sql := strings.ReplaceAll(step.Conditions[0].SQL, bound.ClockSQL, "m")
		rows, err := conn.Text(ctx, "SELECT CAST(epoch_us("+sql+") AS VARCHAR) FROM (SELECT unnest(["+strings.Join(list, ", ")+"]) AS m)")
		require.NoError(t, err, text)
		var got []string
		for i, m := range moments {
			want = append(want, *rows[i][0])
			got = append(got, fmt.Sprint(f.At(m)))
		}
		require.Equal(t, want, got, "%s: %s at %v", text, sql, list)
	}
}

// moment is one near a month's end more often than not, in microseconds.
func moment(rng *rand.Rand) int64 {
	day := time.Date(1990+rng.IntN(60), time.Month(1+rng.IntN(12)), 1+rng.IntN(28), 0, 0, 0, 0, time.UTC)
	if rng.IntN(3) > 0 {
		day = time.Date(day.Year(), day.Month()+1, 1-rng.IntN(4), 0, 0, 0, 0, time.UTC)
	}
	return day.UnixMicro() + []int64{0, 1, -1, rng.Int64N(86400e6)}[rng.IntN(4)]
}
