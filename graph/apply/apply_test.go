package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/graphtest"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/state"
)

const before = `source "test" "s" {
  path = "in"
}
source "test" "gone" {
  path = "in"
}
view "v" {
  sql = "SELECT id FROM s JOIN gone GROUP BY id"
}
sink "test" "k" {
  from = view.v
  path = "lake"
}
sink "test" "old" {
  from = view.v
  path = "old"
}
trigger "processing_time" "t" {
  interval = "1s"
}
output "x" {
  value = 1
}
`

const after = `source "test" "s" {
  path = "in"
  trigger = trigger.processing_time.t
}
view "v" {
  sql = "SELECT id FROM s GROUP BY id"
}
view "w" {
  sql = "SELECT id FROM v GROUP BY id"
}
sink "test" "k" {
  from = view.v
  path = "lake"
}
trigger "processing_time" "t" {
  interval = "2s"
}
output "x" {
  value = 2
}
`

// edited is a world in which before was applied and after is configured.
func edited(t *testing.T) *graphtest.World {
	w := graphtest.New(t)
	w.Files["main.sf.hcl"] = before
	w.MustApply()
	w.Files["main.sf.hcl"] = after
	w.Runtime.Calls = nil
	return w
}

func mustPlan(t *testing.T, w *graphtest.World, o graphtest.Options) *plan.Plan {
	t.Helper()
	p, ds := w.Plan(o)
	require.False(t, ds.Failed(), "%v", ds)
	return p
}

func TestOrderOfCalls(t *testing.T) {
	w := edited(t)
	p := mustPlan(t, w, graphtest.Options{})
	r, err := w.Apply(p)
	require.NoError(t, err)
	require.Equal(t, []string{
		"delete sink.test.old", "put trigger.processing_time.t 1", "put source.test.s 1", "put view.v 2", "put view.w 1",
		"backfill", "delete source.test.gone",
	}, w.Runtime.Calls)
	require.Equal(t, p.Counts(), r.Counts)
	require.Len(t, r.Summary.Relations, 2)
	d, err := w.Store.Load(t.Context())
	require.NoError(t, err)
	saved, err := state.Encode(d)
	require.NoError(t, err)
	returned, err := state.Encode(r.Document)
	require.NoError(t, err)
	require.Equal(t, string(saved), string(returned))
	require.Equal(t, "2", string(d.Outputs["x"].Value))
	require.True(t, mustPlan(t, w, graphtest.Options{}).Empty())
}

// checkRecord compares what is recorded with what the runtime was told: nothing more, nothing less.
func checkRecord(t *testing.T, w *graphtest.World) {
	t.Helper()
	d, err := w.Store.Load(t.Context())
	require.NoError(t, err)
	for _, r := range d.Resources {
		require.JSONEq(t, w.Runtime.Values[r.Addr], string(r.Attributes), r.Addr.String())
		if building, ok := w.Runtime.Building[r.Addr]; ok && r.Addr.Block != addr.Source {
			require.Equal(t, state.Building, r.Status, r.Addr.String())
			require.Equal(t, building, r.Generation, r.Addr.String())
		}
	}
	require.Len(t, w.Runtime.Values, len(d.Resources))
}

