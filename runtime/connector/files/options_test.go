package files

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"
)

// Every option that is allowed is one that DuckDB's reader of the format knows.
func TestReaderKnowsTheOptions(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	dir := t.TempDir()
	content := map[string]string{"json": "{\"a\":1}\n", "csv": "a,b\n1,2\n"}
	for format, text := range content {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x."+format), []byte(text), 0o666))
	}
	_, err = db.Exec("COPY (SELECT 1 AS a) TO '" + filepath.Join(dir, "x.parquet") + "'")
	require.NoError(t, err)
	samples := map[string]string{"format": "auto", "maximum_object_size": "1000", "delim": ",", "escape": `"`, "quote": `"`,
		"max_line_size": "1000", "nullstr": "", "skip": "0"}
	for _, format := range formats() {
		for name, check := range readerOptions(format) {
			t.Run(format+" "+name, func(t *testing.T) {
				value, ok := samples[name]
				if !ok {
					value = "true"
				}
				require.NoError(t, check(value))
				query := fmt.Sprintf("SELECT * FROM read_%s('%s', %s = '%s')", format, filepath.Join(dir, "x."+format), name, value)
				rows, err := db.Query(query)
				require.NoError(t, err)
				require.NoError(t, rows.Close())
			})
		}
	}
}
