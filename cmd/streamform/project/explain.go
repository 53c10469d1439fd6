package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/streamform/streamform/graph/plan/moving"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/host"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/state"
)

// Explanation is how one relation of the configuration is computed.
type Explanation struct {
	Address     addr.Resource   `json:"address"`
	Columns     batch.Schema    `json:"columns"`
	AppendOnly  bool            `json:"append_only"`
	Key         []string        `json:"key,omitempty"`
	Reads       []string        `json:"reads,omitempty"`
	Scans       []ExplainedScan `json:"scans,omitempty"` // of a source: its files; else of each relation read
	Incremental bool            `json:"incremental"`
	FullRefresh string          `json:"full_refresh,omitempty"` // why the whole query runs again each epoch
	Rewrite     string          `json:"rewrite,omitempty"`      // how to write the query so that it does not
	Rows        *int64          `json:"rows,omitempty"`         // a view holds now; nil: the runtime does not say
	Operators   []ExplainedStep `json:"operators,omitempty"`
	Measured    *Measurement    `json:"measured,omitempty"` // of a source, in an analysis
}

// Explained are the relations of a configuration, inputs before their readers.
type Explained struct {
	Relations []Explanation `json:"relations"`
	Analysis  *Analysis     `json:"analysis,omitempty"` // nil: nothing was run
}

// ExplainRequest says what is to be explained.
type ExplainRequest struct {
	Only    string // the address of one relation; empty: all
	Analyze bool   // run what is pending, and measure it
}

// ExplainedScan is which columns are read of a relation, or of a source's files.
type ExplainedScan struct {
	Relation   string   `json:"relation"`
	AppendOnly bool     `json:"append_only"`
	Columns    []string `json:"columns"`
	Of         int      `json:"of"` // how many there are
}

// ExplainedStep is one operator: what it does, what it remembers and what an epoch costs.
type ExplainedStep struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Detail     string   `json:"detail,omitempty"`
	Inputs     []string `json:"inputs,omitempty"` // operators by ID, relations by name
	AppendOnly bool     `json:"append_only"`      // what it gives is never taken back
	Holds      string   `json:"remembers"`
	Keys       *int64   `json:"keys,omitempty"`  // remembered now; nil: the runtime does not say
	Bytes      *int64   `json:"bytes,omitempty"` // of these keys and their values
	// SharedWith are the other relations that have the same keyed data: an epoch computes it once, and it is there once.
	SharedWith []addr.Resource `json:"shared_with,omitempty"`
	Cost       ExplainedCost   `json:"cost"`
	Reason     string          `json:"reason,omitempty"`  // why it costs more than operators of its kind do
	Rewrite    string          `json:"rewrite,omitempty"` // how to write the query so that it does not
	Measured   *Measurement    `json:"measured,omitempty"`
}

// ExplainedCost is what an operator does in an epoch, in words and in the letters of compile.CostLetters.
type ExplainedCost struct {
	Words   string `json:"words"`
	Formula string `json:"formula"`
}

// Explain says how the relations of the configuration are computed.
func (p *Project) Explain(ctx context.Context, r ExplainRequest) (out Explained, ds diag.Diagnostics, err error) {
	if ds = p.load(); ds.Failed() {
		return out, ds, nil
	}
	document, more, err := p.State(ctx)
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return out, ds, err
	}
	chosen, wrong := p.chosen(r.Only)
	if wrong != nil {
		return out, append(ds, *wrong), nil
	}
	if r.Analyze {
		out.Analysis, more, err = p.analyze(ctx)
		if ds = append(ds, more...); err != nil || ds.Failed() {
			return out, ds, err
		}
	}
	document, moves, more := moving.Apply(p.config, document)
	ds = append(ds, more...)
	b, more, err := p.bind(ctx, p.scratchSampler(), uncompiled(document), binding{former: moves.Former, anyCost: true})
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return out, ds, err
	}
	more, err = p.explainBound(ctx, b, chosen, &out)
	return out, append(ds, more...), err
}

// explainBound adds what was bound: all relations, or the chosen one.
func (p *Project) explainBound(ctx context.Context, b bound, chosen addr.Resource, out *Explained) (diag.Diagnostics, error) {
	held, ds, err := p.remembered(ctx)
	if err != nil {
		return ds, err
	}
	var others []addr.Resource
	for _, a := range b.graph.Order() {
		relation, ok := b.result.Relations[a]
		if !ok || (chosen != addr.Resource{} && a != chosen && a.Whole() != chosen) {
			continue
		}
		e := explanation(a, relation, b.programs[a])
		h, applied := held[a]
		switch {
		case a.Block == addr.Source:
			e.Scans = []ExplainedScan{b.filesRead(a, relation.Columns)}
			e.measure(out.Analysis)
		case applied && h.Identity == relation.Identity:
			e.remember(a, h)
			e.measure(out.Analysis)
		case out.Analysis != nil:
			others = append(others, a)
		}
		out.Relations = append(out.Relations, e)
	}
	if len(others) > 0 {
		ds = append(ds, unmeasured(others))
	}
	return ds, nil
}

