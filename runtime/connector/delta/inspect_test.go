package delta_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	deltalake "github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
)

// inspect looks at the table with the receipt of the last delivery.
func (b *bench) inspect() connector.Inspection {
	b.t.Helper()
	got, err := b.sink.(connector.Inspector).Inspect(context.Background(), connector.Delivered{Sink: b.next.Sink, Receipt: b.next.Previous})
	require.NoError(b.t, err)
	return got
}

func (b *bench) kinds() map[string]string {
	out := map[string]string{}
	for _, d := range b.inspect().Drifts {
		out[d.Kind] = d.Mark
	}
	return out
}

// foreign commits to the table as another writer does: it removes live files, or adds them again, and says whether rows change.
func (b *bench) foreign(change func(snap *deltalake.Snapshot, x *deltalake.Transaction)) {
	b.t.Helper()
	table, snap := load(b.t, b.dir)
	x := deltalake.Transaction{TxnID: uuid.NewString(), ReadVersion: snap.Version, Operation: "DELETE", ReadWholeTable: true}
	change(snap, &x)
	_, err := table.Commit(context.Background(), x)
	require.NoError(b.t, err)
}

func TestInspect(t *testing.T) {
	b := newBench(t, "view.x", "")
	b.next.Key = []string{"k"}
	got := b.inspect()
	require.Equal(t, connector.Inspection{}, got, "there is nothing yet, and nothing is missed")
	b.deliver([]string{"1 a", "2 b"}, nil)
	got = b.inspect()
	require.Empty(t, got.Drifts)
	require.Contains(t, got.Place, filepath.Join(b.dir, "table"))
	require.Equal(t, "k integer", got.Columns[0].Name+" "+got.Columns[0].Type)

	b.foreign(func(snap *deltalake.Snapshot, x *deltalake.Transaction) { // OPTIMIZE: the same rows in other files
		x.Operation = "OPTIMIZE"
		removal := action.Removal(snap.Files()[0], 1)
		removal.DataChange = false
		x.Removes = []action.Remove{removal}
		again := snap.Files()[0]
		again.DataChange = false
		again.Path = "copy-" + again.Path
		text, err := os.ReadFile(filepath.Join(b.dir, "table", snap.Files()[0].Path))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "table", again.Path), text, 0o600))
		x.Adds = []action.Add{again}
	})
	require.Empty(t, b.kinds(), "the rows are the same")

	b.foreign(func(snap *deltalake.Snapshot, x *deltalake.Transaction) {
		x.Removes = []action.Remove{action.Removal(snap.Files()[0], 1)}
	})
	require.Equal(t, map[string]string{connector.DriftForeignRows: "version 2"}, b.kinds())
	require.Contains(t, b.inspect().Drifts[0].Detail, "version 2 (DELETE by streamform/")

	b.foreign(func(snap *deltalake.Snapshot, x *deltalake.Transaction) {
		m := snap.Metadata
		m.Description = "ours now"
		x.Operation, x.Metadata = "SET TBLPROPERTIES", &m
	})
	require.Equal(t, map[string]string{connector.DriftForeignRows: "version 2", connector.DriftForeignColumns: "version 3"}, b.kinds())

	b.next.Generation, b.next.Overwrite = 2, true
	b.deliver([]string{"5 e"}, nil)
	require.Empty(t, b.kinds(), "everything was written anew")

	require.NoError(t, os.Remove(filepath.Join(b.dir, "table", "_delta_log", "00000000000000000004.json")))
	require.Equal(t, map[string]string{connector.DriftTargetRestored: "version 3"}, b.kinds())
	require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "table")))
	require.Equal(t, map[string]string{connector.DriftTargetGone: "version 4"}, b.kinds())
}

func TestInspectAppend(t *testing.T) {
	b := newBench(t, "stream.x", "")
	b.deliver([]string{"1 a"}, nil)
	add := func(snap *deltalake.Snapshot, x *deltalake.Transaction) {
		again := snap.Files()[0]
		again.Path = "more-" + again.Path
		text, err := os.ReadFile(filepath.Join(b.dir, "table", snap.Files()[0].Path))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "table", again.Path), text, 0o600))
		x.Operation, x.Adds, x.ReadWholeTable = "WRITE", []action.Add{again}, false
	}
	b.foreign(add)
	require.Empty(t, b.kinds(), "what this sink added is whole")
	b.foreign(func(snap *deltalake.Snapshot, x *deltalake.Transaction) {
		x.Removes = []action.Remove{action.Removal(snap.Files()[0], 1)}
	})
	require.Equal(t, map[string]string{connector.DriftForeignRows: "version 2"}, b.kinds())
}
