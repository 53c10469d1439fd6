package document_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/document"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

var update = flag.Bool("update", false, "write what was found as what is wanted")

func view(name string) addr.Resource { return addr.Resource{Block: addr.View, Name: name} }

// full is a plan that fills every field.
func full() *plan.Plan {
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "s"}
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "k"}
	old, text := view("old"), json.RawMessage(`{"sql":"SELECT 1"}`)
	one, two := view("w"), view("many")
	one.Key, two.Key = addr.NumberKey(0), addr.TextKey("eu")
	prior := &state.Resource{Addr: view("v"), Attributes: text, Dependencies: []addr.Resource{source}}
	extent := plan.Extent{Files: 2, Bytes: 30, Rows: 4}
	return &plan.Plan{
		StreamformVersion: "0.1.0", Mode: plan.Normal, Targeted: true, Allowed: []addr.Resource{view("v")},
		Variables: map[string]string{"x": "digest", "secret": "digest"}, Values: map[string]json.RawMessage{"x": json.RawMessage("3")},
		Drift: []plan.Drift{
			{Addr: sink, Kind: "foreign_rows", Detail: "Another writer changed rows.", Advice: "Write it anew.", Proposal: "columns = {}", Before: text, After: text},
			{Addr: one, Kind: plan.DriftMissing, Detail: "It is gone.", Before: text},
		},
		Checks: []plan.CheckResult{{Name: "good"}, {Name: "bad", Problems: []string{"It is bad."}}},
		Outputs: []plan.OutputChange{
			{Name: "o", Action: plan.Update, Before: json.RawMessage("1"), After: json.RawMessage("2"), Type: json.RawMessage(`"number"`)},
			{Name: "secret", Action: plan.Create, Sensitive: true, Digest: "digest", Type: json.RawMessage(`"string"`)},
		},
		Changes: []plan.Change{
			{Addr: sink, Action: plan.Replace, Class: plan.RebuildFromState, Before: text, After: text, Requested: true, Prior: &state.Resource{Addr: sink}, Desired: &state.Resource{Addr: sink},
				Shares: &plan.Sharing{With: []addr.Resource{view("w")}, Operators: 1, Of: 2, Reads: []string{"s"}}, Receives: []addr.Resource{view("v")}},
			{Addr: view("gone"), Action: plan.Delete, Class: plan.InPlace, Before: text, Because: "because view.gone is not in configuration", Prior: &state.Resource{Addr: view("gone")}},
			{Addr: two, Action: plan.NoOp, Class: plan.Noop, Before: text, After: text, Prior: &state.Resource{Addr: two, Attributes: text}, Desired: &state.Resource{Addr: two, Attributes: text}},
			{Addr: view("v"), PreviousAddr: &old, Action: plan.Update, Class: plan.ReplayFromSource, Reason: "it means something else", Before: text, After: json.RawMessage(`{"sql":"SELECT 2"}`),
				Prior: prior, Desired: prior,
				Evolution:  &plan.Evolution{Operators: []plan.Fate{{Name: "aggregate 1", Kind: "aggregate", Detail: "by k", Fate: plan.Replayed, Reason: "the filter below it has changed"}}},
				Boundaries: []state.Boundary{{Of: view("v"), ID: "view.v", Serial: 3, Before: "aa", After: "bb"}},
				Price: &plan.Price{Files: 2, Rows: 4, Bytes: 30, Sources: []addr.Resource{source}, HeldRows: 5, Seconds: 1.5,
					Reads: []plan.Reading{{Source: source, From: "start", Extent: extent}}},
				Denials: []plan.Denial{{Policy: "p", Rule: "max_replay", Reason: "would read too much", Waived: true}}},
		},
	}
}

// TestStable holds the document of a plan that fills every field: what changes here changes for the programs that read plans.
func TestStable(t *testing.T) {
	data, err := document.JSON(full())
	require.NoError(t, err)
	var pretty bytes.Buffer
	require.NoError(t, json.Indent(&pretty, append(data, '\n'), "", "  "))
	const path = "testdata/plan.json"
	if *update {
		require.NoError(t, os.WriteFile(path, pretty.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), pretty.String())

	var got tfjson.Plan
	require.NoError(t, json.Unmarshal(data, &got), "which validates it")
	require.Len(t, got.ResourceDrift, 2)
	require.Equal(t, tfjson.Actions{tfjson.ActionDelete}, got.ResourceDrift[1].Change.Actions)
	require.Equal(t, tfjson.CheckStatusFail, got.Checks[1].Status)
	require.Equal(t, "It is bad.", got.Checks[1].Instances[0].Problems[0].Message)
	require.False(t, *got.Complete)
	require.Equal(t, "view.old", got.ResourceChanges[3].PreviousAddress)
}

// TestReferenceIsComplete compares the fields that the reference describes with those there are.
func TestReferenceIsComplete(t *testing.T) {
	data, err := document.JSON(full())
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(data, &doc))
	have := map[string]bool{}
	paths("", doc, have)
	described := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(document.Reference(), -1) {
		require.False(t, described[m[1]], "%s is described twice", m[1])
		described[m[1]] = true
	}
	require.Equal(t, slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(described)))
}

