//go:build duckdb_arrow

package evolve_test

import (
	"context"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/compile"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/stretchr/testify/require"
)

func clicks() batch.Schema {
	return batch.Schema{{Name: "ts", Type: "TIMESTAMP"}, {Name: "user_id", Type: "BIGINT"}, {Name: "price", Type: "DECIMAL(10,2)"},
		{Name: "url", Type: "VARCHAR"}, {Name: "day", Type: "DATE"}, {Name: "n", Type: "INTEGER"}}
}

// relations are a stream, another of the same columns, and two views whose rows are held.
func relations(columns batch.Schema) []compile.Relation {
	return []compile.Relation{
		{Name: "valid", Columns: columns, AppendOnly: true, Identity: "stream.1"},
		{Name: "other", Columns: columns, AppendOnly: true, Identity: "stream.2"},
		{Name: "spend", Columns: batch.Schema{{Name: "w", Type: "TIMESTAMP"}, {Name: "user_id", Type: "BIGINT"}, {Name: "total", Type: "DECIMAL(38,2)"}}, Identity: "view.1"},
		{Name: "users", Columns: batch.Schema{{Name: "user_id", Type: "BIGINT"}, {Name: "name", Type: "VARCHAR"}, {Name: "town", Type: "VARCHAR"}}, Identity: "view.2"},
	}
}

// edit is an edit of a query, and what must be said of it.
type edit struct {
	name          string
	before, after string
	columns       func(batch.Schema) batch.Schema // of the streams, after the edit
	held          string                          // relations whose rows are held, beside the views
	class         evolve.Class
	reason        string // contained in the Evolution's
	fates         string // of the operators, in order
}

const (
	spend  = "SELECT time_bucket(INTERVAL 1 MINUTE, ts) AS w, user_id, count(*) AS n, sum(price) AS total FROM valid GROUP BY ALL"
	top3   = "SELECT * FROM valid QUALIFY row_number() OVER (PARTITION BY user_id ORDER BY price DESC, ts) <= 3"
	newest = "SELECT v.user_id, v.url, o.price FROM valid v JOIN other o USING (user_id) QUALIFY row_number() OVER (PARTITION BY v.user_id ORDER BY o.price DESC, v.url) <= 3"
	named  = "SELECT s.w, s.total, u.name FROM spend s JOIN users u USING (user_id)"
)

func replaced(sql string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(sql) }

func price(typ string) func(batch.Schema) batch.Schema {
	return func(s batch.Schema) batch.Schema {
		s[2].Type = typ
		return s
	}
}

func run(t *testing.T, edits []edit) {
	c, err := compile.NewCompiler(context.Background(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			after := clicks()
			if e.columns != nil {
				after = e.columns(after)
			}
			old, err := c.Compile(context.Background(), compile.Query{SQL: e.before, Relations: relations(clicks())})
			require.NoError(t, err)
			next, err := c.Compile(context.Background(), compile.Query{SQL: e.after, Relations: relations(after)})
			require.NoError(t, err)
			held := evolve.Held{"spend": true, "users": true}
			for _, h := range strings.Fields(e.held) {
				held[h] = true
			}
			got := evolve.Compare(old, next, held)
			require.Equal(t, e.class, got.Class, "%s: %+v", got.Reason, got.Operators)
			require.Contains(t, got.Reason, e.reason)
			require.Equal(t, got.Class == evolve.Noop, got.Reason == "")
			var fates []string
			for _, f := range got.Operators {
				fates = append(fates, string(f.Fate))
			}
			require.Equal(t, e.fates, strings.Join(fates, " "), "%+v", got.Operators)
			require.Equal(t, got.Class == evolve.Migrate || got.Class == evolve.RebuildFromState, got.Carry != nil)
			require.Equal(t, got, evolve.Compare(old, next, held), "not deterministic")
		})
	}
}

