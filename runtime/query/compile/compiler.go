package compile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/bound"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/statement"
)

// Compiler analyses SQL against relations that hold no rows. It reaches no file
// and no network. It is safe for concurrent use.
type Compiler struct {
	workers   chan *duck.Conn
	functions statement.Functions
	parsed    sync.Map // SQL → its tree as JSON, from Names to Compile
	types     sync.Map // type text → as DESCRIBE prints it
}

// keptOptimizers rewrite logic; all others depend on statistics of the empty
// tables, fuse operators, or break the plan's JSON form, as unnest_rewriter does.
func keptOptimizers() []string {
	return []string{"filter_pullup", "filter_pushdown", "deliminator", "cte_inlining"}
}

// NewCompiler starts a compiler with the given number of workers.
func NewCompiler(ctx context.Context, workers int) (*Compiler, error) {
	c := &Compiler{workers: make(chan *duck.Conn, max(workers, 1))}
	for range max(workers, 1) {
		conn, err := openCompiling(ctx)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		c.workers <- conn
	}
	conn := <-c.workers
	defer func() { c.workers <- conn }()
	var err error
	c.functions, err = statement.LoadFunctions(ctx, conn)
	return c, err
}

func openCompiling(ctx context.Context) (*duck.Conn, error) {
	conn, err := duck.Open(ctx, "SET threads = 1")
	if err != nil {
		return nil, err
	}
	rows, err := conn.Text(ctx, "SELECT name FROM duckdb_optimizers()")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listing DuckDB's optimizers: %w", err), conn.Close())
	}
	var off []string
	for _, r := range rows {
		if !slices.Contains(keptOptimizers(), *r[0]) {
			off = append(off, *r[0])
		}
	}
	for _, s := range []string{
		"SET disabled_optimizers = " + bound.Text(strings.Join(off, ",")),
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	} {
		if err := conn.Exec(ctx, s); err != nil {
			return nil, errors.Join(fmt.Errorf("setting up the compiler: %w", err), conn.Close())
		}
	}
	return conn, nil
}

// Close frees the compiler.
func (c *Compiler) Close() error {
	var err error
	for len(c.workers) > 0 {
		err = errors.Join(err, (<-c.workers).Close())
	}
	return err
}

