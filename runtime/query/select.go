package query

import (
	"context"
	"errors"
	"fmt"
	"github.com/streamform/streamform/runtime/query/compile"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query/admitted"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/logical"
	"github.com/streamform/streamform/runtime/query/result"
	"github.com/streamform/streamform/runtime/query/scan"
	"github.com/streamform/streamform/runtime/query/stage"
	"github.com/streamform/streamform/runtime/query/statement"
)

// Infer finds the columns of files by reading a sample within the scan's bounds.
// What the files themselves get wrong is an *Error without a place.
func (e *Engine) Infer(ctx context.Context, s batch.Scan, files []batch.File) (batch.Schema, error) {
	return scan.Infer(ctx, e.Conn, s, files)
}

// Columns are a source's columns as SQL sees them: declared or inferred, then the metadata asked for.
func Columns(s batch.Scan) batch.Schema { return scan.Columns(s) }

// Select answers a Reading. Only relations that the SQL names, directly or
// through a stream, are loaded. Mistakes in the SQL are *Error.
func (e *Engine) Select(ctx context.Context, r Reading) (*Rows, error) {
	rows, err := e.selectOnce(ctx, r)
	if err == nil || ctx.Err() != nil || !duck.Unreadable(err.Error()) {
		return rows, err
	}
	// A value that no relation reads, and so no epoch met, may not fit its column: the careful scan shows the row without it.
	again := r
	again.Sources = slices.Clone(r.Sources)
	for i, s := range again.Sources {
		again.Sources[i].Files = slices.Clone(s.Files)
		for j := range again.Sources[i].Files {
			again.Sources[i].Files[j].Careful = true
		}
	}
	rows, second := e.selectOnce(ctx, again)
	if second != nil {
		return nil, err
	}
	return rows, nil
}

func (e *Engine) selectOnce(ctx context.Context, r Reading) (*Rows, error) {
	// Reading files with malformed records goes on after failed statements.
	if err := e.beginReading(ctx, !slices.ContainsFunc(r.Sources, func(s FileRows) bool {
		return slices.ContainsFunc(s.Files, func(f batch.File) bool { return f.Careful })
	})); err != nil {
		return nil, err
	}
	rows, err := e.answer(ctx, r)
	if err != nil {
		return nil, errors.Join(err, e.Clear(context.WithoutCancel(ctx)))
	}
	return rows, nil
}

// beginReading starts what is not an epoch, on the database with all threads.
func (e *Engine) beginReading(ctx context.Context, transaction bool) error {
	if err := e.use(ctx, false); err != nil {
		return err
	}
	return e.Begin(ctx, false, transaction)
}

func (e *Engine) answer(ctx context.Context, r Reading) (*Rows, error) {
	s, err := statement.Parse(ctx, e.Conn, r.SQL)
	if err != nil {
		return nil, err
	}
	if bad := statement.CheckReading(s); bad != nil {
		return nil, bad
	}
	b := &reading{Engine: e, r: r, bound: map[string]bool{}}
	for _, n := range s.Names() {
		if err := b.bind(ctx, logical.RelationLeaf(n.Schema, n.Relation)); err != nil {
			return nil, err
		}
	}
	columns, err := compile.Bind(ctx, e.Conn, s)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(columns))
	list := make([]string, 0, 2*len(columns))
	for i := range columns {
		names[i] = fmt.Sprintf("c%d", i)
		list = append(list, "CAST("+names[i]+" AS "+result.Texts(columns[i].Type)+")")
	}
	for _, n := range names {
		list = append(list, "CAST("+n+" AS VARCHAR)")
	}
	rows, err := e.Conn.Open(ctx, fmt.Sprintf("SELECT %s FROM (%s\n) t(%s)", strings.Join(list, ", "), s.Body, strings.Join(names, ", ")))
	if err != nil {
		return nil, &Error{Summary: "The query failed", Detail: statement.Sentence(compile.FirstLine(err.Error()))}
	}
	return result.New(columns, rows, func() error { return e.Clear(context.WithoutCancel(ctx)) }), nil
}

// reading binds the relations of one ad-hoc query.
type reading struct {
	*Engine
	r     Reading
	bound map[string]bool
}

func named(leaf, relation string) bool { return strings.EqualFold(leaf, relation) }

// bind makes a name readable. A name nobody knows is left to DuckDB, whose message suggests others.
func (b *reading) bind(ctx context.Context, leaf string) error {
	if b.bound[leaf] {
		return nil
	}
	b.bound[leaf] = true
	sql, err := b.rowsFor(ctx, leaf)
	if err != nil {
		return fmt.Errorf("reading %s: %w", leaf, err)
	}
	if sql == "" {
		return nil
	}
	return b.bindName(ctx, leaf, sql)
}

