// Package table keeps the tables of one epoch: small ones as vectors that prepared statements read, large ones in the database
package table

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/memory"
)

// Set is the tables of one epoch, or of one ad-hoc query, on one database. It is used by one goroutine at a time.
//
// While Small is true a table is the vectors that a statement gave: the statement's plan is kept and used again when the same text is run, in this
// epoch or another. While Light is true it is the vectors, too, but no plan is kept. A result of more than mostRows ends both: from then on tables are
// made in the database, which spills to disk what is too much for its memory.
type Set struct {
	Conn  *duck.Conn
	Small bool
	Light bool // see Begin, which makes it false

	tables      int // names given in this epoch
	slot        int
	kept        map[string]*duck.Table // by what stands after FROM
	transaction bool                   // rolling it back drops all that was made in the database
	made        bool                   // something was made in the database outside of a transaction
	doubted     bool                   // a statement has failed: the database may be at its end
	bound       map[string]string      // names that are views in the database: SQL
	seen        map[uint64]bool        // hashes, by seed, of the texts that were run once
	seed        maphash.Seed
	spare       *memory.Rows // see Free
}

// mostRows is how many rows a table held as vectors has at most.
const mostRows = 1 << 20

// NewSet starts a set without tables.
func NewSet(c *duck.Conn) *Set {
	return &Set{Conn: c, kept: map[string]*duck.Table{}, bound: map[string]string{}, seen: map[uint64]bool{}, seed: maphash.MakeSeed()}
}

// Begin starts an epoch. What goes on after a failed statement does without a transaction, in which a failure ends all.
func (s *Set) Begin(ctx context.Context, small, transaction bool) error {
	s.Small, s.Light = small, false
	if small || !transaction {
		return nil
	}
	if err := s.Conn.Exec(ctx, "BEGIN"); err != nil {
		return fmt.Errorf("starting the engine's transaction: %w", err)
	}
	s.transaction = true
	return nil
}

// Clear drops every table and view of the epoch. A database that a fault of DuckDB has ended is replaced: nothing in it was to last.
func (s *Set) Clear(ctx context.Context) error {
	s.tables, s.slot = 0, 0
	clear(s.kept)
	err := s.drop(ctx)
	s.Conn.Clear()
	if duck.Invalidated(err) {
		clear(s.bound)
		err = s.Conn.Reopen(ctx)
	}
	if err != nil {
		return fmt.Errorf("clearing the engine: %w", err)
	}
	return nil
}

func (s *Set) drop(ctx context.Context) error {
	if s.transaction {
		s.transaction, s.made, s.doubted = false, false, false
		return s.Conn.Exec(ctx, "ROLLBACK")
	}
	if !s.made && !s.doubted {
		return nil
	}
	s.made, s.doubted = false, false
	clear(s.bound)
	rows, err := s.Conn.Text(ctx, "SELECT schema_name, table_name, 'TABLE' FROM duckdb_tables() WHERE NOT internal UNION ALL "+
		"SELECT schema_name, view_name, 'VIEW' FROM duckdb_views() WHERE NOT internal")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := s.Conn.Exec(ctx, "DROP "+*r[2]+" "+bound.Ident(*r[0])+"."+bound.Ident(*r[1])); err != nil {
			return err
		}
	}
	return nil
}

// Doubt makes Clear look whether the database still stands, after an epoch that failed.
func (s *Set) Doubt() { s.doubted = true }

// At chooses which slots the tables made next get. The same steps of different epochs begin at the same place, so that their statements have the same text.
func (s *Set) At(place int) { s.slot = place * slotsPerPlace }

const slotsPerPlace = 64

// Make makes a table of a query's rows and returns what stands after FROM to read it.
func (s *Set) Make(ctx context.Context, sql string) (string, error) { return s.make(ctx, sql, "") }

// MakeOnce is Make for a text that no other epoch will run. columns tells the names and types of its columns.
func (s *Set) MakeOnce(ctx context.Context, sql, columns string) (string, error) {
	return s.make(ctx, sql, columns)
}

