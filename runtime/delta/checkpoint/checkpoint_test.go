package checkpoint_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/checkpoint"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/logstore/storetest"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

var now = time.Date(2026, 11, 30, 12, 30, 0, 0, time.UTC)

// conformance is where foreign tables lie, from the project's root.
const conformance = "../shared/conformance/delta"

// TestForeignTables writes a checkpoint of every foreign table and reads the table from that alone.
func TestForeignTables(t *testing.T) {
	root := filepath.Join("../../..", conformance)
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no conformance tables at %s (from the project's root)", conformance)
	}
	ctx, written := context.Background(), 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != logstore.LogDir {
			return err
		}
		s, err := snapshot.Load(ctx, logstore.NewLocal(filepath.Dir(path)), snapshot.Latest)
		if err != nil || s == nil {
			return fs.SkipDir
		}
		written++
		t.Run(strings.TrimPrefix(path, root), func(t *testing.T) {
			store := storetest.NewMemory()
			long := time.UnixMilli(0).Add(time.Hour)
			require.NoError(t, checkpoint.Write(ctx, store, s, long))
			requireSame(t, s, reload(t, store))
		})
		return fs.SkipDir
	}))
	require.Greater(t, written, 120)
}

func reload(t *testing.T, store logstore.Store) *snapshot.Snapshot {
	t.Helper()
	s, err := snapshot.Load(context.Background(), store, snapshot.Latest)
	require.NoError(t, err)
	require.NotNil(t, s)
	return s
}

func requireSame(t *testing.T, want, got *snapshot.Snapshot) {
	t.Helper()
	require.Equal(t, want.Version, got.Version)
	require.Equal(t, want.Version, got.CheckpointVersion)
	require.Equal(t, want.Protocol, got.Protocol, "feature lists that are absent stay absent")
	require.Equal(t, want.Schema, got.Schema)
	require.Equal(t, want.Metadata.SchemaString, got.Metadata.SchemaString)
	require.Equal(t, want.Metadata.ID, got.Metadata.ID)
	require.ElementsMatch(t, want.Metadata.PartitionColumns, got.Metadata.PartitionColumns)
	require.Len(t, got.Metadata.Configuration, len(want.Metadata.Configuration))
	require.Equal(t, want.Txns(), got.Txns())
	require.Equal(t, want.Domains(), got.Domains())
	require.Len(t, got.Files(), len(want.Files()))
	for i, f := range want.Files() {
		f.DataChange = false
		if f.PartitionValues == nil {
			f.PartitionValues = map[string]*string{}
		}
		if len(f.Tags) == 0 {
			f.Tags = got.Files()[i].Tags
		}
		require.Equal(t, f, got.Files()[i])
	}
	old, kept := want.Tombstones(), got.Tombstones()
	dated := 0
	for _, r := range old {
		if r.DeletionTimestamp > 0 {
			dated++
		}
	}
	require.Len(t, kept, dated, "tombstones without a time are expired")
}

// put writes table commits; each line is one.
func put(t *testing.T, store logstore.Store, first int64, lines ...string) {
	t.Helper()
	for i, line := range lines {
		outcome, err := store.PutIfAbsent(context.Background(), logstore.CommitKey(first+int64(i)), []byte(strings.ReplaceAll(line, "}} {", "}}\n{")))
		require.NoError(t, err)
		require.Equal(t, logstore.Written, outcome)
	}
}

const (
	created = `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}} {"metaData":{"id":"m","format":{"provider":"parquet","options":{}},"schemaString":"{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"double\",\"nullable\":true,\"metadata\":{}}]}","partitionColumns":["p"],"configuration":%s}}`
	added   = `{"add":{"path":"%d","partitionValues":{"p":null},"size":1,"modificationTime":1,"dataChange":true,"stats":"{\"numRecords\":1,\"minValues\":{\"a\":\"NaN\"}}"}}`
)