// paths collects the paths of all fields. What stands below values of the user is not followed.
func paths(at string, v any, out map[string]bool) {
	names := map[string]bool{"variables": true, "output_changes": true, "prior_state.values.outputs": true} // objects by name
	leaf := at == "planned_values" || regexp.MustCompile(`(before|after|after_unknown|before_sensitive|after_sensitive|values|sensitive_values)$`).MatchString(at) && at != "prior_state.values"
	switch v := v.(type) {
	case map[string]any:
		if leaf {
			break
		}
		for name, inner := range v {
			if names[at] {
				name = "*"
			}
			paths(strings.TrimPrefix(at+"."+name, "."), inner, out)
		}
		return
	case []any:
		if len(v) > 0 {
			if _, objects := v[0].(map[string]any); objects {
				for _, inner := range v {
					paths(at+"[]", inner, out)
				}
				return
			}
		}
	}
	out[at] = true
}

// secretPlan is the plan of an edit with a secret in a variable.
func secretPlan(t *testing.T) *plan.Plan {
	w := graphtest.New(t)
	const head = `variable "secret" {
  type      = string
  sensitive = true
}
variable "plain" {
  default = "pl41n"
}
output "token" {
  value     = var.secret
  sensitive = true
}
source "test" "s" {
  path = var.plain
}
view "v" {
  sql = "SELECT id FROM s GROUP BY id"
}
`
	w.Files["main.sf.hcl"] = head + "sink \"test\" \"old\" {\n  from = view.v\n  path = \"old\"\n}\n"
	p, ds := w.Plan(graphtest.Options{Vars: []string{"secret=c4n4ry"}})
	require.False(t, ds.Failed(), "%v", ds)
	_, err := w.Apply(p)
	require.NoError(t, err)
	w.Files["main.sf.hcl"] = head + "sink \"test\" \"new\" {\n  from = view.v\n  path = \"new\"\n}\n"
	p, ds = w.Plan(graphtest.Options{Vars: []string{"secret=c4n4ry2"}, Replace: []string{"view.v"}})
	require.False(t, ds.Failed(), "%v", ds)
	return p
}

func TestJSON(t *testing.T) {
	p := secretPlan(t)
	data, err := document.JSON(p)
	require.NoError(t, err)
	require.NotContains(t, string(data), "c4n4ry")

	var got tfjson.Plan
	require.NoError(t, json.Unmarshal(data, &got), "which validates it")
	require.NoError(t, got.Validate())
	require.Equal(t, "1.2", got.FormatVersion)
	require.Equal(t, "pl41n", got.Variables["plain"].Value)
	require.Nil(t, got.Variables["secret"].Value)
	require.Nil(t, got.OutputChanges["token"].After)
	require.Equal(t, true, got.OutputChanges["token"].AfterSensitive)
	actions := map[string]tfjson.Actions{}
	for _, c := range got.ResourceChanges {
		require.Equal(t, tfjson.ManagedResourceMode, c.Mode)
		require.Equal(t, "streamform", c.ProviderName)
		actions[c.Address] = c.Change.Actions
	}
	require.Equal(t, map[string]tfjson.Actions{
		"sink.test.new": {"create"}, "sink.test.old": {"delete"}, "source.test.s": {"no-op"}, "view.v": {"create", "delete"},
	}, actions)
	require.True(t, actions["view.v"].CreateBeforeDestroy())
	require.Equal(t, tfjson.ActionReasonReplaceByRequest, got.ResourceChanges[3].ActionReason)
	require.Equal(t, tfjson.ActionReasonDeleteBecauseNoResourceConfig, got.ResourceChanges[1].ActionReason)
	require.Equal(t, "source.test", got.ResourceChanges[2].Type)
	require.Nil(t, got.ResourceChanges[0].Change.Before)
	require.Nil(t, got.ResourceChanges[1].Change.After)
	require.Len(t, got.PriorState.Values.RootModule.Resources, 3)
	require.Len(t, got.PlannedValues.RootModule.Resources, 3)
	require.Equal(t, []string{"view.v"}, got.PlannedValues.RootModule.Resources[0].DependsOn)

	var extra struct {
		Applyable       bool `json:"applyable"`
		Errored         bool `json:"errored"`
		ResourceChanges []struct {
			Class plan.Class  `json:"class"`
			Price *plan.Price `json:"price"`
		} `json:"resource_changes"`
	}
	require.NoError(t, json.Unmarshal(data, &extra))
	require.True(t, extra.Applyable)
	require.Equal(t, plan.ReplayFromSource, extra.ResourceChanges[3].Class)
	require.Equal(t, "source.test.s", extra.ResourceChanges[3].Price.Sources[0].String())
}
