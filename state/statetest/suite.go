// Package statetest is the suite that every store of recorded state passes.
package statetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/batch"
	"github.com/streamform/streamform/state"
)

// Run tests a store. open prepares a new, empty place and returns what opens one more store on it, as another process would.
func Run(t *testing.T, open func(t *testing.T) func() state.Store) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, open func() state.Store)
	}{
		{"nothing saved", testEmpty},
		{"round trip", testRoundTrip},
		{"lost update", testLostUpdate},
		{"other lineage", testLineage},
		{"lock excludes", testLockExcludes},
		{"lock by wrong ID", testWrongID},
		{"lock removed by force", testForceUnlock},
		{"waiting for the lock", testAcquire},
		{"cancelled", testCancelled},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// Document is a document that uses every field.
func Document(lineage string, serial int64) *state.Document {
	d := state.New(lineage, "0.1.0")
	d.Serial = serial
	source := addr.Resource{Block: addr.Source, Type: "files", Name: "purchases"}
	d.Outputs["rows"] = state.Output{Value: json.RawMessage(`12`), Type: json.RawMessage(`"number"`)}
	d.Outputs["token"] = state.Output{Type: json.RawMessage(`"string"`), Sensitive: true, Digest: state.Digest(lineage, []byte(`"x"`))}
	d.Resources = []state.Resource{
		{Addr: source, ID: "source.files.purchases", SchemaVersion: 1, Attributes: json.RawMessage(`{"path":"<in> & out","limit":12345678901234567890}`),
			Status: state.Applied, Generation: 1, Pipeline: "purchases-1",
			Relation: &state.Relation{Columns: batch.Schema{{Name: "id", Type: "BIGINT"}}, AppendOnly: true,
				Identity: "source.files.purchases", Sides: map[string]batch.Schema{"malformed": {{Name: "raw", Type: "BLOB"}}}}},
		{Addr: addr.Resource{Block: addr.View, Name: "sales"}, ID: "view.sales#2", Attributes: json.RawMessage(`{"sql":"SELECT 'ä' FROM purchases"}`),
			Dependencies: []addr.Resource{source}, PreventDestroy: true, Status: state.Building, Generation: 3, Pipeline: "purchases-1",
			History: []state.Boundary{{Of: source, ID: "source.files.purchases", Serial: 2, Before: "ab", After: "cd"}},
			Relation: &state.Relation{Columns: batch.Schema{{Name: "a", Type: "VARCHAR"}}, Key: []string{"a"}, Reads: []string{"purchases"},
				Identity: "abc", Compiled: "def", Operators: []state.Operator{{Kind: "full_refresh", Identity: "i", Reason: "why"}}}},
	}
	return d
}

func testEmpty(t *testing.T, open func() state.Store) {
	d, err := open().Load(t.Context())
	require.NoError(t, err)
	require.Nil(t, d)
}

func testRoundTrip(t *testing.T, open func() state.Store) {
	for serial := int64(1); serial <= 3; serial++ {
		require.NoError(t, open().Save(t.Context(), Document("one", serial)))
		got, err := open().Load(t.Context())
		require.NoError(t, err)
		requireEqual(t, Document("one", serial), got)
	}
}

// requireEqual compares documents by what they say; a store may indent values as it likes.
func requireEqual(t *testing.T, want, got *state.Document) {
	t.Helper()
	w, err := state.Encode(want)
	require.NoError(t, err)
	g, err := state.Encode(got)
	require.NoError(t, err)
	require.Equal(t, string(w), string(g))
}

func testLostUpdate(t *testing.T, open func() state.Store) {
	a, b := open(), open()
	require.NoError(t, a.Save(t.Context(), Document("one", 5)))
	require.NoError(t, b.Save(t.Context(), Document("one", 6)))
	for _, serial := range []int64{4, 5, 6} {
		err := a.Save(t.Context(), Document("one", serial))
		var refused *state.SerialError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, state.SerialError{Held: 6, Given: serial}, *refused)
	}
	got, err := a.Load(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 6, got.Serial)
	require.NoError(t, a.Save(t.Context(), Document("one", 9)))
}

func testLineage(t *testing.T, open func() state.Store) {
	require.NoError(t, open().Save(t.Context(), Document("one", 1)))
	var refused *state.LineageError
	require.ErrorAs(t, open().Save(t.Context(), Document("two", 2)), &refused)
	require.Equal(t, state.LineageError{Held: "one", Given: "two"}, *refused)
	got, err := open().Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, "one", got.Lineage)
}