func TestContent(t *testing.T) {
	ctx, store := context.Background(), storetest.NewMemory()
	recent, old := now.Add(-6*24*time.Hour).UnixMilli(), now.Add(-8*24*time.Hour).UnixMilli()
	put(t, store, 0, fmt.Sprintf(created, `{"delta.deletedFileRetentionDuration":"interval 1 week"}`),
		fmt.Sprintf(added, 1), fmt.Sprintf(added, 2), fmt.Sprintf(added, 3), fmt.Sprintf(added, 4),
		fmt.Sprintf(`{"remove":{"path":"1","deletionTimestamp":%d,"dataChange":true,"partitionValues":{"p":"x"},"size":0}}`, recent),
		fmt.Sprintf(`{"remove":{"path":"2","deletionTimestamp":%d,"dataChange":true}}`, old),
		`{"remove":{"path":"3","dataChange":true}}`,
		`{"txn":{"appId":"a","version":9}} {"domainMetadata":{"domain":"d","configuration":"{}","removed":false}} {"domainMetadata":{"domain":"gone","configuration":"","removed":true}}`)
	require.NoError(t, checkpoint.Write(ctx, store, reload(t, store), now))
	s := reload(t, store)
	require.EqualValues(t, 8, s.CheckpointVersion)
	require.Len(t, s.Files(), 1)
	require.Equal(t, map[string]*string{"p": nil}, s.Files()[0].PartitionValues, "a NULL partition stays NULL")
	require.Contains(t, s.Files()[0].Stats, "NaN", "statistics are carried over as they are")
	require.False(t, s.Files()[0].DataChange)
	require.Len(t, s.Tombstones(), 1)
	require.Equal(t, "1", s.Tombstones()[0].Path)
	require.EqualValues(t, 0, *s.Tombstones()[0].Size)
	require.Equal(t, []action.DomainMetadata{{Domain: "d", Configuration: "{}"}}, s.Domains())
	hint, ok, err := snapshot.Hint(ctx, store)
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 8, hint.Version)
	require.EqualValues(t, 1, hint.NumOfAddFiles)
	require.EqualValues(t, 6, hint.Size, "protocol, metaData, txn, domain, add, remove")
}

func TestStatsAsText(t *testing.T) {
	store := storetest.NewMemory()
	put(t, store, 0, fmt.Sprintf(created, `{"delta.checkpoint.writeStatsAsJson":"false"}`), fmt.Sprintf(added, 1))
	require.NoError(t, checkpoint.Write(context.Background(), store, reload(t, store), now))
	require.NotEmpty(t, reload(t, store).Files()[0].Stats, "what would be lost otherwise is kept")
}

// TestHintNeverGoesBack writes an older checkpoint after a newer one, and both of one version twice.
func TestHintNeverGoesBack(t *testing.T) {
	ctx, store := context.Background(), storetest.NewMemory()
	put(t, store, 0, fmt.Sprintf(created, "{}"), fmt.Sprintf(added, 1), fmt.Sprintf(added, 2))
	older, err := snapshot.Load(ctx, store, 1)
	require.NoError(t, err)
	newer := reload(t, store)
	for _, s := range []*snapshot.Snapshot{newer, older, newer, older} {
		require.NoError(t, checkpoint.Write(ctx, store, s, now))
		hint, _, err := snapshot.Hint(ctx, store)
		require.NoError(t, err)
		require.EqualValues(t, 2, hint.Version)
	}
	require.Len(t, reload(t, store).Files(), 2)
}