func (c *Compiler) worker(ctx context.Context) (*duck.Conn, error) {
	select {
	case conn := <-c.workers:
		return conn, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Names lists the relations a query reads, without CTEs, in the order they stand. A text that does
// not parse, or is not one SELECT, is an *statement.Error with its place.
func (c *Compiler) Names(ctx context.Context, sql string) ([]statement.Name, error) {
	conn, err := c.worker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { c.workers <- conn }()
	doc, err := statement.Serialize(ctx, conn, sql)
	if err != nil {
		return nil, err
	}
	s, err := statement.Read(doc, sql)
	if err != nil {
		return nil, err
	}
	c.parsed.Store(sql, doc)
	return s.Names(), nil
}

// Types checks DuckDB type texts, such as the columns of a source, and returns them as DESCRIBE prints them. A
// type that does not exist is an *statement.Error whose Detail suggests one.
func (c *Compiler) Types(ctx context.Context, types []string) ([]string, error) {
	out := make([]string, len(types))
	for i, t := range types {
		if known, ok := c.types.Load(t); ok {
			out[i] = known.(string)
			continue
		}
		if strings.ContainsAny(t, ";\n") {
			return nil, &statement.Error{Summary: "Invalid column type", Detail: fmt.Sprintf("%q is not a DuckDB type.", t)}
		}
		var err error
		if out[i], err = c.typeOf(ctx, t); err != nil {
			return nil, err
		}
		c.types.Store(t, out[i])
	}
	return out, nil
}

func (c *Compiler) typeOf(ctx context.Context, t string) (string, error) {
	conn, err := c.worker(ctx)
	if err != nil {
		return "", err
	}
	defer func() { c.workers <- conn }()
	name, err := conn.Value(ctx, "SELECT typeof(CAST(NULL AS "+t+"))")
	if err != nil {
		return "", &statement.Error{Summary: "Invalid column type", Detail: fmt.Sprintf("%q is not a DuckDB type: %s", t, strings.ReplaceAll(FirstLine(err.Error()), "main.", ""))}
	}
	return name, nil
}

// FirstLine is a DuckDB message without the excerpt of the SQL behind it.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n\nLINE 1:")
	return s
}

// Compile binds a query and turns it into operators. Mistakes of the user are *statement.Error.
func (c *Compiler) Compile(ctx context.Context, q Query) (*Program, error) {
	conn, err := c.worker(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { c.workers <- conn }()
	if err := conn.Exec(ctx, "BEGIN"); err != nil {
		return nil, fmt.Errorf("compiling SQL: %w", err)
	}
	p, err := c.compile(ctx, conn, q)
	if back := conn.Exec(ctx, "ROLLBACK"); back != nil {
		return nil, errors.Join(err, fmt.Errorf("compiling SQL: %w", back))
	}
	return p, err
}

// parse takes the tree that Names left, if it was asked before.
func (c *Compiler) parse(ctx context.Context, conn *duck.Conn, sql string) (*statement.Statement, error) {
	if doc, ok := c.parsed.LoadAndDelete(sql); ok {
		return statement.Read(doc.(string), sql)
	}
	return statement.Parse(ctx, conn, sql)
}

func (c *Compiler) compile(ctx context.Context, conn *duck.Conn, q Query) (*Program, error) {
	s, err := c.parse(ctx, conn, q.SQL)
	if err != nil {
		return nil, err
	}
	clock, err := c.clocks(s, q.Stream)
	if err != nil {
		return nil, err
	}
	b := &binding{ctx: ctx, conn: conn, relations: map[string]Relation{}, pending: map[string]string{}}
	if err := b.declare(s.Names(), q.Relations); err != nil {
		return nil, err
	}
	p := &Program{SQL: q.SQL, Body: s.Body, Reads: b.reads, Stream: q.Stream, full: q.Full, Temporal: len(clock.places) > 0}
	if p.Temporal {
		if err := b.check(q.SQL); err != nil { // its places are those of the text as written
			return nil, err
		}
	}
	doc, err := b.plan(clock.sql)
	if err != nil {
		return nil, clock.unplanned(err)
	}
	if p.Columns, err = b.describe(s.Body); err != nil {
		return nil, err
	}
	if e := UniqueColumns(p.Columns); e != nil {
		return nil, e
	}
	if e := b.holdable(p.Columns); e != nil {
		return nil, e
	}
	if err := p.build(b, doc); err != nil {
		return nil, clock.explain(err)
	}
	if q.Stream && !p.AppendOnly {
		return nil, c.streamError(s, p)
	}
	return p, p.setKey(q.Keys)
}

// UniqueColumns says which name two columns share; nil when none do.
func UniqueColumns(columns batch.Schema) *statement.Error {
	seen := map[string]bool{}
	for _, c := range columns {
		name := strings.ToLower(c.Name)
		if seen[name] {
			return &statement.Error{Summary: "Two columns of one name", Detail: fmt.Sprintf("The result has more than one column named %q. Names are compared without case; give one of them another name with AS.", c.Name)}
		}
		seen[name] = true
	}
	return nil
}

// holdable refuses columns of types that rows cannot be kept in, and of rows without member names: nothing can be declared with their type.
func (b *binding) holdable(columns batch.Schema) *statement.Error {
	for _, c := range columns {
		if strings.Contains(c.Type, "UNION(") || strings.Contains(c.Type, "VARIANT") {
			return &statement.Error{Summary: "A type that rows cannot be kept in", Detail: fmt.Sprintf("The column %q is of type %s. Cast it to JSON or VARCHAR, "+
				"or give each of its members a column of its own.", c.Name, c.Type)}
		}
		if !strings.Contains(c.Type, "STRUCT(") || b.conn.Exec(b.ctx, "SELECT CAST(NULL AS "+c.Type+")") == nil {
			continue
		}
		return &statement.Error{Summary: "A row without member names", Detail: fmt.Sprintf("The column %q is of type %s, and its members have no names. "+
			"Name them: {'a': …, 'b': …} or struct_pack(a := …, b := …) instead of row(…).", c.Name, c.Type)}
	}
	return nil
}

// runsAsWritten refuses what a table has and a relation has not, where the query itself is to run: the row identifier.
func (b *binding) runsAsWritten(body string) error {
	for leaf, r := range b.relations {
		list := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			list[i] = "CAST(NULL AS " + c.Type + ") AS " + bound.Ident(c.Name)
		}
		for _, sql := range []string{"DROP TABLE " + LeafTable(leaf), "CREATE VIEW " + LeafTable(leaf) + " AS SELECT " + strings.Join(list, ", ")} {
			if err := b.conn.Exec(b.ctx, sql); err != nil {
				return fmt.Errorf("declaring %s: %w", r.Name, err)
			}
		}
	}
	_, err := b.describe(body)
	var bad *statement.Error
	if errors.As(err, &bad) && strings.Contains(bad.Detail, "rowid") {
		return &statement.Error{Summary: "Rows have no identifier", Detail: "rowid is where a row lies in a table of DuckDB, and a relation is no table. " +
			"Use a key of the rows; a source gives their place with metadata = [\"_file_path\", \"_row_number\"]."}
	}
	return err
}

func (c *Compiler) streamError(s *statement.Statement, p *Program) *statement.Error {
	what, start, end := c.functions.CorrectionPlace(s)
	if what == "" {
		what = "this query"
		if p.FullRefresh != "" {
			what = p.FullRefresh
		}
	}
	return &statement.Error{
		Summary: "A stream cannot take rows back",
		Detail: fmt.Sprintf("The result of %s changes when more rows arrive, and a stream never takes back a row it has emitted. "+
			"Declare a view instead of a stream: it is corrected as rows arrive. Or keep the stream to filters and expressions, and put the rest into a view that reads it.", what),
		Start: start, End: end,
	}
}

// binding is the empty database one query is compiled against.
type binding struct {
	ctx       context.Context
	conn      *duck.Conn
	relations map[string]Relation // by leaf name
	reads     []string
	pending   map[string]string // tables declared, made when SQL first names them: name → DDL
}

// declare makes an empty table for every relation the query names. One that is
// unknown is left to DuckDB, whose message suggests names.
func (b *binding) declare(names []statement.Name, relations []Relation) error {
	known := map[string]Relation{}
	for _, r := range relations {
		known[strings.ToLower(r.Name)] = r
	}
	for _, n := range names {
		leaf := logical.RelationLeaf(n.Schema, n.Relation)
		r, ok := known[leaf]
		if _, done := b.relations[leaf]; done || !ok {
			continue
		}
		b.relations[leaf] = r
		b.reads = append(b.reads, r.Name)
		if n.Schema != "" {
			if err := b.conn.Exec(b.ctx, "CREATE SCHEMA IF NOT EXISTS "+bound.Ident(strings.ToLower(n.Schema))); err != nil {
				return fmt.Errorf("declaring %s: %w", r.Name, err)
			}
		}
		if err := b.conn.Exec(b.ctx, "CREATE TABLE "+LeafTable(leaf)+"("+ColumnList(r.Columns)+")"); err != nil {
			return &statement.Error{Summary: "Invalid columns", Detail: fmt.Sprintf("The columns of %s cannot be declared: %s", r.Name, FirstLine(err.Error()))}
		}
	}
	return nil
}

// LeafTable is the SQL name of a leaf: a schema and a name, or a name.
func LeafTable(leaf string) string {
	schema, name, ok := strings.Cut(leaf, ".")
	if !ok {
		return bound.Ident(leaf)
	}
	return bound.Ident(schema) + "." + bound.Ident(name)
}

// ColumnList writes columns as DDL does.
func ColumnList(columns batch.Schema) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = bound.Ident(c.Name) + " " + c.Type
	}
	return strings.Join(parts, ", ")
}

