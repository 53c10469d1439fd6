// Package duck opens DuckDB databases and moves rows in and out of them as Arrow.
package duck

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"runtime/cgo"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory/mallocator"
	"github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/arrowmapping"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// Conn is one connection to a database in memory of its own. It is used by one goroutine at a time.
type Conn struct {
	connector *duckdb.Connector
	conn      driver.Conn
	arrow     *duckdb.Arrow
	settings  []string

	// What Keep and Fill need: the driver has no prepared statement that gives vectors, nor a table function that takes them.
	raw        mapping.Connection
	options    arrowmapping.ArrowOptions
	handle     cgo.Handle
	slots      map[int64]*Table
	statements map[string]*prepared
	layouts    map[int]*layout    // by number
	numbered   *int               // layouts that there ever were
	hold       arrow.Array        // vectorSize integers: see filledLayout
	named      map[string]*layout // of texts that are not kept, by their columns
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
	c := &Conn{connector: connector, conn: conn, arrow: a, settings: settings,
		slots: map[int64]*Table{}, statements: map[string]*prepared{}, named: map[string]*layout{}, layouts: map[int]*layout{}, numbered: new(int), hold: integers(vectorSize)}
	if c.raw, err = rawConnection(conn); err == nil {
		err = c.registerRows()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening DuckDB's vectors: %w", err), conn.Close(), connector.Close())
	}
	// An ASOF join of few rows as a nested loop mixes up its columns (DuckDB 1.5).
	common := []string{"SET asof_loop_join_threshold = 0", "SET TimeZone = 'UTC'", "SET arrow_lossless_conversion = true", "SET autoinstall_known_extensions = false", "SET autoload_known_extensions = false"}
	for _, s := range append(common, settings...) {
		if err := c.Exec(ctx, s); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	arrowmapping.ConnectionGetArrowOptions(c.raw, &c.options)
	return c, nil
}

func integers(n int) arrow.Array {
	b := array.NewInt64Builder(mallocator.NewMallocator())
	defer b.Release()
	b.AppendEmptyValues(n)
	return b.NewArray()
}

// rawConnection is the handle inside the driver's connection, which it does not give away.
func rawConnection(c driver.Conn) (mapping.Connection, error) {
	field := reflect.Indirect(reflect.ValueOf(c)).FieldByName("conn")
	if field.IsValid() && field.Kind() == reflect.Struct {
		if field = field.FieldByName("Ptr"); field.IsValid() && field.Kind() == reflect.UnsafePointer && !field.IsNil() {
			return mapping.Connection{Ptr: field.UnsafePointer()}, nil
		}
	}
	return mapping.Connection{}, errors.New("this version of the DuckDB driver is not known")
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
func (c *Conn) Close() error {
	c.Clear()
	c.forgetStatements()
	c.hold.Release()
	if c.options.Ptr != nil {
		arrowmapping.DestroyArrowOptions(&c.options)
	}
	err := errors.Join(c.conn.Close(), c.connector.Close())
	c.handle.Delete()
	return err
}

// Open runs one query and returns its rows, which the caller closes.
func (c *Conn) Open(ctx context.Context, sql string) (driver.Rows, error) {
	return c.conn.(driver.QueryerContext).QueryContext(ctx, sql, nil)
}

// Text runs one query whose columns are all VARCHAR and returns its rows, NULL as nil.
func (c *Conn) Text(ctx context.Context, sql string) ([][]*string, error) {
	var out [][]*string
	err := c.Batches(ctx, sql, func(b arrow.RecordBatch) error {
		out = append(out, texts(b)...)
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

// Insert adds batches to a table, column by column. The batches stay the caller's.
func (c *Conn) Insert(ctx context.Context, table string, batches []arrow.RecordBatch) error {
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
