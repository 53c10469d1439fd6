package store

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/store/crashing"
	"github.com/streamform/streamform/runtime/store/record"
)

func opened(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(o)
	require.NoError(t, err)
	return s
}

func commit(t *testing.T, s *Store, fill func(b *Batch)) {
	t.Helper()
	b := s.NewBatch()
	fill(b)
	require.NoError(t, s.Commit(b))
}

// get reads one key of a table as of the last commit.
func get(t *testing.T, s *Store, table uint64, key string) []byte {
	t.Helper()
	v := s.View()
	defer v.Close()
	values, err := readKeys(v.Table(table), [][]byte{[]byte(key)})
	require.NoError(t, err)
	return values[0]
}

// readKeys returns the values of the keys, nil where there is none.
func readKeys(table *Table, keys [][]byte) ([][]byte, error) {
	values := make([][]byte, len(keys))
	return values, table.Read(len(keys), func(i int) []byte { return keys[i] }, func(i int, value []byte) {
		if value != nil {
			values[i] = append([]byte{}, value...)
		}
	})
}

func TestIdentityStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := opened(t, Options{Dir: dir})
	id := s.ID()
	require.Len(t, id, 36)
	require.NoError(t, s.Close())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
	s = opened(t, Options{Dir: dir})
	require.Equal(t, id, s.ID())
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing twice")
	other := opened(t, Options{Dir: filepath.Join(t.TempDir(), "data")})
	require.NotEqual(t, id, other.ID())
	require.NoError(t, other.Close())
}

func TestInUse(t *testing.T) {
	const variable = "STREAMFORM_STORE_TEST_DIR"
	if dir := os.Getenv(variable); dir != "" { // the second process
		_, err := Open(Options{Dir: dir})
		require.ErrorIs(t, err, ErrInUse)
		return
	}
	dir := t.TempDir()
	s := opened(t, Options{Dir: dir})
	_, err := Open(Options{Dir: dir})
	require.ErrorIs(t, err, ErrInUse)
	again := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestInUse$")
	again.Env = append(os.Environ(), variable+"="+dir)
	out, err := again.CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, s.Close())
	require.NoError(t, opened(t, Options{Dir: dir}).Close())
}

func TestUnwritableDirectoryIsNotInUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(Options{Dir: filepath.Join(file, "data")})
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrInUse)
}

func TestNewerFormatIsRefused(t *testing.T) {
	for _, test := range []struct {
		name       string
		key, value []byte
		want       string
	}{
		{"store", []byte(keyFormat), []byte{formatVersion + 1}, "format"},
		{"changes", changesKey(9, 1), appendSum([]byte{changesVersion + 1, 0, 0, 0, 0}), "format"},
	} {
		t.Run(test.name, func(t *testing.T) {
			mem := vfs.NewMem()
			s := opened(t, Options{Dir: "data", FS: mem, manual: true})
			require.NoError(t, s.db.Set(test.key, test.value, pebble.Sync))
			require.NoError(t, s.Close())
			_, err := Open(Options{Dir: "data", FS: mem})
			require.ErrorIs(t, err, ErrNewer)
			require.ErrorContains(t, err, test.want)
		})
	}
}

func TestDamagedChangesAreRefused(t *testing.T) {
	mem := vfs.NewMem()
	s := opened(t, Options{Dir: "data", FS: mem, manual: true})
	commit(t, s, func(b *Batch) { b.Put(1, []byte("k"), []byte("v")) })
	value, closer, err := s.db.Get(changesKey(1, 1))
	require.NoError(t, err)
	damaged := append([]byte{}, value...)
	require.NoError(t, closer.Close())
	damaged[len(damaged)-6] ^= 1
	require.NoError(t, s.db.Set(changesKey(1, 1), damaged, pebble.Sync))
	require.NoError(t, s.Close())
	_, err = Open(Options{Dir: "data", FS: mem})
	require.ErrorContains(t, err, "checksum")
}

func TestBatchIsCommittedOnce(t *testing.T) {
	s := opened(t, Options{Dir: "data", FS: vfs.NewMem()})
	b := s.NewBatch()
	b.Put(1, []byte("k"), nil)
	require.NoError(t, s.Commit(b))
	require.Error(t, s.Commit(b))
	require.NoError(t, s.Commit(s.NewBatch()), "nothing to commit")
	require.Equal(t, []byte{}, get(t, s, 1, "k"), "an empty value is there")
	require.NoError(t, s.Close())
}

func TestTooLargeIsRefusedWhole(t *testing.T) {
	s := opened(t, Options{Dir: "data", FS: vfs.NewMem()})
	b := s.NewBatch()
	b.Put(1, []byte("k"), []byte("v"))
	require.False(t, b.grow(maxRecord+1))
	require.ErrorContains(t, s.Commit(b), "bytes")
	require.Nil(t, get(t, s, 1, "k"))
	commit(t, s, func(b *Batch) { b.Put(1, []byte("k"), []byte("w")) })
	require.Equal(t, "w", string(get(t, s, 1, "k")))
	require.NoError(t, s.Close())
}

