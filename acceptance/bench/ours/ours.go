// Package ours runs relations on the real runtime in this process, files to synced commits, and measures its epochs.
package ours

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/acceptance/bench/meter"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/host/engines"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/kinds"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/scan"
)

// Options set up a Runtime.
type Options struct {
	Dir     string // the project's folder; the runtime lies in .streamform below it
	Memory  int64  // bytes; 0: the runtime's default
	Threads int    // 0: all cores
}

// Runtime is a host and what was put there.
type Runtime struct {
	options  Options
	host     *host.Host
	compiler *query.Compiler
	kinds    []connector.Definition
	known    []query.Relation
}

// Open opens the runtime of a folder, or makes it.
func Open(ctx context.Context, o Options) (*Runtime, error) {
	r := &Runtime{options: o, kinds: kinds.All()}
	if o.Memory == 0 {
		o.Memory = engines.DefaultMemory()
	}
	debug.SetMemoryLimit(engines.HeapLimit(o.Memory)) // as the binary does
	var err error
	r.host, err = host.Open(ctx, host.Options{DataDir: filepath.Join(o.Dir, ".streamform"), ProjectDir: o.Dir, Definitions: r.kinds,
		Version: "bench", Memory: o.Memory, Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	if r.compiler, err = query.NewCompiler(ctx, 1); err != nil {
		return nil, errors.Join(err, r.host.Close())
	}
	return r, nil
}

// Close frees the runtime; what was committed stays in its folder.
func (r *Runtime) Close() error { return errors.Join(r.compiler.Close(), r.host.Close()) }

// Input is a source of files.
type Input struct {
	Name   string
	Path   string // folder
	Format string // "parquet", "json"
	Files  int64  // an epoch takes at most so many; they are taken in the order of their names
	// Columns of JSON files, in the order of the relation's; those of Parquet files are found in them.
	Columns batch.Schema
}

// Source puts a source, or changes how many files an epoch takes.
func (r *Runtime) Source(ctx context.Context, in Input) error {
	attrs := map[string]cty.Value{"path": cty.StringVal(in.Path), "format": cty.StringVal(in.Format), "order": cty.StringVal("name"),
		"max_files_per_epoch": cty.NumberIntVal(in.Files)}
	if in.Columns != nil {
		types := map[string]cty.Value{}
		for _, c := range in.Columns {
			types[c.Name] = cty.StringVal(c.Type)
		}
		attrs["columns"] = cty.MapVal(types)
	}
	res, err := r.resource("source.files."+in.Name, attrs)
	if err != nil {
		return err
	}
	sample, err := r.host.Infer(ctx, res.Addr, res.Value)
	if err != nil {
		return err
	}
	columns := in.Columns
	if columns == nil {
		columns = scan.Columns(sample.Scan)
	}
	res.Relation = &host.Relation{Columns: columns, AppendOnly: true, Identity: res.Addr.String(),
		Sides: map[string]batch.Schema{"malformed": query.SideColumns("malformed")}}
	r.know(query.Relation{Name: in.Name, Columns: columns, AppendOnly: true, Identity: res.Relation.Identity})
	return r.host.Put(ctx, res)
}

// Relation puts a stream or a view, by its address ("view.q1"), and returns its columns.
func (r *Runtime) Relation(ctx context.Context, address, sql string) (batch.Schema, error) {
	res, err := r.resource(address, map[string]cty.Value{"sql": cty.StringVal(sql)})
	if err != nil {
		return nil, err
	}
	p, err := r.compiler.Compile(ctx, query.Query{SQL: sql, Relations: r.known, Stream: res.Addr.Block == addr.Stream})
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", address, err)
	}
	res.Relation = &host.Relation{Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Reads: p.Reads, Identity: p.Identity}
	r.know(query.Relation{Name: res.Addr.Relation(), Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Identity: p.Identity})
	return p.Columns, r.host.Put(ctx, res)
}

// Delta puts a sink that writes a relation to a Delta table.
func (r *Runtime) Delta(ctx context.Context, name, from, path string) error {
	res, err := r.resource("sink.delta."+name, map[string]cty.Value{"from": cty.StringVal(from), "path": cty.StringVal(path)})
	if err != nil {
		return err
	}
	return r.host.Put(ctx, res)
}

// Delete takes a resource away.
func (r *Runtime) Delete(ctx context.Context, address string) error {
	a, err := addr.Parse(address)
	if err != nil {
		return err
	}
	r.forget(a.Relation())
	return r.host.Delete(ctx, a)
}

func (r *Runtime) resource(address string, attrs map[string]cty.Value) (host.Resource, error) {
	a, err := addr.Parse(address)
	if err != nil {
		return host.Resource{}, err
	}
	i := slices.IndexFunc(r.kinds, func(d connector.Definition) bool { return d.Kind.Name() == a.Kind() })
	if i < 0 {
		return host.Resource{}, fmt.Errorf("there is no kind %s", a.Kind())
	}
	value, mistakes := r.kinds[i].Kind.Complete(cty.ObjectVal(attrs))
	if len(mistakes) > 0 {
		return host.Resource{}, fmt.Errorf("%s: %v", address, mistakes)
	}
	data, err := r.kinds[i].Kind.Marshal(value)
	return host.Resource{Addr: a, Generation: 1, Value: data}, err
}

func (r *Runtime) know(n query.Relation) {
	r.forget(n.Name)
	r.known = append(r.known, n)
}

func (r *Runtime) forget(name string) {
	r.known = slices.DeleteFunc(r.known, func(o query.Relation) bool { return o.Name == name })
}

// Backfill computes what was put and reads everything the sources hold.
func (r *Runtime) Backfill(ctx context.Context) error {
	_, err := r.host.Backfill(ctx, nil)
	return err
}

// Epoch is one committed epoch.
type Epoch struct {
	Rows int64 // read
	Cost meter.Cost
}

// Epochs reads what the sources hold that was not read yet. An epoch's cost reaches from the end of the one before it to its own
// end; that of the first has the start of the engine in it.
func (r *Runtime) Epochs(ctx context.Context) ([]Epoch, error) {
	var all []Epoch
	mark := meter.Start()
	err := r.host.Run(ctx, true, func(p job.Progress) {
		if p.NumInputRows > 0 {
			all = append(all, Epoch{Rows: p.NumInputRows, Cost: mark.Cost()})
		}
		mark = meter.Start()
	})
	return all, err
}

// Query answers a SELECT as text, NULL as "NULL".
func (r *Runtime) Query(ctx context.Context, sql string) (rows [][]string, err error) {
	result, err := r.host.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	for {
		cells, err := result.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		row := make([]string, len(cells))
		for i, c := range cells {
			if row[i] = c.Text; c.Null {
				row[i] = "NULL"
			}
		}
		rows = append(rows, row)
	}
}