func (s *Set) make(ctx context.Context, sql, columns string) (string, error) {
	if whole, ok := strings.CutPrefix(sql, "FROM "); ok && s.kept[whole] != nil {
		return whole, nil // a table is its own copy
	}
	if columns == "" && onlyOnce(sql) {
		columns = sql
	}
	if !s.Small && columns == "" {
		columns = duck.Unknown
	}
	if s.Small || s.Light {
		s.slot++
		t, err := s.Conn.Keep(ctx, duck.Keeping{Slot: s.slot, SQL: sql, Columns: columns, Most: mostRows})
		if err == nil {
			s.kept[t.Name()] = t
			return t.Name(), nil
		}
		if !errors.Is(err, duck.ErrTooMany) {
			return "", err
		}
		s.Small, s.Light = false, false
	}
	name := s.name()
	return name, s.Conn.Exec(ctx, "CREATE TABLE "+name+" AS "+sql)
}

// onlyOnce reports whether DuckDB 1.5 cannot run a text's plan again: that of an ASOF join.
func onlyOnce(sql string) bool { return strings.Contains(sql, "ASOF") }

// Empty makes a table in the database, to insert into.
func (s *Set) Empty(ctx context.Context, columns string) (string, error) {
	name := s.name()
	return name, s.Conn.Exec(ctx, "CREATE TABLE "+name+"("+columns+")")
}

func (s *Set) name() string {
	s.made = true
	s.tables++
	return fmt.Sprintf("sf$t%d", s.tables)
}

// Rows is how many rows a table has, if that is known without counting.
func (s *Set) Rows(name string) (int64, bool) {
	t, ok := s.kept[name]
	if !ok {
		return 0, false
	}
	return t.Rows(), true
}

// Count returns how many rows a relation has.
func (s *Set) Count(ctx context.Context, relation string) (int64, error) {
	if n, known := s.Rows(relation); known {
		return n, nil
	}
	var n int64
	text, err := s.Conn.Value(ctx, "SELECT CAST(count(*) AS VARCHAR) FROM "+relation)
	if err != nil {
		return 0, err
	}
	_, err = fmt.Sscan(text, &n)
	return n, err
}

// Integers visits a BIGINT column without NULLs of a table, given by name and position.
func (s *Set) Integers(ctx context.Context, table, column string, at int, fn func(int64)) error {
	if t, ok := s.kept[table]; ok {
		t.Integers(at, fn)
		return nil
	}
	t, err := s.Conn.Keep(ctx, duck.Keeping{Slot: -1, SQL: "SELECT " + column + " FROM " + table, Columns: "BIGINT", Most: 1 << 40})
	if err == nil {
		t.Integers(0, fn)
	}
	return err
}

// Batches hands over the rows of a table, or of a query, as Arrow batches, each valid during its call.
func (s *Set) Batches(ctx context.Context, sql string, fn func(arrow.RecordBatch) error) error {
	if t, ok := s.kept[strings.TrimPrefix(sql, "FROM ")]; ok {
		return t.Batches(fn)
	}
	if s.Small {
		s.slot++
		t, err := s.Conn.Keep(ctx, duck.Keeping{Slot: s.slot, SQL: sql, Most: mostRows})
		if err == nil {
			return t.Batches(fn)
		}
		if !errors.Is(err, duck.ErrTooMany) {
			return err
		}
	}
	return s.Conn.Batches(ctx, sql, fn)
}

// mostSpare is how many bytes of rows are kept for the next ones.
const mostSpare = 32 << 20

// Free takes back rows that nobody reads any more, for the next ones that are encoded.
func (s *Set) Free(r *memory.Rows) {
	if r.Reset() <= mostSpare {
		s.spare = r
	}
}

func (s *Set) rows() *memory.Rows {
	r := s.spare
	if s.spare = nil; r == nil {
		return &memory.Rows{}
	}
	return r
}

// Bind makes a relation's name, with a schema or without, mean the rows of a query until it is bound again.
func (s *Set) Bind(ctx context.Context, schema, name, sql string) error {
	full := bound.Ident(name)
	if schema != "" {
		full = bound.Ident(schema) + "." + full
	}
	if s.bound[full] == sql {
		return nil
	}
	if schema != "" {
		if err := s.Conn.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+bound.Ident(schema)); err != nil {
			return err
		}
	}
	if !s.transaction {
		s.bound[full] = sql
	}
	return s.Conn.Exec(ctx, "CREATE OR REPLACE VIEW "+full+" AS "+sql)
}
