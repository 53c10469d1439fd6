package outside

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2" // answers alone
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// DuckCSV answers a statement with DuckDB alone, in UTC, with relative paths below dir. The first line
// holds the names; NULL is empty.
func DuckCSV(dir, statement string) (string, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return "", fmt.Errorf("opening DuckDB: %w", err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"SET TimeZone = 'UTC'", "SET file_search_path = '" + strings.ReplaceAll(dir, "'", "''") + "'"} {
		if _, err := db.Exec(s); err != nil {
			return "", fmt.Errorf("setting up DuckDB: %w", err)
		}
	}
	out := filepath.Join(os.TempDir(), fmt.Sprintf("rows-%d-%d.csv", os.Getpid(), time.Now().UnixNano()))
	defer os.Remove(out)
	if _, err := db.Exec(fmt.Sprintf("COPY (%s) TO '%s' (FORMAT csv, HEADER)", strings.TrimRight(statement, "; \n"), out)); err != nil {
		return "", fmt.Errorf("asking DuckDB: %w", err)
	}
	text, err := os.ReadFile(out)
	return string(text), err
}

// DeltaScan is the statement that reads the newest version of a Delta table.
func DeltaScan(dir string) (string, error) {
	table, err := delta.OpenTable(logstore.NewLocal(dir))
	if err != nil {
		return "", err
	}
	snapshot, err := table.Load(context.Background())
	if err != nil {
		return "", err
	}
	if snapshot == nil {
		return "", fmt.Errorf("%s holds no Delta table", dir)
	}
	return delta.ScanSQL(snapshot, delta.ScanOptions{})
}

// Difference counts and shows the rows of two statements that the other one lacks; empty when there are none. Values are compared as text.
func Difference(t testing.TB, dir, a, b string) string {
	t.Helper()
	text, err := DuckCSV(dir, fmt.Sprintf(`
		WITH a AS (SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (%s)), b AS (SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (%s))
		(SELECT 'only in the first' AS side, * FROM (FROM a EXCEPT ALL FROM b)
		UNION ALL SELECT 'only in the second', * FROM (FROM b EXCEPT ALL FROM a)) LIMIT 8`, a, b))
	require.NoError(t, err)
	lines := strings.SplitN(text, "\n", 2)
	if len(lines) < 2 || strings.TrimSpace(lines[1]) == "" {
		return ""
	}
	return text
}

// Versions counts the versions of a Delta table.
func (p *Project) Versions(table string) int {
	p.T.Helper()
	names, err := filepath.Glob(filepath.Join(p.Path(table), "_delta_log", "*.json"))
	require.NoError(p.T, err)
	return len(names)
}
