package nexmark_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/connector/conformance"
	"github.com/streamform/streamform/runtime/connector/nexmark"
	"github.com/zclconf/go-cty/cty"
)

// open opens a source of 1,000 bids' worth of events in files of 300.
func open(t *testing.T, spool string, more map[string]cty.Value) connector.Source {
	t.Helper()
	d := nexmark.Definition()
	written := map[string]cty.Value{"table": cty.StringVal("bid"), "events": cty.NumberIntVal(1000), "events_per_file": cty.NumberIntVal(300)}
	for k, v := range more {
		written[k] = v
	}
	value, errs := d.Kind.Complete(cty.ObjectVal(written))
	require.Empty(t, errs)
	cfg, err := d.Kind.Bind(value)
	require.NoError(t, err)
	s, err := d.Source(context.Background(), cfg, connector.Env{Spool: spool, Now: time.Now})
	require.NoError(t, err)
	return s
}

// TestSource: files are entered once and in order, hold all events of the table, and come back byte for byte.
func TestSource(t *testing.T) {
	ctx, spool, ledger := context.Background(), t.TempDir(), conformance.NewLedger()
	s := open(t, spool, nil)
	found, err := s.Discover(ctx, ledger)
	require.NoError(t, err)
	require.Len(t, found, 4)
	ledger.Commit(found)
	var rows []byte
	for i, e := range found {
		require.Equal(t, int64(i+1), e.Ordinal)
		require.NoError(t, s.Verify(ctx, e))
		content, err := os.ReadFile(e.Path)
		require.NoError(t, err)
		rows = append(rows, content...)
	}
	require.Equal(t, 920, strings.Count(string(rows), "\n"))
	var want []byte
	g := nexmark.New(nexmark.Options{Rate: 2500, Base: time.UnixMilli(1_700_006_353_000)})
	for e := range int64(1000) {
		if nexmark.Table(e) == "bid" {
			want = g.Append(want, e)
		}
	}
	require.Equal(t, string(want), string(rows))

	before, err := os.ReadFile(found[1].Path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(found[1].Path))
	require.ErrorIs(t, s.Verify(ctx, found[1]), connector.ErrVanished)
	require.NoError(t, os.WriteFile(found[2].Path, []byte("{}\n"), 0o600))
	require.ErrorIs(t, s.Verify(ctx, found[2]), connector.ErrChanged)

	again := open(t, spool, nil)
	entered, err := again.Discover(ctx, ledger)
	require.NoError(t, err)
	require.Empty(t, entered, "nothing is entered twice")
	require.NoError(t, again.Verify(ctx, found[1]))
	after, err := os.ReadFile(found[1].Path)
	require.NoError(t, err)
	require.Equal(t, string(before), string(after))
}

// TestDataSetsApart: sources of another seed, rate or start never share a file.
func TestDataSetsApart(t *testing.T) {
	spool := t.TempDir()
	seen := map[string]bool{}
	for _, more := range []map[string]cty.Value{nil, {"seed": cty.NumberIntVal(7)}, {"events_per_second": cty.NumberIntVal(10)},
		{"starts_at": cty.StringVal("2024-01-01T00:00:00Z")}, {"table": cty.StringVal("person")}} {
		found, err := open(t, spool, more).Discover(context.Background(), conformance.NewLedger())
		require.NoError(t, err)
		for _, e := range found {
			require.False(t, seen[e.Path], e.Path)
			seen[e.Path] = true
			require.Contains(t, filepath.ToSlash(e.Path), "/nexmark/")
		}
	}
}

// TestStart: a time nobody can read is the user's mistake.
func TestStart(t *testing.T) {
	d := nexmark.Definition()
	_, errs := d.Kind.Complete(cty.ObjectVal(map[string]cty.Value{"table": cty.StringVal("bid"), "starts_at": cty.StringVal("yesterday")}))
	require.NotEmpty(t, errs)
	require.Contains(t, errs[0].Detail, "2023-11-14T23:59:13Z")
}
