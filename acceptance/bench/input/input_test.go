package input

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/bench/plain"
)

func open(t *testing.T) *plain.DB {
	d, err := plain.Open(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestNexmarkIsTheSameInAllFiles(t *testing.T) {
	d := open(t)
	small := Nexmark{Cache: t.TempDir(), Events: 1000, Chunk: 150}
	large := Nexmark{Cache: t.TempDir(), Events: 1000, Chunk: 1000}
	lines := Nexmark{Cache: t.TempDir(), Events: 1000, Chunk: 150, Lines: true}
	for _, n := range []Nexmark{small, large, lines} {
		require.NoError(t, n.Make(t.Context()))
	}
	for table, files := range map[string]int{"person": 7, "auction": 7, "bid": 7, "side_input": 1} {
		found, err := filepath.Glob(filepath.Join(small.Dir(table), "*.parquet"))
		require.NoError(t, err)
		require.Len(t, found, files)
		require.NoError(t, d.Files(t.Context(), "a", small.Dir(table), nil))
		require.NoError(t, d.Files(t.Context(), "b", large.Dir(table), nil))
		a, err := d.Fingerprint(t.Context(), "a")
		require.NoError(t, err)
		b, err := d.Fingerprint(t.Context(), "b")
		require.NoError(t, err)
		require.Equal(t, a, b)
		found, err = filepath.Glob(filepath.Join(lines.Dir(table), "*.json"))
		require.NoError(t, err)
		require.Len(t, found, files)
		require.NoError(t, d.Files(t.Context(), "c", lines.Dir(table), lines.Columns(table)))
		c, err := d.Fingerprint(t.Context(), "c")
		require.NoError(t, err)
		require.Equal(t, a, c)
	}
}

func TestKeyedRows(t *testing.T) {
	d := open(t)
	for _, zipf := range []bool{false, true} {
		k := Keyed{Cache: t.TempDir(), Keys: 1000, Base: 2000, BaseFile: 600, Updates: 3, UpdateFile: 5000, Zipf: zipf}
		require.NoError(t, k.Make(t.Context()))
		require.NoError(t, d.Files(t.Context(), "base", k.BaseDir(), nil))
		require.NoError(t, d.Files(t.Context(), "later", k.UpdateDir(), nil))
		require.NoError(t, d.Exec(t.Context(), `CREATE OR REPLACE TABLE facts AS SELECT
			(SELECT count(*) = 2000 AND count(DISTINCT k) = 1000 AND min(k) = 0 AND max(k) = 999 FROM base) AS base_ok,
			(SELECT count(*) = 15000 AND count(DISTINCT id) = 15000 AND min(id) = 2000 AND min(k) >= 0 AND max(k) < 1000 FROM later) AS later_ok,
			(SELECT max(n) FROM (SELECT count(*) AS n FROM later GROUP BY k)) AS most`))
		want := "CREATE OR REPLACE TABLE want AS SELECT true, true, most FROM facts WHERE most < 50" // 15 are to be expected of each
		if zipf {
			want = "CREATE OR REPLACE TABLE want AS SELECT true, true, most FROM facts WHERE most BETWEEN 1000 AND 2500" // 1 in ln(1000) has a key of its own
		}
		require.NoError(t, d.Exec(t.Context(), want))
		got, err := d.Fingerprint(t.Context(), "facts")
		require.NoError(t, err)
		expected, err := d.Fingerprint(t.Context(), "want")
		require.NoError(t, err)
		require.Equal(t, expected, got)
	}
}

func TestInputLeftHalfMadeIsBegunAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "set")
	made := 0
	fill := func() error {
		made++
		found, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, found)
		return os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)
	}
	require.ErrorContains(t, once(dir, func() error { require.NoError(t, fill()); return os.ErrInvalid }), "making input")
	require.NoError(t, once(dir, fill))
	require.NoError(t, once(dir, fill))
	require.Equal(t, 2, made)
}
