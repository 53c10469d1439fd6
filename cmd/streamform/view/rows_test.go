package view

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/stretchr/testify/require"
)

func texts(cells ...string) *rowsOf {
	r := &rowsOf{columns: batch.Schema{{Name: "t", Type: "VARCHAR"}, {Name: "n", Type: "BIGINT"}}}
	for _, c := range cells {
		r.rows = append(r.rows, []query.Cell{{Text: c}, {Text: "1"}})
	}
	return r
}

// Characters that take two columns of a terminal, and marks that take none, do not push what is behind them.
func TestTablesOfWideCharacters(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, Rows(&out, texts("ü", "日本", "e\u0301", "abcde"), Table))
	require.Equal(t, "t      n\n─────  ─\nü      1\n日本   1\ne\u0301      1\nabcde  1\n(4 rows)\n", out.String())
}

func TestCSV(t *testing.T) {
	r := texts("", "NULL", " x", "a,b", `a"b`, "a\nb", "a\rb", "plain")
	r.rows = append(r.rows, []query.Cell{{Null: true}, {Null: true}})
	var out bytes.Buffer
	require.NoError(t, Rows(&out, r, CSV))
	require.Equal(t, "t,n\n\"\",1\nNULL,1\n\" x\",1\n\"a,b\",1\n\"a\"\"b\",1\n\"a\nb\",1\n\"a\rb\",1\nplain,1\n,\n", out.String())
}

func FuzzCSV(f *testing.F) {
	f.Add("a,\"b", "")
	f.Fuzz(func(t *testing.T, a, b string) {
		var out bytes.Buffer
		require.NoError(t, csvLine(&out, []string{csvField(a), csvField(b)}))
		got, err := csv.NewReader(&out).Read()
		require.NoError(t, err)
		unix := strings.NewReplacer("\r\n", "\n") // as the reader of the standard library has line ends
		require.Equal(t, []string{unix.Replace(a), unix.Replace(b)}, got)
	})
}
