package keyed

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/input"
	"github.com/streamform/streamform/acceptance/bench/plain"
	"github.com/streamform/streamform/acceptance/bench/workload"
)

func both(t *testing.T, ours, bound workload.Side) workload.Outcome {
	t.Helper()
	got, err := ours(t.Context(), t.TempDir())
	require.NoError(t, err)
	want, err := bound(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.True(t, plain.Same(got.Result, want.Result), "%s, one shot %s", got.Result, want.Result)
	require.NotEmpty(t, got.Result)
	return got
}

func small(t *testing.T) (workload.Settings, input.Keyed) {
	s := workload.Settings{Cache: t.TempDir(), Threads: 2}
	k := table(s, 500, 3, 100)
	k.BaseFile = 200
	require.NoError(t, k.Make(t.Context()))
	return s, k
}

func TestGrowthGivesTheSameRowsAsOneShot(t *testing.T) {
	s, k := small(t)
	g := growth{settings: s, data: k, warm: 1}
	out := both(t, g.ours, g.oneShot)
	require.Equal(t, "µs cpu per row", out.Numbers[0].Name)
	require.Positive(t, out.Numbers[0].Value)
	g.warm = 3
	_, err := g.ours(t.Context(), t.TempDir())
	require.ErrorContains(t, err, "too few")
}

func TestEveryShapeGivesTheSameRowsAsOneShot(t *testing.T) {
	s, k := small(t)
	k.Updates, k.UpdateFile = flatWarm+1, 20
	for _, shape := range shapes() {
		f := flat{settings: s, data: k, sql: shape.sql}
		require.NoError(t, f.make(t.Context()))
		both(t, f.ours, f.oneShot)
	}
}

func TestRestartsGoOnWhereTheyStopped(t *testing.T) {
	s, k := small(t)
	k.Updates = 1
	r := restart{growth{settings: s, data: k}}
	require.NoError(t, k.Make(t.Context()))
	dir := t.TempDir()
	rt, err := r.load(t.Context(), dir)
	require.NoError(t, err)
	require.NoError(t, rt.Close())
	out, err := r.ours(t.Context(), dir)
	require.NoError(t, err)
	require.Positive(t, out.Cost.CPU)
	out, err = r.read(t.Context(), t.TempDir())
	require.NoError(t, err)
	require.Positive(t, out.Cost.Wall)
}

func TestSizesFollowTheSettings(t *testing.T) {
	s := workload.Settings{Cache: t.TempDir(), Full: true}
	require.Equal(t, "50 M keys", largest(s).Cases[0].Name)
	require.Contains(t, largest(s).Text, "1024 MiB")
	require.Equal(t, "top 3 per key, 10 M rows", flatness(s).Cases[11].Name)
	require.Equal(t, "1.5 k", short(1500))
}
