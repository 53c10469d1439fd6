//go:build unix

package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const benchValue = 48 // bytes; keys have 16

func benchKey(to []byte, n uint64) []byte {
	to = binary.BigEndian.AppendUint64(to[:0], n)
	return binary.BigEndian.AppendUint64(to, n*0x9e3779b97f4a7c15)
}

// benchStore has keys 0 to n-1 in table 1.
func benchStore(b *testing.B, dir string, n int, budget int64) *Store {
	s, err := Open(Options{Dir: dir, MemoryBudget: budget})
	require.NoError(b, err)
	var key []byte
	value := make([]byte, benchValue)
	for from := 0; from < n; from += 100_000 {
		w := s.NewBatch()
		for i := from; i < min(n, from+100_000); i++ {
			key = benchKey(key, uint64(i))
			w.Put(1, key, value)
		}
		require.NoError(b, s.Commit(w))
	}
	return s
}

func (s *Store) settled(b *testing.B) {
	for {
		s.waiting.mu.Lock()
		keys := s.waiting.keys
		s.waiting.mu.Unlock()
		if keys < s.options.foldKeys {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// written is how many bytes of tables were written so far: flushed, folded and compacted.
func (s *Store) written() uint64 {
	m := s.db.Metrics().Total()
	return m.TableBytesFlushed + m.TableBytesIngested + m.TableBytesCompacted
}

// cpu is the processor time this process has used, all goroutines together.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEpoch reads k random keys, writes them and commits, as an aggregate does; folds included.
func BenchmarkEpoch(b *testing.B) {
	for _, c := range []struct {
		keys, k int
		budget  int64
	}{
		{1_000_000, 1000, 4 << 30},
		{1_000_000, 10_000, 4 << 30},
		{1_000_000, 100_000, 4 << 30},
		{10_000_000, 10_000, 4 << 30},
		{10_000_000, 100_000, 4 << 30},
		{10_000_000, 10_000, 256 << 20},
		{2_000_000, 10_000, 64 << 20},
	} {
		b.Run(fmt.Sprintf("keys=%d/k=%d/budget=%dMiB", c.keys, c.k, c.budget>>20), func(b *testing.B) {
			s := benchStore(b, b.TempDir(), c.keys, c.budget)
			s.settled(b)
			r := rand.New(rand.NewPCG(1, 1))
			value := make([]byte, benchValue)
			keys := make([][]byte, c.k)
			var get, commit time.Duration
			used, written := cpu(b), s.written()
			for b.Loop() {
				for i := range keys {
					keys[i] = benchKey(keys[i], r.Uint64N(uint64(c.keys)))
				}
				begin := time.Now()
				v := s.View()
				_, err := readKeys(v.Table(1), keys)
				require.NoError(b, err)
				v.Close()
				get += time.Since(begin)
				begin = time.Now()
				w := s.NewBatch()
				for _, key := range keys {
					binary.LittleEndian.PutUint64(value, r.Uint64())
					w.Put(1, key, value)
				}
				require.NoError(b, s.Commit(w))
				commit += time.Since(begin)
			}
			b.ReportMetric(float64(get.Microseconds())/float64(b.N)/1000, "get-ms")
			b.ReportMetric(float64(commit.Microseconds())/float64(b.N)/1000, "commit-ms")
			b.ReportMetric(float64((cpu(b)-used).Nanoseconds())/float64(b.N*c.k), "cpu-ns/key")
			b.ReportMetric(float64(s.used.Load())/float64(c.keys)-16-benchValue, "overhead-B/key")
			b.ReportMetric(float64(s.written()-written)/float64(b.N*c.k), "written-B/key")
			require.NoError(b, s.Close())
		})
	}
}

// BenchmarkReopen opens a store of 10 M keys and commits 1,000 of them.
func BenchmarkReopen(b *testing.B) {
	const n = 10_000_000
	dir := b.TempDir()
	s := benchStore(b, dir, n, 4<<30)
	require.NoError(b, s.Close())
	runtime.GC()
	var key []byte
	for b.Loop() {
		s, err := Open(Options{Dir: dir, MemoryBudget: 4 << 30})
		require.NoError(b, err)
		w := s.NewBatch()
		for range 1000 {
			key = benchKey(key, rand.Uint64N(n))
			w.Put(1, key, key)
		}
		require.NoError(b, s.Commit(w))
		b.StopTimer()
		require.NoError(b, s.Close())
		b.StartTimer()
	}
}

// BenchmarkScan visits a million keys in memory.
func BenchmarkScan(b *testing.B) {
	s := benchStore(b, b.TempDir(), 1_000_000, 4<<30)
	v := s.View()
	n := 0
	for b.Loop() {
		require.NoError(b, v.Table(1).Scan(func(_, _ []byte) error { n++; return nil }))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/key")
	v.Close()
	require.NoError(b, s.Close())
}
