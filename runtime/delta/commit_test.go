package delta_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/schema"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, store logstore.Store) *delta.Table {
	t.Helper()
	table, err := delta.OpenTable(store, delta.WithVersion("0.1.0"))
	require.NoError(t, err)
	return table
}

// columns makes a schema of name, DuckDB type pairs.
func columns(t testing.TB, pairs ...string) schema.Schema {
	t.Helper()
	var in []schema.Column
	for i := 0; i < len(pairs); i += 2 {
		in = append(in, schema.Column{Name: pairs[i], Type: pairs[i+1]})
	}
	converted, err := schema.FromDuckDB(in)
	require.NoError(t, err)
	return schema.Fields(converted)
}

func metadata(t testing.TB, s schema.Schema, configuration map[string]string, partitions ...string) *action.Metadata {
	t.Helper()
	m, err := delta.NewMetadata(s, partitions, configuration, noon)
	require.NoError(t, err)
	return &m
}

func file(path string) action.Add {
	return action.Add{Path: path, PartitionValues: map[string]*string{}, Size: 10, ModificationTime: 1, DataChange: true, Stats: `{"numRecords":10}`}
}

// appendTo is a blind append of one file, planned on a version.
func appendTo(id string, read int64) delta.Transaction {
	return delta.Transaction{TxnID: id, ReadVersion: read, Operation: "WRITE", Adds: []action.Add{file(id + ".parquet")}}
}

// create makes a table with the columns id BIGINT and name VARCHAR, and one file, first.parquet.
func create(t testing.TB, store logstore.Store, configuration map[string]string) *delta.Table {
	t.Helper()
	table := open(t, store)
	x := appendTo("first", delta.NoTable)
	x.Metadata = metadata(t, columns(t, "id", "BIGINT", "name", "VARCHAR"), configuration)
	result, err := table.Commit(context.Background(), x)
	require.NoError(t, err)
	require.Zero(t, result.Version)
	return table
}

func load(t testing.TB, table *delta.Table) *delta.Snapshot {
	t.Helper()
	s, err := table.Load(context.Background())
	require.NoError(t, err)
	require.NotNil(t, s)
	return s
}

func paths(s *delta.Snapshot) string {
	var out []string
	for _, f := range s.Files() {
		out = append(out, strings.TrimSuffix(f.Path, ".parquet"))
	}
	return strings.Join(out, " ")
}

func TestCreateAndAppend(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := open(t, store)
	s, err := table.Load(ctx)
	require.NoError(t, err)
	require.Nil(t, s, "there is no table yet")

	table = create(t, store, nil)
	x := appendTo("second", 0)
	x.AppID, x.AppVersion = "app", 7
	result, err := table.Commit(ctx, x)
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Version)

	for _, reader := range []*delta.Table{table, open(t, store)} {
		s = load(t, reader)
		require.EqualValues(t, 1, s.Version)
		require.Equal(t, "first second", paths(s))
		require.Equal(t, action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, s.Protocol, "a plain table asks for the least")
		version, ok := s.Txn("app")
		require.True(t, ok)
		require.EqualValues(t, 7, version)
		_, ok = s.Txn("other")
		require.False(t, ok)
	}
	old, err := table.LoadAt(ctx, 0)
	require.NoError(t, err)
	require.Equal(t, "first", paths(old))
	_, err = table.LoadAt(ctx, 2)
	require.ErrorContains(t, err, "does not exist")

	actions, err := snapshot.ReadCommit(ctx, store, 1)
	require.NoError(t, err)
	info := actions[0].CommitInfo
	require.NotNil(t, info, "commitInfo comes first")
	require.Equal(t, "streamform/0.1.0", info.EngineInfo)
	require.Equal(t, "second", info.TxnID)
	require.True(t, *info.IsBlindAppend)
	require.EqualValues(t, 0, *info.ReadVersion)
	require.Equal(t, "WriteSerializable", info.IsolationLevel)
}

