package store

import (
	"errors"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
)

// smallDisk is a file system with so many bytes left.
type smallDisk struct {
	vfs.FS
	left *uint64
}

func (d smallDisk) GetDiskUsage(string) (vfs.DiskUsage, error) {
	return vfs.DiskUsage{AvailBytes: *d.left}, nil
}

func TestCommitWaitsForRoomOnDisk(t *testing.T) {
	left := uint64(1 << 30)
	s, err := Open(Options{Dir: "data", FS: smallDisk{vfs.NewMem(), &left}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })

	b := s.NewBatch()
	b.Put(1, []byte("key"), []byte("value"))
	left = 1 << 20
	err = s.Commit(b)
	require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	require.ErrorContains(t, err, "no space left on device")
	left = 1 << 30
	require.NoError(t, s.Commit(b), "the same batch, once there is room")
	view := s.View()
	t.Cleanup(func() { view.Close() })
	values, err := readKeys(view.Table(1), [][]byte{[]byte("key")})
	require.NoError(t, err)
	require.Equal(t, "value", string(values[0]))
}
