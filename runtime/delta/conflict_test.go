package delta_test

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/delta"
	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

func value(v string) *string { return &v }

// part is a file of one partition.
func part(path, p string) action.Add {
	f := file(path)
	f.PartitionValues = map[string]*string{"p": value(p)}
	return f
}

func unchanged(a action.Add) action.Add {
	a.DataChange = false
	return a
}

func removal(a action.Add) action.Remove { return action.Removal(a, 5) }

func moved(a action.Add) action.Remove {
	r := removal(a)
	r.DataChange = false
	return r
}

// TestConflicts commits one transaction while another, planned on the same version, was faster. The table has
// files a1, a2 in partition a and b1 in partition b.
func TestConflicts(t *testing.T) {
	a1, a2, b1 := part("a1", "a"), part("a2", "a"), part("b1", "b")
	type changes struct {
		adds    []action.Add
		removes []action.Remove
		whole   bool
		files   []string
		read    []map[string]*string
	}
	inA := []map[string]*string{{"p": value("a")}}
	append_ := func(path, p string) changes { return changes{adds: []action.Add{part(path, p)}} }
	rewrite := func(old action.Add, path string) changes {
		return changes{removes: []action.Remove{removal(old)}, adds: []action.Add{part(path, text(old.PartitionValues["p"]))}}
	}
	compact := changes{removes: []action.Remove{moved(a1), moved(a2)}, adds: []action.Add{unchanged(part("a3", "a"))}}
	for _, c := range []struct {
		name         string
		winner, mine changes
		loose        bool // conflict under WriteSerializable
		strict       bool // conflict under Serializable
	}{
		{"two appends", append_("w", "a"), append_("m", "a"), false, false},
		{"append beside a rewrite", rewrite(a1, "w"), append_("m", "a"), false, false},
		{"append beside a compaction", compact, append_("m", "a"), false, false},
		{"compaction beside an append", append_("w", "a"), compact, false, false},
		{"compaction beside a rewrite of one of its files", rewrite(a1, "w"), compact, true, true},
		{"compaction beside a rewrite elsewhere", rewrite(b1, "w"), compact, false, false},
		{"rewrite beside a compaction of its file", compact, rewrite(a1, "m"), true, true},
		{"two rewrites of one file", rewrite(a1, "w"), rewrite(a1, "m"), true, true},
		{"two rewrites of two files", rewrite(a1, "w"), rewrite(b1, "m"), false, false},
		{"whole table read, blind append", append_("w", "b"), changes{adds: []action.Add{part("m", "a")}, whole: true}, false, true},
		{"whole table read, rewrite", rewrite(b1, "w"), changes{adds: []action.Add{part("m", "a")}, whole: true}, true, true},
		{"whole table read, compaction", compact, changes{adds: []action.Add{part("m", "a")}, whole: true}, true, true},
		{"partition read, blind append there", append_("w", "a"), changes{adds: []action.Add{part("m", "a")}, read: inA}, false, true},
		{"partition read, blind append elsewhere", append_("w", "b"), changes{adds: []action.Add{part("m", "a")}, read: inA}, false, false},
		{"partition read, rewrite there", rewrite(a2, "w"), changes{adds: []action.Add{part("m", "a")}, read: inA}, true, true},
		{"partition read, rewrite elsewhere", rewrite(b1, "w"), changes{adds: []action.Add{part("m", "a")}, read: inA}, false, false},
		{"file read and removed", rewrite(a1, "w"), changes{adds: []action.Add{part("m", "a")}, files: []string{"a1"}}, true, true},
		{"another file read", rewrite(a2, "w"), changes{adds: []action.Add{part("m", "a")}, files: []string{"a1"}}, false, false},
	} {
		for level, want := range map[string]bool{"WriteSerializable": c.loose, "Serializable": c.strict} {
			t.Run(c.name+" under "+level, func(t *testing.T) {
				ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
				table := open(t, store)
				start := delta.Transaction{TxnID: "start", ReadVersion: delta.NoTable, Operation: "WRITE", Adds: []action.Add{a1, a2, b1}}
				start.Metadata = metadata(t, columns(t, "id", "BIGINT", "p", "VARCHAR"), map[string]string{"delta.isolationLevel": level}, "p")
				_, err := table.Commit(ctx, start)
				require.NoError(t, err)
				commit := func(id string, c changes) error {
					_, err := open(t, store).Commit(ctx, delta.Transaction{
						TxnID: id, ReadVersion: 0, Operation: "WRITE", Adds: c.adds, Removes: c.removes,
						ReadWholeTable: c.whole, ReadFiles: c.files, ReadPartitions: c.read,
					})
					return err
				}
				require.NoError(t, commit("winner", c.winner))
				err = commit("mine", c.mine)
				if !want {
					require.NoError(t, err)
					return
				}
				var conflict delta.ErrConflict
				require.ErrorAs(t, err, &conflict)
				require.EqualValues(t, 1, conflict.Version)
				require.EqualValues(t, 1, load(t, table).Version, "nothing was written")
			})
		}
	}
}

