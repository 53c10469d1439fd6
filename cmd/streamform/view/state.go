package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/state"
)

// State writes the recorded state for people.
func State(d *state.Document) string {
	if d == nil || len(d.Resources) == 0 && len(d.Outputs) == 0 {
		return "The state file is empty. No resources are represented.\n"
	}
	var parts []string
	for _, r := range d.Resources {
		parts = append(parts, Resource(r))
	}
	text := strings.Join(parts, "\n")
	if len(d.Outputs) > 0 {
		text += "\n\nOutputs:\n\n" + Outputs(d.Outputs)
	}
	return text
}

// Resource writes one recorded resource as the block that would declare it, with what
// SQL sees of it as comments.
func Resource(r state.Resource) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s:\n", r.Addr)
	if r.Status == state.Building {
		b.WriteString("# (its rows are not computed yet; run streamform apply)\n")
	}
	if rel := r.Relation; rel != nil {
		columns := make([]string, 0, len(rel.Columns))
		for _, c := range rel.Columns {
			columns = append(columns, c.Name+" "+c.Type)
		}
		fmt.Fprintf(&b, "# (columns: %s)\n", strings.Join(columns, ", "))
		if len(rel.Key) > 0 {
			fmt.Fprintf(&b, "# (key: %s)\n", strings.Join(rel.Key, ", "))
		}
	}
	for _, w := range r.Rewinds {
		fmt.Fprintf(&b, "# (rows of %s from %q on, up to epoch %d, were delivered once more at %s)\n", w.Of, w.To, w.Epoch, w.At.Format(time.RFC3339))
	}
	fmt.Fprintf(&b, "%s {\n", r.Addr.Header())
	values := attributes(r.Attributes)
	width := 0
	names := make([]string, 0, len(values))
	for name, raw := range values {
		if text := string(raw); text == "null" || text == "[]" || text == "{}" {
			continue
		}
		names, width = append(names, name), max(width, len(name))
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, "    %-*s = %s\n", width, name, Value(values[name], 4))
	}
	b.WriteString("}\n")
	return b.String()
}

func attributes(raw json.RawMessage) map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &values); err != nil {
		return map[string]json.RawMessage{"attributes": raw}
	}
	return values
}

// StateJSON is the recorded state in the shape of Terraform's state JSON. version is
// the version of Terraform whose shape it is.
func StateJSON(d *state.Document, version string, kind func(string) (schema.Kind, bool)) *tfjson.State {
	out := &tfjson.State{FormatVersion: "1.0", TerraformVersion: version}
	if d == nil || len(d.Resources) == 0 && len(d.Outputs) == 0 {
		return out
	}
	root := &tfjson.StateModule{}
	for _, r := range d.Resources {
		root.Resources = append(root.Resources, stateResource(r, kind))
	}
	out.Values = &tfjson.StateValues{RootModule: root, Outputs: map[string]*tfjson.StateOutput{}}
	for name, o := range d.Outputs {
		out.Values.Outputs[name] = &tfjson.StateOutput{Sensitive: o.Sensitive, Value: generic(o.Value), Type: outputType(o.Type)}
	}
	return out
}

func stateResource(r state.Resource, kind func(string) (schema.Kind, bool)) *tfjson.StateResource {
	values, _ := generic(r.Attributes).(map[string]any)
	out := &tfjson.StateResource{
		Address: r.Addr.String(), Mode: tfjson.ManagedResourceMode, Type: r.Addr.Kind(), Name: r.Addr.Name, Index: r.Addr.Key.Value(),
		ProviderName: "streamform", SchemaVersion: uint64(r.SchemaVersion), AttributeValues: values, SensitiveValues: json.RawMessage("{}"),
	}
	for _, a := range r.Dependencies {
		out.DependsOn = append(out.DependsOn, a.String())
	}
	secrets := map[string]bool{}
	if k, ok := kind(r.Addr.Kind()); ok {
		for _, f := range k.Fields() {
			if f.Secret {
				secrets[f.Name] = true
			}
		}
	}
	if text, err := json.Marshal(secrets); err == nil {
		out.SensitiveValues = text
	}
	return out
}

// generic reads JSON and keeps numbers as they are written.
func generic(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil
	}
	return v
}

func outputType(raw json.RawMessage) cty.Type {
	t, err := ctyjson.UnmarshalType(raw)
	if err != nil {
		return cty.DynamicPseudoType
	}
	return t
}