// remembered is what the runtime of this folder holds, if there is one and no other process works with it.
func (p *Project) remembered(ctx context.Context) (map[addr.Resource]host.Remembered, diag.Diagnostics, error) {
	if _, err := os.Stat(p.runtimeDir()); err != nil {
		return nil, nil, nil // nothing was ever applied here
	}
	h, err := p.openHost(ctx)
	if errors.Is(err, store.ErrInUse) {
		return nil, diag.Diagnostics{diag.NewWarning(nil, "What is remembered now is not shown", "Another process works with the runtime of this folder. Sizes are shown when it has ended.")}, nil
	}
	if err != nil {
		ds, err := findings(p.config, err)
		return nil, ds, err
	}
	held, err := h.Remembered()
	return held, nil, err
}

// remember adds what is held now.
func (e *Explanation) remember(a addr.Resource, held host.Remembered) {
	if a.Block == addr.View {
		e.Rows = &held.Rows
	}
	for i := range e.Operators {
		if size, ok := held.Operators[e.Operators[i].ID]; ok {
			e.Operators[i].Keys, e.Operators[i].Bytes, e.Operators[i].SharedWith = &size.Keys, &size.Bytes, size.Shared
		}
	}
}

// filesRead is which columns of a source's files are read: those that some reader needs; all for a sink.
func (b bound) filesRead(a addr.Resource, columns batch.Schema) ExplainedScan {
	out := ExplainedScan{Relation: a.Relation(), AppendOnly: true, Columns: []string{}, Of: len(columns)}
	used, all := map[string]bool{}, false
	for _, reader := range b.graph.Readers(a) {
		all = all || reader.Block == addr.Sink
		if program := b.programs[reader]; program != nil {
			for _, s := range program.Scans() {
				if strings.EqualFold(s.Relation, a.Relation()) {
					for _, c := range s.Columns {
						used[c] = true
					}
				}
			}
		}
	}
	for _, c := range columns {
		if all || used[c.Name] {
			out.Columns = append(out.Columns, c.Name)
		}
	}
	return out
}

// uncompiled is the record without what the compiler said, so that binding asks it again.
func uncompiled(d *state.Document) *state.Document {
	if d == nil {
		return nil
	}
	out := d.Clone()
	for i, r := range out.Resources {
		if r.Relation != nil {
			relation := *r.Relation
			relation.Compiled = ""
			out.Resources[i].Relation = &relation
		}
	}
	return out
}

// chosen is the address that was asked for; zero when all are.
func (p *Project) chosen(text string) (addr.Resource, *diag.Diagnostic) {
	if text == "" {
		return addr.Resource{}, nil
	}
	a, wrong := address("argument", text)
	if wrong != nil {
		return a, wrong
	}
	if p.resource(a) == nil && len(instancesOf(a, p.config, nil)) == 0 || !a.Block.IsRelation() {
		d := diag.NewError(nil, "No such relation", fmt.Sprintf("%s is not a source, stream or view of this configuration.", a))
		return a, &d
	}
	return a, nil
}

func (p *Project) resource(a addr.Resource) *lang.Resource {
	for i := range p.config.Resources {
		if p.config.Resources[i].Addr == a {
			return &p.config.Resources[i]
		}
	}
	return nil
}

// explanation puts together what is known of a relation; a source has no program.
func explanation(a addr.Resource, relation state.Relation, program *query.Program) Explanation {
	e := Explanation{Address: a, Columns: relation.Columns, AppendOnly: relation.AppendOnly, Key: relation.Key, Incremental: true}
	if program == nil {
		return e
	}
	e.Reads, e.FullRefresh, e.Rewrite, e.Incremental = program.Reads, program.FullRefresh, program.Rewrite, program.FullRefresh == ""
	for _, s := range program.Scans() {
		e.Scans = append(e.Scans, ExplainedScan(s))
	}
	for _, o := range program.Operators {
		e.Operators = append(e.Operators, ExplainedStep{ID: o.ID, Kind: o.Kind, Detail: o.Detail, Inputs: o.Inputs, AppendOnly: o.AppendOnly, Holds: o.Holds,
			Cost: ExplainedCost(o.Cost), Reason: o.Reason, Rewrite: o.Rewrite})
	}
	return e
}
