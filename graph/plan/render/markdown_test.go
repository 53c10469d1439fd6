package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

func markdown(t *testing.T, p *plan.Plan) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, render.Markdown(&b, p, render.Options{Color: true}))
	require.NotContains(t, b.String(), "\x1b", "a comment has no colours")
	require.LessOrEqual(t, utf8.RuneCount(b.Bytes()), 65_536)
	begun, ended := regexp.MustCompile(`(?m)^<details>`), regexp.MustCompile(`(?m)^</details>$`)
	require.Len(t, ended.FindAllString(b.String(), -1), len(begun.FindAllString(b.String(), -1)))
	return b.String()
}

func TestMarkdown(t *testing.T) {
	v := addr.Resource{Block: addr.View, Name: "spend"}
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "clicks"}
	p := &plan.Plan{Mode: plan.Normal, Sources: map[addr.Resource]plan.Extent{source: {Files: 12, Bytes: 3_400_000}},
		Drift:  []plan.Drift{{Addr: source, Kind: "files_lost", Detail: "2 files are gone: a|b.json."}},
		Checks: []plan.CheckResult{{Name: "good"}, {Name: "landing", Problems: []string{"Too *small*."}}},
		Changes: []plan.Change{
			{Addr: addr.Resource{Block: addr.Sink, Type: "delta", Name: "spend"}, Action: plan.NoOp, Class: plan.Noop, Receives: []addr.Resource{v}},
			{Addr: addr.Resource{Block: addr.Stream, Name: "valid"}, Action: plan.NoOp, Class: plan.Blocked, Reason: "Delivered rows would change"},
			{Addr: v, Action: plan.Update, Class: plan.ReplayFromSource, Reason: "it reads <other> rows", Before: json.RawMessage(`{"sql":"SELECT a\nFROM x\n"}`), After: json.RawMessage(`{"sql":"SELECT b\nFROM x\n"}`),
				Prior: &state.Resource{Generation: 1, Status: state.Applied}, Desired: &state.Resource{Generation: 2}, Changed: []string{"sql"},
				Price: &plan.Price{Sources: []addr.Resource{source}, Seconds: 90, Reads: []plan.Reading{{Source: source, From: plan.FromStart, Extent: plan.Extent{Files: 12, Bytes: 3_400_000}}}}, Denials: []plan.Denial{{Policy: "p", Reason: "would read 3.4 MB again"}}},
		}}
	require.Equal(t, `### streamform plan: 0 to add, 1 to change, 0 to destroy

> **Changed outside of streamform:** `+"`source.files.clicks`"+`: 2 files are gone: a&#124;b.json.

> **Check landing failed:** Too &#42;small&#42;.

| | resource | class | what it does to the data |
|---|---|---|---|
| blocked | `+"`stream.valid`"+` | blocked | **blocked:** Delivered rows would change |
| update | `+"`view.spend`"+` | replay_from_source | reads source.files.clicks again from the start: 12 files, 3.4 MB, about 1m30s<br>sink.delta.spend receives the difference<br>**denied:** it would read 3.4 MB again |

To read: 12 files, 3.4 MB from source.files.clicks.

<details><summary><code>view.spend</code>: update, replay_from_source, it reads &#60;other&#62; rows</summary>

`+"```diff"+`
  # view.spend will be updated in-place
  # (it reads <other> rows)
  # (denied by plan_policy "p": it would read 3.4 MB again)
  # (reads source.files.clicks again from the start: 12 files, 3.4 MB, about 1m30s)
  # (sink.delta.spend receives the difference)
!   view "spend" {
!       sql = <<-EOT
-           SELECT a
+           SELECT b
            FROM x
        EOT
    }
`+"```"+`

</details>

`, markdown(t, p))
}

func TestMarkdownWithoutChanges(t *testing.T) {
	require.Equal(t, "### streamform plan: no changes\n\n", markdown(t, &plan.Plan{}))
	refresh := &plan.Plan{Mode: plan.RefreshOnly, Drift: []plan.Drift{{Addr: addr.Resource{Block: addr.View, Name: "v"}, Kind: plan.DriftMissing, Detail: "It is gone."}}}
	require.Contains(t, markdown(t, refresh), "### streamform plan: 1 change to record\n")
}

// TestMarkdownIsSafe feeds texts that would be markup, links, mentions or the end of a block.
func TestMarkdownIsSafe(t *testing.T) {
	evil := "</summary></details><script>x</script> @everyone [a](http://x) | `b` **c** ```\n```` # \x1b[31m"
	value, err := json.Marshal(map[string]string{"sql": evil, "description": "x"})
	require.NoError(t, err)
	p := &plan.Plan{Drift: []plan.Drift{{Addr: addr.Resource{Block: addr.View, Name: "w"}, Kind: "value", Detail: evil}},
		Checks:  []plan.CheckResult{{Name: "c", Problems: []string{evil}}},
		Changes: []plan.Change{{Addr: addr.Resource{Block: addr.View, Name: "v"}, Action: plan.Create, Class: plan.InPlace, Reason: evil, After: value, Denials: []plan.Denial{{Policy: evil, Reason: evil}}}}}
	got := markdown(t, p)
	inside := regexp.MustCompile("(?s)\n(`{3,})diff\n.*?\n`{3,}\n\n</details>").ReplaceAllString(got, "")
	require.NotContains(t, inside, "<script>")
	require.NotContains(t, inside, "@everyone")
	require.NotContains(t, inside, "](http")
	require.NotContains(t, inside, "**c**")
	require.Contains(t, got, "\n`````diff\n", "the fence is longer than the row of backticks in the text")
	for _, line := range strings.Split(inside, "\n") {
		if strings.HasPrefix(line, "| create") {
			require.Equal(t, 5, strings.Count(line, "|"), line)
		}
	}
}

func TestMarkdownIsBounded(t *testing.T) {
	p := &plan.Plan{}
	for i := range 2000 {
		p.Changes = append(p.Changes, plan.Change{Addr: addr.Resource{Block: addr.View, Name: fmt.Sprintf("v%04d", i)}, Action: plan.Create, Class: plan.InPlace,
			After: json.RawMessage(fmt.Sprintf(`{"sql":%q}`, strings.Repeat("é", 300)))})
	}
	got := markdown(t, p)
	require.Contains(t, got, "… and 1,900 more changes.")
	require.Regexp(t, `_1,\d+ changes left out here: a comment may not be longer`, got)
}