func TestProtocolOfNewTables(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name          string
		types         []string
		configuration map[string]string
		reader        []string
		writer        []string
	}{
		{"plain", []string{"a", "TIMESTAMP WITH TIME ZONE"}, nil, nil, nil},
		{"timestamp without zone", []string{"a", "STRUCT(b TIMESTAMP[])"}, nil, []string{"timestampNtz"}, []string{"appendOnly", "invariants", "timestampNtz"}},
		{"deletion vectors", []string{"a", "INTEGER"}, map[string]string{"delta.enableDeletionVectors": "true"}, []string{"deletionVectors"}, []string{"appendOnly", "invariants", "deletionVectors"}},
		{"time stamps in the log", []string{"a", "INTEGER"}, map[string]string{"delta.enableInCommitTimestamps": "true"}, nil, []string{"appendOnly", "invariants", "inCommitTimestamp"}},
		{"column mapping", []string{"a b", "INTEGER"}, map[string]string{schema.MappingMode: "name"}, []string{"columnMapping"}, []string{"appendOnly", "invariants", "columnMapping"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := open(t, logstore.NewLocal(t.TempDir()))
			x := appendTo("x", delta.NoTable)
			x.Metadata = metadata(t, columns(t, c.types...), c.configuration)
			_, err := table.Commit(ctx, x)
			require.NoError(t, err)
			s := load(t, table)
			require.Equal(t, c.reader, s.Protocol.ReaderFeatures)
			require.Equal(t, c.writer, s.Protocol.WriterFeatures)
			_, err = table.Commit(ctx, appendTo("y", 0))
			require.NoError(t, err)
		})
	}
}

// TestTimestampsRise commits with a clock that stands still, and one that goes back.
func TestTimestampsRise(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	now := noon
	table, err := delta.OpenTable(store, delta.WithClock(func() time.Time { return now }))
	require.NoError(t, err)
	x := appendTo("x", delta.NoTable)
	x.Metadata = metadata(t, columns(t, "a", "TIMESTAMP"), map[string]string{"delta.enableInCommitTimestamps": "true"})
	_, err = table.Commit(ctx, x)
	require.NoError(t, err)
	for i := range 3 {
		now = now.Add(-time.Minute)
		if i == 1 {
			table, err = delta.OpenTable(store, delta.WithClock(func() time.Time { return now }))
			require.NoError(t, err)
		}
		_, err = table.Commit(ctx, appendTo(fmt.Sprint(i), int64(i)))
		require.NoError(t, err)
		require.Equal(t, noon.UnixMilli()+int64(i)+1, load(t, table).Timestamp)
	}
}

// TestTimestampsSwitchedOn turns time stamps on later, which records from where on they count.
func TestTimestampsSwitchedOn(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	m := load(t, table).Metadata
	m.Configuration = map[string]string{"delta.enableInCommitTimestamps": "true"}
	_, err := table.Commit(ctx, delta.Transaction{TxnID: "x", ReadVersion: 0, Operation: "SET TBLPROPERTIES", Metadata: &m})
	require.NoError(t, err)
	s := load(t, table)
	require.Equal(t, "1", s.Metadata.Configuration["delta.inCommitTimestampEnablementVersion"])
	require.Equal(t, fmt.Sprint(s.Timestamp), s.Metadata.Configuration["delta.inCommitTimestampEnablementTimestamp"])
	require.Contains(t, s.Protocol.WriterFeatures, action.InCommitTimestamp)
	require.Empty(t, s.Protocol.ReaderFeatures)
}

// TestNewTimestampColumn adds a column that needs a feature the table does not have yet.
func TestNewTimestampColumn(t *testing.T) {
	ctx := context.Background()
	table := create(t, logstore.NewLocal(t.TempDir()), nil)
	s := load(t, table)
	m, err := delta.Evolve(s, columns(t, "ID", "BIGINT", "at", "TIMESTAMP"))
	require.NoError(t, err)
	x := appendTo("x", 0)
	x.Metadata = m
	_, err = table.Commit(ctx, x)
	require.NoError(t, err)
	s = load(t, table)
	require.Equal(t, action.Protocol{
		MinReaderVersion: 3, MinWriterVersion: 7,
		ReaderFeatures: []string{"timestampNtz"}, WriterFeatures: []string{"appendOnly", "invariants", "timestampNtz"},
	}, s.Protocol)
	m, err = delta.Evolve(s, columns(t, "name", "VARCHAR"))
	require.NoError(t, err)
	require.Nil(t, m, "nothing is missing in the table")
	_, err = delta.Evolve(s, columns(t, "at", "TIMESTAMP WITH TIME ZONE"))
	require.ErrorContains(t, err, "timestamp_ntz", "an instant and a local time are never mixed")
}

