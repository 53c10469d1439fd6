// Package lockstep runs relations through the query engine epoch by epoch and, beside it, through plain DuckDB over all input so far.
package lockstep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/duck"
	"github.com/streamform/streamform/runtime/query/memory/inmap"
)

// Source is a relation read from files of JSON lines.
type Source struct {
	Name    string
	Columns batch.Schema
}

// Options set up a Run.
type Options struct {
	Dir     string // of the sources' files, and for what the engine spills
	Threads int    // of each of the two databases; 0: all cores
	Sources []Source
	Prelude []string // statements that plain DuckDB runs first
}

// Relation is a view, or a stream, over sources and the relations before it.
type Relation struct {
	Name    string
	SQL     string
	Batch   string // what plain DuckDB runs instead; empty: SQL
	Stream  bool
	Program *query.Program
}

// Run is the two sides of a comparison: the engine with what its operators remember in maps, and plain DuckDB.
type Run struct {
	options   Options
	compiler  *query.Compiler
	engine    *query.Engine
	plain     *duck.Conn
	relations []*Relation
	memories  map[string]*inmap.Memory
	streams   map[string][][]string // what streams have emitted
	ordinal   int64
}

// Open starts both sides.
func Open(ctx context.Context, o Options) (*Run, error) {
	r := &Run{options: o, memories: map[string]*inmap.Memory{}, streams: map[string][][]string{}}
	err := r.open(ctx)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Run) open(ctx context.Context) error {
	var err error
	if r.compiler, err = query.NewCompiler(ctx, 1); err != nil {
		return err
	}
	var settings []string
	if r.options.Threads > 0 {
		settings = append(settings, fmt.Sprintf("SET threads = %d", r.options.Threads))
	}
	if r.plain, err = duck.Open(ctx, append(settings, r.options.Prelude...)...); err != nil {
		return err
	}
	for _, s := range r.options.Sources {
		columns := make([]string, len(s.Columns))
		for i, c := range s.Columns {
			columns[i] = c.Name + " " + c.Type
		}
		if err := r.plain.Exec(ctx, "CREATE TABLE "+s.Name+"("+strings.Join(columns, ", ")+")"); err != nil {
			return fmt.Errorf("declaring %s: %w", s.Name, err)
		}
	}
	return r.Restart(ctx)
}

// Restart opens a new engine: nothing but what operators remember is carried over.
func (r *Run) Restart(ctx context.Context) error {
	if r.engine != nil {
		if err := r.engine.Close(); err != nil {
			return err
		}
	}
	var err error
	r.engine, err = query.OpenEngine(ctx, query.EngineOptions{TempDir: r.options.Dir, Dirs: []string{r.options.Dir}, Threads: r.options.Threads, Memory: 4 << 30})
	return err
}

// Close frees both sides.
func (r *Run) Close() error {
	var err error
	if r.engine != nil {
		err = r.engine.Close()
	}
	if r.plain != nil {
		err = errors.Join(err, r.plain.Close())
	}
	if r.compiler != nil {
		err = errors.Join(err, r.compiler.Close())
	}
	return err
}

// Add compiles a relation and returns its program.
func (r *Run) Add(ctx context.Context, rel Relation) (*query.Program, error) {
	var known []query.Relation
	for _, s := range r.options.Sources {
		known = append(known, query.Relation{Name: s.Name, Columns: s.Columns, AppendOnly: true, Identity: s.Name})
	}
	for _, k := range r.relations {
		p := k.Program
		known = append(known, query.Relation{Name: k.Name, Columns: p.Columns, AppendOnly: p.AppendOnly, Key: p.Key, Identity: k.Name})
	}
	p, err := r.compiler.Compile(ctx, query.Query{SQL: rel.SQL, Relations: known, Stream: rel.Stream})
	if err != nil {
		return nil, fmt.Errorf("compiling %s: %w", rel.Name, err)
	}
	rel.Program = p
	r.relations = append(r.relations, &rel)
	return p, nil
}

// Program is a relation's program.
func (r *Run) Program(relation string) (*query.Program, error) {
	rel, err := r.named(relation)
	if err != nil {
		return nil, err
	}
	return rel.Program, nil
}

// Memory is what a relation's operators remember in all: keys, and bytes of keys and values.
func (r *Run) Memory(relation string) (keys int, bytes int64) {
	for id, m := range r.memories {
		if strings.HasPrefix(id, relation+"/") {
			k, b := m.Size()
			keys, bytes = keys+k, bytes+b
		}
	}
	return keys, bytes
}

func (r *Run) memory(relation string) func(string) query.Memory {
	return func(operator string) query.Memory { return r.memoryOf(relation, operator) }
}

func (r *Run) memoryOf(relation, operator string) *inmap.Memory {
	id := relation + "/" + operator
	if r.memories[id] == nil {
		r.memories[id] = inmap.New()
	}
	return r.memories[id]
}

