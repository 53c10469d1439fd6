// Package duck opens DuckDB databases and moves rows in and out of them as Arrow.
package duck

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/duckdb/duckdb-go/v2"
)

// Conn is one connection to a database in memory of its own. It is used by one goroutine at a time.
type Conn struct {
	connector *duckdb.Connector
	conn      driver.Conn
	arrow     *duckdb.Arrow
	settings  []string
}

// Open starts a database and runs the given settings on it.
func Open(ctx context.Context, settings ...string) (*Conn, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, fmt.Errorf("starting DuckDB: %w", err)
	}
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to DuckDB: %w", err), connector.Close())
	}
	a, err := duckdb.NewArrowFromConn(conn)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening DuckDB's Arrow interface: %w", err), conn.Close(), connector.Close())
	}
	c := &Conn{connector: connector, conn: conn, arrow: a, settings: settings}
	// An ASOF join of few rows as a nested loop mixes up its columns (DuckDB 1.5).
	common := []string{"SET asof_loop_join_threshold = 0", "SET TimeZone = 'UTC'", "SET arrow_lossless_conversion = true", "SET autoinstall_known_extensions = false", "SET autoload_known_extensions = false"}
	for _, s := range append(common, settings...) {
		if err := c.Exec(ctx, s); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

// Invalidated reports that an internal fault of DuckDB has ended the database.
func Invalidated(err error) bool {
	return err != nil && strings.Contains(err.Error(), "database has been invalidated")
}

// Reopen puts a new, empty database with the same settings in the place of one that was invalidated.
func (c *Conn) Reopen(ctx context.Context) error {
	next, err := Open(ctx, c.settings...)
	if err != nil {
		return err
	}
	old := *c
	*c = *next
	return old.Close()
}

// Close ends the connection and its database.
func (c *Conn) Close() error { return errors.Join(c.conn.Close(), c.connector.Close()) }

// Exec runs statements without a result.
func (c *Conn) Exec(ctx context.Context, sql string) error {
	_, err := c.conn.(driver.ExecerContext).ExecContext(ctx, sql, nil)
	return err
}

// Reader runs one query and returns its rows as Arrow batches. Release the reader.
func (c *Conn) Reader(ctx context.Context, sql string) (array.RecordReader, error) {
	return c.arrow.QueryContext(ctx, sql)
}

// Rows runs one query and hands each row to fn as the driver's values: see
// github.com/duckdb/duckdb-go for their Go types.
func (c *Conn) Rows(ctx context.Context, sql string, fn func(columns []string, row []driver.Value) error) error {
	rows, err := c.Open(ctx, sql)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns := rows.Columns()
	for {
		row := make([]driver.Value, len(columns))
		if err := rows.Next(row); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := fn(columns, row); err != nil {
			return err
		}
	}
}

// Open runs one query and returns its rows, which the caller closes.
func (c *Conn) Open(ctx context.Context, sql string) (driver.Rows, error) {
	return c.conn.(driver.QueryerContext).QueryContext(ctx, sql, nil)
}

// Text runs one query whose columns are all VARCHAR and returns its rows, NULL as nil.
func (c *Conn) Text(ctx context.Context, sql string) ([][]*string, error) {
	var out [][]*string
	err := c.Rows(ctx, sql, func(_ []string, row []driver.Value) error {
		line := make([]*string, len(row))
		for i, v := range row {
			if v != nil {
				s, ok := v.(string)
				if !ok {
					s = fmt.Sprint(v)
				}
				line[i] = &s
			}
		}
		out = append(out, line)
		return nil
	})
	return out, err
}

// Value runs a query with one row and one text column; "" for NULL or no row.
func (c *Conn) Value(ctx context.Context, sql string) (string, error) {
	rows, err := c.Text(ctx, sql)
	if err != nil || len(rows) == 0 || len(rows[0]) == 0 || rows[0][0] == nil {
		return "", err
	}
	return *rows[0][0], nil
}

// Schema is the Arrow schema of a query's result.
func (c *Conn) Schema(ctx context.Context, sql string) (*arrow.Schema, error) {
	r, err := c.Reader(ctx, "SELECT * FROM ("+sql+") LIMIT 0")
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), nil
}

// Load makes a table of the given columns ("name TYPE", …) and fills it with batches. The batches stay the caller's.
func (c *Conn) Load(ctx context.Context, table string, columns []string, batches []arrow.RecordBatch) error {
	if err := c.Exec(ctx, "CREATE TABLE "+table+"("+strings.Join(columns, ", ")+")"); err != nil {
		return fmt.Errorf("making table %s: %w", table, err)
	}
	if len(batches) == 0 {
		return nil
	}
	reader, err := array.NewRecordReader(batches[0].Schema(), batches)
	if err != nil {
		return fmt.Errorf("filling table %s: %w", table, err)
	}
	defer reader.Release()
	return c.Append(ctx, table, reader)
}

// Append adds a reader's rows to a table, column by column. The reader stays the caller's.
func (c *Conn) Append(ctx context.Context, table string, reader array.RecordReader) error {
	view := "sf$arrow"
	release, err := c.arrow.RegisterView(reader, view)
	if err != nil {
		return fmt.Errorf("filling table %s: %w", table, err)
	}
	defer release()
	if err := c.Exec(ctx, "INSERT INTO "+table+" SELECT * FROM "+view); err != nil {
		return fmt.Errorf("filling table %s: %w", table, err)
	}
	return nil
}
