package snapshot_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// conformance is where foreign tables lie, from the project's root.
const conformance = "../shared/conformance/delta"

func tables(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("../../..", conformance)
	if _, err := os.Stat(root); err != nil {
		t.Skipf("no conformance tables at %s (from the project's root)", conformance)
	}
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == logstore.LogDir {
			dir := filepath.Dir(path)
			name := strings.TrimPrefix(strings.TrimPrefix(dir, root), string(filepath.Separator))
			out[strings.TrimSuffix(filepath.ToSlash(name), "/delta")] = dir
			return fs.SkipDir
		}
		return nil
	}))
	return out
}

// mustFail lists tables whose snapshot is an error, and a part of its text.
var mustFail = map[string]string{
	"golden_data/deltalog-invalid-protocol-version":                              "reader version",
	"golden_data/deltalog-state-reconstruction-without-protocol":                 "no protocol",
	"golden_data/deltalog-state-reconstruction-without-metadata":                 "no metaData",
	"golden_data/deltalog-state-reconstruction-from-checkpoint-missing-protocol": "no protocol",
	"golden_data/deltalog-state-reconstruction-from-checkpoint-missing-metadata": "no metaData",
	"golden_data/versions-not-contiguous":                                        "not contiguous",
	"data/unshredded-variant":                                                    "variantType-preview",
	"data/table-with-geo":                                                        "geospatial",
}

// madeUp tables have checkpoints that say other things than their commits, on purpose.
var madeUp = map[string]bool{"data/parquet_row_group_skipping": true}

// known are facts that the tables' README states.
var known = map[string]struct {
	version int64
	files   int
}{
	"golden_data/checkpoint":                                     {14, 1},
	"golden_data/canonicalized-paths-normal-a":                   {1, 0},
	"golden_data/canonicalized-paths-normal-b":                   {1, 0},
	"golden_data/canonicalized-paths-special-a":                  {1, 0},
	"golden_data/canonicalized-paths-special-b":                  {1, 0},
	"golden_data/delete-re-add-same-file-different-transactions": {-1, 2},
	"golden_data/log-replay-special-characters-b":                {-1, 1},
	"golden_data/update-deleted-directory":                       {-1, 10},
	"data/app-txn-checkpoint":                                    {-1, 4},
	"data/basic_partitioned":                                     {-1, 6},
	"data/mixed-nulls":                                           {-1, 3},
	"data/parsed-stats":                                          {5, 6},
	"data/timestamp-truncation-stats":                            {-1, 3},
	"data/with_checkpoint_no_last_checkpoint":                    {3, 1},
	"data/v2-checkpoints-json-with-sidecars":                     {-1, 101},
	"data/v2-checkpoints-parquet-with-sidecars":                  {-1, 101},
	"data/v2-checkpoints-json-without-sidecars":                  {-1, 3},
	"data/v2-checkpoints-parquet-without-sidecars":               {-1, 3},
	"data/v2-checkpoints-json-with-last-checkpoint":              {-1, 2},
	"data/v2-checkpoints-parquet-with-last-checkpoint":           {-1, 2},
	"data/v2-classic-checkpoint-json":                            {-1, 4},
	"data/v2-classic-checkpoint-parquet":                         {-1, 4},
	"golden_data/time-travel-start":                              {0, -1},
	"golden_data/time-travel-start-start20":                      {1, -1},
	"golden_data/time-travel-start-start20-start40":              {2, -1},
}

func TestGoldenTables(t *testing.T) {
	ctx := context.Background()
	for name, dir := range tables(t) {
		t.Run(name, func(t *testing.T) {
			s, err := snapshot.Load(ctx, logstore.NewLocal(dir), snapshot.Latest)
			if want, ok := mustFail[name]; ok {
				require.ErrorContains(t, err, want)
				return
			}
			require.NoError(t, err)
			if name == "data/crc-malformed" {
				require.Nil(t, s, "a checksum alone is no table")
				return
			}
			require.NotNil(t, s)
			if want, ok := known[name]; ok {
				require.True(t, want.version < 0 || want.version == s.Version, "version %d", s.Version)
				require.True(t, want.files < 0 || want.files == len(s.Files()), "%d files", len(s.Files()))
			}
			plain, complete := plainReplay(t, dir)
			if !complete || madeUp[name] {
				return
			}
			require.Equal(t, plain.version, s.Version)
			require.Equal(t, plain.files, fileSet(s))
			require.JSONEq(t, plain.schema, orNull(s.Schema.String(), s.Metadata.SchemaString))
			for app, version := range plain.txns {
				got, ok := s.Txn(app)
				require.True(t, ok)
				require.Equal(t, version, got)
			}
		})
	}
}

func orNull(text, original string) string {
	if original == "" {
		return "null"
	}
	return text
}

func fileSet(s *snapshot.Snapshot) map[string]bool {
	out := map[string]bool{}
	for _, f := range s.Files() {
		out[f.Key().Path+" "+f.DeletionVector.ID()] = true
	}
	return out
}

// plain is a second, naive reading of a log: JSON commits only, from version 0.
type plain struct {
	version int64
	files   map[string]bool
	schema  string
	txns    map[string]int64
}

