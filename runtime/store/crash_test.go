package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/runtime/store/crashing"
)

const crashTables = 3

// story is a fixed course of commits, folds and reopenings, and what the store holds after each commit.
type story struct {
	fs     vfs.FS
	seed   uint64
	mu     sync.Mutex
	states []*model // states[i]: after i commits; the last one may be in flight
	acked  int      // commits acknowledged
	opened func(bool)
}

func (s *story) options() Options {
	return Options{Dir: "data", FS: s.fs, MemoryBudget: 64 << 10, partitionKeys: 16, manual: true}
}

// acknowledged is how many commits the store has promised to keep.
func (s *story) acknowledged() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.acked
}

// tell lives through the story, until an error.
func (s *story) tell() error {
	s.states = []*model{newModel()}
	w := both{r: rand.New(rand.NewPCG(s.seed, 7)), m: newModel(), keys: 60}
	for range 3 {
		s.opened(false)
		st, err := Open(s.options())
		if err != nil {
			return err
		}
		s.opened(true)
		if err := s.session(st, w); err != nil {
			return errors.Join(err, st.Close())
		}
		if err := st.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (s *story) session(st *Store, w both) error {
	for i := range 5 {
		w.b = st.NewBatch()
		for range 1 + w.r.IntN(40) {
			w.change(crashTables)
		}
		if i == 3 {
			w.b.DropTable(1)
			delete(w.m.tables, 1)
			delete(w.m.blocks, 1)
			delete(w.m.pieces, 1)
		}
		s.mu.Lock()
		s.states = append(s.states, w.m.clone())
		s.mu.Unlock()
		if err := st.Commit(w.b); err != nil {
			return s.unseen(st, err)
		}
		s.mu.Lock()
		s.acked++
		s.mu.Unlock()
		if i == 2 || i == 4 {
			if err := st.fold(); err != nil {
				return err
			}
		}
	}
	return nil
}

// unseen checks that a failed commit cannot be seen, and returns its error.
func (s *story) unseen(st *Store, failed error) error {
	v := st.View()
	defer v.Close()
	got, err := contents(v, crashTables)
	if err == nil {
		if d := differs(s.states[s.acked], got, crashTables); d != "" {
			return fmt.Errorf("a failed commit can be seen: %s", d)
		}
	}
	return failed
}

// survived opens what a crash left and finds exactly the acknowledged commits, or one more.
func survived(t *testing.T, fs vfs.FS, s *story, acked int, what string) {
	t.Helper()
	o := s.options()
	o.FS = fs
	st, err := Open(o)
	if err != nil && (!s.made(fs) || strings.Contains(err.Error(), "could not open manifest file")) {
		// A crash while the directory is made may leave a half of it, with nothing in it
		// yet. And Pebble relies on file systems that keep the order in which the
		// entries of one directory are made; the crashable one forgets any of them.
		return
	}
	require.NoError(t, err, what)
	for range 2 { // the second time after another fold
		v := st.View()
		got, err := contents(v, crashTables)
		require.NoError(t, err, what)
		d := differs(s.states[acked], got, crashTables)
		if d != "" && acked+1 < len(s.states) {
			if differs(s.states[acked+1], got, crashTables) == "" {
				d = ""
			}
		}
		require.Empty(t, d, "%s, %d commits acknowledged", what, acked)
		v.Close()
		require.NoError(t, st.fold(), what)
	}
	require.NoError(t, st.Close(), what)
}

// made says whether the directory was there completely: Open creates the folder for folds last.
func (s *story) made(fs vfs.FS) bool {
	_, err := fs.Stat("data/fold")
	return err == nil
}

func writes(op errorfs.Op) bool {
	return op.Kind.ReadOrWrite() == errorfs.OpIsWrite
}

// TestCrashAtEveryWrite takes a copy of the disk, as a crash would leave it, before every
// single write, sync, rename or removal, within commits and folds alike.
func TestCrashAtEveryWrite(t *testing.T) {
	for seed, unsynced := range []int{0, 50, 100} {
		t.Run(fmt.Sprintf("%d%% unsynced", unsynced), func(t *testing.T) { crashAtEveryWrite(t, uint64(seed), unsynced) })
	}
}

func crashAtEveryWrite(t *testing.T, seed uint64, unsynced int) {
	type point struct {
		fs    *vfs.MemFS
		acked int
		what  string
	}
	disk := crashing.New()
	s := &story{seed: seed, opened: func(bool) {}}
	var mu sync.Mutex
	var points []point
	r := rand.New(rand.NewPCG(seed, 3))
	s.fs = errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !writes(op) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		acked := s.acknowledged()
		clone := disk.Crash(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: r})
		points = append(points, point{clone, acked, fmt.Sprintf("before write %d, to %s", len(points), op.Path)})
		return nil
	}))
	require.NoError(t, s.tell())
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, len(points), 100)
	for _, p := range points {
		survived(t, p.fs, s, p.acked, p.what)
	}
}

// TestEveryWriteFails lets the i-th write fail, for every i, and those after it, too.
func TestEveryWriteFails(t *testing.T) {
	for _, once := range []bool{true, false} {
		for i := 0; ; i++ {
			disk := crashing.New()
			fail := &failAt{at: i, once: once}
			s := &story{seed: 5, opened: fail.arm}
			s.fs = errorfs.Wrap(disk, fail)
			err := s.tell()
			if err != nil {
				require.ErrorIs(t, err, errorfs.ErrInjected, "write %d", i)
			}
			clone := disk.Crash(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(uint64(i), 1))})
			survived(t, clone, s, s.acknowledged(), fmt.Sprintf("write %d failed, once: %v", i, once))
			if !fail.reached() {
				require.NoError(t, err)
				require.Greater(t, i, 50, "the story has so many writes at least")
				break
			}
		}
	}
}

// failAt fails one write, counted from 0, and the later ones unless once.
type failAt struct {
	mu    sync.Mutex
	at    int
	once  bool
	armed bool
	n     int
}

func (f *failAt) arm(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.armed = on
}

func (f *failAt) reached() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n > f.at
}

func (f *failAt) String() string { return "fail at" }

func (f *failAt) MaybeError(op errorfs.Op) error {
	// Pebble ends the process when it cannot write the manifest, sync the directory or
	// begin a new log; that is a crash, and TestCrashAtEveryWrite has those.
	newLog := strings.HasSuffix(op.Path, ".log") && op.Kind == errorfs.OpCreate
	if !writes(op) || newLog || op.Path == "data" || strings.Contains(op.Path, "MANIFEST") {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.armed {
		return nil // Pebble's goroutines do not survive it when an Open fails half way
	}
	f.n++
	if f.n-1 == f.at || !f.once && f.n-1 > f.at {
		return errorfs.ErrInjected
	}
	return nil
}
