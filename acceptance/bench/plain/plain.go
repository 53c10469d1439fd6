// Package plain is the lower bound: DuckDB alone, with its defaults, doing the same work in one shot.
package plain

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/runtime/batch"
)

// DB is one database in memory.
type DB struct {
	db   *sql.DB
	conn *sql.Conn
}

// Open starts a database with so many threads, 0 for all cores.
func Open(ctx context.Context, threads int) (*DB, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	d := &DB{db: db}
	if d.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	err = d.Exec(ctx, "SET TimeZone = 'UTC'")
	if threads > 0 && err == nil {
		err = d.Exec(ctx, fmt.Sprintf("SET threads = %d", threads))
	}
	return d, err
}

// Close ends the database.
func (d *DB) Close() error {
	d.conn.Close()
	return d.db.Close()
}

// Exec runs a statement.
func (d *DB) Exec(ctx context.Context, statement string) error {
	_, err := d.conn.ExecContext(ctx, statement)
	return err
}

// Measure runs a statement and says what it took.
func (d *DB) Measure(ctx context.Context, statement string) (meter.Cost, error) {
	mark := meter.Start()
	err := d.Exec(ctx, statement)
	return mark.Cost(), err
}

// Files makes a relation of all files of a folder: Parquet, or lines of JSON where columns says what they hold.
func (d *DB) Files(ctx context.Context, name, dir string, columns batch.Schema) error {
	from := fmt.Sprintf("read_parquet('%s')", filepath.Join(dir, "*.parquet"))
	if columns != nil {
		from = Lines(filepath.Join(dir, "*.json"), columns)
	}
	return d.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS FROM %s", name, from))
}

// Lines is SQL for the rows of files with lines of JSON.
func Lines(pattern string, columns batch.Schema) string {
	var list []string
	for _, c := range columns {
		list = append(list, fmt.Sprintf("%q: '%s'", c.Name, c.Type))
	}
	return fmt.Sprintf("read_json('%s', format = 'newline_delimited', columns = {%s})", pattern, strings.Join(list, ", "))
}

// Columns of a relation.
func (d *DB) Columns(ctx context.Context, relation string) (batch.Schema, error) {
	rows, err := d.conn.QueryContext(ctx, "SELECT column_name, column_type FROM (DESCRIBE FROM "+relation+")")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out batch.Schema
	for rows.Next() {
		var c batch.Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// Fingerprint of a relation's rows.
func (d *DB) Fingerprint(ctx context.Context, relation string) (string, error) {
	columns, err := d.Columns(ctx, relation)
	if err != nil {
		return "", err
	}
	var text string
	err = d.conn.QueryRowContext(ctx, Fingerprint(columns, relation)).Scan(&text)
	return text, err
}

// Fingerprint is SQL for a text that tells relations with different rows apart, whatever the order of their rows: their
// number, a sum of hashes, and of every floating-point column the sum, for Same to compare with care.
func Fingerprint(columns batch.Schema, relation string) string {
	exact, sums := []string{"0"}, []string{"''"}
	for _, c := range columns {
		name := `"` + strings.ReplaceAll(c.Name, `"`, `""`) + `"`
		if c.Type == "DOUBLE" || c.Type == "FLOAT" {
			sums = append(sums, fmt.Sprintf("'|' || coalesce(CAST(sum(%s) AS VARCHAR), '')", name))
			continue
		}
		exact = append(exact, name)
	}
	return fmt.Sprintf("SELECT CAST(count(*) AS VARCHAR) || '|' || CAST(coalesce(sum(hash(%s)), 0) AS VARCHAR) || %s FROM %s",
		strings.Join(exact, ", "), strings.Join(sums, " || "), relation)
}

// tolerance is how far sums of floating-point numbers may lie apart, relative to the greater.
const tolerance = 1e-9

// Same says whether two fingerprints stand for the same rows.
func Same(a, b string) bool {
	as, bs := strings.Split(a, "|"), strings.Split(b, "|")
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if as[i] == bs[i] {
			continue
		}
		x, errX := strconv.ParseFloat(as[i], 64)
		y, errY := strconv.ParseFloat(bs[i], 64)
		if i < 2 || errX != nil || errY != nil || math.Abs(x-y) > tolerance*max(math.Abs(x), math.Abs(y)) {
			return false
		}
	}
	return true
}