// plan returns the JSON of the bound plan, rewritten by the kept optimizers.
func (b *binding) plan(sql string) ([]byte, error) { return b.serialize(sql, true) }

// check binds a query for its mistakes alone. It stays clear of the optimizers, some of
// which make plans that cannot be serialized.
func (b *binding) check(sql string) error {
	_, err := b.serialize(sql, false)
	return err
}

func (b *binding) serialize(sql string, optimize bool) ([]byte, error) {
	if err := b.make(sql); err != nil {
		return nil, err
	}
	doc, err := b.conn.Value(b.ctx, fmt.Sprintf("SELECT CAST(json_serialize_plan(%s, optimize := %t) AS VARCHAR)", bound.Text(sql), optimize))
	if err != nil {
		return nil, &statement.Error{Summary: "Invalid SQL", Detail: statement.Sentence(FirstLine(err.Error()))}
	}
	doc = statement.QuoteNumbers(doc)
	var r statement.Report
	if err := json.Unmarshal([]byte(doc), &r); err != nil {
		return nil, fmt.Errorf("reading the bound plan: %w", err)
	}
	if r.Error && r.Type != "not implemented" && r.Type != "serialization" {
		return nil, r.AsError(sql)
	}
	return []byte(doc), nil
}

// make makes the declared tables that SQL names.
func (b *binding) make(sql string) error {
	for name, ddl := range b.pending {
		if !strings.Contains(sql, bound.Ident(name)) {
			continue
		}
		if err := b.conn.Exec(b.ctx, ddl); err != nil {
			if b.ctx.Err() != nil {
				return fmt.Errorf("declaring an operator: %w", err)
			}
			return bound.Unsupportedf(bound.ByType, "remembered columns that cannot be declared")
		}
		delete(b.pending, name)
	}
	return nil
}

func (b *binding) describe(body string) (batch.Schema, error) {
	if err := b.make(body); err != nil {
		return nil, err
	}
	rows, err := b.conn.Text(b.ctx, "SELECT column_name, column_type FROM (DESCRIBE ("+body+"\n))")
	if err != nil {
		return nil, &statement.Error{Summary: "Invalid SQL", Detail: statement.Sentence(FirstLine(err.Error()))}
	}
	var out batch.Schema
	for _, r := range rows {
		out = append(out, batch.Column{Name: *r[0], Type: *r[1]})
	}
	return out, nil
}

// Bind checks a query against the relations that a connection holds, and returns its columns. Mistakes are *statement.Error.
func Bind(ctx context.Context, conn *duck.Conn, s *statement.Statement) (batch.Schema, error) {
	b := &binding{ctx: ctx, conn: conn}
	columns, err := b.describe(s.Body)
	if err != nil {
		if bad := b.check(s.Text); bad != nil { // it knows where the mistake is
			return nil, bad
		}
	}
	return columns, err
}
