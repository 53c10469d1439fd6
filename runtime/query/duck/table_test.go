package duck

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// everyType is a row of each type, and its text.
const everyType = `SELECT 1::TINYINT a, 2::HUGEINT b, 3.5::DECIMAL(10,2) c, 'x' d, 'long enough not to be inlined' e, DATE '2026-01-02' f, TIMESTAMP '2026-01-02 03:04:05' g,
	TIMESTAMPTZ '2026-01-02 03:04:05+00' h, INTERVAL '1 month 2 days' i, [1, NULL] j, {'x': 1, 'y': 'z'} k, MAP {'a': 1} l, uuid '01234567-89ab-cdef-0123-456789abcdef' m,
	'\x00\x01'::BLOB n, 'b'::ENUM ('a', 'b') o, '{"a":1}'::JSON p, '101'::BIT q, TIME '01:02:03' r, 'nan'::DOUBLE s, NULL::INTEGER t, [1, 2]::INTEGER[2] u, true v, 7::UHUGEINT w, TIMETZ '01:02:03+01' x,
	TIMESTAMP_S '2026-01-02 03:04:05' y, TIMESTAMP_MS '2026-01-02 03:04:05.123' z, TIMESTAMP_NS '2026-01-02 03:04:05.123456789' aa, {'j': '{}'::JSON, 'h': [7::HUGEINT], 'u': uuid '01234567-89ab-cdef-0123-456789abcdef'} ab,
	MAP {[1]: {'b': '1'::BIT}} ac, 1::USMALLINT ad, 3::UBIGINT ae, 1.5::DECIMAL(38, 10) af, ''::BLOB ag, []::VARCHAR[] ah, 1.5::FLOAT ai`

func open(t testing.TB) *Conn {
	c, err := Open(context.Background())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestTables(t *testing.T) {
	c, ctx := open(t), context.Background()
	// Enumerations come out of Arrow as text.
	remembered := strings.Replace(everyType, "ENUM ('a', 'b')", "VARCHAR", 1)
	want, err := c.Text(ctx, "SELECT COLUMNS(*)::VARCHAR FROM ("+everyType+") LIMIT 1")
	require.NoError(t, err)
	for range 3 {
		kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT * FROM (" + everyType + "), range(5000) ORDER BY range", Most: 10000})
		require.NoError(t, err)
		require.EqualValues(t, 5000, kept.Rows())
		got, err := c.Text(ctx, "SELECT COLUMNS(* EXCLUDE range)::VARCHAR FROM "+kept.Name()+" WHERE range = 4321")
		require.NoError(t, err)
		require.Equal(t, want, got)

		var batches []arrow.RecordBatch
		source, err := c.Keep(ctx, Keeping{Slot: 3, SQL: "SELECT * FROM (" + remembered + "), range(5000) ORDER BY range", Most: 10000})
		require.NoError(t, err)
		require.NoError(t, source.Batches(func(b arrow.RecordBatch) error { b.Retain(); batches = append(batches, b); return nil }))
		back, err := c.Fill(2, "SELECT * FROM ("+remembered+"), range(5000) ORDER BY range", batches)
		require.NoError(t, err)
		for _, b := range batches {
			b.Release()
		}
		differing, err := c.Value(ctx, fmt.Sprintf("SELECT count(*)::VARCHAR FROM (FROM (SELECT * REPLACE (o::VARCHAR AS o) FROM %s) EXCEPT ALL FROM %s)", kept.Name(), back.Name()))
		require.NoError(t, err)
		require.Equal(t, "0", differing)
		n, err := c.Value(ctx, fmt.Sprintf("SELECT count(*)::VARCHAR FROM %s a JOIN %s b USING (range, e)", kept.Name(), back.Name()))
		require.NoError(t, err)
		require.Equal(t, "5000", n)
		sum := int64(0)
		kept.Integers(35, func(n int64) { sum += n })
		require.EqualValues(t, 4999*2500, sum)
		c.Clear()
	}
	_, err = c.Keep(ctx, Keeping{Slot: 1, SQL: "FROM range(5000)", Most: 4000})
	require.ErrorIs(t, err, ErrTooMany)
	_, err = c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT 'x'::INTEGER FROM range(5000)", Most: 4000})
	require.ErrorContains(t, err, "Conversion Error")
	_, err = c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT FROM", Most: 4000})
	require.ErrorContains(t, err, "Parser Error")
}

// TestKeptPlans: a plan made for few keys serves many (it must not have kept their statistics).
func TestKeptPlans(t *testing.T) {
	c, ctx := open(t), context.Background()
	for n := 4; n < 1_000_000; n *= 10 {
		kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: fmt.Sprintf("SELECT range %% %d AS k, 1::INTEGER AS v FROM range(%d)", n/2, n), Columns: "k,v", Most: 2_000_000})
		require.NoError(t, err)
		sums, err := c.Keep(ctx, Keeping{Slot: 2, SQL: "SELECT k, sum(v)::BIGINT AS s FROM " + kept.Name() + " GROUP BY ALL", Most: 2_000_000})
		require.NoError(t, err)
		require.EqualValues(t, n/2, sums.Rows())
		total := int64(0)
		sums.Integers(1, func(s int64) { total += s })
		require.EqualValues(t, n, total)
	}
	require.Len(t, c.layouts, 2)
}

