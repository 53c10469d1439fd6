package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// generator makes random histories and queries. Values are few, so that groups, ties and NULLs meet.
type generator struct {
	*rand.Rand
	describe func(sql string) (batch.Schema, error)
	pool     []relation // what queries may read
	names    int        // aliases given so far
}

// relation is something that can stand after FROM.
type relation struct {
	sql     string
	columns batch.Schema
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func (g *generator) pick(s ...string) string { return s[g.IntN(len(s))] }

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// history is all that one world's input is made of.
type history struct {
	columns batch.Schema
	epochs  []epochRows
}

// epochRows are the records of one epoch as JSON, by file.
type epochRows struct {
	files   [][]string
	restart bool // the engine ends after the epoch and a new one goes on
}

func (g *generator) columns() batch.Schema {
	types := []string{"INTEGER", "VARCHAR", "DECIMAL(12,3)", "DOUBLE", "TIMESTAMP", "DATE", "BOOLEAN", "TINYINT", "UBIGINT", "HUGEINT", "TIMESTAMPTZ", "BLOB",
		"UUID", "ENUM('a', 'b', 'é')", "INTEGER[]", "VARCHAR[]", "STRUCT(x INTEGER, y VARCHAR)", "MAP(VARCHAR, INTEGER)", "JSON", "TIME", "FLOAT", "BIGINT", "SMALLINT", "VARCHAR"}
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "op", Type: "VARCHAR"},
		{Name: "n0", Type: g.pick("BIGINT", "INTEGER")}, {Name: "s0", Type: "VARCHAR"}}
	for i := range 2 + g.IntN(4) {
		columns = append(columns, batch.Column{Name: fmt.Sprintf("c%d", i), Type: types[g.IntN(len(types))]})
	}
	return columns
}

func (g *generator) history(columns batch.Schema) history {
	h := history{columns: columns}
	seq, ids := 0, 2+g.IntN(6)
	for range 3 + g.IntN(3) {
		e := epochRows{restart: g.chance(8)}
		for range []int{0, 1, 1, 1, 1, 2, 2}[g.IntN(7)] {
			var rows []string
			for range g.IntN(9) {
				seq++
				rows = append(rows, g.record(h.columns, g.IntN(ids), seq))
			}
			e.files = append(e.files, rows)
		}
		h.epochs = append(h.epochs, e)
	}
	return h
}

func (g *generator) record(columns batch.Schema, id, seq int) string {
	parts := []string{fmt.Sprintf(`"id":%d,"seq":%d,"op":%q`, id, seq, g.pick("u", "u", "u", "d"))}
	for _, c := range columns[3:] {
		parts = append(parts, fmt.Sprintf("%q:%s", c.Name, g.value(c.Type)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// value is a JSON value for a column of the type.
func (g *generator) value(typ string) string {
	if g.chance(7) {
		return "null"
	}
	n := g.IntN(7) - 3
	switch {
	case typ == "VARCHAR":
		return g.pick(`"a"`, `"a"`, `"b"`, `""`, `"é"`, `"A"`, `"null"`, `"日本 語"`, `"`+strings.Repeat("long ", 20)+`"`, `"1"`)
	case strings.HasPrefix(typ, "DECIMAL"):
		return g.pick(fmt.Sprintf("%d.%03d", n, g.IntN(1000)), "1.500", "0.000", "-0.001")
	case typ == "DOUBLE" || typ == "FLOAT":
		return g.pick("0.5", "0.0", "-0.0", "1.25", "-3", "0.1", "0.7", "7", `"NaN"`, `"Infinity"`, "1e10")
	case typ == "TIMESTAMP":
		return fmt.Sprintf("\"2026-03-0%d %02d:%02d:00\"", 1+g.IntN(2), 8+g.IntN(3), 15*g.IntN(4))
	case typ == "TIMESTAMPTZ":
		return fmt.Sprintf("\"2026-03-01 %02d:00:00+0%d\"", 8+g.IntN(3), g.IntN(3))
	case typ == "DATE":
		return fmt.Sprintf("\"2026-0%d-%02d\"", 2+g.IntN(2), 1+g.IntN(4))
	case typ == "TIME":
		return fmt.Sprintf("\"%02d:30:00\"", 8+g.IntN(4))
	case typ == "BOOLEAN":
		return g.pick("true", "false")
	case typ == "UBIGINT":
		return fmt.Sprint(n + 3)
	case typ == "HUGEINT":
		return g.pick("0", "5", "-5", "170141183460469231731", "-170141183460469231731", "1")
	}
	return g.nested(typ, n)
}

func (g *generator) nested(typ string, n int) string {
	switch {
	case typ == "BLOB":
		return g.pick(`"a"`, `"\\x00z"`, `""`)
	case typ == "UUID":
		return fmt.Sprintf("\"00000000-0000-4000-8000-00000000000%d\"", g.IntN(3))
	case strings.HasPrefix(typ, "ENUM"):
		return g.pick(`"a"`, `"b"`, `"é"`)
	case typ == "INTEGER[]":
		return g.pick("[]", "[1]", "[1,2]", "[null]", fmt.Sprintf("[%d,null,%d]", n, n), "[3,3,1]")
	case typ == "VARCHAR[]":
		return g.pick("[]", `["a"]`, `["a","b"]`, `["b",null,"é"]`, `["a","a"]`)
	case strings.HasPrefix(typ, "STRUCT"):
		return fmt.Sprintf(`{"x":%s,"y":%s}`, g.pick("1", "2", "null"), g.pick(`"a"`, `"b"`, "null"))
	case strings.HasPrefix(typ, "MAP"):
		return g.pick("{}", `{"a":1}`, `{"a":1,"b":null}`, `{"b":2}`)
	case typ == "JSON":
		return g.pick(`{"a":1}`, `{"a":"x","b":[1,2]}`, "[1,2]", "3", `"t"`)
	}
	return fmt.Sprint(n)
}

// view is one SELECT under a name that later ones may read.
type view struct{ name, sql string }

// bases are views that turn the append-only input into a table with inserts, updates and deletes, and one that has lost its key.
func (g *generator) bases() []view {
	b := g.pick(
		"SELECT * EXCLUDE (op, seq) FROM (SELECT DISTINCT ON (id) * FROM t ORDER BY id, seq DESC) WHERE op <> 'd'",
		"SELECT * EXCLUDE (op) FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1 AND op <> 'd'",
		"SELECT * EXCLUDE (op) FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)",
		"SELECT last.* EXCLUDE (op) FROM (SELECT arg_max(t, seq) AS last FROM t GROUP BY id) WHERE last.op = 'u'",
		"SELECT x.* EXCLUDE (op) FROM t x JOIN (SELECT id, max(seq) AS seq FROM t GROUP BY id) USING (id, seq) WHERE op = 'u'")
	bag := "SELECT * EXCLUDE (id) FROM b"
	if !strings.Contains(b, "op, seq") {
		bag = "SELECT * EXCLUDE (id, seq) FROM b"
	}
	return []view{{"b", b}, {"bag", bag}}
}
