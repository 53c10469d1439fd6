package query_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/stretchr/testify/require"
)

// generator makes random schemas, rows and queries. Values are few, so that groups, ties and NULLs meet.
type generator struct {
	*rand.Rand
	columns batch.Schema
}

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

func (g *generator) schema() batch.Schema {
	types := []string{"BIGINT", "INTEGER", "VARCHAR", "DECIMAL(12,3)", "DOUBLE", "TIMESTAMP", "DATE", "BOOLEAN", "TINYINT", "UBIGINT", "HUGEINT"}
	out := batch.Schema{{Name: "n0", Type: "BIGINT"}, {Name: "s0", Type: "VARCHAR"}}
	for i := range 1 + g.IntN(4) {
		out = append(out, batch.Column{Name: fmt.Sprintf("c%d", i), Type: types[g.IntN(len(types))]})
	}
	return out
}

func (g *generator) value(typ string) string {
	if g.IntN(8) == 0 {
		return "null"
	}
	n := g.IntN(9) - 4
	switch typ {
	case "VARCHAR":
		return fmt.Sprintf("%q", g.pick("a", "b", "", "é", "A", "null"))
	case "DECIMAL(12,3)":
		return fmt.Sprintf("%d.%03d", n, g.IntN(1000))
	case "DOUBLE":
		return g.pick("0.5", "0.0", "1.25", "-3", "1e10", "7")
	case "TIMESTAMP":
		return fmt.Sprintf("\"2026-03-01 %02d:%02d:00\"", 8+g.IntN(4), g.IntN(60))
	case "DATE":
		return fmt.Sprintf("\"2026-03-%02d\"", 1+g.IntN(5))
	case "BOOLEAN":
		return g.pick("true", "false")
	case "UBIGINT":
		return fmt.Sprint(n + 4)
	case "HUGEINT":
		return fmt.Sprintf("%d", n) + map[bool]string{true: "000000000000000000000"}[n != 0]
	}
	return fmt.Sprint(n)
}

func (g *generator) rows(n int) string {
	var b strings.Builder
	for range n {
		parts := make([]string, len(g.columns))
		for i, c := range g.columns {
			parts[i] = fmt.Sprintf("%q:%s", c.Name, g.value(c.Type))
		}
		b.WriteString("{" + strings.Join(parts, ",") + "}\n")
	}
	return b.String()
}

func isNumeric(t string) bool {
	return strings.HasSuffix(t, "INT") || t == "INTEGER" || strings.HasPrefix(t, "DECIMAL")
}

func (g *generator) column(columns batch.Schema) batch.Column { return columns[g.IntN(len(columns))] }

func (g *generator) predicate(columns batch.Schema) string {
	c := g.column(columns)
	switch {
	case isNumeric(c.Type) || c.Type == "DOUBLE":
		return fmt.Sprintf("%s %s %d", c.Name, g.pick(">", "<", "=", "<>", ">=", "IS DISTINCT FROM"), g.IntN(7)-3)
	case c.Type == "VARCHAR":
		return g.pick(c.Name+" IN ('a', 'b')", c.Name+" LIKE '%a%'", "upper("+c.Name+") = 'A'", c.Name+" IS NOT NULL")
	case c.Type == "BOOLEAN":
		return g.pick(c.Name, "NOT "+c.Name, c.Name+" IS NULL")
	}
	return c.Name + g.pick(" IS NULL", " IS NOT NULL")
}

func (g *generator) condition(columns batch.Schema) string {
	p := g.predicate(columns)
	if g.IntN(3) == 0 {
		p = "(" + p + g.pick(" AND ", " OR ") + g.predicate(columns) + ")"
	}
	return p
}

func (g *generator) group(columns batch.Schema) string {
	c := g.column(columns)
	switch {
	case c.Type == "TIMESTAMP":
		return g.pick("time_bucket(INTERVAL 1 HOUR, "+c.Name+")", "date_trunc('day', "+c.Name+")", c.Name)
	case isNumeric(c.Type) && c.Type != "HUGEINT":
		return g.pick(c.Name, c.Name+" % 2", "abs("+c.Name+")")
	}
	return c.Name
}

