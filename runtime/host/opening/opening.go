// Package opening opens what the resources of a catalog stand for: sources, sinks, engines and compiled queries.
package opening

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host/catalog"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
)

// Options set up an Opener.
type Options struct {
	DataDir     string // the runtime's own folder
	ProjectDir  string // relative paths in resources are relative to it
	Definitions []connector.Definition
	Version     string            // streamform's version
	Memory      int64             // the whole budget, bytes: see engines.Options
	Threads     int               // of one engine; 0: all cores
	Out         func(line string) // where sink.console prints
	Now         func() time.Time
}

// Opener opens things. It may be used by several goroutines.
type Opener struct {
	Engines     *engines.Pool
	options     Options
	definitions map[string]connector.Definition // by kind
	compiler    *query.Compiler
}

const (
	spoolFolder = "spool" // output that is staged, by sink generation
	spillFolder = "spill" // what DuckDB does not hold in memory
)

// New makes an opener, and the folders it needs.
func New(ctx context.Context, o Options) (*Opener, error) {
	for _, dir := range []string{spoolFolder, spillFolder} {
		if err := os.MkdirAll(filepath.Join(o.DataDir, dir), 0o700); err != nil {
			return nil, fmt.Errorf("making the data directory: %w", err)
		}
	}
	op := &Opener{options: o, definitions: map[string]connector.Definition{}}
	op.Engines = engines.New(engines.Options{Memory: o.Memory, Threads: o.Threads, TempDir: filepath.Join(o.DataDir, spillFolder)})
	for _, d := range o.Definitions {
		op.definitions[d.Kind.Name()] = d
	}
	var err error
	if op.compiler, err = query.NewCompiler(ctx, 1); err != nil {
		return nil, fmt.Errorf("starting the compiler: %w", err)
	}
	return op, nil
}

// Close frees the opener. What it opened is closed by itself.
func (o *Opener) Close() error { return errors.Join(o.Engines.Close(), o.compiler.Close()) }

// Knows reports whether there is a kind.
func (o *Opener) Knows(kind string) bool {
	_, ok := o.definitions[kind]
	return ok
}

// Definition is that of a kind; zero when there is none.
func (o *Opener) Definition(kind string) connector.Definition { return o.definitions[kind] }

// Compiler compiles queries; it must not be closed.
func (o *Opener) Compiler() *query.Compiler { return o.compiler }

// SpoolRoot is the folder of all staged output, where anything may be kept for a moment.
func (o *Opener) SpoolRoot() string { return filepath.Join(o.options.DataDir, spoolFolder) }

// Spool is where the output of a sink's generation is staged.
func (o *Opener) Spool(generation string) string { return filepath.Join(o.SpoolRoot(), generation) }

func (o *Opener) env(spool string) connector.Env {
	return connector.Env{Dir: o.options.ProjectDir, Spool: spool, Version: o.options.Version, Now: o.options.Now, Out: o.options.Out}
}

// Source opens a generation of a source.
func (o *Opener) Source(ctx context.Context, a addr.Resource, g *catalog.Generation) (connector.Source, error) {
	d, ok := o.definitions[a.Kind()]
	if !ok || d.Source == nil {
		return nil, fmt.Errorf("opening %s: this version has no source of kind %s", a, a.Kind())
	}
	cfg, err := d.Config(g.Value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	s, err := d.Source(ctx, cfg, o.env(o.SpoolRoot()))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	return s, nil
}

// Sink opens a generation of a sink, and makes the folder where its output is staged.
func (o *Opener) Sink(ctx context.Context, a addr.Resource, g *catalog.Generation) (connector.Sink, error) {
	spool := o.Spool(g.ID)
	if err := os.MkdirAll(spool, 0o700); err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	return o.sink(ctx, a, g, spool)
}

// Look opens a sink that is not to stage anything.
func (o *Opener) Look(ctx context.Context, a addr.Resource, g *catalog.Generation) (connector.Sink, error) {
	return o.sink(ctx, a, g, o.SpoolRoot())
}

func (o *Opener) sink(ctx context.Context, a addr.Resource, g *catalog.Generation, spool string) (connector.Sink, error) {
	d, ok := o.definitions[a.Kind()]
	if !ok || d.Sink == nil {
		return nil, fmt.Errorf("opening %s: this version has no sink of kind %s", a, a.Kind())
	}
	cfg, err := d.Config(g.Value)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	s, err := d.Sink(ctx, cfg, o.env(spool))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", a, err)
	}
	return s, nil
}

// World says which generation of each resource takes part; nil leaves it out.
type World func(r *catalog.Record) *catalog.Generation

// Scan is how a source is decoded: with the columns that were settled when it was applied.
func Scan(g *catalog.Generation, s connector.Source) batch.Scan {
	scan, _ := s.Scan()
	if g.Relation == nil {
		return scan
	}
	scan.Columns = nil
	for _, c := range g.Relation.Columns {
		if !slices.Contains(scan.Metadata, c.Name) {
			scan.Columns = append(scan.Columns, c)
		}
	}
	return scan
}

// Read opens a generation of a source as a job reads it. Its From must be closed.
func (o *Opener) Read(ctx context.Context, a addr.Resource, g *catalog.Generation) (job.Source, error) {
	keeps, err := g.Keeps()
	if err != nil {
		return job.Source{}, fmt.Errorf("opening %s: %w", a, err)
	}
	from, err := o.Source(ctx, a, g)
	if err != nil {
		return job.Source{}, err
	}
	return job.Source{Addr: a, ID: g.ID, Generation: g.Number, From: from, Scan: Scan(g, from), Sides: g.Sides, Keeps: keeps}, nil
}

// Compile compiles the SQL of a stream or view against the relations of a world.
func (o *Opener) Compile(ctx context.Context, n *catalog.Network, a addr.Resource, of World) (*query.Program, error) {
	q, err := Asked(n, a, of)
	if err != nil {
		return nil, err
	}
	program, err := o.compiler.Compile(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", a, err)
	}
	return program, nil
}

// Asked is what is compiled for a stream or view of a world.
func Asked(n *catalog.Network, a addr.Resource, of World) (query.Query, error) {
	g := of(n.Record(a))
	want, err := g.Wanted()
	if err != nil {
		return query.Query{}, fmt.Errorf("reading %s: %w", a, err)
	}
	q := query.Query{SQL: want.SQL, Stream: a.Block == addr.Stream, Keys: want.Keys, Full: want.FullRefresh == "always"}
	for _, name := range g.Relation.Reads {
		bare, side, _ := strings.Cut(name, ".")
		in, ok := n.ByName[strings.ToLower(bare)]
		if !ok || of(n.Record(in)) == nil {
			return q, fmt.Errorf("compiling %s: the runtime has no relation %s", a, bare)
		}
		q.Relations = append(q.Relations, readable(in.Relation(), side, of(n.Record(in)).Relation))
	}
	return q, nil
}

// readable is a relation, or one of its side relations, as a query reads it.
func readable(name, side string, of *catalog.Relation) query.Relation {
	id := of.ID
	if id == "" {
		id = of.Identity
	}
	if side == "" {
		return query.Relation{Name: name, Columns: of.Columns, AppendOnly: of.AppendOnly, Key: of.Key, Identity: id}
	}
	return query.Relation{Name: name + "." + side, Columns: of.Sides[side], AppendOnly: true, Identity: id + "." + side}
}

// Dirs are the folders and files that an engine must be allowed to read for a source.
func Dirs(s connector.Source) []string {
	if l, ok := s.(connector.Located); ok {
		return l.Dirs()
	}
	return nil
}
