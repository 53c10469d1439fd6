// Package querytest makes random rows, and random queries over them and over each other, for the engine's property test.
package querytest

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
)

// Generator makes random histories and queries: the same of the same seed. Values are few, so that groups, ties and NULLs meet.
type Generator struct {
	*rand.Rand
	// Describe tells the columns of a query over the pool.
	Describe func(sql string) (batch.Schema, error)
	Pool     []Relation // what queries may read
	names    int        // aliases given so far
}

// Relation is something that can stand after FROM.
type Relation struct {
	SQL     string
	Columns batch.Schema
}

// New starts a generator.
func New(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 7))}
}

func (g *Generator) pick(s ...string) string { return s[g.IntN(len(s))] }

// Chance is true once in n times.
func (g *Generator) Chance(n int) bool { return g.IntN(n) == 0 }

func (g *Generator) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// Epoch is the records of one epoch as JSON, by file.
type Epoch struct {
	Files   [][]string
	Restart bool // the engine ends after the epoch and a new one goes on
}

// Columns are those of the input: an ID, a number that grows, what happens to the row ("u" or "d"), and some of any types but lists
// of a fixed length: joins of DuckDB 1.5 mix them up.
func (g *Generator) Columns() batch.Schema {
	types := []string{"INTEGER", "VARCHAR", "DECIMAL(12,3)", "DOUBLE", "TIMESTAMP", "DATE", "BOOLEAN", "TINYINT", "UBIGINT", "HUGEINT", "TIMESTAMPTZ", "BLOB",
		"UUID", "ENUM('a', 'b', 'é')", "INTEGER[]", "VARCHAR[]", "STRUCT(x INTEGER, y VARCHAR)", "MAP(VARCHAR, INTEGER)", "JSON", "TIME", "FLOAT", "BIGINT", "SMALLINT", "VARCHAR",
		"UHUGEINT", "USMALLINT", "DECIMAL(38,10)", "DECIMAL(4,1)", "TIMESTAMP_NS", "DOUBLE[]", "STRUCT(p INTEGER[], q STRUCT(r VARCHAR, s DATE))", "INTERVAL", "MAP(INTEGER, VARCHAR[])"}
	columns := batch.Schema{{Name: "id", Type: "BIGINT"}, {Name: "seq", Type: "BIGINT"}, {Name: "op", Type: "VARCHAR"},
		{Name: "n0", Type: g.pick("BIGINT", "INTEGER")}, {Name: "s0", Type: "VARCHAR"}}
	for i := range 2 + g.IntN(4) {
		typ := types[g.IntN(len(types))]
		if typ == "INTERVAL" && !g.Chance(3) {
			typ = "INTEGER" // what it is a key of runs in full
		}
		columns = append(columns, batch.Column{Name: fmt.Sprintf("c%d", i), Type: typ})
	}
	return columns
}

// Epochs are a history of the input.
func (g *Generator) Epochs(columns batch.Schema) []Epoch {
	var out []Epoch
	seq, ids := 0, 2+g.IntN(6)
	for range 3 + g.IntN(3) {
		e := Epoch{Restart: g.Chance(8)}
		for range []int{0, 1, 1, 1, 1, 2, 2}[g.IntN(7)] {
			var rows []string
			for range g.IntN(9) {
				seq++
				rows = append(rows, g.record(columns, g.IntN(ids), seq))
			}
			e.Files = append(e.Files, rows)
		}
		out = append(out, e)
	}
	return out
}

