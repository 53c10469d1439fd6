// Package document writes a plan as JSON, in the shape of Terraform's, and says what each field of it means.
package document

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// The shape below is that of Terraform's plan JSON, format version 1.2, as
// github.com/hashicorp/terraform-json declares it; what only streamform knows stands beside each change.
const (
	jsonFormat      = "1.2"
	jsonStateFormat = "1.0"
	jsonTerraform   = "1.11.4" // the Terraform whose formats these are
	jsonProvider    = "streamform"
)

type jsonPlan struct {
	FormatVersion     string                  `json:"format_version"`
	TerraformVersion  string                  `json:"terraform_version"`
	StreamformVersion string                  `json:"streamform_version"`
	Variables         map[string]jsonVariable `json:"variables,omitempty"`
	PlannedValues     jsonValues              `json:"planned_values"`
	ResourceDrift     []jsonDrift             `json:"resource_drift,omitempty"`
	ResourceChanges   []jsonResourceChange    `json:"resource_changes"`
	OutputChanges     map[string]jsonChange   `json:"output_changes"`
	PriorState        jsonState               `json:"prior_state"`
	Checks            []jsonCheck             `json:"checks,omitempty"`
	Mode              string                  `json:"mode"`
	Allowed           []addr.Resource         `json:"allowed,omitempty"`
	Complete          bool                    `json:"complete"`
	Applyable         bool                    `json:"applyable"`
	Errored           bool                    `json:"errored"`
}

type jsonVariable struct {
	Value json.RawMessage `json:"value,omitempty"`
}

type jsonState struct {
	FormatVersion    string     `json:"format_version"`
	TerraformVersion string     `json:"terraform_version"`
	Values           jsonValues `json:"values"`
}

type jsonValues struct {
	Outputs    map[string]jsonOutput `json:"outputs,omitempty"`
	RootModule jsonModule            `json:"root_module"`
}

type jsonOutput struct {
	Sensitive bool            `json:"sensitive"`
	Value     json.RawMessage `json:"value,omitempty"`
	Type      json.RawMessage `json:"type,omitempty"`
}

type jsonModule struct {
	Resources []jsonResource `json:"resources,omitempty"`
}

// jsonResourceName is how Terraform's JSON names a resource.
type jsonResourceName struct {
	Address  string `json:"address"`
	Mode     string `json:"mode"`
	Type     string `json:"type"`
	Name     string `json:"name"`
	Index    any    `json:"index,omitempty"` // the key of an instance
	Provider string `json:"provider_name"`
}

func nameOf(a addr.Resource) jsonResourceName {
	return jsonResourceName{Address: a.String(), Mode: "managed", Type: a.Kind(), Name: a.Name, Index: a.Key.Value(), Provider: jsonProvider}
}

type jsonResource struct {
	jsonResourceName
	SchemaVersion int             `json:"schema_version"`
	Values        json.RawMessage `json:"values"`
	Sensitive     struct{}        `json:"sensitive_values"`
	DependsOn     []string        `json:"depends_on,omitempty"`
}

type jsonResourceChange struct {
	jsonResourceName
	PreviousAddress string           `json:"previous_address,omitempty"`
	Change          jsonChange       `json:"change"`
	ActionReason    string           `json:"action_reason,omitempty"`
	Class           plan.Class       `json:"class"`
	Reason          string           `json:"reason,omitempty"`
	Price           *plan.Price      `json:"price,omitempty"`
	Operators       []plan.Fate      `json:"operators,omitempty"`
	Shares          *plan.Sharing    `json:"shares,omitempty"`
	Receives        []addr.Resource  `json:"receives,omitempty"`
	Boundaries      []state.Boundary `json:"boundaries,omitempty"`
	Denials         []plan.Denial    `json:"denials,omitempty"`
}

type jsonChange struct {
	Actions         []string        `json:"actions"`
	Before          json.RawMessage `json:"before"`
	After           json.RawMessage `json:"after"`
	AfterUnknown    any             `json:"after_unknown"`
	BeforeSensitive any             `json:"before_sensitive"`
	AfterSensitive  any             `json:"after_sensitive"`
}