// TestFailureAtEachCall stops apply at every call it makes, by an error and by a crash. The state
// then shows exactly what was done, and the next apply finishes it.
func TestFailureAtEachCall(t *testing.T) {
	for _, start := range []string{"", before} {
		for _, crash := range []bool{false, true} {
			for i := 1; ; i++ {
				w := graphtest.New(t)
				if start != "" {
					w.Files["main.sf.hcl"] = start
					w.MustApply()
				}
				w.Files["main.sf.hcl"] = after
				p := mustPlan(t, w, graphtest.Options{})
				w.Runtime.Calls, w.Runtime.Panic = nil, crash
				w.Runtime.Fail(i)
				r, err := applyOrCrash(w, p)
				calls := len(w.Runtime.Calls)
				w.Runtime.Fail(0)
				if calls < i {
					require.NoError(t, err)
					require.GreaterOrEqual(t, i, 7)
					break
				}
				name := fmt.Sprintf("call %d (%s), crash %t", i, w.Runtime.Calls[i-1], crash)
				require.ErrorIs(t, err, graphtest.ErrTarget, name)
				d, err := w.Store.Load(t.Context())
				require.NoError(t, err)
				if d != nil {
					checkRecord(t, w)
				}
				if !crash && d != nil && r.Document.Serial > 0 {
					require.Equal(t, d.Serial, r.Document.Serial, name)
				}
				w.MustApply()
				checkRecord(t, w)
				require.True(t, mustPlan(t, w, graphtest.Options{}).Empty(), name)
				d, err = w.Store.Load(t.Context())
				require.NoError(t, err)
				for _, res := range d.Resources {
					require.Equal(t, state.Applied, res.Status, name)
				}
				require.Empty(t, w.Runtime.Building, name)
			}
		}
	}
}

func applyOrCrash(w *graphtest.World, p *plan.Plan) (r apply.Result, err error) {
	defer func() {
		if crash := recover(); crash != nil {
			err = crash.(error)
		}
	}()
	return w.Apply(p)
}

func TestErrorNamesTheResource(t *testing.T) {
	w := edited(t)
	p := mustPlan(t, w, graphtest.Options{})
	w.Runtime.Fail(4)
	r, err := w.Apply(p)
	var failed *apply.ResourceError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "view.v", failed.Addr.String())
	require.Equal(t, "view.v: the runtime does not answer", err.Error())
	require.Equal(t, plan.Counts{Change: 2, Destroy: 1}, r.Counts)
	w.Runtime.Fail(2)
	_, err = w.Apply(mustPlan(t, w, graphtest.Options{}))
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "view.w", failed.Addr.String())
}

func TestStale(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(w *graphtest.World, in *apply.Input)
		want  apply.StaleError
	}{
		"serial":  {func(_ *graphtest.World, in *apply.Input) { in.Plan.Serial = 3 }, apply.StaleError{What: "state", Planned: "serial 3", Found: "serial 8"}},
		"lineage": {func(_ *graphtest.World, in *apply.Input) { in.Plan.Lineage = "x" }, apply.StaleError{What: "lineage", Planned: "x", Found: "lineage-1"}},
		"config":  {func(_ *graphtest.World, in *apply.Input) { in.ConfigHash = "x" }, apply.StaleError{What: "configuration", Planned: "hash", Found: "x"}},
		"runtime": {func(w *graphtest.World, _ *apply.Input) { w.Runtime.ID = "x" }, apply.StaleError{What: "runtime", Planned: "runtime-1", Found: "x"}},
		"gone":    {func(_ *graphtest.World, in *apply.Input) { in.Store = &graphtest.Store{} }, apply.StaleError{What: "state", Planned: "serial 8", Found: "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := edited(t)
			in := apply.Input{Plan: mustPlan(t, w, graphtest.Options{}), Store: w.Store, Target: w.Runtime, ConfigHash: "hash"}
			c.spoil(w, &in)
			saves := w.Store.Saves
			_, err := apply.Run(t.Context(), in)
			var stale *apply.StaleError
			require.ErrorAs(t, err, &stale)
			require.Equal(t, c.want, *stale)
			require.Empty(t, w.Runtime.Calls, "nothing was done")
			require.Equal(t, saves, w.Store.Saves)
		})
	}
	w := edited(t)
	p := mustPlan(t, w, graphtest.Options{NoRefresh: true})
	w.Runtime.ID = "x"
	_, err := w.Apply(p)
	require.NoError(t, err, "a plan without facts is not bound to a runtime")
	p.Errored = true
	_, err = w.Apply(p)
	require.ErrorIs(t, err, apply.ErrErrored)
}

