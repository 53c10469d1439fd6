package local_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/state"
	"github.com/streamform/streamform/state/local"
	"github.com/streamform/streamform/state/statetest"
)

func TestSuite(t *testing.T) {
	statetest.Run(t, func(t *testing.T) func() state.Store {
		path := filepath.Join(t.TempDir(), local.DefaultName)
		return func() state.Store { return local.Open(path) }
	})
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), e.Name())
		out = append(out, e.Name())
	}
	return out
}

func TestFilesAndModes(t *testing.T) {
	dir := t.TempDir()
	s := local.Open(filepath.Join(dir, "x.sfstate"))
	info := state.NewLockInfo("OperationTypeApply", "0.1.0", s.Path())
	require.NoError(t, s.Lock(t.Context(), info))
	require.NoError(t, s.Save(t.Context(), statetest.Document("one", 1)))
	require.Equal(t, []string{".x.sfstate.lock", ".x.sfstate.lock.info", "x.sfstate"}, names(t, dir))
	require.NoError(t, s.Unlock(t.Context(), info.ID))
	require.NoError(t, s.Lock(t.Context(), info))
	require.NoError(t, s.Save(t.Context(), statetest.Document("one", 2)))
	require.NoError(t, s.Save(t.Context(), statetest.Document("one", 3)))
	require.NoError(t, s.Unlock(t.Context(), info.ID))
	require.Equal(t, []string{"x.sfstate", "x.sfstate.backup"}, names(t, dir))
	former, err := local.Open(filepath.Join(dir, "x.sfstate.backup")).Load(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, former.Serial, "the backup is the document from before the run, not from its last step")
}

func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.sfstate")
	s := local.Open(path)
	require.NoError(t, s.Save(t.Context(), statetest.Document("one", 1)))
	require.NoError(t, local.Open(path).Save(t.Context(), statetest.Document("one", 2)))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data[:len(data)/2], 0o600))

	_, err = s.Load(t.Context())
	var damaged *state.CorruptedError
	require.ErrorAs(t, err, &damaged)
	require.Equal(t, path, damaged.Path)
	require.Equal(t, path+".backup", damaged.Backup)
	require.Contains(t, err.Error(), path+".backup")
	require.ErrorAs(t, s.Save(t.Context(), statetest.Document("one", 3)), &damaged, "a damaged state is not written over")

	require.NoError(t, os.WriteFile(path, nil, 0o600))
	d, err := s.Load(t.Context())
	require.NoError(t, err)
	require.Nil(t, d)
}

func TestFailedSaveKeepsTheFormer(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write into any folder")
	}
	dir := t.TempDir()
	s := local.Open(filepath.Join(dir, "x.sfstate"))
	require.NoError(t, s.Save(t.Context(), statetest.Document("one", 1)))
	require.NoError(t, os.Chmod(dir, 0o500))
	require.Error(t, s.Save(t.Context(), statetest.Document("one", 2)))
	require.NoError(t, os.Chmod(dir, 0o700))
	d, err := s.Load(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, d.Serial)
}

// TestKilledHolder runs itself as a process that takes the lock and is killed.
func TestKilledHolder(t *testing.T) {
	const variable = "STREAMFORM_TEST_LOCK"
	if path := os.Getenv(variable); path != "" {
		info := state.NewLockInfo("OperationTypeApply", "0.1.0", path)
		if err := local.Open(path).Lock(t.Context(), info); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked", info.ID)
		select {}
	}
	path := filepath.Join(t.TempDir(), "x.sfstate")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledHolder$")
	cmd.Env = append(os.Environ(), variable+"="+path)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var id string
	_, err = fmt.Fscanf(out, "locked %s\n", &id)
	require.NoError(t, err)

	s := local.Open(path)
	mine := state.NewLockInfo("OperationTypeApply", "0.1.0", path)
	var locked *state.LockedError
	require.ErrorAs(t, s.Lock(t.Context(), mine), &locked)
	require.Equal(t, id, locked.Holder.ID)
	require.Contains(t, locked.Details(locked.Holder.Created.Add(3e11)), "(5m ago)")
	require.Contains(t, locked.Details(locked.Holder.Created), "streamform force-unlock "+id)

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	data, err := os.ReadFile(filepath.Join(filepath.Dir(path), ".x.sfstate.lock.info"))
	require.NoError(t, err)
	require.True(t, strings.Contains(string(data), id), "the record is left behind")
	require.NoError(t, s.Lock(t.Context(), mine), "the system has released the lock itself")
	require.NoError(t, s.Unlock(t.Context(), mine.ID))
}