// TestAggregateEdits are the rows of the design's table about an aggregate, by number.
func TestAggregateEdits(t *testing.T) {
	five := replaced(spend, "1 MINUTE", "5 MINUTE")
	run(t, []edit{
		{name: "2 spelling", before: spend, after: "select time_bucket(interval 1 minute, ts) w, user_id, COUNT(*) n, sum(price) total from valid group by 1, 2", class: evolve.Noop},
		{name: "3 order of conditions", before: spend + " HAVING n > 1 AND total > 2", after: spend + " HAVING 2 < total AND n > 1", class: evolve.Noop},
		{name: "23 a wider type", before: spend, after: spend, columns: price("DECIMAL(12,2)"), class: evolve.Migrate, reason: "price is DECIMAL(12,2) instead of DECIMAL(10,2)", fates: "migrated new"},
		{name: "24 a narrower type", before: spend, after: spend, columns: price("INTEGER"), class: evolve.ReplayFromSource, reason: "sum(price)", fates: "replayed replayed"},
		{name: "59 avg added", before: spend, after: replaced(spend, " FROM", ", avg(price) AS a FROM"), class: evolve.Migrate, reason: "stay as they are", fates: "kept new"},
		{name: "60 max added", before: spend, after: replaced(spend, " FROM", ", max(price) AS a FROM"), class: evolve.ReplayFromSource, reason: "max(price) does not follow from what is held", fates: "replayed replayed"},
		{name: "61 max added, held", before: spend, after: replaced(spend, " FROM", ", max(price) AS a FROM"), held: "valid", class: evolve.RebuildFromState, reason: "computed from the rows of valid", fates: "rebuilt new dropped"},
		{name: "62 sum removed", before: spend, after: replaced(spend, ", sum(price) AS total", ""), class: evolve.Migrate, reason: "the partial of sum(price) is dropped", fates: "migrated new"},
		{name: "63 above it", before: spend, after: replaced(spend, "sum(price) AS total", "sum(price) * 1.25 AS t") + " HAVING n > 3", class: evolve.Migrate, reason: "stay as they are", fates: "kept new"},
		{name: "63 renamed", before: spend, after: replaced(spend, "total", "t"), class: evolve.Migrate, reason: "columns have other names", fates: "kept kept"},
		{name: "64 a condition on rows", before: spend, after: replaced(spend, "valid", "valid WHERE price > 0"), class: evolve.ReplayFromSource, reason: "price > 0.00 is not about groups: partials mix rows of both kinds", fates: "replayed replayed"},
		{name: "64 back", before: replaced(spend, "valid", "valid WHERE price > 0"), after: spend, class: evolve.ReplayFromSource, reason: "left out are not in the partials", fates: "replayed replayed"},
		{name: "65 a condition on groups", before: spend, after: replaced(spend, "valid", "valid WHERE user_id > 100"), class: evolve.Migrate, reason: "user_id > 100 is about groups: whole groups are dropped", fates: "migrated new"},
		{name: "65 above the aggregate", before: spend, after: spend + " HAVING user_id > 100", class: evolve.Migrate, fates: "migrated new"},
		{name: "66 a group removed", before: spend, after: replaced(spend, "user_id, ", ""), class: evolve.Migrate, reason: "user_id is no longer a group: partials merge", fates: "migrated new"},
		{name: "66 all groups removed", before: spend, after: "SELECT count(*) AS n, sum(price) AS total FROM valid", class: evolve.Migrate, reason: "are no longer groups: partials merge", fates: "migrated new"},
		{name: "67 a group added", before: spend, after: replaced(spend, "user_id, ", "user_id, url, "), class: evolve.ReplayFromSource, reason: "url is not among the groups held: partials cannot be split", fates: "replayed replayed"},
		{name: "68 wider buckets", before: spend, after: five, class: evolve.Migrate, reason: "buckets of 1 minute nest in those of 5 minutes", fates: "migrated new"},
		{name: "68 of another function", before: spend, after: replaced(spend, "time_bucket(INTERVAL 1 MINUTE, ts)", "date_trunc('hour', ts)"), class: evolve.Migrate, reason: "buckets of 1 minute nest in those of 1 hour", fates: "migrated new"},
		{name: "69 narrower buckets", before: five, after: spend, class: evolve.ReplayFromSource, reason: "buckets of 5 minutes cannot be split into those of 1 minute", fates: "replayed replayed"},
		{name: "69 buckets that do not nest", before: spend, after: replaced(spend, "1 MINUTE", "90 SECOND"), class: evolve.ReplayFromSource, reason: "buckets of 1 minute do not nest in those of 90 seconds", fates: "replayed replayed"},
		{name: "71 count distinct added", before: spend, after: replaced(spend, " FROM", ", count(DISTINCT url) AS a FROM"), class: evolve.ReplayFromSource, reason: "url is not among the groups held", fates: "replayed replayed replayed"},
		{name: "wider buckets beside count distinct", before: replaced(spend, " FROM", ", count(DISTINCT url) AS a FROM"), after: replaced(five, " FROM", ", count(DISTINCT url) AS a FROM"),
			class: evolve.Migrate, reason: "buckets of 1 minute nest in those of 5 minutes", fates: "migrated migrated new"},
		{name: "count distinct removed", before: replaced(spend, " FROM", ", count(DISTINCT url) AS a FROM"), after: spend, class: evolve.Migrate, reason: "is dropped", fates: "migrated new dropped"},
		{name: "sum removed beside count distinct", before: replaced(spend, " FROM", ", count(DISTINCT url) AS a FROM"), after: replaced(spend, ", sum(price) AS total", ", count(DISTINCT url) AS a"), class: evolve.Migrate, reason: "the partial of sum(price) is dropped", fates: "kept migrated new"},
		{name: "an arm with groups of its own", before: "SELECT user_id, count(*) FILTER (s = 1) AS a, count(*) FILTER (s = 2) AS b FROM (SELECT user_id, 1 AS s FROM valid UNION ALL SELECT user_id, 2 FROM other) GROUP BY ALL",
			after: "SELECT user_id, count(*) AS a FROM valid GROUP BY ALL", class: evolve.ReplayFromSource, fates: "replayed replayed"},
		{name: "a filter of an arm", before: "SELECT user_id, count(*) FILTER (s = 1) AS a, count(*) FILTER (s = 2) AS b FROM (SELECT user_id, 1 AS s FROM valid UNION ALL SELECT user_id, 2 FROM other) GROUP BY ALL",
			after: "SELECT user_id, count(*) FILTER (s = 1) AS a, count(*) FILTER (s = 2) AS b FROM (SELECT user_id, 1 AS s FROM valid UNION ALL SELECT user_id, 2 FROM other WHERE url > 'a') GROUP BY ALL", class: evolve.ReplayFromSource, fates: "replayed replayed"},
		{name: "a view's rows beside", before: "SELECT user_id, count(*) FILTER (s = 1) AS a FROM (SELECT user_id, 1 AS s FROM valid) GROUP BY ALL",
			after: "SELECT user_id, count(*) FILTER (s = 1) AS a, count(*) FILTER (s = 2) AS b FROM (SELECT user_id, 1 AS s FROM valid UNION ALL SELECT user_id, 2 FROM spend) GROUP BY ALL", class: evolve.ReplayFromSource, fates: "replayed replayed"},
		{name: "72 another stream", before: spend, after: replaced(spend, "valid", "other"), class: evolve.ReplayFromSource, reason: "the rows of other, which it did not read before, are not held", fates: "replayed replayed"},
		{name: "73 an arm added", before: spend, after: replaced(spend, "valid", "(SELECT ts, user_id, price FROM valid UNION ALL SELECT ts, user_id, price FROM other)"), class: evolve.ReplayFromSource, reason: "a part of UNION ALL is new", fates: "replayed replayed"},
		{name: "74 an arm removed", before: replaced(spend, "valid", "(SELECT ts, user_id, price FROM valid UNION ALL SELECT ts, user_id, price FROM other)"), after: spend, class: evolve.ReplayFromSource, reason: "a part of UNION ALL is gone", fates: "replayed replayed"},
		{name: "groups in another order", before: "SELECT user_id, url, count(*) AS n FROM valid GROUP BY user_id, url", after: "SELECT user_id, url, count(*) AS n FROM valid GROUP BY url, user_id", class: evolve.Migrate, reason: "in another order", fates: "migrated new"},
		{name: "max of a group added", before: "SELECT user_id, url, count(*) AS n FROM valid GROUP BY ALL", after: "SELECT url, max(user_id) AS u, count(*) AS n FROM valid GROUP BY ALL", class: evolve.Migrate, reason: "max(user_id) follows from the groups", fates: "migrated new"},
		{name: "distinct narrowed", before: "SELECT DISTINCT user_id, url FROM valid", after: "SELECT DISTINCT url FROM valid", class: evolve.Migrate, reason: "user_id is no longer a group", fates: "migrated new"},
	})
}