func TestHooks(t *testing.T) {
	for fail, want := range map[int]string{
		0: "start sink.test.old, done sink.test.old, start trigger.processing_time.t, done trigger.processing_time.t, start source.test.s, done source.test.s, " +
			"start view.v, start view.w, progress 1/2, done view.v, done view.w, start source.test.gone, done source.test.gone",
		1: "start sink.test.old, failed sink.test.old",
		6: "start sink.test.old, done sink.test.old, start trigger.processing_time.t, done trigger.processing_time.t, start source.test.s, done source.test.s, " +
			"start view.v, start view.w, progress 1/2, failed view.v, failed view.w",
	} {
		w := edited(t)
		var told []string
		tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
		in := apply.Input{Plan: mustPlan(t, w, graphtest.Options{}), Store: w.Store, Target: w.Runtime, Hooks: apply.Hooks{
			Started:   func(c plan.Change) { tell("start %s", c.Addr) },
			Completed: func(c plan.Change, d time.Duration) { tell("done %s", c.Addr) },
			Errored:   func(c plan.Change, d time.Duration, err error) { tell("failed %s", c.Addr) },
			Progress:  func(p apply.Progress) { tell("progress %d/%d", p.Rows, p.TotalBytes) },
		}}
		w.Runtime.Fail(fail)
		_, err := apply.Run(t.Context(), in)
		require.Equal(t, fail != 0, err != nil)
		require.Equal(t, want, strings.Join(told, ", "))
	}
}

func TestInterrupted(t *testing.T) {
	w := edited(t)
	ctx, cancel := context.WithCancel(t.Context())
	in := apply.Input{Plan: mustPlan(t, w, graphtest.Options{}), Store: w.Store, Target: w.Runtime,
		Hooks: apply.Hooks{Completed: func(c plan.Change, _ time.Duration) {
			if c.Addr.Block == addr.Trigger {
				cancel()
			}
		}}}
	_, err := apply.Run(ctx, in)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, []string{"delete sink.test.old", "put trigger.processing_time.t 1"}, w.Runtime.Calls)
	checkRecord(t, w)
	w.MustApply()
}

func TestUnwritableState(t *testing.T) {
	w := edited(t)
	p := mustPlan(t, w, graphtest.Options{})
	w.Store.Broken = errors.New("disk full")
	r, err := w.Apply(p)
	var lost *apply.SaveError
	require.ErrorAs(t, err, &lost)
	require.ErrorIs(t, err, w.Store.Broken)
	require.Equal(t, r.Document, lost.Document)
	require.Nil(t, lost.Document.Resource(addr.Resource{Block: addr.Sink, Type: "test", Name: "old"}), "what was done is in it")
	require.Equal(t, []string{"delete sink.test.old"}, w.Runtime.Calls, "and nothing more is done")
}

func TestLargeStatesAreSavedLessOften(t *testing.T) {
	w := graphtest.New(t)
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "source \"test\" \"s%d\" {\n  path = \"in\"\n}\n", i)
	}
	w.Files["main.sf.hcl"] = b.String()
	_, err := w.Apply(mustPlan(t, w, graphtest.Options{}))
	require.NoError(t, err)
	require.Less(t, w.Store.Saves, 290)
	require.Greater(t, w.Store.Saves, 200)
	d, err := w.Store.Load(t.Context())
	require.NoError(t, err)
	require.Len(t, d.Resources, 300)
}

func TestNothingToComputeNeedsNoBackfill(t *testing.T) {
	w := graphtest.New(t)
	w.Files["main.sf.hcl"] = before
	w.MustApply()
	w.Files["main.sf.hcl"] = strings.Replace(before, `interval = "1s"`, `interval = "9s"`, 1)
	w.Runtime.Calls = nil
	w.MustApply()
	require.Equal(t, []string{"put trigger.processing_time.t 1"}, w.Runtime.Calls)
}
