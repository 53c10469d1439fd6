package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// outputs compares output values; of sensitive ones only digests.
func (m *maker) outputs() []OutputChange {
	recorded := map[string]state.Output{}
	if m.in.State != nil {
		recorded = m.in.State.Outputs
	}
	out := []OutputChange{}
	if m.in.Mode == RefreshOnly {
		for _, name := range slices.Sorted(maps.Keys(recorded)) {
			was := recorded[name]
			out = append(out, OutputChange{Name: name, Action: NoOp, Before: was.Value, After: was.Value, Sensitive: was.Sensitive, Digest: was.Digest, Type: was.Type})
		}
		return out
	}
	planned := map[string]bool{}
	if m.in.Mode != Destroy {
		for _, o := range m.in.Config.Outputs {
			planned[o.Name] = true
			out = append(out, m.output(o, recorded))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(recorded)) {
		if was := recorded[name]; !planned[name] {
			out = append(out, OutputChange{Name: name, Action: Delete, Before: was.Value, Sensitive: was.Sensitive})
		}
	}
	slices.SortFunc(out, func(a, b OutputChange) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

func (m *maker) output(o lang.Output, recorded map[string]state.Output) OutputChange {
	value, typ, err := encode(o.Value)
	if err != nil {
		m.diags = append(m.diags, diag.NewError(&o.Range, "Output cannot be recorded", fmt.Sprintf("The value of output %q: %v.", o.Name, err)))
		return OutputChange{Name: o.Name, Action: NoOp}
	}
	c := OutputChange{Name: o.Name, Action: Create, Sensitive: o.Sensitive, Type: typ}
	if o.Sensitive {
		c.Digest = state.Digest(m.lineage, value)
	} else {
		c.After = value
	}
	was, ok := recorded[o.Name]
	if !ok {
		return c
	}
	c.Action, c.Before = Update, was.Value
	same := was.Sensitive == o.Sensitive && was.Digest == c.Digest && sameJSON(was.Type, typ)
	if same && (o.Sensitive || sameJSON(was.Value, value)) {
		c.Action = NoOp
	}
	return c
}

func encode(v cty.Value) (value, typ json.RawMessage, err error) {
	if value, err = ctyjson.Marshal(v, v.Type()); err != nil {
		return nil, nil, err
	}
	typ, err = ctyjson.MarshalType(v.Type())
	return value, typ, err
}

// variables notes which values the plan was made with.
func (m *maker) variables(p *Plan) {
	p.Variables, p.Values = map[string]string{}, map[string]json.RawMessage{}
	for _, v := range m.in.Config.Variables {
		value, _, err := encode(v.Value)
		if err != nil {
			m.diags = append(m.diags, diag.NewError(nil, "Variable cannot be recorded", fmt.Sprintf("The value of variable %q: %v.", v.Name, err)))
			continue
		}
		p.Variables[v.Name] = state.Digest(m.lineage, value)
		if !v.Sensitive {
			p.Values[v.Name] = value
		}
	}
}
