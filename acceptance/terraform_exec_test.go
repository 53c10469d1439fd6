package acceptance

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"
	tfjson "github.com/hashicorp/terraform-json"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/state"
	"github.com/streamform/streamform/state/local"
)

const execConfig = `source "files" "purchases" {
  path    = "./landing"
  format  = "json"
  columns = { id = "BIGINT", customer = "VARCHAR", amount = "DECIMAL(10,2)" }
}

variable "least" {
  type    = number
  default = 0
}

stream "valid" {
  sql     = "SELECT * FROM purchases WHERE amount > ${var.least}"
  trigger = trigger.processing_time.live
}

view "totals" {
  sql = "SELECT customer, sum(amount) AS total FROM valid GROUP BY customer"
}

trigger "processing_time" "live" {
  interval = "1s"
}

output "least" {
  value = var.least
}
`

// driven is a project that terraform-exec drives as if the binary were Terraform.
func driven(t *testing.T) (*project, *tfexec.Terraform) {
	p := newProject(t, "main.sf.hcl", execConfig, "landing/a.json",
		`{"id":1,"customer":"a","amount":5.25}`+"\n"+`{"id":2,"customer":"b","amount":2}`+"\n"+`{"id":3,"customer":"a","amount":1}`+"\n")
	tf, err := tfexec.NewTerraform(p.dir, binary(t))
	require.NoError(t, err)
	require.NoError(t, tf.SetEnv(map[string]string{"PATH": os.Getenv("PATH"), "HOME": p.dir, "NO_COLOR": "1"}))
	return p, tf
}

// TestTerraformExec goes through the life of a project with the library that tools use to drive Terraform.
func TestTerraformExec(t *testing.T) {
	ctx := t.Context()
	p, tf := driven(t)

	version, _, err := tf.Version(ctx, true)
	require.NoError(t, err)
	require.True(t, version.Core().Segments()[0] >= 1, "a Terraform version whose formats are spoken: %s", version)
	require.NoError(t, tf.Init(ctx))

	valid, err := tf.Validate(ctx)
	require.NoError(t, err)
	require.True(t, valid.Valid)
	require.Zero(t, valid.ErrorCount)

	p.write("broken.sf.hcl", "view \"broken\" {\n  sql = \"SELECT nothing FROM purchases\"\n}\n")
	valid, err = tf.Validate(ctx)
	require.NoError(t, err)
	require.False(t, valid.Valid)
	require.Equal(t, 1, valid.ErrorCount)
	require.Len(t, valid.Diagnostics, 1)
	require.Equal(t, tfjson.DiagnosticSeverityError, valid.Diagnostics[0].Severity)
	require.Equal(t, "broken.sf.hcl", valid.Diagnostics[0].Range.Filename)
	require.Equal(t, 2, valid.Diagnostics[0].Range.Start.Line)
	require.Equal(t, "nothing", valid.Diagnostics[0].Snippet.Code[valid.Diagnostics[0].Snippet.HighlightStartOffset:valid.Diagnostics[0].Snippet.HighlightEndOffset])
	require.NoError(t, os.Remove(p.path("broken.sf.hcl")))

	planFile := p.path("p.plan")
	changes, err := tf.Plan(ctx, tfexec.Out(planFile))
	require.NoError(t, err)
	require.True(t, changes)
	plan, err := tf.ShowPlanFile(ctx, planFile)
	require.NoError(t, err)
	require.NoError(t, plan.Validate())
	requireActions(t, plan, tfjson.ActionCreate, "source.files.purchases", "stream.valid", "trigger.processing_time.live", "view.totals")
	require.Contains(t, plan.OutputChanges, "least")
	raw, err := tf.ShowPlanFileRaw(ctx, planFile)
	require.NoError(t, err)
	require.Contains(t, raw, "Plan: 4 to add, 0 to change, 0 to destroy.")

	require.NoError(t, tf.Apply(ctx, tfexec.DirOrPlan(planFile)))
	changes, err = tf.Plan(ctx)
	require.NoError(t, err)
	require.False(t, changes)
	require.Equal(t, "customer,total\na,6.25\nb,2.00\n", p.must("query", "-csv", "SELECT * FROM totals ORDER BY customer"))

	outputs, err := tf.Output(ctx)
	require.NoError(t, err)
	require.JSONEq(t, `0`, string(outputs["least"].Value))
	require.JSONEq(t, `"number"`, string(outputs["least"].Type))

	state, err := tf.Show(ctx)
	require.NoError(t, err)
	require.NoError(t, state.Validate())
	require.Len(t, state.Values.RootModule.Resources, 4)

	graph, err := tf.Graph(ctx)
	require.NoError(t, err)
	require.Contains(t, graph, "digraph")

	require.NoError(t, tf.Destroy(ctx))
	state, err = tf.Show(ctx)
	require.NoError(t, err)
	require.Nil(t, state.Values)
}

