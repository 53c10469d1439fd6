package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

// about is what the comment lines of a change of view.v say.
func about(t *testing.T, c plan.Change, others ...plan.Change) []string {
	t.Helper()
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "s"}
	c.Addr, c.Before, c.After = addr.Resource{Block: addr.View, Name: "v"}, json.RawMessage(`{"sql":"a"}`), json.RawMessage(`{"sql":"b"}`)
	if c.Action == "" {
		c.Action = plan.Update
	}
	c.Prior, c.Desired = &state.Resource{Addr: c.Addr, Generation: 1, Status: state.Applied}, &state.Resource{Addr: c.Addr, Generation: 2}
	got := text(t, &plan.Plan{Changes: append([]plan.Change{c}, others...), Sources: map[addr.Resource]plan.Extent{source: {Files: 12, Bytes: 3_400_000, Rows: 1_200_000}}}, render.Options{})
	var out []string
	for _, line := range strings.Split(got, "\n") {
		if strings.HasPrefix(line, "  #") && strings.Contains(line, "view.v will be") {
			out = []string{}
			continue
		}
		if out != nil && strings.HasPrefix(line, "  # ") {
			out = append(out, strings.TrimPrefix(line, "  # "))
		} else if out != nil {
			break
		}
	}
	return out
}

func TestDataLines(t *testing.T) {
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "s"}
	v := addr.Resource{Block: addr.View, Name: "v"}
	reader := func(name string, from ...addr.Resource) plan.Change {
		return plan.Change{Addr: addr.Resource{Block: addr.View, Name: name}, Action: plan.NoOp, Class: plan.Noop, Receives: from}
	}
	for name, c := range map[string]struct {
		change plan.Change
		others []plan.Change
		want   []string
	}{
		"migrate": {
			change: plan.Change{Class: plan.Migrate, Reason: "what is above it has changed", Price: &plan.Price{HeldRows: 1_200_000, Seconds: 42}, Evolution: &plan.Evolution{Operators: []plan.Fate{
				{Name: "aggregate 1", Kind: "aggregate", Detail: "by k: sum(v)", Fate: plan.Kept},
				{Name: "aggregate 2", Kind: "aggregate", Detail: "by\n  w", Fate: plan.Migrated, Reason: "one sum fewer"},
				{Name: "top 1", Kind: "top", Fate: plan.Added}, {Name: "top 9", Kind: "top", Fate: plan.Dropped, Reason: "nothing uses it any more"},
				{Name: "result", Kind: "rows", Detail: "filters", Fate: plan.Rebuilt, Reason: "computed from the operators below it"}}}},
			want: []string{"(what is above it has changed)", "(keyed data carried over: 1 of 3 operators kept, 1 converted)", "  - converts the aggregate (by w): one sum fewer", "  - adds the top",
				"  - drops the top: nothing uses it any more", "  - rebuilds its rows: computed from the operators below it", "(made from 1,200,000 rows held, about 42s)"},
		},
		"in place": {
			change: plan.Change{Class: plan.InPlace, Changed: []string{"description"}},
			want:   []string{"(takes effect at the next epoch; what was computed stays)"},
		},
		"rebuilt": {
			change: plan.Change{Class: plan.RebuildFromState, Price: &plan.Price{HeldRows: 1, Seconds: 130}},
			want:   []string{"(rebuilt beside the live one from 1 row held, about 2m10s)"},
		},
		"replayed": {
			change: plan.Change{Class: plan.ReplayFromSource, Price: &plan.Price{Sources: []addr.Resource{source}, Seconds: 120}},
			others: []plan.Change{reader("a", v), reader("b", addr.Resource{Block: addr.View, Name: "a"}), reader("c", addr.Resource{Block: addr.View, Name: "x"})},
			want:   []string{"(reads source.files.s again from the start: 12 files, 1,200,000 rows, 3.4 MB, about 2m)", "(view.a and view.b receive the difference)"},
		},
		"gone on with": {
			change: plan.Change{Class: plan.ReplayFromSource, Price: &plan.Price{Sources: []addr.Resource{source}, Seconds: 20, Reads: []plan.Reading{
				{Source: source, From: plan.FromStop, Extent: plan.Extent{Files: 2, Rows: 200_000, Bytes: 600_000}}}}},
			want: []string{"(goes on reading source.files.s where the last apply ended: 2 files, 200,000 rows, 600.0 kB, about 20s)"},
		},
		"nothing left": {
			change: plan.Change{Class: plan.ReplayFromSource, Price: &plan.Price{Sources: []addr.Resource{source}, Reads: []plan.Reading{{Source: source, From: plan.FromStop}}}},
			want:   []string{"(goes on reading source.files.s where the last apply ended: nothing left)"},
		},
		"many readers": {
			change: plan.Change{Class: plan.RebuildFromState},
			others: []plan.Change{reader("a", v), reader("b", v), reader("c", v), reader("d", v), reader("e", v)},
			want:   []string{"(rebuilt beside the live one from rows held)", "(view.a, view.b, view.c, view.d and 1 more receive the difference)"},
		},
		"kept history": {
			change: plan.Change{Class: plan.InPlace, Boundaries: []state.Boundary{{Of: v}, {Of: addr.Resource{Block: addr.Stream, Name: "s"}}}},
			want: []string{`(history = "keep": rows from before this edit stay, and the new definition holds from the next epoch)`,
				"(from the next epoch it is computed from rows that follow the new definition of stream.s; earlier ones stay)"},
		},
		"kept history of readers": {
			change: plan.Change{Class: plan.InPlace, Reason: `history = "keep" says so`, Boundaries: []state.Boundary{{Of: v}}},
			others: []plan.Change{{Addr: addr.Resource{Block: addr.View, Name: "a"}, Action: plan.NoOp, Class: plan.Noop, Boundaries: []state.Boundary{{Of: v}}}},
			want:   []string{`(history = "keep" says so)`, "(view.a then holds rows of both definitions)"},
		},
		"denied": {
			change: plan.Change{Class: plan.InPlace, Denials: []plan.Denial{{Policy: "p", Reason: "would be destroyed"}, {Policy: "q", Reason: "would read 3 GB again", Waived: true}}},
			want:   []string{`(denied by plan_policy "p": it would be destroyed)`, `(let through once by -allow: it would read 3 GB again, plan_policy "q")`},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, about(t, c.change, c.others...)) })
	}
}

