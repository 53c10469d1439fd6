package conformance

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
)

// Ledger is a connector.Ledger in memory, for tests.
type Ledger struct {
	byOrdinal map[int64]connector.Entry
	newest    map[string]int64
	last      int64
}

// NewLedger is a ledger without entries.
func NewLedger() *Ledger {
	return &Ledger{byOrdinal: map[int64]connector.Entry{}, newest: map[string]int64{}}
}

// Lookup returns the newest entry of a path.
func (l *Ledger) Lookup(path string) (connector.Entry, bool, error) {
	ordinal, ok := l.newest[path]
	return l.byOrdinal[ordinal], ok, nil
}

// LastOrdinal is the greatest ordinal.
func (l *Ledger) LastOrdinal() int64 { return l.last }

// Commit takes what Discover returned, as a job does.
func (l *Ledger) Commit(entries []connector.Entry) {
	for _, e := range entries {
		l.byOrdinal[e.Ordinal] = e
		if l.newest[e.Path] <= e.Ordinal {
			l.newest[e.Path] = e.Ordinal
		}
		l.last = max(l.last, e.Ordinal)
	}
}

// Mark gives an entry a status, as a job does after reading it.
func (l *Ledger) Mark(ordinal int64, status string) {
	e := l.byOrdinal[ordinal]
	e.Status = status
	l.byOrdinal[ordinal] = e
}

// Entry is the entry with an ordinal.
func (l *Ledger) Entry(ordinal int64) connector.Entry { return l.byOrdinal[ordinal] }

// Pending lists the entries still to be read, by ordinal.
func (l *Ledger) Pending() []connector.Entry {
	var out []connector.Entry
	for i := int64(1); i <= l.last; i++ {
		if e := l.byOrdinal[i]; e.Status == connector.Pending {
			out = append(out, e)
		}
	}
	return out
}

// SourceCase is one source under test, and the hand that fills what it reads.
type SourceCase struct {
	Open   func(t *testing.T) connector.Source // opens the same place, as after a restart
	Add    func(t *testing.T, name string)     // puts one thing to read there; a name is added once
	Change func(t *testing.T, name string)     // changes its content
	Remove func(t *testing.T, name string)
}

// Source runs the suite; fresh makes a case with an empty place.
func Source(t *testing.T, fresh func(t *testing.T) SourceCase) {
	for name, test := range map[string]func(*testing.T, SourceCase){
		"each thing is found once":         foundOnce,
		"looking changes nothing":          lookingIsPure,
		"resumes after a restart":          resumes,
		"verify":                           verifies,
		"changed before it is read":        changedPending,
		"gone and back before it was read": cameBack,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

// discover lists once and checks what every listing promises.
func discover(t *testing.T, s connector.Source, l *Ledger) []connector.Entry {
	t.Helper()
	entries, err := s.Discover(context.Background(), l)
	require.NoError(t, err)
	next := l.LastOrdinal()
	for _, e := range entries {
		if e.Ordinal > l.LastOrdinal() {
			next++
			require.Equal(t, next, e.Ordinal, "ordinals go on without gaps")
			require.Equal(t, int64(-1), e.Rows, "nothing of a new entry is read")
		}
		require.NotEmpty(t, e.Path)
		require.NotEmpty(t, e.Version)
		require.False(t, e.DiscoveredAt.IsZero())
	}
	return entries
}

func foundOnce(t *testing.T, c SourceCase) {
	s, l := c.Open(t), NewLedger()
	require.Empty(t, discover(t, s, l), "an empty place")
	for _, n := range []string{"a", "b", "c"} {
		c.Add(t, n)
	}
	l.Commit(discover(t, s, l))
	require.Len(t, l.Pending(), 3)
	require.Empty(t, discover(t, s, l), "pending entries are not found again")
	for i := int64(1); i <= 3; i++ {
		l.Mark(i, connector.Read)
	}
	require.Empty(t, discover(t, s, l), "nor are read ones")
	c.Add(t, "d")
	l.Commit(discover(t, s, l))
	require.Len(t, l.Pending(), 1)
	require.NoError(t, s.Close())
}

func lookingIsPure(t *testing.T, c SourceCase) {
	s, l := c.Open(t), NewLedger()
	c.Add(t, "a")
	c.Add(t, "b")
	first := discover(t, s, l)
	second := discover(t, s, l)
	require.Len(t, first, 2)
	for i := range first {
		first[i].DiscoveredAt = second[i].DiscoveredAt
	}
	require.Equal(t, first, second)
}

func resumes(t *testing.T, c SourceCase) {
	l := NewLedger()
	for i, n := range []string{"a", "b", "c", "d"} {
		c.Add(t, n)
		s := c.Open(t)
		l.Commit(discover(t, s, l))
		require.Equal(t, int64(i+1), l.LastOrdinal())
		if i%2 == 0 {
			l.Mark(int64(i+1), connector.Read)
		}
		require.NoError(t, s.Close())
	}
	require.Len(t, l.Pending(), 2)
}

func verifies(t *testing.T, c SourceCase) {
	s, l := c.Open(t), NewLedger()
	c.Add(t, "a")
	c.Add(t, "b")
	l.Commit(discover(t, s, l))
	for _, e := range l.Pending() {
		require.NoError(t, s.Verify(context.Background(), e))
	}
	c.Change(t, "a")
	c.Remove(t, "b")
	var changed, vanished int
	for _, e := range l.Pending() {
		err := s.Verify(context.Background(), e)
		require.Error(t, err)
		require.Contains(t, err.Error(), e.Path, "the error says which")
		if errors.Is(err, connector.ErrChanged) {
			changed++
		}
		if errors.Is(err, connector.ErrVanished) {
			vanished++
		}
	}
	require.Equal(t, 1, changed)
	require.Equal(t, 1, vanished)
}

func changedPending(t *testing.T, c SourceCase) {
	s, l := c.Open(t), NewLedger()
	c.Add(t, "a")
	l.Commit(discover(t, s, l))
	before := l.Entry(1)
	c.Change(t, "a")
	l.Commit(discover(t, s, l))
	require.Len(t, l.Pending(), 1, "the entry is replaced, not doubled")
	after := l.Entry(1)
	require.NotEqual(t, before.Version, after.Version)
	require.NoError(t, s.Verify(context.Background(), after))
}

func cameBack(t *testing.T, c SourceCase) {
	s, l := c.Open(t), NewLedger()
	c.Add(t, "a")
	l.Commit(discover(t, s, l))
	c.Remove(t, "a")
	l.Mark(1, connector.Vanished)
	require.Empty(t, discover(t, s, l))
	c.Add(t, "a")
	l.Commit(discover(t, s, l))
	require.Len(t, l.Pending(), 1)
	require.Equal(t, int64(2), l.Pending()[0].Ordinal, "what was passed over is read in its new place")
}
