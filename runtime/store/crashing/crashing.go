// Package crashing is a disk in memory that power cuts can be tried on.
package crashing

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
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
