package graphtest

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/bind"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/ignoring"
	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/batch"
)

// World is a project: its configuration, its state, its runtime.
type World struct {
	T        *testing.T
	Files    map[string]string // the configuration
	Store    *Store
	Runtime  *Runtime
	Compiler *Compiler
	Sources  map[addr.Resource]plan.Extent
	Observed []plan.Observation // what others did to real objects
	Rigid    string             // why sinks cannot take in other columns; empty: they can
	Known    plan.Facts         // what else the runtime says
}

// New is an empty world.
func New(t *testing.T) *World {
	return &World{T: t, Files: map[string]string{}, Store: &Store{}, Runtime: NewRuntime("runtime-1"),
		Compiler: &Compiler{}, Sources: map[addr.Resource]plan.Extent{}}
}

// Options are those of a plan. Facts are left out when NoRefresh is set.
type Options struct {
	Mode      string
	Targets   []string
	Replace   []string
	Exclude   []string
	Allow     []string
	NoRefresh bool
	Vars      []string // NAME=value
}

// Load evaluates the configuration.
func (w *World) Load(o Options) (*lang.Config, diag.Diagnostics) {
	dir := w.T.TempDir()
	for name, text := range w.Files {
		require.NoError(w.T, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	env := []string{}
	for _, v := range o.Vars {
		env = append(env, "STREAMFORM_VAR_"+v)
	}
	return lang.Load(dir, lang.Options{Kinds: Kinds(), WorkDir: dir, Env: env})
}

// Plan loads, builds, binds and plans. The plan is nil when that did not go as far.
func (w *World) Plan(o Options) (*plan.Plan, diag.Diagnostics) {
	w.T.Helper()
	cfg, ds := w.Load(o)
	if ds.Failed() {
		return nil, ds
	}
	d, err := w.Store.Load(context.Background())
	require.NoError(w.T, err)
	d, moves, more := moving.Apply(cfg, d)
	ds = append(ds, more...)
	cfg = ignoring.Apply(cfg, d)
	g, more := graph.Build(cfg, Analyze)
	if ds = append(ds, more...); ds.Failed() {
		return nil, ds
	}
	bound, more, err := bind.Bind(context.Background(), bind.Input{Config: cfg, Graph: g, State: d, Former: moves.Former, Compiler: w.Compiler})
	require.NoError(w.T, err)
	if ds = append(ds, more...); ds.Failed() {
		return nil, ds
	}
	in := plan.Input{Config: cfg, ConfigHash: "hash", Graph: g, Relations: bound.Relations, IDs: bound.IDs,
		Evolutions: bound.Evolutions, Moves: moves, Inferred: map[addr.Resource]plan.Extent{}, State: d,
		Mode: o.Mode, Targets: Addresses(w.T, o.Targets), Replace: Addresses(w.T, o.Replace),
		Exclude: Addresses(w.T, o.Exclude), Allow: Addresses(w.T, o.Allow), Lineage: "lineage-1", Version: "0.1.0"}
	in.Adapts = func(string, batch.Schema, batch.Schema) string { return w.Rigid }
	for a, i := range bound.Inferred {
		in.Inferred[a] = plan.Extent{Files: i.Files, Bytes: i.Bytes}
	}
	if !o.NoRefresh {
		in.Facts = &plan.Facts{RuntimeID: w.Runtime.ID, Generations: maps.Clone(w.Runtime.Live), Sources: w.Sources,
			Observed: w.Observed, Values: map[addr.Resource]json.RawMessage{},
			Held: w.Known.Held, Delivered: w.Known.Delivered, Lost: w.Known.Lost, Rates: w.Known.Rates}
		for a, e := range in.Evolutions {
			if e.Carry != nil {
				e.HeldRows = w.Known.Held[a].Rows
				in.Evolutions[a] = e
			}
		}
		for a, v := range w.Runtime.Values {
			in.Facts.Values[a] = json.RawMessage(v)
		}
	}
	p, more := plan.Make(in)
	return p, append(ds, more...)
}

// Apply carries a plan out.
func (w *World) Apply(p *plan.Plan) (apply.Result, error) {
	return apply.Run(context.Background(), apply.Input{Plan: p, Store: w.Store, Target: w.Runtime, Version: "0.1.0"})
}

// MustApply plans and applies, and fails the test where that fails.
func (w *World) MustApply() apply.Result {
	w.T.Helper()
	p, ds := w.Plan(Options{})
	require.False(w.T, ds.Failed(), "%v", ds)
	r, err := w.Apply(p)
	require.NoError(w.T, err)
	return r
}

// Addresses parses addresses.
func Addresses(t *testing.T, texts []string) []addr.Resource {
	t.Helper()
	var out []addr.Resource
	for _, s := range texts {
		a, err := addr.Parse(s)
		require.NoError(t, err)
		out = append(out, a)
	}
	return out
}

// Kind finds one of Kinds by its name.
func Kind(name string) (schema.Kind, bool) {
	for _, k := range Kinds() {
		if k.Name() == name {
			return k, true
		}
	}
	return schema.Kind{}, false
}