// JSON is the plan in the shape of Terraform's plan JSON, on one line.
func JSON(p *plan.Plan) ([]byte, error) {
	out := jsonPlan{
		FormatVersion: jsonFormat, TerraformVersion: jsonTerraform, StreamformVersion: p.StreamformVersion,
		Variables: map[string]jsonVariable{}, ResourceChanges: []jsonResourceChange{}, OutputChanges: map[string]jsonChange{},
		PriorState: jsonState{FormatVersion: jsonStateFormat, TerraformVersion: jsonTerraform},
		Complete:   !p.Targeted && !p.Errored, Applyable: !p.Errored && !p.Empty(), Errored: p.Errored,
		Mode: p.Mode, Allowed: p.Allowed, ResourceDrift: drifts(p), Checks: checks(p),
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		out.Variables[name] = jsonVariable{Value: p.Values[name]}
	}
	for _, c := range p.Changes {
		out.ResourceChanges = append(out.ResourceChanges, resourceChange(c))
		if c.Prior != nil {
			addResource(&out.PriorState.Values, c.Prior.Addr, c.Before, c.Prior.Dependencies)
		}
		if c.Desired != nil && c.Action != plan.Delete {
			addResource(&out.PlannedValues, c.Addr, c.After, c.Desired.Dependencies)
		}
	}
	for _, o := range p.Outputs {
		out.OutputChanges[o.Name] = outputChange(o)
		if o.Action != plan.Create {
			addOutput(&out.PriorState.Values, o, o.Before)
		}
		if o.Action != plan.Delete {
			addOutput(&out.PlannedValues, o, o.After)
		}
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing the plan as JSON: %w", err)
	}
	return data, nil
}

func addResource(v *jsonValues, a addr.Resource, values json.RawMessage, needs []addr.Resource) {
	r := jsonResource{jsonResourceName: nameOf(a), Values: values}
	for _, n := range needs {
		r.DependsOn = append(r.DependsOn, n.String())
	}
	v.RootModule.Resources = append(v.RootModule.Resources, r)
}

func addOutput(v *jsonValues, o plan.OutputChange, value json.RawMessage) {
	if v.Outputs == nil {
		v.Outputs = map[string]jsonOutput{}
	}
	v.Outputs[o.Name] = jsonOutput{Sensitive: o.Sensitive, Value: value, Type: o.Type}
}

func resourceChange(c plan.Change) jsonResourceChange {
	out := jsonResourceChange{
		jsonResourceName: nameOf(c.Addr), Class: c.Class, Reason: c.Reason, Price: c.Price, Shares: c.Shares, Receives: c.Receives, Boundaries: c.Boundaries, Denials: c.Denials,
		Change: jsonChange{Actions: actions(c.Action), Before: orNull(c.Before), After: orNull(c.After),
			AfterUnknown: struct{}{}, BeforeSensitive: mask(c.Before), AfterSensitive: mask(c.After)},
	}
	if c.PreviousAddr != nil {
		out.PreviousAddress = c.PreviousAddr.String()
	}
	if c.Evolution != nil {
		out.Operators = c.Evolution.Operators
	}
	switch {
	case c.Action == plan.Replace && c.Requested:
		out.ActionReason = "replace_by_request"
	case c.Action == plan.Replace && strings.HasPrefix(c.Reason, "replace_triggered_by "):
		out.ActionReason = "replace_by_triggers"
	case c.Action == plan.Replace:
		out.ActionReason = "replace_because_cannot_update"
	case c.Action == plan.Delete:
		out.ActionReason = DeleteReason(c.Because)
	}
	return out
}

// DeleteReason is Terraform's word for why something is destroyed, given what the plan says of it; empty when everything is.
func DeleteReason(because string) string {
	switch {
	case because == "":
		return ""
	case strings.HasPrefix(because, "because key "):
		return "delete_because_each_key"
	case strings.HasPrefix(because, "because index "):
		return "delete_because_count_index"
	case strings.HasPrefix(because, "because resource "):
		return "delete_because_wrong_repetition"
	}
	return "delete_because_no_resource_config"
}

// actions spells a replacement as creating before destroying: the former generation serves until the new one is ready.
func actions(a plan.Action) []string {
	if a == plan.Replace {
		return []string{string(plan.Create), string(plan.Delete)}
	}
	return []string{string(a)}
}

// mask marks nothing as sensitive: sensitive values never reach a plan.
func mask(v json.RawMessage) any {
	if v == nil {
		return false
	}
	return struct{}{}
}

func outputChange(o plan.OutputChange) jsonChange {
	return jsonChange{Actions: actions(o.Action), Before: orNull(o.Before), After: orNull(o.After),
		AfterUnknown: false, BeforeSensitive: o.Sensitive, AfterSensitive: o.Sensitive}
}
