package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/outside"
)

// allTypes is a query that yields every type a sink can meet; its text is valid for streamform and for DuckDB alone.
const allTypes = `
SELECT id,
       id % 2 = 0                                  AS b,
       CAST(id % 100 AS TINYINT)                   AS i8,
       CAST(id AS SMALLINT)                        AS i16,
       CAST(-id AS INTEGER)                        AS i32,
       CAST(id AS UTINYINT)                        AS u8,
       CAST(id AS UINTEGER)                        AS u32,
       CAST(18446744073709551615 - id AS UBIGINT)  AS u64,
       CAST(id AS HUGEINT) * 10000000000000000000  AS huge,
       CAST(id / 4 AS FLOAT)                       AS f32,
       CASE id WHEN 1 THEN 'NaN'::DOUBLE WHEN 2 THEN 'Infinity'::DOUBLE WHEN 3 THEN '-Infinity'::DOUBLE ELSE id / 3 END AS f64,
       CAST(amount AS DECIMAL(10,2))               AS d10,
       CAST(amount AS DECIMAL(38,10)) * 12345678   AS d38,
       CASE WHEN id % 3 = 0 THEN NULL WHEN id % 3 = 1 THEN '' ELSE 'grün ' || note END AS s,
       encode('x' || id)                           AS bytes,
       CAST(seen_at AS DATE)                       AS d,
       seen_at                                     AS ts,
       CAST(seen_at AS TIMESTAMPTZ)                AS tstz,
       CAST(md5(CAST(id AS VARCHAR)) AS UUID)      AS u,
       {'a': id, 'b': {'c': note, 'd': [id, NULL]}} AS st,
       [note, NULL, '']                            AS list,
       CASE WHEN id % 2 = 0 THEN [] ELSE [[id], []] END AS nested,
       MAP {note: id, 'k': NULL}                   AS m,
       CAST(CASE WHEN id % 2 = 0 THEN 'yes' ELSE 'no' END AS ENUM ('yes', 'no')) AS e
FROM `

const readerConfig = `
source "files" "rows" {
  path    = "./landing"
  format  = "json"
  columns = { id = "BIGINT", amount = "DECIMAL(18,4)", note = "VARCHAR", seen_at = "TIMESTAMP" }
}
stream "types" {
  sql = file("types.sql")
}
view "by_note" {
  sql = file("by_note.sql")
}
sink "delta" "types" {
  from = stream.types
  path = "./lake/types"
}
sink "delta" "by_note" {
  from = view.by_note
  path = "./lake/by_note"
}
`

const byNote = `SELECT note, count(*) AS n, sum(amount) AS amount, max(seen_at) AS latest FROM `

// rowsBatch is the source of readerConfig, read by DuckDB alone.
const rowsBatch = `read_json('landing/*.json', format = 'newline_delimited', columns = {id: 'BIGINT', amount: 'DECIMAL(18,4)', note: 'VARCHAR', seen_at: 'TIMESTAMP'})`

// TestDeltaReadBack lets the deltalake library read what the binary wrote: rows of all types that were
// appended, rows that were upserted, before and after checkpoints of the log.
func TestDeltaReadBack(t *testing.T) {
	python := deltalake(t)
	p := newProject(t, "main.sf.hcl", readerConfig, "types.sql", allTypes+"rows", "by_note.sql", byNote+"rows GROUP BY note")
	writeBatch := func(n int) {
		var b strings.Builder
		for i := n * 4; i < n*4+4; i++ {
			fmt.Fprintf(&b, `{"id":%d,"amount":%d.%04d,"note":"n%d","seen_at":"2026-11-%02d 08:%02d:00.123456"}`+"\n", i, i, i%10000, i%7, 1+i%28, i%60)
		}
		p.write(fmt.Sprintf("landing/%03d.json", n), b.String())
	}
	compare := func() {
		t.Helper()
		sameAsBatch(t, python, p, "lake/types", allTypes+rowsBatch)
		sameAsBatch(t, python, p, "lake/by_note", byNote+rowsBatch+" GROUP BY note")
	}
	writeBatch(0)
	p.must("apply", "-auto-approve")
	compare()
	for n := 1; n <= 12; n++ {
		writeBatch(n)
		p.must("run", "-once")
	}
	for _, table := range []string{"types", "by_note"} {
		require.FileExists(t, p.path("lake/"+table+"/_delta_log/_last_checkpoint"), "more than ten commits make a checkpoint")
	}
	compare()
}

// sameAsBatch compares a Delta table, read by deltalake and by our own reader, with a statement DuckDB
// answers over the same input. Values are compared as text, so that a type that Delta lacks may differ.
func sameAsBatch(t *testing.T, python string, p *project, table, batch string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "rows.parquet")
	text, err := exec.Command(python, filepath.Join("testdata", "read_delta.py"), p.path(table), out).CombinedOutput()
	require.NoError(t, err, "%s", text)
	require.Empty(t, difference(t, p.dir, "FROM read_parquet('"+out+"')", batch), "%s as deltalake reads it", table)
	scan, err := deltaScan(p.path(table))
	require.NoError(t, err)
	require.Empty(t, difference(t, p.dir, scan, batch), "%s as streamform reads it", table)
}

// difference counts and shows the rows of two statements that the other one lacks; empty when there are none.
func difference(t *testing.T, dir, a, b string) string {
	t.Helper()
	return outside.Difference(t, dir, a, b)
}

// deltalake is the Python interpreter that has the deltalake library; without Python the test is skipped.
func deltalake(t *testing.T) string {
	t.Helper()
	python, err := filepath.Abs(filepath.Join(root, ".venv", "bin", "python"))
	require.NoError(t, err)
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no .venv: `make test` sets one up where Python is installed")
	}
	if out, err := exec.Command(python, "-c", "import deltalake, pyarrow").CombinedOutput(); err != nil {
		t.Skipf(".venv lacks the deltalake library, run `make .venv/ready`: %s", out)
	}
	return python
}