// TestKeyedEdits are the rows of the design's table about operators that hold rows.
func TestKeyedEdits(t *testing.T) {
	median := "SELECT time_bucket(INTERVAL 1 MINUTE, ts) AS w, median(price) AS m FROM valid GROUP BY ALL"
	run(t, []edit{
		{name: "70 wider buckets", before: median, after: replaced(median, "1 MINUTE", "5 MINUTE"), class: evolve.RebuildFromState, reason: "computed from the rows that the aggregate holds", fates: "rebuilt rebuilt"},
		{name: "70 narrower buckets", before: replaced(median, "1 MINUTE", "5 MINUTE"), after: median, class: evolve.RebuildFromState, fates: "rebuilt rebuilt"},
		{name: "70 other partials", before: median, after: replaced(median, "median", "sum"), class: evolve.RebuildFromState, fates: "rebuilt new"},
		{name: "75 more rows", before: top3, after: replaced(top3, "<= 3", "<= 5"), class: evolve.RebuildFromState, reason: "computed from the rows that the window holds", fates: "rebuilt new"},
		{name: "75 another order", before: top3, after: replaced(top3, "price DESC", "n DESC"), class: evolve.RebuildFromState, reason: "computed from the rows that the window holds", fates: "rebuilt new"},
		{name: "75 another partition", before: top3, after: replaced(top3, "PARTITION BY user_id", "PARTITION BY user_id, url"), class: evolve.RebuildFromState, fates: "rebuilt new"},
		{name: "75 more rows of a join", before: newest, after: replaced(newest, "<= 3", "<= 5"), class: evolve.RebuildFromState, reason: "computed from the operators below it", fates: "kept rebuilt new dropped"},
		{name: "75 a column less of a join", before: newest, after: replaced(newest, "v.url, o", "o"), class: evolve.Migrate, fates: "kept kept new"},
		{name: "75 all rows of a join", before: newest, after: newest[:strings.Index(newest, " QUALIFY")], class: evolve.RebuildFromState, fates: "kept rebuilt dropped"},
		{name: "76 left join", before: named, after: replaced(named, "JOIN", "LEFT JOIN"), class: evolve.RebuildFromState, reason: "computed from the rows that the join holds", fates: "rebuilt rebuilt"},
		{name: "76 a condition", before: named, after: replaced(named, "USING (user_id)", "ON s.user_id = u.user_id AND s.total > length(u.name)"), class: evolve.RebuildFromState, fates: "rebuilt rebuilt"},
		{name: "77 a column of a view", before: named, after: replaced(named, "u.name", "u.name, u.town"), class: evolve.RebuildFromState, reason: "the rows of users", fates: "rebuilt rebuilt"},
		{name: "78 a column of a stream", before: "SELECT v.url, u.name FROM valid v JOIN users u USING (user_id)", after: "SELECT v.url, v.price, u.name FROM valid v JOIN users u USING (user_id)", class: evolve.ReplayFromSource, reason: "price is not among what is held", fates: "replayed replayed"},
		{name: "80 full refresh", before: named, after: named + " LIMIT 3", class: evolve.RebuildFromState, reason: "computed from the rows of spend", fates: "rebuilt rebuilt rebuilt dropped"},
		{name: "80 back", before: "SELECT user_id, url FROM valid LIMIT 3", after: "SELECT user_id, count(*) AS n FROM valid GROUP BY ALL", class: evolve.RebuildFromState, reason: "computed from all rows of valid", fates: "rebuilt new"},
		{name: "80 another", before: "SELECT user_id, url FROM valid LIMIT 3", after: "SELECT user_id, url FROM valid LIMIT 4", class: evolve.RebuildFromState, reason: "the whole query runs again over all rows of valid", fates: "kept rebuilt"},
		{name: "80 of a stream", before: "SELECT user_id, count(*) AS n FROM valid GROUP BY ALL", after: "SELECT user_id, url FROM valid LIMIT 3", class: evolve.ReplayFromSource, reason: "the rows of valid are not held", fates: "replayed replayed"},
		{name: "3 order of conditions", before: replaced(named, "USING (user_id)", "USING (user_id) WHERE town > 'a' AND name > 'b'"), after: replaced(named, "USING (user_id)", "USING (user_id) WHERE name > 'b' AND town > 'a'"), class: evolve.Noop},
		{name: "63 a column less", before: named, after: replaced(named, "s.w, ", ""), class: evolve.RebuildFromState, fates: "rebuilt rebuilt"},
	})
}

