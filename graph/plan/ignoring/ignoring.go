// Package ignoring puts recorded values in the place of those that lifecycle.ignore_changes names.
package ignoring

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// Apply puts recorded values in the place of those that lifecycle.ignore_changes names, before anything looks at them: what is
// bound, compiled and compared is then what is recorded. The configuration given is left alone. Damaged records are left for plan.Make
// to complain about.
func Apply(cfg *lang.Config, d *state.Document) *lang.Config {
	out := *cfg
	copied := false
	for i, r := range cfg.Resources {
		if len(r.Lifecycle.IgnoreChanges) == 0 && !r.Lifecycle.IgnoreAll {
			continue
		}
		prior := d.Resource(r.Addr)
		if prior == nil {
			continue
		}
		before, err := prior.Value(r.Kind)
		if err != nil {
			continue
		}
		if !copied {
			out.Resources, copied = slices.Clone(cfg.Resources), true
		}
		out.Resources[i] = withRecorded(r, before)
	}
	return &out
}

// withRecorded is a resource with what it ignores as it is recorded.
func withRecorded(r lang.Resource, before cty.Value) lang.Resource {
	values := r.Value.AsValueMap()
	for _, f := range r.Kind.Fields() {
		if !r.Lifecycle.IgnoreAll && !slices.Contains(r.Lifecycle.IgnoreChanges, f.Name) {
			continue
		}
		was := before.GetAttr(f.Name)
		if was.RawEquals(values[f.Name]) || was.IsNull() && f.Required {
			continue
		}
		values[f.Name] = was
		at := r.Range
		if written, ok := r.AttrRanges[f.Name]; ok {
			at = written
		}
		if f.Refs {
			r.Refs = withReferences(r.Refs, f.Name, was, at)
		}
		if f.SQLText {
			r.SQL = withSQL(r.SQL, f.Name, was, at)
		}
	}
	r.Value = cty.ObjectVal(values)
	return r
}

// withReferences has the references of one attribute taken from a recorded value.
func withReferences(refs []lang.Reference, attr string, was cty.Value, at diag.Range) []lang.Reference {
	out := slices.DeleteFunc(slices.Clone(refs), func(r lang.Reference) bool { return r.Attr == attr })
	list := []cty.Value{was}
	if was.CanIterateElements() && !was.IsNull() {
		list = was.AsValueSlice()
	}
	for _, v := range list {
		if v.IsNull() || v.Type() != cty.String {
			continue
		}
		if to, side, err := addr.ParseReference(v.AsString()); err == nil {
			out = append(out, lang.Reference{To: to, Side: side, Attr: attr, Range: at})
		}
	}
	return out
}

// withSQL has the text of one attribute taken from a recorded value; all of it stands where the new one is written.
func withSQL(texts []lang.SQL, attr string, was cty.Value, at diag.Range) []lang.SQL {
	out := slices.DeleteFunc(slices.Clone(texts), func(s lang.SQL) bool { return s.Attr == attr })
	if was.IsNull() || was.Type() != cty.String {
		return out
	}
	return append(out, lang.SQL{Attr: attr, Text: was.AsString(), Locate: func(int, int) diag.Range { return at }})
}