// TestDeliveredAgain commits one transaction several times: at once, after others, and from a process that knows nothing.
func TestDeliveredAgain(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	x := appendTo("x", 0)
	x.AppID, x.AppVersion = "app", 1
	text, err := json.Marshal(x)
	require.NoError(t, err)
	first, err := table.Commit(ctx, x)
	require.NoError(t, err)
	require.False(t, first.Recovered)
	for i := range 3 {
		var again delta.Transaction
		require.NoError(t, json.Unmarshal(text, &again))
		if i == 2 {
			// Planned anew by a process that had read its own delivery: still the same transaction.
			again.ReadVersion = load(t, table).Version
		}
		result, err := open(t, store).Commit(ctx, again)
		require.NoError(t, err)
		require.Equal(t, delta.Result{Version: first.Version, Recovered: true}, result)
		_, err = table.Commit(ctx, appendTo(fmt.Sprint("other", i), 0))
		require.NoError(t, err)
	}
	require.Equal(t, "first other0 other1 other2 x", paths(load(t, table)))
}

// TestFenced lets another instance write under the same application id.
func TestFenced(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	deliver := func(id string, version, read int64) error {
		x := appendTo(id, read)
		x.AppID, x.AppVersion = "app", version
		_, err := open(t, store).Commit(ctx, x)
		return err
	}
	require.NoError(t, deliver("a", 5, 0))
	for _, c := range []struct {
		name          string
		version, read int64
	}{
		{"the same version, planned before", 5, 0}, {"a later version, planned before", 6, 0}, {"an earlier version, planned before", 4, 0},
		{"the same version, planned after", 5, 1}, {"an earlier version, planned after", 4, 1},
	} {
		var fenced delta.ErrFenced
		require.ErrorAs(t, deliver("b", c.version, c.read), &fenced, c.name)
		require.EqualValues(t, 1, fenced.Version, c.name)
		require.EqualValues(t, 5, fenced.AppVersion, c.name)
	}
	require.NoError(t, deliver("c", 6, 1))
	require.Equal(t, "a c first", paths(load(t, table)))
}