// TestLinearEdits are edits of what no operator is below.
func TestLinearEdits(t *testing.T) {
	run(t, []edit{
		{name: "fewer rows and columns", before: "SELECT user_id, url, price FROM valid", after: "SELECT url FROM valid WHERE user_id > 3", class: evolve.Migrate, reason: "follows from its own rows", fates: "migrated"},
		{name: "more rows", before: "SELECT url FROM valid WHERE user_id > 3", after: "SELECT url FROM valid", class: evolve.ReplayFromSource, reason: "user_id > 3", fates: "replayed"},
		{name: "more columns", before: "SELECT url FROM valid", after: "SELECT url, price FROM valid", class: evolve.ReplayFromSource, reason: "price is not among what is held", fates: "replayed"},
		{name: "a view on a view", before: "SELECT total FROM spend", after: "SELECT w, total FROM spend", class: evolve.RebuildFromState, reason: "the rows of spend", fates: "rebuilt"},
		{name: "ORDER BY", before: "SELECT url FROM valid", after: "SELECT url FROM valid ORDER BY url", class: evolve.Noop},
		{name: "constant rows", before: "SELECT s.total, x.f FROM spend s JOIN (VALUES (1, 2), (3, 4)) x(id, f) ON s.user_id = x.id", after: "SELECT s.total, x.f FROM spend s JOIN (VALUES (1, 2), (3, 5)) x(id, f) ON s.user_id = x.id",
			class: evolve.RebuildFromState, fates: "rebuilt"},
		{name: "22 a column nobody reads", before: "SELECT url FROM valid", after: "SELECT url FROM valid", columns: func(s batch.Schema) batch.Schema {
			return append(s, batch.Column{Name: "extra", Type: "INTEGER"})
		}, class: evolve.Noop},
		{name: "two levels", before: "SELECT n, count(*) AS c FROM (" + spend + ") GROUP BY ALL", after: "SELECT n, count(*) AS c FROM (" + replaced(spend, "1 MINUTE", "5 MINUTE") + ") GROUP BY ALL",
			class: evolve.RebuildFromState, reason: "computed from the operators below it", fates: "migrated rebuilt new dropped"},
	})
}

