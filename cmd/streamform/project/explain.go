package project

import (
	"context"
	"fmt"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/state"
)

// Explanation is how one relation of the configuration is computed.
type Explanation struct {
	Address     addr.Resource   `json:"address"`
	Columns     batch.Schema    `json:"columns"`
	AppendOnly  bool            `json:"append_only"`
	Key         []string        `json:"key,omitempty"`
	Reads       []string        `json:"reads,omitempty"`
	Incremental bool            `json:"incremental"`
	FullRefresh string          `json:"full_refresh,omitempty"` // why the whole query runs again each epoch
	Operators   []ExplainedStep `json:"operators,omitempty"`
}

// ExplainedStep is one operator: what it does and what it remembers.
type ExplainedStep struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	Detail string   `json:"detail,omitempty"`
	Inputs []string `json:"inputs,omitempty"`
	Holds  string   `json:"remembers"`
	Reason string   `json:"reason,omitempty"`
}

// Explain says how the relations of the configuration are computed, inputs before their readers:
// all of them, or the one with the given address.
func (p *Project) Explain(ctx context.Context, only string) ([]Explanation, diag.Diagnostics, error) {
	ds := p.load()
	if ds.Failed() {
		return nil, ds, nil
	}
	document, more, err := p.State(ctx)
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return nil, ds, err
	}
	chosen, wrong := p.chosen(only)
	if wrong != nil {
		return nil, append(ds, *wrong), nil
	}
	b, more, err := p.bind(ctx, p.scratchSampler(), uncompiled(document))
	ds = append(ds, more...)
	if err != nil || ds.Failed() {
		return nil, ds, err
	}
	var out []Explanation
	for _, a := range b.graph.Order() {
		relation, ok := b.result.Relations[a]
		if ok && (chosen == addr.Resource{} || a == chosen) {
			out = append(out, explanation(a, relation, b.programs[a]))
		}
	}
	return out, ds, nil
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
	r := p.resource(a)
	if r == nil || !a.Block.IsRelation() {
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
	e.Reads, e.FullRefresh, e.Incremental = program.Reads, program.FullRefresh, program.FullRefresh == ""
	for _, o := range program.Operators {
		e.Operators = append(e.Operators, ExplainedStep{ID: o.ID, Kind: o.Kind, Detail: o.Detail, Inputs: o.Inputs, Holds: o.Holds, Reason: o.Reason})
	}
	return e
}
