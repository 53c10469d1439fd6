package logstore_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/logstore/storetest"
)

func TestLocal(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) logstore.Store {
		return logstore.NewLocal(filepath.Join(t.TempDir(), "new", "table"))
	})
}

func TestMemory(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) logstore.Store { return storetest.NewMemory() })
}

func TestFaultyWithoutFaults(t *testing.T) {
	storetest.Suite(t, func(t *testing.T) logstore.Store {
		return storetest.FailAt(logstore.NewLocal(t.TempDir()), -1, storetest.Before)
	})
}

// TestLocalShowsNothingHalfWritten lists a folder that holds what a crash left behind.
func TestLocalShowsNothingHalfWritten(t *testing.T) {
	dir := t.TempDir()
	store := logstore.NewLocal(dir)
	_, err := store.PutIfAbsent(context.Background(), logstore.CommitKey(0), []byte("{}"))
	require.NoError(t, err)
	log := filepath.Join(dir, logstore.LogDir)
	require.NoError(t, os.WriteFile(filepath.Join(log, ".00000000000000000001.json.x.tmp"), []byte("{"), 0o600))
	entries, err := store.List(context.Background(), logstore.LogDir, "")
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, "00000000000000000000.json", entries[0].Name)
	files, err := os.ReadDir(log)
	require.NoError(t, err)
	require.Len(t, files, 2, "the write itself leaves nothing behind")
}

func TestParse(t *testing.T) {
	for name, want := range map[string]logstore.File{
		"00000000000000000012.json":                                        {Kind: logstore.Commit, Version: 12},
		"00000000000000000012.checkpoint.parquet":                          {Kind: logstore.Classic, Version: 12},
		"00000000000000000012.checkpoint.0000000002.0000000003.parquet":    {Kind: logstore.MultiPart, Version: 12, Part: 2, Parts: 3},
		"00000000000000000012.checkpoint.0000000004.0000000003.parquet":    {Version: 12},
		"00000000000000000012.checkpoint.0000000000.0000000003.parquet":    {Version: 12},
		"00000000000000000012.checkpoint.80a083e8-7026.json":               {Kind: logstore.V2, Version: 12},
		"00000000000000000012.checkpoint.80a083e8-7026.parquet":            {Kind: logstore.V2, Version: 12},
		"00000000000000000012.checkpoint.80a083e8-7026.crc":                {Version: 12},
		"00000000000000000012.crc":                                         {Kind: logstore.Checksum, Version: 12},
		"00000000000000000004.00000000000000000006.compacted.json":         {Kind: logstore.Compacted, Version: 4},
		"0000000000000000012.json":                                         {},
		"_last_checkpoint":                                                 {},
		"00000000000000000012.json.tmp":                                    {Version: 12},
		"99999999999999999999.json":                                        {},
		"-0000000000000000001.json":                                        {},
		"0000000000000000001x.checkpoint.0000000001.0000000001.parquet":    {},
		"00000000000000000001.checkpoint.+000000001.0000000001.parquet":    {Version: 1},
		"00000000000000000001.00000000-0000-0000-0000-000000000000.json":   {Version: 1},
		"00000000000000000001.checkpoint.0000000001.0000000001.parquet.gz": {Version: 1},
	} {
		want.Name = name
		require.Equal(t, want, logstore.Parse(name))
	}
	require.Less(t, logstore.Before(3), logstore.CommitName(3))
	require.Greater(t, logstore.Before(3), logstore.CommitName(2))
	require.Equal(t, "_delta_log/00000000000000000007.checkpoint.parquet", logstore.CheckpointKey(7))
}

func FuzzParse(f *testing.F) {
	f.Add("00000000000000000012.checkpoint.0000000002.0000000003.parquet")
	f.Fuzz(func(t *testing.T, name string) {
		file := logstore.Parse(name)
		if file.Kind == logstore.Commit {
			require.Equal(t, name, logstore.CommitName(file.Version))
		}
	})
}
