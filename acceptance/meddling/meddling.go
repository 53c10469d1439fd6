// Package meddling does to a project what other programs, and other versions of this one, do.
package meddling

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/store"
	"github.com/streamform/streamform/state"
)

// Write commits a version to a Delta table as other programs do: it deletes the rows, appends them once more, or only
// puts them into other files.
func Write(t *testing.T, dir, what string) {
	t.Helper()
	table, err := delta.OpenTable(logstore.NewLocal(dir))
	require.NoError(t, err)
	snap, err := table.Load(t.Context())
	require.NoError(t, err)
	require.NotNil(t, snap, dir)
	version := snap.Version + 1
	lines := []action.Action{{CommitInfo: &action.CommitInfo{Timestamp: 1700000000000, Operation: what, EngineInfo: "another writer"}}}
	for _, f := range snap.Files() {
		changes := what != "optimize"
		if what != "delete" {
			data, err := os.ReadFile(filepath.Join(dir, f.Path))
			require.NoError(t, err)
			added := f
			added.Path, added.DataChange = fmt.Sprintf("another-%d-%s", version, f.Path), changes
			require.NoError(t, os.WriteFile(filepath.Join(dir, added.Path), data, 0o644))
			lines = append(lines, action.Action{Add: &added})
		}
		if what != "append" {
			lines = append(lines, action.Action{Remove: &action.Remove{Path: f.Path, DataChange: changes, DeletionTimestamp: 1700000000000, DeletionVector: f.DeletionVector}})
		}
	}
	text, err := action.Encode(lines)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "_delta_log", fmt.Sprintf("%020d.json", version)), text, 0o644))
}

// OlderRecord makes the record, a file, one of another version of streamform: whatever was compiled then has to be compiled again, with the same canonical form.
func OlderRecord(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	d, err := state.Decode(data)
	require.NoError(t, err)
	for i := range d.Resources {
		if r := d.Resources[i].Relation; r != nil && r.Compiled != "" {
			r.Compiled = strings.Repeat("0", len(r.Compiled))
		}
	}
	d.StreamformVersion = "0.0.1"
	data, err = state.Encode(d)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// OtherForm makes the keyed data of a store that of another version of streamform, as far as one can see from outside.
func OtherForm(t *testing.T, dir, form string) {
	t.Helper()
	s, err := store.Open(store.Options{Dir: dir})
	require.NoError(t, err)
	b := s.NewBatch()
	b.SetMeta("host/form", []byte(form))
	require.NoError(t, s.Commit(b))
	require.NoError(t, s.Close())
}
