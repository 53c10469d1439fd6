package render_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/lang/addr"
)

// TestData shows plans as people see them.
//
//	apply     applies the configuration that is its input
//	plan      plans the configuration that is its input; options destroy, replace=(…), color, kinds=off
func TestData(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		w := graphtest.New(t)
		w.Sources[graphtest.Addresses(t, []string{"source.test.purchases"})[0]] = plan.Extent{Files: 12, Bytes: 3_400_000}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.T = t
			w.Files["main.sf.hcl"] = d.Input
			if d.Cmd == "apply" {
				w.MustApply()
				return ""
			}
			o := graphtest.Options{}
			if d.HasArg("destroy") {
				o.Mode = plan.Destroy
			}
			for _, a := range d.CmdArgs {
				if a.Key == "replace" {
					o.Replace = a.Vals
				}
			}
			p, ds := w.Plan(o)
			require.NotNil(t, p, "%v", ds)
			ro := render.Options{Color: d.HasArg("color"), Kind: graphtest.Kind}
			if d.HasArg("kinds") {
				ro.Kind = nil
			}
			return strings.ReplaceAll(text(t, p, ro), "\x1b", "^[")
		})
	})
}

func text(t *testing.T, p *plan.Plan, o render.Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render.Text(&b, p, o))
	for _, line := range strings.Split(b.String(), "\n") {
		require.Equal(t, strings.TrimRight(line, " "), line, "no white space at the end of a line")
	}
	return b.String()
}

// fullPlan has every action.
func fullPlan() *plan.Plan {
	at := func(name string) addr.Resource { return addr.Resource{Block: addr.View, Name: name} }
	value := json.RawMessage(`{"sql":"SELECT 1"}`)
	return &plan.Plan{Mode: plan.Normal, Changes: []plan.Change{
		{Addr: at("a"), Action: plan.Create, Class: plan.ReplayFromSource, After: value},
		{Addr: at("b"), Action: plan.Update, Class: plan.InPlace, Before: value, After: json.RawMessage(`{"sql":"SELECT 2"}`)},
		{Addr: at("c"), Action: plan.Delete, Class: plan.InPlace, Before: value, Because: "because view.c is not in configuration"},
		{Addr: at("d"), Action: plan.Replace, Class: plan.ReplayFromSource, Before: value, After: value, Requested: true},
		{Addr: at("e"), Action: plan.Replace, Class: plan.ReplayFromSource, Before: value, After: value},
		{Addr: at("f"), Action: plan.Replace, Class: plan.ReplayFromSource, Before: value, After: value, Reason: "replace_triggered_by names view.b, which changes"},
	}, Outputs: []plan.OutputChange{{Name: "x", Action: plan.Create, After: json.RawMessage(`1`)}}}
}

// TestMachineContract holds the expressions by which other programs read plans.
func TestMachineContract(t *testing.T) {
	got := text(t, fullPlan(), render.Options{})
	for expression, want := range map[string][]string{
		`Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, (\d+) to forget)?\.`: {"Plan: 4 to add, 1 to change, 4 to destroy.", "", "4", "1", "4", ""},
		`(?m)^(Plan: \d|No changes.)`:                                             {"Plan: 4", "Plan: 4"},
		`(?m)^Changes to Outputs:`:                                                {"Changes to Outputs:"},
		`(?m)([1-9][0-9]* to destroy.)`:                                           {"4 to destroy.", "4 to destroy."},
		`(?m)^ *# (.*) will be created$`:                                          {"  # view.a will be created", "view.a"},
		`(?m)^ *# (.*) will be updated in-place$`:                                 {"  # view.b will be updated in-place", "view.b"},
		`(?m)^ *# (.*) will be destroyed$`:                                        {"  # view.c will be destroyed", "view.c"},
		`(?m)^ *# (.*) will be replaced, as requested$`:                           {"  # view.d will be replaced, as requested", "view.d"},
		`(?m)^ *# (.*?)(?: is tainted, so)? must be replaced$`:                    {"  # view.e must be replaced", "view.e"},
		`(?m)^ *# (.*?) has moved to (.*?)$`:                                      nil,
		`(?m)^ *# \(imported from (.*?)\)$`:                                       nil,
		`(?m)^([│|] )?(Error: )`:                                                  nil,
		`(?m)^([│|] )?(Warning: )`:                                                nil,
		`Note: Objects have changed outside of Terraform`:                         nil,
		`(?m)^(Apply complete!)`:                                                  nil,
		`(?m)^ *# (.*?) will be replaced due to changes in replace_triggered_by$`: {"  # view.f will be replaced due to changes in replace_triggered_by", "view.f"},
	} {
		require.Equal(t, want, regexp.MustCompile(expression).FindStringSubmatch(got), expression)
	}
	empty := text(t, &plan.Plan{}, render.Options{})
	require.Regexp(t, `No changes. (Infrastructure is up-to-date|Your infrastructure matches the configuration).`, empty)
	require.Contains(t, empty, "No changes. Your infrastructure matches the configuration.\n")
	require.Equal(t, "No changes. No objects need to be destroyed.\n", text(t, &plan.Plan{Mode: plan.Destroy}, render.Options{}))
}

func TestColorsAddNothingElse(t *testing.T) {
	plain := text(t, fullPlan(), render.Options{})
	colored := text(t, fullPlan(), render.Options{Color: true})
	require.NotEqual(t, plain, colored)
	require.Equal(t, plain, regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(colored, ""))
}

func TestErrored(t *testing.T) {
	p := fullPlan()
	p.Errored = true
	got := text(t, p, render.Options{})
	require.Contains(t, got, "planned the following actions, but then encountered a problem:")
	got = text(t, &plan.Plan{Errored: true}, render.Options{})
	require.NotContains(t, got, "No changes.")
	require.NotContains(t, got, "Plan:")
}

func TestControlCharactersStayOut(t *testing.T) {
	p := &plan.Plan{Changes: []plan.Change{{Addr: addr.Resource{Block: addr.View, Name: "a"}, Action: plan.Create,
		After: json.RawMessage(`{"sql":"SELECT \u001b[31m\n FROM x","description":"\u0007 ${x}"}`)}}}
	got := text(t, p, render.Options{})
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\a")
	require.Contains(t, got, "$${x}")
}