func (r *Run) step(rel *Relation) query.Step {
	s := query.Step{Relation: rel.Name, Program: rel.Program, Memory: r.memory(rel.Name)}
	if rel.Stream {
		s.Deliver = func(ctx context.Context, change batch.Change, _ batch.Counts, st *query.Stager) error {
			if change.Deleted != "" {
				return fmt.Errorf("%s takes rows back", rel.Name)
			}
			rows, err := st.Query(ctx, "SELECT CAST(COLUMNS(*) AS VARCHAR) FROM "+change.Inserted)
			for _, row := range rows {
				r.streams[rel.Name] = append(r.streams[rel.Name], cells(row))
			}
			return err
		}
	}
	return s
}

// inputs are the files of one epoch, by source name.
func (r *Run) inputs(files map[string]string) ([]query.Input, error) {
	var out []query.Input
	for _, s := range r.options.Sources {
		in := query.Input{Relation: s.Name, Epoch: 1, Scan: batch.Scan{Format: batch.Format{Name: "json"}, Columns: s.Columns, OnMalformed: "quarantine"}}
		if path := files[s.Name]; path != "" {
			info, err := os.Stat(path)
			if err != nil {
				return nil, fmt.Errorf("reading input: %w", err)
			}
			r.ordinal++
			in.Files = []batch.File{{Ordinal: r.ordinal, Path: path, Version: "1", Size: info.Size()}}
		}
		out = append(out, in)
	}
	return out, nil
}

// Epoch runs the files, by source name, through all relations on both sides, and returns how long the engine took.
func (r *Run) Epoch(ctx context.Context, files map[string]string) (time.Duration, error) {
	inputs, err := r.inputs(files)
	if err != nil {
		return 0, err
	}
	work := query.Work{Inputs: inputs}
	for _, rel := range r.relations {
		work.Steps = append(work.Steps, r.step(rel))
	}
	start := time.Now()
	result, err := r.engine.Run(ctx, work)
	took := time.Since(start)
	if err != nil {
		return 0, fmt.Errorf("running an epoch: %w", err)
	}
	for relation, list := range result.Remember {
		for _, m := range list {
			r.memoryOf(relation, m.Operator).Keep(m)
		}
	}
	return took, r.read(ctx, files)
}

// Try measures the CPU time of an epoch over some relations only, and forgets what it gave. Of several tries the cheapest counts.
func (r *Run) Try(ctx context.Context, files map[string]string, relations []string, tries int) (time.Duration, error) {
	inputs, err := r.inputs(files)
	if err != nil {
		return 0, err
	}
	work := query.Work{Inputs: inputs}
	for _, rel := range r.relations {
		for _, name := range relations {
			if rel.Name == name {
				work.Steps = append(work.Steps, query.Step{Relation: rel.Name, Program: rel.Program, Memory: r.memory(rel.Name)})
			}
		}
	}
	var best time.Duration
	for range tries {
		start := cpuTime()
		if _, err := r.engine.Run(ctx, work); err != nil {
			return 0, fmt.Errorf("trying an epoch: %w", err)
		}
		if took := cpuTime() - start; best == 0 || took < best {
			best = took
		}
	}
	return best, nil
}

// read brings plain DuckDB's sources up to date, and computes all relations anew.
func (r *Run) read(ctx context.Context, files map[string]string) error {
	for _, s := range r.options.Sources {
		path := files[s.Name]
		if path == "" {
			continue
		}
		columns := make([]string, len(s.Columns))
		for i, c := range s.Columns {
			columns[i] = fmt.Sprintf("%q: '%s'", c.Name, c.Type)
		}
		sql := fmt.Sprintf("INSERT INTO %s SELECT * FROM read_json('%s', columns = {%s}, format = 'newline_delimited')",
			s.Name, strings.ReplaceAll(path, "'", "''"), strings.Join(columns, ", "))
		if err := r.plain.Exec(ctx, sql); err != nil {
			return fmt.Errorf("reading %s: %w", s.Name, err)
		}
	}
	for _, rel := range r.relations {
		if _, err := r.Batch(ctx, rel.Name); err != nil {
			return err
		}
	}
	return nil
}

// Batch computes a relation by plain DuckDB, over the sources and the relations before it, and returns the CPU time it took.
func (r *Run) Batch(ctx context.Context, relation string) (time.Duration, error) {
	rel, err := r.named(relation)
	if err != nil {
		return 0, err
	}
	sql := rel.Batch
	if sql == "" {
		sql = rel.SQL
	}
	start := cpuTime()
	if err := r.plain.Exec(ctx, "CREATE OR REPLACE TABLE "+rel.Name+" AS "+sql); err != nil {
		return 0, fmt.Errorf("computing %s: %w", rel.Name, err)
	}
	return cpuTime() - start, nil
}

func (r *Run) named(relation string) (*Relation, error) {
	for _, rel := range r.relations {
		if rel.Name == relation {
			return rel, nil
		}
	}
	return nil, fmt.Errorf("there is no relation %s", relation)
}
