package job

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/connector"
	"github.com/streamform/streamform/runtime/store"
)

func memoryStore(t testing.TB) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Dir: "store", FS: vfs.NewMem()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func entered(t testing.TB, s *store.Store, id string, records ...Record) {
	t.Helper()
	l := newLedger(s, id, 0)
	b := s.NewBatch()
	for _, r := range records {
		require.NoError(t, l.write(b, r, true))
	}
	require.NoError(t, s.Commit(b))
}

func record(ordinal int64, path, version string) Record {
	return Record{Entry: connector.Entry{Path: path, Version: version, Ordinal: ordinal, Status: connector.Read}}
}

// Lookups give the same with the ledger in memory and with the store alone.
func TestLookup(t *testing.T) {
	s := memoryStore(t)
	entered(t, s, "g1", record(1, "/a", "1"), record(2, "/b", "1"), record(3, "/a", "2"))
	entered(t, s, "g12", record(1, "/c", "1"))
	view := s.View()
	defer view.Close()
	for name, last := range map[string]int64{"in memory": 3, "too large for memory": maxCached + 1} {
		t.Run(name, func(t *testing.T) {
			l := LedgerAt(s, view, "g1", last)
			for path, version := range map[string]string{"/a": "2", "/b": "1", "/c": "", "": ""} {
				for range 2 {
					e, ok, err := l.Lookup(path)
					require.NoError(t, err)
					require.Equal(t, version != "", ok, path)
					require.Equal(t, version, e.Version, path)
				}
			}
			require.Equal(t, last, l.LastOrdinal())
		})
	}
	b := s.NewBatch()
	require.NoError(t, Forget(view, b, "g1"))
	require.NoError(t, s.Commit(b))
	after := s.View()
	defer after.Close()
	_, ok, err := LedgerAt(s, after, "g1", 3).Lookup("/a")
	require.NoError(t, err)
	require.False(t, ok)
	_, ok, err = LedgerAt(s, after, "g12", 1).Lookup("/c")
	require.NoError(t, err)
	require.True(t, ok, "another source's ledger stays")
}

func BenchmarkLookup(b *testing.B) {
	s := memoryStore(b)
	const files = 10_000
	all := make([]Record, files)
	for i := range all {
		all[i] = record(int64(i+1), fmt.Sprintf("/landing/2026/05/01/%06d.json", i), "100-1777777777000000000")
	}
	entered(b, s, "g1", all...)
	view := s.View()
	defer view.Close()
	b.ResetTimer()
	for b.Loop() {
		l := LedgerAt(s, view, "g1", files)
		for i := range all {
			if _, ok, err := l.Lookup(all[i].Path); err != nil || !ok {
				b.Fatal(ok, err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/files, "ns/file")
}