func (g *generator) aggregate(columns batch.Schema) string {
	c := g.column(columns)
	filter := ""
	if g.IntN(4) == 0 {
		filter = " FILTER (WHERE " + g.predicate(columns) + ")"
	}
	if isNumeric(c.Type) {
		return g.pick("sum(", "avg(", "min(", "max(", "count(") + c.Name + ")" + filter
	}
	if c.Type == "BOOLEAN" {
		return g.pick("bool_and(", "bool_or(", "count(") + c.Name + ")" + filter
	}
	return g.pick("count(*)", "min("+c.Name+")", "max("+c.Name+")", "count("+c.Name+")") + filter
}

// query makes one SELECT over a relation.
func (g *generator) query(from string, columns batch.Schema) string {
	where := ""
	if g.IntN(2) == 0 {
		where = " WHERE " + g.condition(columns)
	}
	switch g.IntN(7) {
	case 0:
		return fmt.Sprintf("SELECT %s AS a, %s AS b FROM %s%s", g.group(columns), g.group(columns), from, where)
	case 1:
		return fmt.Sprintf("SELECT DISTINCT %s AS a FROM %s%s", g.group(columns), from, where)
	case 2:
		return fmt.Sprintf("SELECT %s AS a, %s AS b FROM %s%s", g.aggregate(columns), g.aggregate(columns), from, where)
	case 3:
		name := g.column(columns).Name
		return fmt.Sprintf("SELECT %s AS a FROM %s%s UNION ALL SELECT %s FROM %s WHERE %s", name, from, where, name, from, g.condition(columns))
	case 4:
		return fmt.Sprintf("SELECT b, count(*) AS a FROM (SELECT %s AS g, %s AS b FROM %s%s GROUP BY ALL) GROUP BY b", g.group(columns), g.aggregate(columns), from, where)
	}
	having := ""
	if g.IntN(4) == 0 {
		having = " HAVING count(*) > 1"
	}
	return fmt.Sprintf("SELECT %s AS g, %s AS a, %s AS b FROM %s%s GROUP BY ALL%s", g.group(columns), g.aggregate(columns), g.aggregate(columns), from, where, having)
}

var (
	oracleCases = flag.Int("oracle-cases", 120, "random cases of TestOracle")
	oracleSeed  = flag.Uint64("oracle-seed", 1, "first seed of TestOracle")
)

// TestOracle: for random data, queries over it and over each other, cuts and
// restarts, every view equals plain DuckDB after every epoch.
func TestOracle(t *testing.T) {
	c := newCompiler(t)
	oracle, err := duck.Open(context.Background())
	require.NoError(t, err)
	defer oracle.Close()
	incremental := 0
	for seed := *oracleSeed; seed < *oracleSeed+uint64(*oracleCases); seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			if oracleCase(t, c, oracle, seed) {
				incremental++
			}
		})
	}
	require.Greater(t, incremental*2, *oracleCases, "most random queries are incremental")
}

// oracleCase reports whether all views of the case were incremental.
func oracleCase(t *testing.T, c *query.Compiler, oracle *duck.Conn, seed uint64) bool {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
	g.columns = g.schema()
	w := newWorldBeside(t, g.columns, oracle)
	defer func() { w.close() }()
	sqls := map[string]string{}
	var order []string
	incremental := true
	from, columns := "t", g.columns
	for i := range 1 + g.IntN(3) {
		name := fmt.Sprintf("v%d", i)
		sqls[name] = g.query(from, columns)
		p, err := w.relation(c, name, sqls[name], false)
		if err != nil && i > 0 {
			break
		}
		if err != nil {
			t.Skipf("%s: %v", sqls[name], err)
		}
		order = append(order, name)
		incremental = incremental && p.FullRefresh == ""
		if g.IntN(2) == 0 {
			from, columns = name, p.Columns
		}
	}
	for e := range 2 + g.IntN(4) {
		var files []batch.File
		for f := range g.IntN(3) {
			files = append(files, w.file(fmt.Sprintf("%d-%d.json", e, f), g.rows(g.IntN(12))))
		}
		_, err := w.epoch(files...)
		require.NoError(t, err, "epoch %d of %v", e, sqls)
		if len(w.files) > 0 {
			for _, name := range order {
				require.Equal(t, w.batch(name, sqls, order, w.files), w.rows("SELECT * FROM "+name), "epoch %d: %s: %s", e, name, sqls)
			}
		}
		if g.IntN(3) == 0 {
			w.restart()
		}
	}
	return incremental
}