func plainReplay(t *testing.T, dir string) (plain, bool) {
	t.Helper()
	out := plain{version: -1, files: map[string]bool{}, schema: "null", txns: map[string]int64{}}
	for v := int64(0); ; v++ {
		text, err := os.ReadFile(filepath.Join(dir, "_delta_log", fmt.Sprintf("%020d.json", v)))
		if err != nil {
			break
		}
		out.version = v
		for _, line := range bytes.Split(text, []byte("\n")) {
			var action map[string]map[string]any
			if len(line) > 0 {
				require.NoError(t, json.Unmarshal(line, &action))
			}
			out.take(action)
		}
	}
	later, err := filepath.Glob(filepath.Join(dir, "_delta_log", "*.checkpoint*"))
	require.NoError(t, err)
	for _, file := range later {
		if filepath.Base(file)[:20] > fmt.Sprintf("%020d", max(out.version, 0)) {
			return out, false
		}
	}
	return out, out.version >= 0
}

func (p *plain) take(action map[string]map[string]any) {
	if a := action["add"]; a != nil {
		p.files[plainKey(a)] = true
	}
	if a := action["remove"]; a != nil {
		delete(p.files, plainKey(a))
	}
	if a := action["metaData"]; a != nil {
		p.schema = "null"
		if text, ok := a["schemaString"].(string); ok {
			p.schema = text
		}
	}
	if a := action["txn"]; a != nil {
		p.txns[a["appId"].(string)] = int64(a["version"].(float64))
	}
}

func plainKey(a map[string]any) string {
	path, err := url.PathUnescape(a["path"].(string))
	if err != nil {
		path = a["path"].(string)
	}
	if rest, ok := strings.CutPrefix(path, "file:"); ok {
		path = "/" + strings.TrimLeft(rest, "/")
	}
	dv, _ := a["deletionVector"].(map[string]any)
	if dv == nil {
		return path + " "
	}
	id := fmt.Sprint(dv["storageType"], dv["pathOrInlineDv"])
	if offset, ok := dv["offset"].(float64); ok {
		id += fmt.Sprintf("@%d", int64(offset))
	}
	return path + " " + id
}

// TestCheckpointsAreEqualToTheirCommits reads tables three ways: as they are, from JSON only, and with the JSON up to the checkpoint hidden.
func TestCheckpointsAreEqualToTheirCommits(t *testing.T) {
	ctx := context.Background()
	compared := 0
	for name, dir := range tables(t) {
		if mustFail[name] != "" || madeUp[name] {
			continue
		}
		s, err := snapshot.Load(ctx, logstore.NewLocal(dir), snapshot.Latest)
		require.NoError(t, err)
		_, complete := plainReplay(t, dir)
		if s == nil || !complete || s.CheckpointVersion < 0 {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			from := logstore.CommitName(s.CheckpointVersion)
			for way, hide := range map[string]func(string) bool{
				"JSON only": func(n string) bool { return strings.Contains(n, "checkpoint") },
				"checkpoint only": func(n string) bool {
					return strings.HasSuffix(n, ".json") && logstore.Parse(n).Kind == logstore.Commit && n <= from
				},
				"without hint": func(n string) bool { return n == "_last_checkpoint" },
			} {
				other, err := snapshot.Load(ctx, hiding{Store: logstore.NewLocal(dir), hide: hide}, snapshot.Latest)
				require.NoError(t, err, way)
				requireSame(t, s, other, way)
			}
		})
	}
	require.Greater(t, compared, 20)
}

// requireSame compares what snapshots hold, leaving statistics aside: a checkpoint may keep fewer.
func requireSame(t *testing.T, want, got *snapshot.Snapshot, way string) {
	t.Helper()
	require.Equal(t, want.Version, got.Version, way)
	require.Equal(t, fileSet(want), fileSet(got), way)
	require.True(t, want.Protocol.Equal(got.Protocol), way)
	require.JSONEq(t, want.Schema.String(), got.Schema.String(), way)
	require.Equal(t, want.Metadata.ID, got.Metadata.ID, way)
	require.ElementsMatch(t, want.Metadata.PartitionColumns, got.Metadata.PartitionColumns, way)
	require.Len(t, got.Metadata.Configuration, len(want.Metadata.Configuration), way)
	require.Equal(t, want.Txns(), got.Txns(), way)
	require.Equal(t, want.Domains(), got.Domains(), way)
	for i, f := range want.Files() {
		require.Equal(t, f.PartitionValues, got.Files()[i].PartitionValues, way)
		require.Equal(t, f.Size, got.Files()[i].Size, way)
		require.Equal(t, f.DeletionVector, got.Files()[i].DeletionVector, way)
	}
}

// hiding is a store that does not show some files of the log.
type hiding struct {
	logstore.Store
	hide func(name string) bool
}

func (h hiding) Get(ctx context.Context, key string) ([]byte, error) {
	if h.hide(filepath.Base(key)) {
		return nil, fs.ErrNotExist
	}
	return h.Store.Get(ctx, key)
}

func (h hiding) List(ctx context.Context, dir, after string) ([]logstore.Entry, error) {
	entries, err := h.Store.List(ctx, dir, after)
	var out []logstore.Entry
	for _, e := range entries {
		if !h.hide(e.Name) {
			out = append(out, e)
		}
	}
	return out, err
}