func BenchmarkKeep(b *testing.B) {
	c, ctx := open(b), context.Background()
	for _, n := range []int{1, 1000, 10_000} {
		_, err := c.Keep(ctx, Keeping{Slot: 1, SQL: fmt.Sprintf("SELECT range %% 1000 AS k, range::VARCHAR AS s, 1::INTEGER AS v FROM range(%d)", n), Columns: "k,s,v", Most: 1 << 20})
		require.NoError(b, err)
		name := c.slots[1].Name()
		b.Run(fmt.Sprintf("group/%d", n), func(b *testing.B) {
			for range b.N {
				_, err := c.Keep(ctx, Keeping{Slot: 2, SQL: "SELECT k, sum(v) AS s FROM " + name + " GROUP BY ALL", Most: 1 << 20})
				require.NoError(b, err)
			}
		})
		b.Run(fmt.Sprintf("project/%d", n), func(b *testing.B) {
			for range b.N {
				_, err := c.Keep(ctx, Keeping{Slot: 2, SQL: "SELECT k, v + 1 FROM " + name, Most: 1 << 20})
				require.NoError(b, err)
			}
		})
	}
}

// TestFillAnyFirstColumn: rows stay whole whatever the type of the first column.
func TestFillAnyFirstColumn(t *testing.T) {
	c, ctx := open(t), context.Background()
	for _, first := range []string{"BOOLEAN", "HUGEINT", "UUID", "VARCHAR", "INTEGER[]", "JSON", "BIT", "INTEGER", "TIMETZ"} {
		sql := "SELECT CAST(NULL AS " + first + ") AS a, CAST(NULL AS HUGEINT) AS b, CAST(NULL AS VARCHAR) AS c"
		schema, err := c.Layout(sql)
		require.NoError(t, err)
		for n := range 300 {
			b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
			for range 2 {
				b.Field(0).AppendEmptyValue()
				b.Field(1).AppendNull()
				b.Field(2).(*array.StringBuilder).Append(fmt.Sprint("a text that is not inlined, and number ", n))
			}
			rec := b.NewRecordBatch()
			filled, err := c.Fill(1, sql, []arrow.RecordBatch{rec})
			require.NoError(t, err)
			rec.Release()
			got, err := c.Value(ctx, "SELECT (count(*) FILTER (b IS NULL) || max(c))::VARCHAR FROM "+filled.Name())
			require.NoError(t, err)
			require.Equal(t, fmt.Sprint("2a text that is not inlined, and number ", n), got, first)
		}
	}
}