// TestBuckets are buckets of all kinds that nest, and that do not.
func TestBuckets(t *testing.T) {
	var edits []edit
	for _, tc := range []struct {
		from, to string
		nests    bool
	}{
		{"time_bucket(INTERVAL '1 minute', ts)", "time_bucket(INTERVAL '1 hour 30 minutes', ts)", true},
		{"time_bucket(INTERVAL 7 MINUTE, ts)", "time_bucket(INTERVAL 14 MINUTE, ts)", true},
		{"time_bucket(INTERVAL 7 MINUTE, ts)", "date_trunc('hour', ts)", false},
		{"time_bucket(INTERVAL 1 DAY, ts)", "time_bucket(INTERVAL 1 MONTH, ts)", true},
		{"time_bucket(INTERVAL 1 MONTH, ts)", "date_trunc('year', ts)", true},
		{"time_bucket(INTERVAL 5 MONTH, ts)", "date_trunc('year', ts)", false},
		{"time_bucket(INTERVAL 1 MONTH, ts)", "time_bucket(INTERVAL 60 DAY, ts)", false},
		{"date_trunc('week', ts)", "date_trunc('month', ts)", false},
		{"date_trunc('day', ts)", "date_trunc('week', ts)", true},
		{"date_trunc('week', ts)", "time_bucket(INTERVAL 2 WEEK, ts)", true},
		{"date_trunc('hour', ts)", "CAST(ts AS DATE)", true},
		{"CAST(ts AS DATE)", "date_trunc('month', ts)", true},
		{"date_trunc('hour', ts)", "year(ts)", true},
		{"date_trunc('hour', ts)", "date_part('hour', ts)", true},
		{"date_part('hour', ts)", "date_trunc('day', ts)", false},
		{"time_bucket(INTERVAL 10 MINUTE, ts, TIMESTAMP '2020-01-01 00:05:00')", "date_trunc('hour', ts)", false},
		{"time_bucket(INTERVAL 10 MINUTE, ts, TIMESTAMP '2020-01-01 00:05:00')", "time_bucket(INTERVAL 20 MINUTE, ts, INTERVAL 5 MINUTE)", true},
		{"time_bucket(INTERVAL 10 MINUTE, ts, INTERVAL 20 MINUTE)", "date_trunc('hour', ts)", true},
		{"user_id // 10", "user_id // 30", true},
		{"user_id // 10", "user_id // 25", false},
		{"user_id - user_id % 5", "user_id - user_id % 10", true},
		{"date_trunc('minute', ts)", "strftime(date_trunc('day', ts), '%d')", true},
		{"day", "date_trunc('month', day)", true},
		{"date_trunc('day', day)", "date_trunc('month', day)", true},
	} {
		e := edit{name: tc.from + " in " + tc.to, class: evolve.ReplayFromSource, fates: "replayed replayed",
			before: "SELECT " + tc.from + " AS b, count(*) AS c FROM valid GROUP BY ALL", after: "SELECT " + tc.to + " AS b, count(*) AS c FROM valid GROUP BY ALL"}
		if tc.nests {
			e.class, e.fates = evolve.Migrate, "migrated new"
		}
		edits = append(edits, e)
	}
	run(t, edits)
}

