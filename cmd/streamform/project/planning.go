package project

import (
	"context"
	"errors"

	"fmt"
	"strings"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/ignoring"
	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/query/evolve"
	"github.com/streamform/streamform/state"
)

// PlanRequest says what to plan.
type PlanRequest struct {
	Destroy     bool
	RefreshOnly bool     // only takes over what really is; needs Refresh
	Refresh     bool     // asks the runtime what really exists
	Targets     []string // addresses; empty: everything
	Exclude     []string // addresses to leave out; not with Targets
	Replace     []string // addresses to compute anew
	Allow       []string // addresses of which policies let through what they deny
}

// bound is a configuration with its edges and its relations.
type bound struct {
	graph    *graph.Graph
	result   bind.Result
	programs map[addr.Resource]*query.Program // of what was compiled now
	needs    map[addr.Resource][]evolve.Need  // what edits read that take over keyed data
}

// Plan answers what apply would do. The plan is nil when the configuration cannot
// be understood; it is marked Errored when it may be shown but not applied.
func (p *Project) Plan(ctx context.Context, r PlanRequest) (*plan.Plan, diag.Diagnostics, error) {
	in := plan.Input{Mode: plan.Normal, Version: p.o.Version, Adapts: p.adapts}
	if r.Destroy {
		in.Mode = plan.Destroy
	}
	if r.RefreshOnly {
		in.Mode = plan.RefreshOnly
	}
	var ds diag.Diagnostics
	in.Targets, ds = addresses(ds, "option -target", r.Targets)
	in.Replace, ds = addresses(ds, "option -replace", r.Replace)
	in.Exclude, ds = addresses(ds, "option -exclude", r.Exclude)
	in.Allow, ds = addresses(ds, "option -allow", r.Allow)
	if ds.Failed() {
		return nil, ds, nil
	}
	ds = append(ds, p.load()...)
	if ds.Failed() {
		return nil, ds, nil
	}
	in.Config, in.ConfigHash = p.config, lang.Hash(p.config)
	document, more, err := p.State(ctx)
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return nil, ds, err
	}
	var needs map[addr.Resource][]evolve.Need
	in.State, in.Moves, more = moving.Apply(p.config, document)
	ds = append(ds, more...)
	for _, named := range []*[]addr.Resource{&in.Targets, &in.Replace, &in.Exclude, &in.Allow} {
		*named = instances(*named, p.config, in.State)
	}
	if in.Mode == plan.Normal {
		p.config = ignoring.Apply(p.config, in.State)
		in.Config = p.config
		b, more, err := p.bind(ctx, p.sampler(), in.State, binding{former: in.Moves.Former, replace: in.Replace})
		ds = append(ds, more...)
		if err != nil || ds.Failed() {
			return nil, ds, err
		}
		in.Graph, in.Relations, in.Inferred = b.graph, b.result.Relations, extents(b.result.Inferred)
		in.IDs, in.Evolutions, needs = b.result.IDs, b.result.Evolutions, b.needs
	}
	if r.Refresh {
		in.Facts, more, err = p.facts(ctx, document)
		ds = append(ds, more...)
		if err != nil || ds.Failed() {
			return nil, ds, err
		}
		if err := p.weigh(ctx, in, needs); err != nil {
			return nil, ds, err
		}
	}
	made, more := plan.Make(in)
	return made, append(ds, more...), nil
}

// adapts is the answer of a sink's kind.
func (p *Project) adapts(kind string, was, is batch.Schema) string {
	d, _ := p.definition(kind)
	return d.Receives(was, is)
}

// binding says what is to be bound otherwise than as it is recorded.
type binding struct {
	former  map[addr.Resource]addr.Resource // what was moved: new address → the one that records may name
	replace []addr.Resource                 // sources to look at anew
	anyCost bool                            // views that refuse a full refresh are bound all the same
}

