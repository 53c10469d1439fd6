package asking

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/host/opening"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/job/kept"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
)

// Rows is an open result. Close it before the host.
type Rows struct {
	*query.Rows
	release func() error
}

// Close ends the result.
func (r *Rows) Close() error { return errors.Join(r.Rows.Close(), r.release()) }

// Query answers one SELECT over the committed relations, all as of the same moment. Close the
// rows. Mistakes in the SQL are *query.Error.
func (k *Asker) Query(ctx context.Context, sql string) (*Rows, error) {
	view := k.store.View()
	q := &reader{asker: k, view: view, dirs: []string{k.open.SpoolRoot()}}
	release := func() error {
		view.Close()
		return nil
	}
	rows, engine, err := q.run(ctx, sql)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return &Rows{Rows: rows, release: func() error { return errors.Join(engine.Return(), release()) }}, nil
}

// reader puts together what one query reads.
type reader struct {
	asker   *Asker
	view    *store.View
	network *catalog.Network
	dirs    []string
	reading query.Reading
	seen    map[string]bool // relations and side relations added, lower case
}

func (q *reader) run(ctx context.Context, sql string) (*query.Rows, *engines.Lent, error) {
	c, err := catalog.Read(q.asker.store, q.view)
	if err != nil {
		return nil, nil, err
	}
	if q.network, err = c.Network(); err != nil {
		return nil, nil, err
	}
	names, err := q.asker.open.Compiler().Names(ctx, sql)
	if err != nil {
		return nil, nil, err
	}
	q.reading.SQL, q.seen = sql, map[string]bool{}
	for _, n := range names {
		bare, side := n.Relation, ""
		if n.Schema != "" {
			bare, side = n.Schema, n.Relation
		}
		if unknown := q.unknown(bare, side); unknown != nil {
			unknown.Start, unknown.End = n.Start, n.End
			return nil, nil, unknown
		}
		if err := q.add(ctx, bare, side); err != nil {
			return nil, nil, err
		}
	}
	if err := q.narrow(ctx); err != nil {
		return nil, nil, err
	}
	engine, err := q.asker.open.Engines.Borrow(ctx, q.dirs)
	if err != nil {
		return nil, nil, err
	}
	rows, err := engine.Select(ctx, q.reading)
	if err != nil {
		return nil, nil, errors.Join(err, engine.Close())
	}
	return rows, engine, nil
}

// unknown says why a name cannot be read; nil when it can.
func (q *reader) unknown(bare, side string) *query.Error {
	a, ok := q.network.ByName[strings.ToLower(bare)]
	if !ok {
		var names, instances []string
		for _, other := range q.network.ByName {
			names = append(names, other.Relation())
			if other.Key != (addr.Key{}) && strings.EqualFold(other.Name, bare) {
				instances = append(instances, other.SQL())
			}
		}
		slices.Sort(names)
		slices.Sort(instances)
		detail := fmt.Sprintf("No source, stream or view named %q has been applied.", bare)
		if len(instances) > 0 {
			detail += fmt.Sprintf(" It has instances with names of their own, such as %s.", strings.Join(instances[:min(len(instances), 3)], ", "))
		} else if near := schema.Nearest(bare, names); near != "" {
			detail += fmt.Sprintf(" Did you mean %q?", near)
		}
		return &query.Error{Summary: "Unknown relation", Detail: detail}
	}
	g := q.network.Record(a).Live
	if g == nil {
		return &query.Error{Summary: "The relation has no rows yet", Detail: fmt.Sprintf("%s is there, but its rows were never computed to the end: run \"streamform apply\" again.", a)}
	}
	if _, ok := g.Sides[side]; ok || side == "" || side == "files" && a.Block == addr.Source {
		return nil
	}
	return &query.Error{Summary: "Unknown relation", Detail: fmt.Sprintf("The %s %q has no side relation %q.", a.Block, a.Relation(), side)}
}

// add adds a relation, and of a stream what it reads.
func (q *reader) add(ctx context.Context, bare, side string) error {
	key := strings.ToLower(bare + "." + side)
	a, ok := q.network.ByName[strings.ToLower(bare)]
	if !ok || q.seen[key] || q.network.Record(a).Live == nil {
		return nil
	}
	q.seen[key] = true
	g := q.network.Record(a).Live
	switch {
	case side == "files" && a.Block == addr.Source:
		return q.addLedger(a, g)
	case side != "":
		if table, ok := g.Sides[side]; ok {
			q.reading.Sides = append(q.reading.Sides, query.SideRows{Relation: a.Relation() + "." + side, Memory: q.view.Table(table)})
		}
		return nil
	case a.Block == addr.Source:
		return q.addFiles(ctx, a, g)
	}
	program, err := q.asker.known(ctx, q.network, a)
	if err != nil {
		return err
	}
	held := query.Held{Relation: a.Relation(), Program: program, Memory: func(operator string) query.Memory { return q.view.Table(g.Tables[operator]) }}
	if q.network.Record(a).Holds() {
		q.reading.Views = append(q.reading.Views, held)
		return nil
	}
	for _, name := range g.Relation.Reads {
		in, of, _ := strings.Cut(name, ".")
		if err := q.add(ctx, in, of); err != nil {
			return err
		}
	}
	if held.Former, err = q.former(ctx, a, g); err != nil {
		return err
	}
	q.reading.Streams = append(q.reading.Streams, held)
	return nil
}

