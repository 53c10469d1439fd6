package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/graph"
	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/lang"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/job"
	"github.com/streamform/streamform/runtime/query"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/state"
)

func config() *lang.Config {
	return &lang.Config{Resources: []lang.Resource{
		{Addr: addr.Resource{Block: addr.Source, Type: "files", Name: "Purchases"}, Range: diag.Range{Filename: "main.sf.hcl", Start: diag.Pos{Line: 1}}},
		{Addr: addr.Resource{Block: addr.View, Name: "totals"}, Range: diag.Range{Filename: "main.sf.hcl", Start: diag.Pos{Line: 9}}},
	}}
}

func TestFindings(t *testing.T) {
	cases := map[string]struct {
		err     error
		summary string
		address string
		line    int
	}{
		"in use":          {err: fmt.Errorf("opening: %w", store.ErrInUse), summary: "The runtime is in use"},
		"failure":         {err: fmt.Errorf("running: %w", &job.Failure{Relation: "view.totals", Summary: "Duplicate key", Detail: "x"}), summary: "Duplicate key", address: "view.totals", line: 9},
		"failure by name": {err: &job.Failure{Relation: "purchases.malformed", Summary: "Bad"}, summary: "Bad", address: "source.files.Purchases", line: 1},
		"unknown name":    {err: &job.Failure{Relation: "gone", Summary: "Bad"}, summary: "Bad", address: "gone"},
		"connector":       {err: fmt.Errorf("listing: %w", &connector.UserError{Summary: "No folder", Detail: "x"}), summary: "No folder"},
		"data":            {err: &query.DataError{Relation: "totals", Summary: "Overflow"}, summary: "Overflow", address: "view.totals", line: 9},
		"query":           {err: &query.Error{Summary: "No column"}, summary: "No column"},
		"damaged":         {err: &state.CorruptedError{Reason: "cut off"}, summary: "The recorded state is damaged"},
		"newer":           {err: &state.NewerError{Found: 9}, summary: "The recorded state is newer than this program"},
		"wrong lock":      {err: &state.WrongLockError{Given: "a", Held: "b"}, summary: "Failed to unlock state"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			ds, rest := findings(config(), c.err)
			require.NoError(t, rest)
			require.Len(t, ds, 1)
			require.Equal(t, c.summary, ds[0].Summary)
			require.Equal(t, c.address, ds[0].Address)
			if c.line > 0 {
				require.Equal(t, c.line, ds[0].Subject.Start.Line)
			} else {
				require.Nil(t, ds[0].Subject)
			}
		})
	}
}

func TestFindingsTakeJoinedErrorsApart(t *testing.T) {
	machine := errors.New("disk full")
	ds, rest := findings(config(), errors.Join(&job.Failure{Relation: "a", Summary: "A"}, machine, errors.Join(&job.Failure{Relation: "b", Summary: "B"})))
	require.Len(t, ds, 2)
	require.Equal(t, "A", ds[0].Summary)
	require.Equal(t, "B", ds[1].Summary)
	require.ErrorIs(t, rest, machine)
	ds, rest = findings(nil, nil)
	require.Empty(t, ds)
	require.NoError(t, rest)
}

func TestSQLError(t *testing.T) {
	var got *graph.SQLError
	require.ErrorAs(t, sqlError(fmt.Errorf("compiling: %w", &query.Error{Summary: "S", Detail: "D", Start: 3, End: 5})), &got)
	require.Equal(t, graph.SQLError{Summary: "S", Detail: "D", Start: 3, End: 5}, *got)
	require.ErrorAs(t, sqlError(&connector.UserError{Summary: "U", Detail: "D"}), &got)
	require.Equal(t, "U", got.Summary)
	machine := errors.New("disk full")
	require.Equal(t, machine, sqlError(machine))
}

func TestApplyFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	p := &Project{config: config()}
	document := state.New("l", "0.1.0")
	ds, rest := p.applyFindings(apply.Result{Document: document}, errors.Join(
		&apply.ResourceError{Addr: addr.Resource{Block: addr.View, Name: "totals"}, Err: errors.New("disk full")},
		&apply.ResourceError{Err: errors.Join(&job.Failure{Relation: "purchases", Summary: "Bad"})},
		&apply.SaveError{Err: errors.New("read-only")},
		context.Canceled,
	))
	require.ErrorIs(t, rest, context.Canceled)
	require.Len(t, ds, 3)
	require.Equal(t, "view.totals", ds[0].Address)
	require.Equal(t, 9, ds[0].Subject.Start.Line)
	require.Equal(t, "source.files.Purchases", ds[1].Address)
	require.Contains(t, ds[2].Detail, erroredState)
	kept, err := os.ReadFile(erroredState)
	require.NoError(t, err)
	again, err := state.Decode(kept)
	require.NoError(t, err)
	require.Equal(t, "l", again.Lineage)
	info, err := os.Stat(erroredState)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	ds, rest = p.applyFindings(apply.Result{}, &apply.StaleError{What: "state", Planned: "serial 1", Found: "serial 2"})
	require.NoError(t, rest)
	require.Equal(t, "Saved plan is stale", ds[0].Summary)
}

func TestPlaceInAQuery(t *testing.T) {
	const sql = "SELECT é,\n  nme FROM t"
	r := place(sql, 13, 16)
	require.Equal(t, diag.Pos{Line: 2, Column: 3, Byte: 13}, r.Start)
	require.Equal(t, diag.Pos{Line: 2, Column: 6, Byte: 16}, r.End)
	require.Equal(t, "nme", sql[13:16])
	require.Equal(t, diag.Pos{Line: 1, Column: 9, Byte: 9}, position(sql, 9))
	require.Equal(t, len(sql), position(sql, 1000).Byte)
}

func TestEdited(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	write("main.sf.hcl", "a")
	write("q.sql", "b")
	was := map[string][]byte{"main.sf.hcl": []byte("a"), "q.sql": []byte("b"), "gone.sfvars": []byte("c")}
	check := func(want string) {
		t.Helper()
		got, err := edited(was)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	check("")
	write("q.sql", "c")
	check("q.sql")
	require.NoError(t, os.Remove("q.sql"))
	check("q.sql")
	write("q.sql", "b")
	write("more.sf.hcl", "d")
	check("more.sf.hcl")
	require.NoError(t, os.Remove("more.sf.hcl"))
	write("gone.sfvars", "other")
	check("gone.sfvars")
}

func TestMoveAddresses(t *testing.T) {
	_, _, ds := moveAddresses(MoveRequest{From: "nonsense", To: "view"})
	require.Len(t, ds, 2)
	_, _, ds = moveAddresses(MoveRequest{From: "view.a", To: "stream.a"})
	require.Equal(t, "Invalid state move request", ds[0].Summary)
	from, to, ds := moveAddresses(MoveRequest{From: "view.a", To: "view.b"})
	require.Empty(t, ds)
	require.Equal(t, "view.a view.b", from.String()+" "+to.String())
}

func TestInventory(t *testing.T) {
	d := &state.Document{Resources: []state.Resource{
		{Addr: addr.Resource{Block: addr.View, Name: "a"}}, {Addr: addr.Resource{Block: addr.View, Name: "b"}},
		{Addr: addr.Resource{Block: addr.Source, Type: "files", Name: "c"}}, {Addr: addr.Resource{Block: addr.Trigger, Type: "x", Name: "d"}},
	}}
	require.Equal(t, "1 source, 2 views", inventory(d))
}