// TestTerraformExecApplyJSON reads the lines of apply -json with terraform-json's types.
func TestTerraformExecApplyJSON(t *testing.T) {
	p, tf := driven(t)
	pipe, write := io.Pipe()
	var text strings.Builder
	done := make(chan error, 1)
	go func() {
		_, err := io.Copy(&text, pipe)
		done <- err
	}()
	require.NoError(t, tf.ApplyJSON(t.Context(), write, tfexec.Var("least=2")))
	require.NoError(t, write.Close())
	require.NoError(t, <-done)

	seen := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(text.String()), "\n") {
		var fields struct {
			Level     string `json:"@level"`
			Message   string `json:"@message"`
			Module    string `json:"@module"`
			Timestamp string `json:"@timestamp"`
			Type      string `json:"type"`
			UI        string `json:"ui"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
		message, err := tfjson.UnmarshalLogMessage([]byte(line))
		require.NoError(t, err, line)
		require.Equal(t, fields.Message, message.Message())
		require.Equal(t, "streamform.ui", fields.Module)
		require.NotEmpty(t, fields.Message)
		require.NotEmpty(t, fields.Timestamp)
		if i == 0 {
			require.Equal(t, "version", fields.Type)
			require.Equal(t, "1.2", fields.UI)
		}
		seen[fields.Type]++
	}
	require.Equal(t, 4, seen["planned_change"], text.String())
	require.Equal(t, 4, seen["apply_start"])
	require.Equal(t, 4, seen["apply_complete"])
	require.Equal(t, 2, seen["change_summary"], "of the plan and of the apply")
	require.Contains(t, text.String(), "Apply complete! Resources: 4 added, 0 changed, 0 destroyed.")
	require.Equal(t, "customer,total\na,5.25\n", p.must("query", "-csv", "SELECT * FROM totals"))
}

func TestTerraformExecFormat(t *testing.T) {
	p, tf := driven(t)
	ok, changed, err := tf.FormatCheck(t.Context())
	require.NoError(t, err)
	require.True(t, ok, "%v", changed)
	p.write("bad.sf.hcl", "view \"x\" {\nsql=\"SELECT 1 AS a\"\n}\n")
	ok, changed, err = tf.FormatCheck(t.Context())
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, []string{"bad.sf.hcl"}, changed)
	require.NoError(t, tf.FormatWrite(t.Context()))
	text, err := os.ReadFile(p.path("bad.sf.hcl"))
	require.NoError(t, err)
	require.Equal(t, "view \"x\" {\n  sql = \"SELECT 1 AS a\"\n}\n", string(text))
	formatted, err := tf.FormatString(t.Context(), "a=1\n")
	require.NoError(t, err)
	require.Equal(t, "a = 1\n", formatted)
}

// TestTerraformExecState moves and removes what is recorded, and removes a lock that was left behind.
func TestTerraformExecState(t *testing.T) {
	ctx := t.Context()
	p, tf := driven(t)
	require.NoError(t, tf.Apply(ctx))
	require.NoError(t, tf.StateMv(ctx, "trigger.processing_time.live", "trigger.processing_time.pace"))
	p.write("main.sf.hcl", strings.NewReplacer(`"live"`, `"pace"`, ".live", ".pace").Replace(execConfig))
	changes, err := tf.Plan(ctx)
	require.NoError(t, err)
	require.False(t, changes, "after the configuration was renamed too there is nothing to do")

	err = tf.StateMv(ctx, "view.totals", "view.sums")
	require.ErrorContains(t, err, "cannot rename")
	require.NoError(t, tf.StateRm(ctx, "view.totals"))
	shown, err := tf.Show(ctx)
	require.NoError(t, err)
	require.Len(t, shown.Values.RootModule.Resources, 3)

	other := local.Open(p.path(local.DefaultName))
	held := state.NewLockInfo("OperationTypeApply", "0.1.0", other.Path())
	require.NoError(t, other.Lock(ctx, held))
	_, err = tf.Plan(ctx)
	require.ErrorContains(t, err, "Error acquiring the state lock")
	require.ErrorContains(t, err, held.ID)
	require.ErrorContains(t, err, held.Who)
	require.NoError(t, tf.ForceUnlock(ctx, held.ID))
	_, err = tf.Plan(ctx)
	require.NoError(t, err)
}

// TestLockTimeout waits for a lock that is released in time.
func TestLockTimeout(t *testing.T) {
	p, _ := driven(t)
	other := local.Open(p.path(local.DefaultName))
	held := state.NewLockInfo("OperationTypeApply", "0.1.0", other.Path())
	require.NoError(t, other.Lock(t.Context(), held))
	refused := p.try("plan", "-lock-timeout=100ms")
	require.Equal(t, 1, refused.code)
	require.Contains(t, refused.stdout, "Acquiring state lock. This may take a few moments...")
	require.Contains(t, refused.stderr, "streamform force-unlock "+held.ID)
	require.Equal(t, 0, p.try("plan", "-lock=false").code)
	released := time.AfterFunc(time.Second, func() { _ = other.Unlock(context.Background(), held.ID) })
	defer released.Stop()
	p.must("plan", "-lock-timeout=1m")
}

// requireActions wants each address to have the action, and nothing else to change.
func requireActions(t *testing.T, plan *tfjson.Plan, action tfjson.Action, addresses ...string) {
	t.Helper()
	var got []string
	for _, c := range plan.ResourceChanges {
		require.Equal(t, tfjson.Actions{action}, c.Change.Actions, c.Address)
		got = append(got, c.Address)
	}
	require.ElementsMatch(t, addresses, got)
}

// TestLinesOfOtherTools holds the output against the regular expressions by which Atlantis and tfcmt read Terraform's.
// "Note: Objects have changed outside of Terraform" is not among them: that line would name another program.
func TestLinesOfOtherTools(t *testing.T) {
	p := newProject(t, "main.sf.hcl", execConfig, "landing/a.json", `{"id":1,"customer":"a","amount":5.25}`+"\n")
	create := p.must("plan")
	applied := p.must("apply", "-auto-approve")
	nothing := p.must("plan")
	p.write("main.sf.hcl", strings.Replace(execConfig, `"1s"`, `"2s"`, 1))
	update := p.must("plan")
	replace := p.must("plan", "-replace=view.totals")
	p.write("main.sf.hcl", execConfig[:strings.Index(execConfig, `view "totals"`)]+execConfig[strings.Index(execConfig, `trigger "processing_time"`):])
	destroy := p.must("plan")
	p.write("main.sf.hcl", execConfig+"}\n")
	broken := p.try("plan").stderr
	p.write("main.sf.hcl", execConfig)
	destroyed := p.must("destroy", "-auto-approve", "-var=least=0")

	cases := map[string]struct {
		text  string
		lines []string
	}{
		"create": {create, []string{
			`Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, (\d+) to forget)?\.`,
			`(?m)^(Plan: \d|No changes.)`, `(?m)^Changes to Outputs:`, `(?m)^ *# (.*) will be created$`}},
		"applied": {applied, []string{`(?m)^(Apply complete!)`}},
		"nothing": {nothing, []string{`(?m)^(Plan: \d|No changes.)`, `No changes. (Infrastructure is up-to-date|Your infrastructure matches the configuration).`}},
		"update":  {update, []string{`(?m)^ *# (.*) will be updated in-place$`}},
		"replace": {replace, []string{`(?m)^ *# (.*) will be replaced, as requested$`, `(?m)([1-9][0-9]* to destroy.)`}},
		"destroy": {destroy, []string{`(?m)^ *# (.*) will be destroyed$`, `(?m)([1-9][0-9]* to destroy.)`}},
		"broken":  {broken, []string{`(?m)^([│|] )?(Error: )`}},
		"gone":    {destroyed, []string{`(?m)^Destroy complete! Resources: \d+ destroyed\.$`}},
	}
	for name, c := range cases {
		for _, line := range c.lines {
			require.Regexp(t, line, c.text, name)
		}
	}
	require.NotRegexp(t, `(?m)([1-9][0-9]* to destroy.)`, update, "what is computed anew beside the live rows destroys nothing")
}
