package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// duckDB runs one statement with DuckDB's defaults.
func duckDB(statement string) error {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.Exec(statement)
	return err
}

// sameRows compares a Delta table with a Parquet file by number of rows and sum of row hashes, and returns the number.
func sameRows(ctx context.Context, table, parquet string) (int64, error) {
	t, err := delta.OpenTable(logstore.NewLocal(table))
	if err != nil {
		return 0, err
	}
	snapshot, err := t.Load(ctx)
	if err != nil {
		return 0, err
	}
	if snapshot == nil {
		return 0, errors.New("no Delta table was written")
	}
	scan, err := delta.ScanSQL(snapshot, delta.ScanOptions{})
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	count := func(from string) (rows int64, sum string, err error) {
		query := fmt.Sprintf("SELECT count(*), CAST(coalesce(sum(hash(CAST(t AS VARCHAR))), 0) AS VARCHAR) FROM (%s) AS t", from)
		err = db.QueryRowContext(ctx, query).Scan(&rows, &sum)
		return rows, sum, err
	}
	rows, sum, err := count(scan)
	if err != nil {
		return 0, fmt.Errorf("reading the table back: %w", err)
	}
	wantRows, want, err := count("FROM read_parquet('" + parquet + "')")
	if err != nil {
		return 0, fmt.Errorf("reading the lower bound's file: %w", err)
	}
	if rows != wantRows || sum != want {
		return 0, fmt.Errorf("the table has %d rows with hash %s, the one-shot result %d with %s", rows, sum, wantRows, want)
	}
	return rows, nil
}