func lockInfo(who string) state.LockInfo {
	info := state.NewLockInfo("OperationTypeApply", "0.1.0", "the path")
	info.Who, info.Info = who, "because"
	return info
}

func testLockExcludes(t *testing.T, open func() state.Store) {
	a, b := open(), open()
	ana, bob := lockInfo("ana"), lockInfo("bob")
	require.NotEqual(t, ana.ID, bob.ID)
	require.NoError(t, a.Lock(t.Context(), ana))
	for _, s := range []state.Store{b, a} {
		var locked *state.LockedError
		require.ErrorAs(t, s.Lock(t.Context(), bob), &locked)
		require.Equal(t, ana, locked.Holder, "the holder's record is shown, not the asker's")
	}
	require.NoError(t, a.Save(t.Context(), Document("one", 1)))
	require.NoError(t, a.Unlock(t.Context(), ana.ID))
	require.NoError(t, b.Lock(t.Context(), bob))
	require.NoError(t, b.Save(t.Context(), Document("one", 2)))
	require.NoError(t, b.Unlock(t.Context(), bob.ID))
	require.NoError(t, a.Lock(t.Context(), ana), "a store can lock again")
	require.NoError(t, a.Unlock(t.Context(), ana.ID))
}

func testWrongID(t *testing.T, open func() state.Store) {
	a := open()
	ana := lockInfo("ana")
	var wrong *state.WrongLockError
	require.ErrorAs(t, open().Unlock(t.Context(), "nothing is locked"), &wrong)
	require.Empty(t, wrong.Held)
	require.NoError(t, a.Lock(t.Context(), ana))
	for _, s := range []state.Store{a, open()} {
		require.ErrorAs(t, s.Unlock(t.Context(), "another"), &wrong)
		require.Equal(t, state.WrongLockError{Given: "another", Held: ana.ID}, *wrong)
	}
	var locked *state.LockedError
	require.ErrorAs(t, open().Lock(t.Context(), lockInfo("bob")), &locked, "a wrong ID releases nothing")
	require.NoError(t, a.Unlock(t.Context(), ana.ID))
}

func testForceUnlock(t *testing.T, open func() state.Store) {
	a, b := open(), open()
	ana, bob := lockInfo("ana"), lockInfo("bob")
	require.NoError(t, a.Lock(t.Context(), ana))
	require.NoError(t, a.Save(t.Context(), Document("one", 1)))
	require.NoError(t, open().Unlock(t.Context(), ana.ID), "anyone who knows the ID may")
	var lost *state.LockLostError
	require.ErrorAs(t, a.Save(t.Context(), Document("one", 2)), &lost)
	require.Equal(t, ana.ID, lost.ID)
	require.NoError(t, b.Lock(t.Context(), bob))
	require.ErrorAs(t, a.Save(t.Context(), Document("one", 2)), &lost)
	require.Error(t, a.Unlock(t.Context(), ana.ID), "the lock that was lost does not release the new one")
	require.NoError(t, b.Save(t.Context(), Document("one", 2)))
	require.NoError(t, b.Unlock(t.Context(), bob.ID))
}

func testAcquire(t *testing.T, open func() state.Store) {
	a, b := open(), open()
	ana, bob := lockInfo("ana"), lockInfo("bob")
	require.NoError(t, a.Lock(t.Context(), ana))
	var locked *state.LockedError
	require.ErrorAs(t, state.Acquire(t.Context(), b, bob, 60*time.Millisecond), &locked)
	require.Equal(t, ana.ID, locked.Holder.ID)

	released := make(chan error, 1)
	go func() {
		time.Sleep(80 * time.Millisecond)
		released <- a.Unlock(context.WithoutCancel(t.Context()), ana.ID)
	}()
	require.NoError(t, state.Acquire(t.Context(), b, bob, 20*time.Second))
	require.NoError(t, <-released)
	require.NoError(t, b.Unlock(t.Context(), bob.ID))
}

func testCancelled(t *testing.T, open func() state.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, open().Save(ctx, Document("one", 1)), context.Canceled)
	_, err := open().Load(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, open().Lock(ctx, lockInfo("ana")), context.Canceled)
	d, err := open().Load(t.Context())
	require.NoError(t, err)
	require.Nil(t, d, "a cancelled save leaves nothing")
}
