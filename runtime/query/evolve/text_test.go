package evolve

import (
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/stretchr/testify/require"
)

func columnText(name, typ string) string {
	return logical.Column{Of: "t", Name: name, Type: typ}.Token()
}

// heldTerms are a bucket, a whole number and a text.
func heldTerms() terms {
	return newTerms([]string{`"date_trunc"('minute', ` + columnText("ts", "TIMESTAMP") + ")", columnText("v", "INTEGER"), columnText("k", "VARCHAR"), "(" + columnText("n", "INTEGER") + " // 5)"},
		[]string{"TIMESTAMP", "INTEGER", "VARCHAR", "INTEGER"}, "g")
}

func TestDerivation(t *testing.T) {
	ts, v, k, n := columnText("ts", "TIMESTAMP"), columnText("v", "INTEGER"), columnText("k", "VARCHAR"), columnText("n", "INTEGER")
	for text, want := range map[string]string{
		v:                                    "g1",
		"(" + v + " + 1)":                    "(g1 + 1)",
		`"upper"(` + k + ")":                 `"upper"(g2)`,
		"(" + k + " = 'g1 \x00 isn''t it')":  "(g2 = 'g1 \x00 isn''t it')",
		`"date_trunc"('hour', ` + ts + ")":   `"date_trunc"('hour', g0)`,
		"TRY_CAST(" + v + " AS VARCHAR)":     "TRY_CAST(g1 AS VARCHAR)",
		"(" + n + " // 10)":                  "(g3 // 2)",
		"(" + n + " // 7)":                   "",
		`"date_trunc"('second', ` + ts + ")": "",
		ts:                                   "",
		n:                                    "",
	} {
		d := derivation{held: heldTerms(), used: map[string]bool{}}
		got, ok := d.sql(text)
		require.Equal(t, want != "", ok, "%q", text)
		require.Equal(t, want, got, "%q", text)
		require.Equal(t, ok, d.missing == "", d.missing)
	}
}

// FuzzDerivation: whatever the text, no column of a relation is left in what follows from it, and it is looked at to its end.
func FuzzDerivation(f *testing.F) {
	for _, seed := range []string{`("time_bucket"("to_minutes"(CAST("trunc"(CAST(5 AS DOUBLE)) AS BIGINT)), @ts) > CAST('2020-01-01' AS TIMESTAMP))`,
		`CASE WHEN (@v - (@v % 3)) IS NULL THEN 'it''s (' ELSE "f""g"(@k, [1, 2]) END`, `CAST(CAST(@ts AS DATE) AS VARCHAR)`, `"date_part"('hour', @ts)`, "((", `"a`, "CAST(", "@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsRune(text, 0) {
			return
		}
		text = strings.NewReplacer("@ts", columnText("ts", "TIMESTAMP"), "@v", columnText("v", "INTEGER"), "@k", columnText("k", "VARCHAR"), "@n", columnText("n", "INTEGER")).Replace(text)
		d := derivation{held: heldTerms(), used: map[string]bool{}}
		sql, ok := d.sql(text)
		words(text)
		if ok {
			_, _, _, left := logical.Next(sql)
			require.False(t, left && !strings.ContainsAny(text, `'"`), sql)
		}
	})
}
