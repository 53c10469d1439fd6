package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query/querytest"
	"github.com/stretchr/testify/require"
)

// texts are rows of a VARCHAR column c.
func texts(seq int, values map[int]string) (rows []string) {
	for id, v := range values {
		seq++
		rows = append(rows, fmt.Sprintf(`{"id":%d,"seq":%d,"op":"u","c":%s}`, id, seq, v))
	}
	return rows
}

func joinsByText() []view {
	views := []view{{"b", latest}, {"e", `SELECT id AS i, seq AS s FROM b WHERE id > 100`}}
	for i, on := range []string{"%s JOIN %s", "%s LEFT JOIN %s", "%[2]s LEFT JOIN %[1]s", "%s FULL JOIN %s"} {
		views = append(views, view{fmt.Sprintf("v%d", i), "SELECT b.id, e.i FROM " + fmt.Sprintf(on, "b", "e") + " ON CAST(b.c AS INTEGER) = e.i"})
	}
	return append(views, view{"semi_v", `SELECT id FROM b SEMI JOIN e ON CAST(b.c AS INTEGER) = e.i`}, view{"anti_v", `SELECT id FROM b ANTI JOIN e ON CAST(b.c AS INTEGER) = e.i`},
		view{"is_in", `SELECT id FROM b WHERE CAST(c AS INTEGER) IN (SELECT i FROM e)`}, view{"not_in", `SELECT id, CAST(c AS INTEGER) NOT IN (SELECT i FROM e) AS x FROM b`},
		view{"read", `SELECT i, count(*) AS n FROM v3 GROUP BY i`})
}

// TestKeysOfOneSide: a key that cannot be computed is no failure while the other side of the join has no rows to compare it with.
func TestKeysOfOneSide(t *testing.T) {
	l := newLab(t)
	h := history{columns: rowsOf("VARCHAR"), epochs: []querytest.Epoch{
		{Files: [][]string{texts(0, map[int]string{1: `"x"`, 2: `"101"`})}}, {Files: [][]string{texts(10, map[int]string{3: `"y"`, 4: "null"})}, Restart: true},
		{Files: [][]string{texts(20, map[int]string{1: `"102"`, 3: `"7"`})}}, {Files: [][]string{texts(30, map[int]string{101: `"1"`, 102: `"101"`})}},
		{Files: [][]string{texts(40, map[int]string{102: "null", 2: `"102"`})}}}}
	for range 3 {
		if f := l.replay(h, joinsByText()); f != nil {
			t.Fatalf("epoch %d: %v: %s", f.epoch, f.views, f.what)
		}
		l.restart(2) // and as large epochs
	}
}

// TestKeysOfBothSides: it is a failure once there are such rows.
func TestKeysOfBothSides(t *testing.T) {
	c := newCompiler(t)
	for _, v := range joinsByText()[2:10] {
		w := newWorld(t, rowsOf("VARCHAR"))
		for _, v := range append(joinsByText()[:2], v) {
			_, err := w.relation(c, v.name, v.sql, false)
			require.NoError(t, err)
		}
		_, err := w.epoch(w.file("a.json", strings.Join(texts(0, map[int]string{1: `"x"`}), "\n")))
		require.NoError(t, err, v.sql)
		_, err = w.epoch(w.file("b.json", strings.Join(texts(1, map[int]string{101: `"1"`}), "\n")))
		require.ErrorContains(t, err, "Could not convert string 'x' to INT32", v.sql)
		_, err = w.epoch(w.file("c.json", strings.Join(texts(2, map[int]string{1: `"101"`, 101: `"1"`}), "\n")))
		require.NoError(t, err, v.sql)
		w.close()
	}
}