func TestMoved(t *testing.T) {
	old := addr.Resource{Block: addr.View, Name: "old"}
	c := plan.Change{Addr: addr.Resource{Block: addr.View, Name: "v"}, PreviousAddr: &old, Action: plan.Update, Class: plan.Migrate,
		Before: json.RawMessage(`{"sql":"a"}`), After: json.RawMessage(`{"sql":"a"}`)}
	c.Prior, c.Desired = &state.Resource{Generation: 1, Status: state.Applied}, &state.Resource{Generation: 1}
	require.Contains(t, text(t, &plan.Plan{Changes: []plan.Change{c}}, render.Options{}), "\n  # view.old has moved to view.v\n")
	c.After, c.Changed = json.RawMessage(`{"sql":"b"}`), []string{"sql"}
	require.Contains(t, text(t, &plan.Plan{Changes: []plan.Change{c}}, render.Options{}), "\n  # view.v will be updated in-place\n  # (moved from view.old)\n")
}

func TestDrift(t *testing.T) {
	sink := addr.Resource{Block: addr.Sink, Type: "delta", Name: "k"}
	p := &plan.Plan{Mode: plan.Normal, Drift: []plan.Drift{
		{Addr: sink, Kind: "foreign_rows", Detail: "Another writer changed rows of the Delta table at /lake/k: version 7 (DELETE by Apache-Spark/4.0.0).", Advice: "To write it anew, plan with -replace=sink.delta.k."},
		{Addr: addr.Resource{Block: addr.View, Name: "v"}, Kind: plan.DriftMissing, Detail: "The runtime does not have view.v, which the state records."},
		{Addr: addr.Resource{Block: addr.View, Name: "w"}, Kind: plan.DriftValue, Detail: "The runtime was given other attributes.", Before: json.RawMessage(`{"description":"x"}`), After: json.RawMessage(`{"description":"y"}`)},
	}}
	require.Equal(t, `Note: Objects have changed outside of streamform

streamform found these changes that it did not make itself:

  # sink.delta.k has changed
  # (Another writer changed rows of the Delta table at /lake/k: version 7
  # (DELETE by Apache-Spark/4.0.0). To write it anew, plan with
  # -replace=sink.delta.k.)

  # view.v has been deleted
  # (The runtime does not have view.v, which the state records.)

  # view.w has changed
  # (The runtime was given other attributes.)
  ~ view "w" {
      ~ description = "x" -> "y"
    }

To record it as it is, so that it is not shown again: streamform apply -refresh-only

─────────────────────────────────────────────────────────────────────────────

No changes. Your infrastructure matches the configuration.

Nothing has to be done to what was applied; what is noted above stays as it is.
`, text(t, p, render.Options{}))
	p.Mode = plan.RefreshOnly
	require.True(t, strings.HasSuffix(text(t, p, render.Options{}), "This is a refresh-only plan: it would record what is shown above, and change nothing else.\n"))
	p.Drift = nil
	require.Contains(t, text(t, p, render.Options{}), "No changes. Your infrastructure still matches the configuration.\n")
}