// bind builds the graph of the loaded configuration and binds its relations against
// what was recorded; sources are looked at by sample, and those to replace as if nothing were recorded.
func (p *Project) bind(ctx context.Context, sample sampler, recorded *state.Document, o binding) (bound, diag.Diagnostics, error) {
	c, err := p.openCompiler(ctx)
	if err != nil {
		return bound{}, nil, err
	}
	var failure error
	g, ds := graph.Build(p.config, analyze(ctx, c, &failure))
	if failure != nil || ds.Failed() {
		return bound{}, ds, failure
	}
	env, err := p.env()
	if err != nil {
		return bound{}, ds, err
	}
	compiler := &compiler{query: c, sample: sample, definition: p.definition, env: env, programs: map[addr.Resource]*query.Program{},
		needs: map[addr.Resource][]evolve.Need{}}
	result, more, err := bind.Bind(ctx, bind.Input{Config: p.config, Graph: g, State: recorded, Former: o.former, Replace: o.replace, AnyCost: o.anyCost, Compiler: compiler})
	ds = append(ds, more...)
	if err != nil {
		more, err := findings(p.config, err)
		return bound{}, append(ds, more...), err
	}
	return bound{graph: g, result: result, programs: compiler.programs, needs: compiler.needs}, ds, nil
}

func extents(sampled map[addr.Resource]bind.Inferred) map[addr.Resource]plan.Extent {
	out := make(map[addr.Resource]plan.Extent, len(sampled))
	for a, s := range sampled {
		out[a] = plan.Extent{Files: s.Files, Bytes: s.Bytes}
	}
	return out
}

// facts asks the runtime what it holds. A source that cannot be listed is a warning: what it would cost
// to read is then unknown, and it may be what the plan takes away.
func (p *Project) facts(ctx context.Context, recorded *state.Document) (*plan.Facts, diag.Diagnostics, error) {
	h, err := p.openHost(ctx)
	if err != nil {
		ds, err := findings(p.config, err)
		return nil, ds, err
	}
	f, err := h.Facts(ctx)
	var ds diag.Diagnostics
	for _, e := range split(err) {
		var unlisted *connector.UserError
		if !errors.As(e, &unlisted) {
			return nil, ds, fmt.Errorf("asking the runtime what it holds: %w", e)
		}
		ds = append(ds, diag.NewWarning(nil, unlisted.Summary, unlisted.Detail))
	}
	out := facts(f)
	for a, held := range p.extents {
		if is, applied := out.Sources[a]; !applied || is.Files != held.Files || is.Bytes != held.Bytes { // applied, and to be read elsewhere
			out.Sources[a] = held
		}
	}
	desired, err := p.desired()
	if err != nil {
		return nil, ds, err
	}
	more, err := p.observe(ctx, out, recorded, desired)
	return out, append(ds, more...), err
}

func addresses(ds diag.Diagnostics, flag string, texts []string) ([]addr.Resource, diag.Diagnostics) {
	var out []addr.Resource
	for _, text := range texts {
		a, wrong := address(flag, text)
		if wrong != nil {
			ds = append(ds, *wrong)
			continue
		}
		out = append(out, a)
	}
	return out, ds
}

// Validate checks the configuration without recorded state or runtime. Data that is not here, as on a machine that only
// checks, is no error: the SQL that needs its columns is then not checked, and a warning says so.
func (p *Project) Validate(ctx context.Context) (diag.Diagnostics, error) {
	ds := p.load()
	if ds.Failed() {
		return ds, nil
	}
	_, more, err := p.bind(ctx, p.scratchSampler(), nil, binding{})
	for i, d := range more {
		r := named(p.config, d.Address)
		if r != nil && r.Addr.Block == addr.Source && !declares(r.Value, "columns") && d.Severity == diag.Error {
			more[i].Severity = diag.Warning
			more[i].Detail = strings.TrimSpace(d.Detail + "\n\nThe SQL that reads this source was not checked.")
		}
	}
	return append(ds, more...), err
}

// DOT is the configuration's graph in Graphviz's language.
func (p *Project) DOT(ctx context.Context) (string, diag.Diagnostics, error) {
	ds := p.load()
	if ds.Failed() {
		return "", ds, nil
	}
	c, err := p.openCompiler(ctx)
	if err != nil {
		return "", ds, err
	}
	var failure error
	g, more := graph.Build(p.config, analyze(ctx, c, &failure))
	ds = append(ds, more...)
	if failure != nil || ds.Failed() {
		return "", ds, failure
	}
	return g.DOT(), ds, nil
}