// TestTornFiles breaks _last_checkpoint and checkpoints in every way a crash or another writer can.
func TestTornFiles(t *testing.T) {
	ctx := context.Background()
	whole := func(t *testing.T) (*storetest.Memory, []byte) {
		store := storetest.NewMemory()
		put(t, store, 0, fmt.Sprintf(created, "{}"), fmt.Sprintf(added, 1), fmt.Sprintf(added, 2), fmt.Sprintf(added, 3))
		for _, v := range []int64{1, 2} {
			s, err := snapshot.Load(ctx, store, v)
			require.NoError(t, err)
			require.NoError(t, checkpoint.Write(ctx, store, s, now))
		}
		body, err := store.Get(ctx, logstore.CheckpointKey(2))
		require.NoError(t, err)
		return store, body
	}
	for _, hint := range []string{"", "{", "[]", `{"version":"2"}`, `{"version":-5}`, `{"version":1,"size":"x"}`, `{"version":900}`, `{"version":3}`, `null`} {
		store, _ := whole(t)
		require.NoError(t, store.Put(ctx, logstore.LastCheckpoint, []byte(hint)))
		require.Len(t, reload(t, store).Files(), 3, "_last_checkpoint %q", hint)
	}
	store, body := whole(t)
	for i := 0; i < len(body); i += 37 {
		require.NoError(t, store.Put(ctx, logstore.CheckpointKey(2), body[:i]))
		s := reload(t, store)
		require.Len(t, s.Files(), 3, "checkpoint cut at %d", i)
		require.EqualValues(t, 1, s.CheckpointVersion, "the one before is used")
	}
	require.NoError(t, store.Put(ctx, logstore.CheckpointKey(1), nil))
	require.EqualValues(t, -1, reload(t, store).CheckpointVersion, "the commits alone do as well")
	require.NoError(t, store.Delete(ctx, logstore.CommitKey(0)))
	_, err := snapshot.Load(ctx, store, snapshot.Latest)
	require.ErrorContains(t, err, "reading the checkpoint")
}

func TestCleanup(t *testing.T) {
	const day = 24 * time.Hour
	ctx := context.Background()
	names := func(store *storetest.Memory) string {
		entries, err := store.List(ctx, logstore.LogDir, "")
		require.NoError(t, err)
		var out []string
		for _, e := range entries {
			f := logstore.Parse(e.Name)
			switch f.Kind {
			case logstore.Commit:
				out = append(out, fmt.Sprint(f.Version))
			case logstore.Classic:
				out = append(out, fmt.Sprintf("%dc", f.Version))
			}
		}
		return strings.Join(out, " ")
	}
	all := "0 1 2c 2 3 4c 4 5 6"
	for _, c := range []struct {
		name          string
		configuration string
		ages          []int // days, of versions 0 …
		keep          int64
		want          string
	}{
		{"nothing is old", `{}`, []int{6, 5, 4, 3, 2, 1, 0}, -1, all},
		{"all but the last is old", `{}`, []int{90, 80, 70, 60, 50, 40, 0}, -1, "4c 4 5 6"},
		{"the retained versions still need an old checkpoint", `{}`, []int{90, 80, 70, 60, 10, 9, 8}, -1, "2c 2 3 4c 4 5 6"},
		{"no checkpoint is old enough", `{}`, []int{90, 80, 10, 9, 8, 7, 6}, -1, all},
		{"a later version is younger than it looks", `{}`, []int{90, 80, 5, 60, 50, 40, 0}, -1, all},
		{"a reader stands at version 3", `{}`, []int{90, 80, 70, 60, 50, 40, 0}, 3, "2c 2 3 4c 4 5 6"},
		{"shorter retention", `{"delta.logRetentionDuration":"interval 2 days"}`, []int{9, 8, 7, 6, 5, 4, 0}, -1, "4c 4 5 6"},
		{"retention that cannot be read", `{"delta.logRetentionDuration":"interval 1 month"}`, []int{90, 80, 70, 60, 50, 40, 0}, -1, all},
		{"switched off", `{"delta.enableExpiredLogCleanup":"false"}`, []int{90, 80, 70, 60, 50, 40, 0}, -1, all},
	} {
		t.Run(c.name, func(t *testing.T) {
			store := storetest.NewMemory()
			put(t, store, 0, fmt.Sprintf(created, c.configuration))
			for v := int64(1); v <= 6; v++ {
				put(t, store, v, fmt.Sprintf(added, v))
				if v == 2 || v == 4 {
					require.NoError(t, checkpoint.Write(ctx, store, reload(t, store), now))
				}
			}
			for v, age := range c.ages {
				store.SetModified(logstore.CommitKey(int64(v)), now.Add(-time.Duration(age)*day))
			}
			before := reload(t, store)
			n, err := checkpoint.Cleanup(ctx, store, before, now, c.keep)
			require.NoError(t, err)
			require.Equal(t, c.want, names(store))
			require.Equal(t, len(strings.Fields(all))-len(strings.Fields(c.want)), n)
			require.Equal(t, before.Files(), reload(t, store).Files())
		})
	}
}