func TestBigValues(t *testing.T) {
	mem := vfs.NewMem()
	o := Options{Dir: "data", FS: mem, MemoryBudget: 1 << 20, manual: true}
	s := opened(t, o)
	key, value := bytes.Repeat([]byte("k"), 300_000), bytes.Repeat([]byte("v"), 9<<20)
	commit(t, s, func(b *Batch) {
		b.Put(1, key, value)
		b.Put(1, []byte{}, value[:5<<20])
		b.AppendBlock(1, value)
		b.SetMeta("m", value[:3<<20])
	})
	check := func() {
		v := s.View()
		defer v.Close()
		values, err := readKeys(v.Table(1), [][]byte{key, {}, []byte("absent")})
		require.NoError(t, err)
		require.True(t, bytes.Equal(value, values[0]))
		require.True(t, bytes.Equal(value[:5<<20], values[1]))
		require.Nil(t, values[2])
		require.NoError(t, v.Table(1).Blocks(func(b []byte) error {
			require.True(t, bytes.Equal(value, b))
			return nil
		}))
	}
	check()
	require.NoError(t, s.fold())
	check()
	require.NoError(t, s.Close())
	s = opened(t, o)
	check()
	require.NoError(t, s.Close())
}

func TestDroppedTableIsUsedAgain(t *testing.T) {
	mem := vfs.NewMem()
	o := Options{Dir: "data", FS: mem, manual: true}
	for _, folds := range []string{"", "before", "between", "after", "always"} {
		t.Run("fold "+folds, func(t *testing.T) {
			s := opened(t, o)
			fold := func(when string) {
				if folds == when || folds == "always" {
					require.NoError(t, s.fold())
				}
			}
			commit(t, s, func(b *Batch) {
				b.DropTable(1)
				b.Put(1, []byte("old"), []byte("1"))
				b.Put(1, []byte("both"), []byte("1"))
				b.AppendBlock(1, []byte("old"))
			})
			fold("before")
			old := s.View()
			commit(t, s, func(b *Batch) { b.Put(1, []byte("lost"), nil); b.DropTable(1) })
			require.Nil(t, get(t, s, 1, "old"))
			require.Nil(t, get(t, s, 1, "lost"))
			fold("between")
			commit(t, s, func(b *Batch) {
				b.Put(1, []byte("both"), []byte("2"))
				b.AppendBlock(1, []byte("new"))
			})
			fold("after")
			require.EqualValues(t, 2, old.Table(1).Len())
			values, err := readKeys(old.Table(1), [][]byte{[]byte("old"), []byte("both"), []byte("lost")})
			require.NoError(t, err)
			require.Equal(t, [][]byte{[]byte("1"), []byte("1"), nil}, values)
			old.Close()
			require.NoError(t, s.Close())

			s = opened(t, o)
			require.Nil(t, get(t, s, 1, "old"))
			require.Equal(t, "2", string(get(t, s, 1, "both")))
			v := s.View()
			require.EqualValues(t, 1, v.Table(1).Len())
			var blocks []string
			require.NoError(t, v.Table(1).Blocks(func(b []byte) error { blocks = append(blocks, string(b)); return nil }))
			require.Equal(t, []string{"new"}, blocks)
			v.Close()
			require.NoError(t, s.Close())
		})
	}
}

// TestReplayOverFolded crashes after the sorted table was ingested and before the mark
// was moved: the changes are there twice.
func TestReplayOverFolded(t *testing.T) {
	mem := crashing.New()
	o := Options{Dir: "data", FS: mem, manual: true}
	s := opened(t, o)
	commit(t, s, func(b *Batch) { b.Put(1, []byte("a"), []byte("1")); b.Put(1, []byte("b"), []byte("1")) })
	require.NoError(t, s.fold())
	commit(t, s, func(b *Batch) { b.Put(1, []byte("a"), []byte("2")); b.Delete(1, []byte("b")) })
	job, err := s.gather()
	require.NoError(t, err)
	commit(t, s, func(b *Batch) { b.Put(1, []byte("a"), []byte("3")) })
	require.NoError(t, s.foldFiles(job))
	o.FS = mem.Crash(vfs.CrashCloneCfg{})
	require.NoError(t, s.Close())
	s = opened(t, o)
	for range 2 {
		require.Equal(t, "3", string(get(t, s, 1, "a")))
		require.Nil(t, get(t, s, 1, "b"))
		v := s.View()
		require.EqualValues(t, 1, v.Table(1).Len())
		v.Close()
		require.NoError(t, s.fold())
	}
	require.NoError(t, s.Close())
}