func text(v *string) string {
	if v == nil {
		return ""
	}
	return *v
}

// TestMetadataConflicts lets the table itself change under a transaction.
func TestMetadataConflicts(t *testing.T) {
	ctx := context.Background()
	describe := func(m action.Metadata) *action.Metadata {
		m.Description = "described"
		return &m
	}
	widen := func(m action.Metadata) *action.Metadata {
		m.SchemaString = columns(t, "id", "BIGINT", "name", "VARCHAR", "more", "DATE").String()
		return &m
	}
	configure := func(m action.Metadata) *action.Metadata {
		m.Configuration = maps.Clone(m.Configuration)
		m.Configuration["delta.appendOnly"] = "true"
		return &m
	}
	for _, c := range []struct {
		name     string
		winner   func(action.Metadata) *action.Metadata
		protocol *action.Protocol
		mine     func(*delta.Transaction, action.Metadata)
		want     bool
	}{
		{name: "append after a new description", winner: describe},
		{name: "append after a new column", winner: widen, want: true},
		{name: "append after a new property", winner: configure, want: true},
		{name: "rewrite after a new description", winner: describe, mine: func(x *delta.Transaction, _ action.Metadata) { x.ReadWholeTable = true }, want: true},
		{name: "new column after a new description", winner: describe, mine: func(x *delta.Transaction, m action.Metadata) { x.Metadata = widen(m) }, want: true},
		{name: "append after a new protocol", protocol: &action.Protocol{MinReaderVersion: 1, MinWriterVersion: 4}, want: true},
		{name: "append after the same protocol", protocol: &action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}},
	} {
		// The winner is met on the way in the first case, and in the race for a version in the second.
		for _, late := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				store := logstore.NewLocal(t.TempDir())
				table := create(t, store, nil)
				before := load(t, table).Metadata
				winner := delta.Transaction{TxnID: "winner", ReadVersion: 0, Operation: "ALTER", Protocol: c.protocol}
				if c.winner != nil {
					winner.Metadata = c.winner(before)
				}
				commitWinner := func() error {
					_, err := open(t, store).Commit(ctx, winner)
					return err
				}
				mine := appendTo("mine", 0)
				if c.mine != nil {
					c.mine(&mine, before)
				}
				writer := open(t, store)
				if late {
					writer = open(t, &overtaken{Local: store, by: commitWinner})
				} else {
					require.NoError(t, commitWinner())
				}
				_, err := writer.Commit(ctx, mine)
				if c.protocol != nil && c.protocol.MinWriterVersion == 2 {
					require.NoError(t, err)
					return
				}
				var conflict delta.ErrConflict
				require.Equal(t, c.want, errors.As(err, &conflict), "%v", err)
			})
		}
	}
}

// overtaken is a store where another writer is faster, once.
type overtaken struct {
	*logstore.Local
	by func() error
}

func (o *overtaken) PutIfAbsent(ctx context.Context, key string, body []byte) (logstore.Outcome, error) {
	if by := o.by; by != nil {
		o.by = nil
		if err := by(); err != nil {
			return logstore.Failed, err
		}
	}
	return o.Local.PutIfAbsent(ctx, key, body)
}

// TestRowTracking: what is refused is refused by name, and reading goes on.
func TestUnsupportedFeatures(t *testing.T) {
	ctx, store := context.Background(), logstore.NewLocal(t.TempDir())
	table := create(t, store, nil)
	put := func(version int64, line string) {
		outcome, err := store.PutIfAbsent(ctx, logstore.CommitKey(version), []byte(line+"\n"))
		require.NoError(t, err)
		require.Equal(t, logstore.Written, outcome)
	}
	put(1, `{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["appendOnly","rowTracking"]}}`)
	var unsupported delta.ErrUnsupportedFeature
	s := load(t, table)
	_, err := table.Commit(ctx, appendTo("x", s.Version))
	require.ErrorAs(t, err, &unsupported)
	require.Equal(t, "rowTracking", unsupported.Feature)
	require.True(t, unsupported.Write)

	put(2, `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["catalogManaged"],"writerFeatures":["catalogManaged"]}}`)
	_, err = table.Load(ctx)
	require.ErrorAs(t, err, &unsupported)
	require.Equal(t, "catalogManaged", unsupported.Feature)
	require.False(t, unsupported.Write)
}