// TestCleanupKeepsWhatItCannotReplace finds that the checkpoint all would rest on is torn.
func TestCleanupKeepsWhatItCannotReplace(t *testing.T) {
	ctx, store := context.Background(), storetest.NewMemory()
	put(t, store, 0, fmt.Sprintf(created, "{}"), fmt.Sprintf(added, 1), fmt.Sprintf(added, 2))
	s := reload(t, store)
	require.NoError(t, checkpoint.Write(ctx, store, s, now))
	require.NoError(t, store.Put(ctx, logstore.CheckpointKey(2), []byte("PAR1")))
	for v := range int64(3) {
		store.SetModified(logstore.CommitKey(v), now.Add(-100*24*time.Hour))
	}
	n, err := checkpoint.Cleanup(ctx, store, s, now, -1)
	require.Error(t, err)
	require.Zero(t, n)
	require.Len(t, reload(t, store).Files(), 2)
}

// TestSidecars deletes the sidecars that no checkpoint names, but not those that one may be about to name.
func TestSidecars(t *testing.T) {
	ctx, store := context.Background(), storetest.NewMemory()
	put(t, store, 0, fmt.Sprintf(created, "{}"), fmt.Sprintf(added, 1))
	s := reload(t, store)
	side := storetest.NewMemory()
	require.NoError(t, checkpoint.Write(ctx, side, s, now))
	body, err := side.Get(ctx, logstore.CheckpointKey(1))
	require.NoError(t, err)
	for _, name := range []string{"named", "old", "new"} {
		require.NoError(t, store.Put(ctx, logstore.SidecarDir+"/"+name+".parquet", body))
		store.SetModified(logstore.SidecarDir+"/"+name+".parquet", now.Add(-48*time.Hour))
	}
	store.SetModified(logstore.SidecarDir+"/new.parquet", now.Add(-time.Hour))
	require.NoError(t, store.Put(ctx, logstore.LogDir+"/00000000000000000001.checkpoint.abc.json",
		[]byte(`{"checkpointMetadata":{"version":1}}`+"\n"+`{"sidecar":{"path":"named.parquet","sizeInBytes":1,"modificationTime":1}}`)))
	require.EqualValues(t, 1, reload(t, store).CheckpointVersion)
	for v := range int64(2) {
		store.SetModified(logstore.CommitKey(v), now.Add(-100*24*time.Hour))
	}
	_, err = checkpoint.Cleanup(ctx, store, s, now, -1)
	require.NoError(t, err)
	left, err := store.List(ctx, logstore.SidecarDir, "")
	require.NoError(t, err)
	require.Len(t, left, 2)
	require.Equal(t, "named.parquet", left[0].Name)
	require.Equal(t, "new.parquet", left[1].Name)
	require.Len(t, reload(t, store).Files(), 1)
}

func TestIntervals(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"interval 30 days": 720 * time.Hour, "interval 1 week": 168 * time.Hour, "2 weeks 12 hours": 348 * time.Hour,
		"INTERVAL '1' DAY": 24 * time.Hour, "interval 0 seconds": 0, "interval 90 minutes 5 milliseconds": 90*time.Minute + 5*time.Millisecond,
	} {
		got, err := checkpoint.ParseInterval(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "interval", "interval 1 month", "interval x days", "interval -1 days", "1", "interval 2000000000 weeks"} {
		_, err := checkpoint.ParseInterval(text)
		require.Error(t, err, text)
	}
}