// former are the queries that a stream had while it read its first files.
func (q *reader) former(ctx context.Context, a addr.Resource, g *catalog.Generation) (out []query.Former, err error) {
	for _, b := range g.Boundaries {
		program, err := q.asker.open.Former(ctx, q.network, a, b)
		if err != nil {
			return nil, err
		}
		if program == nil {
			continue
		}
		f := query.Former{Program: program, Until: map[string]int64{}}
		for _, in := range q.network.ByName {
			if r := q.network.Record(in); in.Block == addr.Source && r.Live != nil {
				f.Until[in.Relation()] = b.Read[r.Live.ID]
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func (q *reader) addFiles(ctx context.Context, a addr.Resource, g *catalog.Generation) (err error) {
	s, err := q.asker.open.Source(ctx, a, g)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	q.dirs = append(q.dirs, opening.Dirs(s)...)
	f := query.FileRows{Relation: a.Relation(), Scan: opening.Scan(g, s)}
	held, err := kept.Serving(q.view, g.ID, query.Columns(f.Scan))
	if err != nil {
		return fmt.Errorf("reading what %s holds: %w", a, err)
	}
	for _, p := range held {
		f.Held = append(f.Held, job.HeldRows(q.view, g.Kept, p))
	}
	err = job.Records(q.view, g.ID, func(r job.Record) error {
		if r.Status != connector.Read || held.Has(r.Ordinal) {
			return nil
		}
		f.Files = append(f.Files, r.File())
		return present(a, r.Path, s.Verify(ctx, r.Entry))
	})
	if lost := (*query.Error)(nil); errors.As(err, &lost) {
		return lost
	}
	if err != nil {
		return fmt.Errorf("reading the ledger of %s: %w", a, err)
	}
	q.reading.Sources = append(q.reading.Sources, f)
	return nil
}

// present turns what Verify says of a file that was read into what it means for a query: a source holds no rows, they
// are read from its files.
func present(a addr.Resource, path string, err error) error {
	what := "is not there any more"
	switch {
	case errors.Is(err, connector.ErrChanged):
		what = "has changed since"
	case !errors.Is(err, connector.ErrVanished):
		return err
	}
	return &query.Error{Summary: "The rows of a source cannot be read again", Detail: fmt.Sprintf(
		"%s was read for %s and %s. Streams hold no rows, nor do sources unless they keep them: a query reads the files again. Query a view, which holds its rows, or put the file back.", path, a, what)}
}

// addLedger adds <source>.files.
func (q *reader) addLedger(a addr.Resource, g *catalog.Generation) error {
	t := query.TableRows{Relation: a.Relation() + ".files", Columns: ledgerColumns()}
	err := job.Records(q.view, g.ID, func(r job.Record) error {
		t.Rows = append(t.Rows, ledgerRow(r))
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the ledger of %s: %w", a, err)
	}
	q.reading.Tables = append(q.reading.Tables, t)
	return nil
}

func ledgerColumns() batch.Schema {
	return batch.Schema{
		{Name: "path", Type: "VARCHAR"}, {Name: "version", Type: "VARCHAR"}, {Name: "size_bytes", Type: "BIGINT"},
		{Name: "modified_at", Type: "TIMESTAMP"}, {Name: "discovered_at", Type: "TIMESTAMP"}, {Name: "ordinal", Type: "BIGINT"},
		{Name: "rows", Type: "BIGINT"}, {Name: "status", Type: "VARCHAR"}, {Name: "epoch", Type: "BIGINT"},
		{Name: "committed_at", Type: "TIMESTAMP"}, {Name: "error", Type: "VARCHAR"},
	}
}

func ledgerRow(r job.Record) []*string {
	row := []*string{text(r.Path), text(r.Version), whole(r.SizeBytes), moment(r.ModifiedAt), moment(r.DiscoveredAt), whole(r.Ordinal),
		nil, text(r.Status), nil, moment(r.CommittedAt), nil}
	if r.Rows >= 0 {
		row[6] = whole(r.Rows)
	}
	if r.Epoch > 0 {
		row[8] = whole(r.Epoch)
	}
	if r.Error != "" {
		row[10] = text(r.Error)
	}
	return slices.Clip(row)
}

func text(s string) *string { return &s }

func whole(n int64) *string { return text(strconv.FormatInt(n, 10)) }

func moment(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return text(t.UTC().Format("2006-01-02 15:04:05.999999"))
}