func (g *Generator) record(columns batch.Schema, id, seq int) string {
	parts := []string{fmt.Sprintf(`"id":%d,"seq":%d,"op":%q`, id, seq, g.pick("u", "u", "u", "d"))}
	for _, c := range columns[3:] {
		parts = append(parts, fmt.Sprintf("%q:%s", c.Name, g.value(c.Type)))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// fitting leaves out the digits for which a DECIMAL has no place: a number with too many is no value of the type.
func fitting(number, typ string) string {
	scale := 3
	if _, after, ok := strings.Cut(typ, ","); ok {
		if n, err := strconv.Atoi(strings.TrimSuffix(after, ")")); err == nil {
			scale = min(scale, n)
		}
	}
	return strings.TrimSuffix(number[:strings.Index(number, ".")+1+scale], ".")
}

// value is a JSON value for a column of the type.
func (g *Generator) value(typ string) string {
	if g.Chance(7) {
		return "null"
	}
	n := g.IntN(7) - 3
	switch {
	case typ == "VARCHAR":
		return g.pick(`"a"`, `"a"`, `"b"`, `""`, `" a"`, `"`+strings.Repeat("key", 400)+`"`, `"é"`, `"A"`, `"null"`, `"日本 語"`, `"`+strings.Repeat("long ", 20)+`"`, `"1"`)
	case strings.HasPrefix(typ, "DECIMAL"):
		return fitting(g.pick(fmt.Sprintf("%d.%03d", n, g.IntN(1000)), "1.500", "0.000", "-0.001"), typ)
	case typ == "DOUBLE" || typ == "FLOAT":
		return g.pick("0.5", "0.0", "-0.0", "1.25", "-3", "0.1", "0.7", "7", `"NaN"`, `"Infinity"`, "1e10")
	case typ == "TIMESTAMP" || typ == "TIMESTAMP_NS":
		return fmt.Sprintf("\"2026-03-0%d %02d:%02d:00\"", 1+g.IntN(2), 8+g.IntN(3), 15*g.IntN(4))
	case typ == "TIMESTAMPTZ":
		return fmt.Sprintf("\"2026-03-01 %02d:00:00+0%d\"", 8+g.IntN(3), g.IntN(3))
	case typ == "DATE":
		return fmt.Sprintf("\"2026-0%d-%02d\"", 2+g.IntN(2), 1+g.IntN(4))
	case typ == "TIME":
		return fmt.Sprintf("\"%02d:30:00\"", 8+g.IntN(4))
	case typ == "BOOLEAN":
		return g.pick("true", "false")
	case typ == "UBIGINT" || typ == "USMALLINT":
		return fmt.Sprint(n + 3)
	case typ == "HUGEINT":
		return g.pick("0", "5", "-5", "170141183460469231731", "-170141183460469231731", "1")
	}
	return g.nested(typ, n)
}

func (g *Generator) nested(typ string, n int) string {
	switch {
	case typ == "UHUGEINT":
		return g.pick("0", "5", "340282366920938463463", "1")
	case typ == "INTERVAL":
		return g.pick(`"1 day"`, `"2 hours"`, `"3 days 1 hour"`, `"-1 day"`)
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
	case typ == "DOUBLE[]":
		return g.pick("[]", "[0.5]", "[0.5,null]", `["NaN",1]`, "[-0.0]", "[0.0]")
	case strings.HasPrefix(typ, "STRUCT(p"):
		return g.pick(`{"p":[1],"q":{"r":"a","s":null}}`, `{"p":null,"q":null}`, `{"p":[],"q":{"r":"b","s":"2026-02-01"}}`)
	case strings.HasPrefix(typ, "MAP(INTEGER"):
		return g.pick("{}", `{"1":["a"]}`, `{"1":[],"2":null}`)
	case strings.HasPrefix(typ, "STRUCT"):
		return fmt.Sprintf(`{"x":%s,"y":%s}`, g.pick("1", "2", "null"), g.pick(`"a"`, `"b"`, "null"))
	case strings.HasPrefix(typ, "MAP"):
		return g.pick("{}", `{"a":1}`, `{"a":1,"b":null}`, `{"b":2}`)
	case typ == "JSON":
		return g.pick(`{"a":1}`, `{"a":"x","b":[1,2]}`, "[1,2]", "3", `"t"`)
	}
	return fmt.Sprint(n)
}

// Bases are queries that turn the append-only input t into a table b with inserts, updates and deletes, and b into one that has lost its key.
func (g *Generator) Bases() (b, bag string) {
	b = g.pick(
		"SELECT * EXCLUDE (op, seq) FROM (SELECT DISTINCT ON (id) * FROM t ORDER BY id, seq DESC) WHERE op <> 'd'",
		"SELECT * EXCLUDE (op) FROM t QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq DESC) = 1 AND op <> 'd'",
		"SELECT * EXCLUDE (op) FROM t x WHERE op <> 'd' AND NOT EXISTS (SELECT 1 FROM t y WHERE y.id = x.id AND y.seq > x.seq)",
		"SELECT last.* EXCLUDE (op) FROM (SELECT arg_max(t, seq) AS last FROM t GROUP BY id) WHERE last.op = 'u'",
		"SELECT x.* EXCLUDE (op) FROM t x JOIN (SELECT id, max(seq) AS seq FROM t GROUP BY id) USING (id, seq) WHERE op = 'u'")
	bag = "SELECT * EXCLUDE (id) FROM b"
	if !strings.Contains(b, "op, seq") {
		bag = "SELECT * EXCLUDE (id, seq) FROM b"
	}
	return b, bag
}