// TestManyAppenders commits from ten tables of one process at once: nothing is lost, and nothing fails.
func TestManyAppenders(t *testing.T) {
	const writers, each = 10, 10
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	var group sync.WaitGroup
	errs := make([]error, writers)
	for w := range writers {
		group.Go(func() {
			mine := open(t, store)
			for i := range each {
				_, err := mine.Commit(ctx, appendTo(fmt.Sprintf("w%d-%d", w, i), 0))
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	s := load(t, table)
	require.EqualValues(t, writers*each, s.Version)
	require.Len(t, s.Files(), writers*each+1)
	require.EqualValues(t, writers*each, s.CheckpointVersion/10*10, "the last checkpoint is there")
}

// TestCreatedTwice lets two writers create one table: the loser goes on as a writer if it is the same table.
func TestCreatedTwice(t *testing.T) {
	ctx := context.Background()
	store := logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	x := appendTo("x", delta.NoTable)
	x.Metadata = metadata(t, columns(t, "id", "BIGINT", "name", "VARCHAR"), nil)
	result, err := table.Commit(ctx, x)
	require.NoError(t, err)
	require.EqualValues(t, 1, result.Version)
	id := load(t, table).Metadata.ID
	require.NotEqual(t, x.Metadata.ID, id)

	var conflict delta.ErrConflict
	y := appendTo("y", delta.NoTable)
	y.Metadata = metadata(t, columns(t, "id", "BIGINT", "name", "BIGINT"), nil)
	_, err = table.Commit(ctx, y)
	require.ErrorAs(t, err, &conflict)
	y.Metadata = metadata(t, columns(t, "id", "BIGINT", "name", "VARCHAR"), nil, "name")
	_, err = table.Commit(ctx, y)
	require.ErrorAs(t, err, &conflict)
	require.EqualValues(t, 0, conflict.Version)
}

func TestRefusedTransactions(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		name          string
		configuration map[string]string
		change        func(*delta.Transaction)
		want          string
	}{
		{"no id", nil, func(x *delta.Transaction) { x.TxnID = "" }, "TxnID"},
		{"no operation", nil, func(x *delta.Transaction) { x.Operation = "" }, "operation"},
		{"a version that is not there", nil, func(x *delta.Transaction) { x.ReadVersion = 9 }, "restored or replaced"},
		{"no rows", nil, func(x *delta.Transaction) { x.Adds[0].Stats = `{"numRecords":0}` }, "no rows"},
		{"a file twice", nil, func(x *delta.Transaction) { x.Adds = append(x.Adds, x.Adds[0]) }, "twice"},
		{"partition values of no column", nil, func(x *delta.Transaction) { x.Adds[0].PartitionValues = map[string]*string{"p": nil} }, "partition"},
		{"a bad path", nil, func(x *delta.Transaction) { x.Adds[0].Path = "%zz" }, "URI"},
		{"removal from an append-only table", map[string]string{"delta.appendOnly": "true"}, func(x *delta.Transaction) { x.Removes = []action.Remove{action.Removal(file("first.parquet"), 1)} }, "append-only"},
		{"a deletion vector without the feature", nil, func(x *delta.Transaction) { x.Adds[0].DeletionVector = &action.DeletionVector{StorageType: "i"} }, "deletion vectors"},
		{"changed partitioning", nil, func(x *delta.Transaction) {
			x.Metadata = metadata(t, columns(t, "id", "BIGINT", "name", "VARCHAR"), nil, "name")
		}, "partitioning"},
		{"a feature that is not known", nil, func(x *delta.Transaction) {
			x.Protocol = &action.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"icebergCompatV2"}}
		}, "icebergCompatV2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := create(t, logstore.NewLocal(t.TempDir()), c.configuration)
			x := appendTo("x", 0)
			c.change(&x)
			_, err := table.Commit(ctx, x)
			require.ErrorContains(t, err, c.want)
			require.EqualValues(t, 0, load(t, table).Version, "nothing was written")
			_, err = table.Commit(ctx, appendTo("y", 0))
			require.NoError(t, err, "the table goes on working")
		})
	}
}

// TestReplacedTable deletes a table and makes another one of as many versions behind the back of a reader and a writer.
func TestReplacedTable(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	store := logstore.NewLocal(dir)
	table := create(t, store, nil)
	_, err := table.Commit(ctx, appendTo("old", 0))
	require.NoError(t, err)
	_, err = table.Commit(ctx, appendTo("older", 0))
	require.NoError(t, err)
	require.Equal(t, "first old older", paths(load(t, table)))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, logstore.LogDir)))
	other := create(t, store, map[string]string{"delta.appendOnly": "true"})
	for _, id := range []string{"new", "newer"} {
		_, err := other.Commit(ctx, appendTo(id, 0))
		require.NoError(t, err)
	}
	require.Equal(t, "first new newer", paths(load(t, table)))
	require.Equal(t, "true", load(t, table).Metadata.Configuration["delta.appendOnly"])
	x := appendTo("x", 2)
	x.Removes = []action.Remove{action.Removal(file("new.parquet"), 1)}
	_, err = table.Commit(ctx, x)
	require.ErrorContains(t, err, "append-only", "the writer knows the new table's settings")

	require.NoError(t, os.RemoveAll(filepath.Join(dir, logstore.LogDir)))
	s, err := table.Load(ctx)
	require.NoError(t, err)
	require.Nil(t, s, "the table is gone")
	var conflict delta.ErrConflict
	_, err = table.Commit(ctx, appendTo("y", 2))
	require.ErrorAs(t, err, &conflict)
}
