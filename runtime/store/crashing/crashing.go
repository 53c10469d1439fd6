// Package crashing is a disk in memory that power cuts can be tried on.
package crashing

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// Disk is a file system in memory of which a copy can be taken as a power cut would leave it,
// at any moment and from any goroutine.
type Disk struct {
	*vfs.MemFS
	// mu is held for whole operations that take the lock CrashClone waits for twice in vfs.MemFS:
	// when the clone begins in between, both would wait for ever.
	mu sync.Mutex
}

// New returns an empty disk.
func New() *Disk { return &Disk{MemFS: vfs.NewCrashableMem()} }

// Link is that of vfs.FS.
func (d *Disk) Link(oldname, newname string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.MemFS.Link(oldname, newname)
}

// ReuseForWrite is that of vfs.FS.
func (d *Disk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.MemFS.ReuseForWrite(oldname, newname, category)
}

// Crash returns what a power cut now would leave; cfg says how much of what was not synced.
func (d *Disk) Crash(cfg vfs.CrashCloneCfg) *vfs.MemFS {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.MemFS.CrashClone(cfg)
}

// Before is the disk with a function that is called before each write. Its error is the write's.
func (d *Disk) Before(write func() error) vfs.FS { return errorfs.Wrap(d, watcher(write)) }

type watcher func() error

func (w watcher) MaybeError(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() != errorfs.OpIsWrite {
		return nil
	}
	return w()
}

func (watcher) String() string { return "watcher" }

// Remains are what a power cut leaves.
type Remains struct{ disk *vfs.MemFS }

// Cut returns what a power cut now would leave: what was synced, and nothing else.
func (d *Disk) Cut() Remains { return Remains{d.Crash(vfs.CrashCloneCfg{})} }

// Disk is a disk to go on with. What is written to it does not change the remains.
func (r Remains) Disk() vfs.FS { return r.disk.CrashClone(vfs.CrashCloneCfg{}) }