func TestPick(t *testing.T) {
	c, ctx := open(t), context.Background()
	kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT * FROM (" + everyType + "), range(7000) ORDER BY range", Most: 10000})
	require.NoError(t, err)
	for name, want := range map[string]func(i int) bool{
		"none": func(int) bool { return false }, "all": func(int) bool { return true }, "some": func(i int) bool { return i%3 == 1 },
		"late": func(i int) bool { return i > 6990 }, "most": func(i int) bool { return i%100 != 0 },
	} {
		var rows []int
		sum := int64(0)
		for i := range 7000 {
			if want(i) {
				rows = append(rows, i)
				sum += int64(i)
			}
		}
		picked := c.Pick(2, kept, rows)
		require.EqualValues(t, len(rows), picked.Rows(), name)
		got := int64(0)
		picked.Integers(35, func(n int64) { got += n })
		require.Equal(t, sum, got, name)
		differing, err := c.Value(ctx, fmt.Sprintf("SELECT count(*)::VARCHAR FROM (FROM %s EXCEPT ALL FROM %s)", picked.Name(), kept.Name()))
		require.NoError(t, err)
		require.Equal(t, "0", differing, name)
	}
}

// TestTextKeptAndNot: a text whose plan is kept may be run without keeping it, too.
// TestNumbered reads rows of chunks of different sizes with their numbers, in the order in which Pick takes them.
func TestNumbered(t *testing.T) {
	c, ctx := open(t), context.Background()
	kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT range AS n, 'v' || range AS v FROM range(300000) WHERE range % 7 <> 3 AND range NOT BETWEEN 5000 AND 9000", Most: 1 << 20})
	require.NoError(t, err)
	var values []string
	require.NoError(t, kept.Batches(func(b arrow.RecordBatch) error {
		for i := range int(b.NumRows()) {
			values = append(values, strings.Clone(b.Column(1).ValueStr(i)))
		}
		return nil
	}))
	numbered, err := c.Text(ctx, "SELECT v, CAST("+RowNumber+" AS VARCHAR) FROM "+kept.Numbered())
	require.NoError(t, err)
	require.Len(t, numbered, len(values))
	for _, row := range numbered {
		n, err := strconv.Atoi(*row[1])
		require.NoError(t, err)
		require.Equal(t, values[n], *row[0])
	}
	n, err := c.Value(ctx, "SELECT CAST(count(*) AS VARCHAR) FROM "+kept.Numbered())
	require.NoError(t, err)
	require.Equal(t, strconv.Itoa(len(values)), n)
	picked := c.Pick(2, kept, []int{0, 2047, 2048, len(values) - 1})
	text, err := c.Text(ctx, "SELECT v, CAST("+RowNumber+" AS VARCHAR) FROM "+picked.Numbered()+" ORDER BY 2")
	require.NoError(t, err)
	for i, number := range []int{0, 2047, 2048, len(values) - 1} {
		require.Equal(t, values[number], *text[i][0])
		require.Equal(t, strconv.Itoa(i), *text[i][1])
	}
}

func TestTextKeptAndNot(t *testing.T) {
	c, ctx := open(t), context.Background()
	for _, columns := range []string{"", "one INTEGER", "one INTEGER", "", ""} {
		kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT 1 AS one", Columns: columns, Most: 10})
		require.NoError(t, err)
		require.EqualValues(t, 1, kept.Rows())
	}
}

// TestPickBeside: chosen rows get numbers of their own behind their columns, over chunks.
func TestPickBeside(t *testing.T) {
	ctx := context.Background()
	c := open(t)
	kept, err := c.Keep(ctx, Keeping{Slot: 1, SQL: "SELECT range AS a, 'text number ' || range AS b FROM range(7000)", Most: 1 << 20})
	require.NoError(t, err)
	var rows []int
	var last []int64
	for i := 3; i < 7000; i += 2 {
		rows, last = append(rows, i), append(last, int64(-i))
	}
	picked, err := c.PickBeside(2, kept, rows, "SELECT CAST(NULL AS BIGINT) AS a, CAST(NULL AS VARCHAR) AS b, CAST(NULL AS BIGINT) AS n", last)
	require.NoError(t, err)
	got, err := c.Value(ctx, "SELECT CAST(count(*) FILTER (a = -n AND b = 'text number ' || a AND a % 2 = 1) AS VARCHAR) FROM "+picked.Name())
	require.NoError(t, err)
	require.Equal(t, fmt.Sprint(len(rows)), got)
}