func (b *reading) rowsFor(ctx context.Context, leaf string) (string, error) {
	for _, s := range b.r.Sources {
		if named(leaf, s.Relation) {
			return b.sourceRows(ctx, s)
		}
	}
	for _, s := range b.r.Streams {
		if named(leaf, s.Relation) {
			if len(s.Former) > 0 {
				return b.mixed(ctx, s, scan.Stretch{})
			}
			for _, in := range slices.Sorted(maps.Keys(s.Program.LeafColumns)) {
				if err := b.bind(ctx, in); err != nil {
					return "", err
				}
			}
			return "SELECT * FROM (" + s.Program.Body + "\n)", nil
		}
	}
	for _, v := range b.r.Views {
		if named(leaf, v.Relation) {
			rows, err := b.held(ctx, v)
			return "SELECT * FROM " + rows, err
		}
	}
	for _, s := range b.r.Sides {
		if named(leaf, s.Relation) {
			_, side, _ := strings.Cut(leaf, ".")
			table, err := b.loadBlocks(ctx, SideColumns(side), s.Memory)
			return "SELECT * FROM " + table, err
		}
	}
	for _, t := range b.r.Tables {
		if named(leaf, t.Relation) {
			table, err := b.Given(ctx, compile.ColumnList(t.Columns), t.Rows)
			return "SELECT * FROM " + table, err
		}
	}
	return "", nil
}

// sourceRows reads the admitted rows of files; those known to hold malformed records are read with care.
func (b *reading) sourceRows(ctx context.Context, s FileRows) (string, error) {
	var clean, dirty []batch.File
	for _, f := range s.Files {
		if f.Careful {
			dirty = append(dirty, f)
		} else {
			clean = append(clean, f)
		}
	}
	plan, err := scan.Make(s.Scan, clean)
	if err != nil {
		return "", err
	}
	sql := plan.SQL
	if len(s.Held) > 0 {
		if sql, _, err = admitted.Beside(ctx, b.Set, admitted.Held{Rows: s.Held, Scan: s.Scan}, "("+sql+")"); err != nil {
			return "", err
		}
		sql = "SELECT * FROM " + sql
	}
	if len(dirty) == 0 {
		return sql, nil
	}
	kept := s.Scan
	kept.OnMalformed, kept.Unknown = "drop", ""
	ep := &epoch{Engine: b.Engine, work: Work{Careful: true}, changes: map[string]*change{}, result: &Result{}}
	if err := ep.openInput(ctx, Input{Relation: s.Relation, Scan: kept, Files: dirty}); err != nil {
		return "", err
	}
	return "(" + sql + ") UNION ALL (SELECT * FROM " + ep.changes[strings.ToLower(s.Relation)].inserted + ")", nil
}

// held reads the rows of a view as it stands.
func (e *Engine) held(ctx context.Context, h Held) (string, error) {
	p := h.Program
	switch {
	case p.HoldsResult() && p.AppendOnly && p.FullRefresh == "":
		return e.loadBlocks(ctx, p.Columns, h.Memory(compile.ResultID))
	case p.HoldsResult():
		return e.loadCounted(ctx, p.Columns, h.Memory(compile.ResultID))
	}
	stored := map[string]*change{}
	for _, o := range p.Steps {
		if !slices.Contains(logical.Leaves(p.Final), o.Name()) {
			continue
		}
		rows, err := e.remembered(ctx, o, h.Memory(o.Name()))
		if err != nil {
			return "", err
		}
		stored[o.Name()] = &change{inserted: rows}
	}
	return side(p.Final, stored, func(c *change) string { return c.inserted })
}

// Load runs fn on everything a view holds as an insert-only change: for a new sink, or one that replaces its content.
func (e *Engine) Load(ctx context.Context, h Held, fn func(ctx context.Context, change batch.Change, counts batch.Counts, s *Stager) error) error {
	if err := e.beginReading(ctx, true); err != nil {
		return err
	}
	err := e.load(ctx, h, fn)
	return errors.Join(err, e.Clear(context.WithoutCancel(ctx)))
}

func (e *Engine) load(ctx context.Context, h Held, fn func(context.Context, batch.Change, batch.Counts, *Stager) error) error {
	rows, err := e.held(ctx, h)
	if err != nil {
		return fmt.Errorf("reading %s: %w", h.Relation, err)
	}
	table, err := e.Make(ctx, "SELECT * FROM "+rows)
	if err != nil {
		return fmt.Errorf("reading %s: %w", h.Relation, err)
	}
	n, err := e.Count(ctx, table)
	if err != nil {
		return fmt.Errorf("reading %s: %w", h.Relation, err)
	}
	return fn(ctx, batch.Change{Columns: h.Program.Columns, Inserted: table}, batch.Counts{Inserted: n}, stage.New(e.Set))
}
