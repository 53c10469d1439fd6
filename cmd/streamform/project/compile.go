package project

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/runtime/query/seed"
	"github.com/streamform/streamform/state"
)

// analyze is the compiler's search for names as graph wants it. A failure of the
// machine is kept in failure, because graph only knows mistakes of the user.
func analyze(ctx context.Context, c *query.Compiler, failure *error) graph.Analyze {
	return func(sql string) ([]graph.Name, error) {
		names, err := c.Names(ctx, sql)
		if err != nil {
			err = sqlError(err)
			var mistake *graph.SQLError
			if !errors.As(err, &mistake) && *failure == nil {
				*failure = err
			}
			return nil, err
		}
		out := make([]graph.Name, len(names))
		for i, n := range names {
			out[i] = graph.Name{Schema: n.Schema, Relation: n.Relation, Start: n.Start, End: n.End}
		}
		return out, nil
	}
}

// compiler answers bind's questions: SQL by the query compiler, sources by a sampler, sinks by their
// connectors. It keeps the programs it compiled.
type compiler struct {
	query      *query.Compiler
	sample     sampler
	definition func(kind string) (connector.Definition, bool)
	env        connector.Env // of sinks that are only looked at
	lock       sync.Mutex
	programs   map[addr.Resource]*query.Program
	needs      map[addr.Resource][]evolve.Need // of edits that take over keyed data
}

func (c *compiler) Compile(ctx context.Context, q bind.Query) (bind.Compiled, error) {
	program, err := c.query.Compile(ctx, queryOf(q))
	if err != nil {
		return bind.Compiled{}, sqlError(err)
	}
	c.lock.Lock()
	c.programs[q.Addr] = program
	c.lock.Unlock()
	out := bind.Compiled{Columns: program.Columns, AppendOnly: program.AppendOnly, Key: program.Key, Reads: program.Reads, Identity: program.Identity}
	common := evolve.Common(program)
	for _, o := range program.Operators {
		step := state.Operator{Kind: o.Kind, Identity: o.Identity, Reason: o.Reason, Common: common[o.ID]}
		for _, in := range o.Inputs {
			if slices.Contains(program.Reads, in) {
				step.Reads = append(step.Reads, in)
			}
		}
		out.Operators = append(out.Operators, step)
	}
	return out, nil
}

// Compare compiles the former query with this version, too: a canonical form that another version wrote says nothing.
func (c *compiler) Compare(ctx context.Context, before, after bind.Query) (plan.Evolution, error) {
	was, err := c.query.Compile(ctx, queryOf(before))
	var wrong *query.Error
	switch {
	case errors.As(err, &wrong):
		return plan.Evolution{Class: plan.ReplayFromSource, Reason: "its former query cannot be compiled by this version"}, nil
	case err != nil:
		return plan.Evolution{}, err
	}
	is, err := c.program(ctx, after)
	if err != nil {
		return plan.Evolution{}, err
	}
	held := evolve.Held{}
	for _, r := range after.Relations {
		held[strings.ToLower(r.Name)] = r.Held
	}
	e := evolve.Compare(was, is, held)
	if e.Carry != nil {
		c.lock.Lock()
		c.needs[after.Addr] = seed.Plan{Program: is, Carry: *e.Carry}.Needs()
		c.lock.Unlock()
	}
	return evolution(e)
}

// evolution is that of the query engine in the terms of plan.
func evolution(e evolve.Evolution) (plan.Evolution, error) {
	out := plan.Evolution{Class: plan.Class(e.Class), Reason: e.Reason}
	for _, f := range e.Operators {
		out.Operators = append(out.Operators, plan.Fate{Name: f.Name, Kind: f.Kind, Detail: f.Detail, Fate: plan.FateKind(f.Fate), Reason: f.Reason})
	}
	if e.Carry == nil {
		return out, nil
	}
	var err error
	if out.Carry, err = json.Marshal(e.Carry); err != nil {
		return out, fmt.Errorf("writing what is carried over as JSON: %w", err)
	}
	return out, nil
}

// program is what Compile made of a query.
func (c *compiler) program(ctx context.Context, q bind.Query) (*query.Program, error) {
	c.lock.Lock()
	known := c.programs[q.Addr]
	c.lock.Unlock()
	if known != nil {
		return known, nil
	}
	return c.query.Compile(ctx, queryOf(q))
}

func queryOf(q bind.Query) query.Query {
	out := query.Query{SQL: q.SQL, Stream: q.Stream, Keys: q.Keys, Full: q.Full}
	for _, r := range q.Relations {
		out.Relations = append(out.Relations, query.Relation{Name: r.Name, Columns: r.Columns, AppendOnly: r.AppendOnly, Key: r.Key, Identity: r.Identity})
	}
	return out
}

func (c *compiler) Infer(ctx context.Context, s bind.Source) (bind.Inferred, error) {
	got, err := c.sample(ctx, s)
	if err != nil {
		return bind.Inferred{}, sqlError(err)
	}
	return got, nil
}

// CheckSink opens the sink, which refuses what it could not deliver, and closes it again.
func (c *compiler) CheckSink(ctx context.Context, s bind.Sink) error {
	d, ok := c.definition(s.Addr.Kind())
	if !ok || d.Sink == nil {
		return fmt.Errorf("opening %s: this version has no sink of kind %s", s.Addr, s.Addr.Kind())
	}
	cfg, err := d.Kind.Bind(s.Value)
	if err != nil {
		return err
	}
	sink, err := d.Sink(ctx, cfg, c.env)
	if err != nil {
		return sqlError(err)
	}
	return sink.Close()
}