func TestFiltersByTheTime(t *testing.T) {
	recent := "SELECT user_id, count(*) AS n FROM valid WHERE ts > now() - INTERVAL 7 DAY GROUP BY user_id"
	ofView := "SELECT w, total FROM spend WHERE w > now() - INTERVAL 7 DAY"
	run(t, []edit{
		{name: "nothing", before: recent, after: replaced(recent, "now()", "current_timestamp"), class: evolve.Noop},
		{name: "another name", before: recent, after: replaced(recent, "AS n", "AS many"), class: evolve.Migrate, fates: "kept kept kept"},
		{name: "longer", before: recent, after: replaced(recent, "7 DAY", "8 DAY"), class: evolve.ReplayFromSource, fates: "replayed replayed replayed"},
		{name: "another aggregate above", before: recent, after: replaced(recent, "count(*)", "max(price)"), class: evolve.ReplayFromSource, fates: "replayed replayed replayed"},
		{name: "longer, of a view", before: ofView, after: replaced(ofView, "7 DAY", "8 DAY"), class: evolve.RebuildFromState, fates: "rebuilt rebuilt dropped"},
		{name: "no more", before: recent, after: replaced(recent, " WHERE ts > now() - INTERVAL 7 DAY", ""), class: evolve.ReplayFromSource, fates: "replayed replayed"},
	})
}