// TestLargerThanMemory keeps forty times the budget, and stays near the budget.
func TestLargerThanMemory(t *testing.T) {
	const keys, budget = 20_000, 128 << 10
	o := Options{Dir: "data", FS: vfs.NewMem(), MemoryBudget: budget}
	s := opened(t, o)
	value := bytes.Repeat([]byte("x"), 250)
	key := func(i int) []byte { return fmt.Appendf(nil, "key %d", i) }
	highest := int64(0)
	for from := 0; from < keys; from += 100 {
		commit(t, s, func(b *Batch) {
			for i := from; i < from+100; i++ {
				b.Put(1, key(i), fmt.Appendf(nil, "%d %s", i, value))
			}
		})
		highest = max(highest, s.used.Load())
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		i := r.IntN(keys)
		require.Equal(t, fmt.Sprintf("%d %s", i, value), string(get(t, s, 1, string(key(i)))))
		commit(t, s, func(b *Batch) { b.Put(1, key(i), fmt.Appendf(nil, "%d %s", i, value)) })
		highest = max(highest, s.used.Load())
	}
	v := s.View()
	n := 0
	require.NoError(t, v.Table(1).Scan(func(_, _ []byte) error { n++; highest = max(highest, s.used.Load()); return nil }))
	require.Equal(t, keys, n)
	require.EqualValues(t, keys, v.Table(1).Len())
	v.Close()
	require.NoError(t, s.Close())
	// What waits to be folded stays in memory: up to patience times what makes a fold due.
	require.Less(t, highest, int64(budget+2*(patience+2)*s.options.foldBytes))
}

// TestViewsWhileCommitting has readers check that every view is one commit, in all its
// tables and named values, while commits and folds go on.
func TestViewsWhileCommitting(t *testing.T) {
	s := opened(t, Options{Dir: "data", FS: vfs.NewMem(), MemoryBudget: 256 << 10, foldKeys: 200, partitionKeys: 32})
	const keys, commits = 300, 120
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for last := false; !last; {
				select {
				case <-done:
					last = true
				default:
				}
				if err := oneCommit(s, keys); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for n := range commits {
		commit(t, s, func(b *Batch) {
			stamp := fmt.Appendf(nil, "%d", n)
			if n%10 == 9 {
				b.DropTable(2)
			}
			for i := range keys {
				b.Put(1, fmt.Appendf(nil, "key %d", i), stamp)
				b.Put(2, fmt.Appendf(nil, "key %d", i+n), stamp)
				b.Delete(2, fmt.Appendf(nil, "key %d", i+n-keys))
			}
			b.SetMeta("n", stamp)
		})
	}
	close(done)
	readers.Wait()
	require.NoError(t, s.Close())
}

// oneCommit reads a view and finds the same stamp wherever all keys have it.
func oneCommit(s *Store, keys int) error {
	v := s.View()
	defer v.Close()
	stamp, there, err := v.Meta("n")
	if err != nil || !there {
		return err
	}
	n := 0
	err = v.Table(1).Scan(func(k, value []byte) error {
		n++
		if !bytes.Equal(value, stamp) {
			return fmt.Errorf("%s is of commit %s in a view of commit %s", k, value, stamp)
		}
		return nil
	})
	if err == nil && n != keys {
		err = fmt.Errorf("table 1 has %d keys in a view of commit %s", n, stamp)
	}
	if err != nil {
		return err
	}
	n = 0
	err = v.Table(2).Scan(func(_, _ []byte) error { n++; return nil })
	if err == nil && (int64(n) != v.Table(2).Len() || n < keys) {
		err = fmt.Errorf("table 2 has %d keys and length %d in a view of commit %s", n, v.Table(2).Len(), stamp)
	}
	values, e := readKeys(v.Table(1), [][]byte{[]byte("key 7"), []byte("none")})
	if err == nil && e == nil && (!bytes.Equal(values[0], stamp) || values[1] != nil) {
		err = fmt.Errorf("got %q in a view of commit %s", values, stamp)
	}
	return err
}

func FuzzDecodeChanges(f *testing.F) {
	c := changes{dropped: true, keys: 3, bytes: 9, n: 2}
	good := record.Append(record.Append(c.appendHead(nil), []byte("key"), []byte("value")), []byte("gone"), nil)
	f.Add(good)
	f.Add(c.appendHead(nil))
	f.Add([]byte{1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeChanges(appendSum(b)) // with a right checksum, or little else is reached
		if err != nil {
			return
		}
		n := 0
		for rest := c.records; len(rest) > 0; n++ {
			_, _, length := record.Cut(rest)
			rest = rest[length:]
		}
		require.Equal(t, c.n, n)
	})
}
