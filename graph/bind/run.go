package bind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/state"
)

// workers is how many questions the compiler is asked at once.
const workers = 2

// Bind finds the relation of every source, stream and view, inputs before their readers, and has every sink
// checked against the relation it delivers. What did not change since it was recorded is taken
// from the record: no data is looked at and nothing is compiled again. User mistakes are diagnostics, in the order of addresses;
// the error is a failure of the machine.
func Bind(ctx context.Context, in Input) (Result, diag.Diagnostics, error) {
	b := &binder{
		in:       in,
		config:   make(map[addr.Resource]lang.Resource, len(in.Config.Resources)),
		recorded: map[addr.Resource]*state.Resource{},
		byName:   map[string]*state.Resource{},
		out: Result{Relations: map[addr.Resource]state.Relation{}, IDs: make(map[addr.Resource]string, len(in.Config.Resources)),
			Evolutions: map[addr.Resource]plan.Evolution{}, Inferred: map[addr.Resource]Inferred{}},
	}
	for _, r := range in.Config.Resources {
		b.config[r.Addr] = r
	}
	if in.State != nil {
		for i := range in.State.Resources {
			b.recorded[in.State.Resources[i].Addr] = &in.State.Resources[i]
		}
	}
	b.identify()
	b.nameRecords()
	for _, level := range b.levels() {
		if err := b.bindAll(ctx, level); err != nil {
			return b.out, b.diags, err
		}
	}
	slices.SortStableFunc(b.diags, func(x, y diag.Diagnostic) int { return compareText(x.Address, y.Address) })
	return b.out, b.diags, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

type binder struct {
	in       Input
	config   map[addr.Resource]lang.Resource
	recorded map[addr.Resource]*state.Resource
	byName   map[string]*state.Resource // recorded relations, by name in lower case as recorded queries read them
	out      Result
	diags    diag.Diagnostics
}

// levels groups what rows flow through so that each group needs only those before it.
func (b *binder) levels() [][]addr.Resource {
	var out [][]addr.Resource
	depth := map[addr.Resource]int{}
	for _, a := range b.in.Graph.Order() {
		if !graph.Carries(a) {
			continue
		}
		d := 0
		for _, input := range b.in.Graph.Inputs(a) {
			d = max(d, depth[input]+1)
		}
		depth[a] = d
		if d == len(out) {
			out = append(out, nil)
		}
		out[d] = append(out[d], a)
	}
	return out
}

// found is the answer about one resource.
type found struct {
	relation  *state.Relation
	evolution *plan.Evolution
	inferred  *Inferred
	diags     diag.Diagnostics
}

// bindAll asks about one level in parallel and takes the answers in when all are there, so
// that readers only ever see finished maps.
func (b *binder) bindAll(ctx context.Context, level []addr.Resource) error {
	answers := make([]found, len(level))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for i, a := range level {
		g.Go(func() (err error) {
			answers[i], err = b.bindOne(ctx, b.config[a])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i, a := range level {
		if answers[i].relation != nil {
			b.out.Relations[a] = *answers[i].relation
		}
		if answers[i].evolution != nil {
			b.out.Evolutions[a] = *answers[i].evolution
		}
		if answers[i].inferred != nil {
			b.out.Inferred[a] = *answers[i].inferred
		}
		b.diags = append(b.diags, answers[i].diags...)
	}
	return nil
}

func (b *binder) bindOne(ctx context.Context, r lang.Resource) (found, error) {
	switch r.Addr.Block {
	case addr.Source:
		return b.source(ctx, r)
	case addr.Sink:
		return b.sink(ctx, r)
	}
	return b.query(ctx, r)
}

// source takes the recorded columns while nothing changed that decides about rows: otherwise a new
// file with another column would look like drift. One that is to be replaced begins anew.
func (b *binder) source(ctx context.Context, r lang.Resource) (found, error) {
	prior := b.recorded[r.Addr]
	fresh := slices.Contains(b.in.Replace, r.Addr)
	if !fresh && prior != nil && prior.Relation != nil && len(prior.Relation.Columns) > 0 && sameRows(r, prior) {
		return found{relation: prior.Relation}, nil
	}
	got, err := b.in.Compiler.Infer(ctx, Source{Addr: r.Addr, Value: r.Value, Written: r.Keys["columns"]})
	if mistake, err := asMistake(err); mistake != nil || err != nil {
		if err != nil {
			return found{}, fmt.Errorf("finding the columns of %s: %w", r.Addr, err)
		}
		return found{diags: diag.Diagnostics{mistakeAt(r, mistake, "columns", "path")}}, nil
	}
	out := found{relation: &state.Relation{Columns: got.Columns, AppendOnly: true, Identity: b.out.IDs[r.Addr], Sides: got.Sides}}
	if got.Sampled {
		out.inferred = &got
	}
	return out, nil
}

// sameRows reports whether the recorded attributes of a source describe the same rows, or rows of the same columns: with history =
// "keep" what comes from elsewhere is read as what came before was.
func sameRows(r lang.Resource, prior *state.Resource) bool {
	before, err := prior.Value(r.Kind)
	if err != nil {
		return false
	}
	for _, c := range schema.Changed(r.Kind, before, r.Value) {
		switch c.Cost {
		case schema.CostNone, schema.CostInPlace, schema.CostCreation:
			continue
		case schema.CostHistory:
			if plan.KeepsHistory(r.Value) && c.Path != "metadata" {
				continue
			}
		}
		return false
	}
	return true
}

// asMistake tells what the user got wrong from what the machine did.
func asMistake(err error) (*graph.SQLError, error) {
	var mistake *graph.SQLError
	if errors.As(err, &mistake) {
		return mistake, nil
	}
	return nil, err
}

// mistakeAt points to the attribute the mistake names, else to the first of the others that the user wrote, else to the block.
func mistakeAt(r lang.Resource, mistake *graph.SQLError, others ...string) diag.Diagnostic {
	at := r.Range
	for _, name := range append([]string{mistake.Attr}, others...) {
		if place, ok := r.AttrRanges[name]; ok {
			at = place
			break
		}
	}
	d := diag.NewError(&at, mistake.Summary, mistake.Detail)
	d.Address, d.Context = r.Addr.String(), r.Addr.Header()
	return d
}
