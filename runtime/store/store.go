// Package store remembers what a runtime must not lose: keyed data, blocks, pieces, positions and the outbox, decided by Commit; the only room with Pebble.
//
// Keyed data is in memory within a budget. A commit is one synced Pebble batch that
// carries, for every table, all changed keys in one value; a goroutine folds these
// values into sorted tables that Pebble ingests, and from then on memory may forget
// the keys and read them back.
//
// Locks are taken in this order: committing, mu, keyed.mu, tablesMu. One commit runs at
// a time. mu is held while a commit becomes visible and while a view is made, so a
// view never sees half of one. Readers take only the locks of the tables they read.
package store

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/streamform/streamform/runtime/byhash"
)

// ErrInUse is returned by Open when another process, or this one, has the directory open.
var ErrInUse = errors.New("the data directory is in use by another streamform process")

// ErrReadOnly is returned by Commit when the store was opened to be read.
var ErrReadOnly = errors.New("the data directory was opened to be read only")

// Options say where a store lives and what it may use.
type Options struct {
	Dir          string // made with mode 0700 when absent
	FS           vfs.FS // nil: the disk
	MemoryBudget int64  // bytes for keyed data and Pebble together; 0: 1 GiB. Not a hard limit: what is not yet folded, and what open views keep, stays
	// ReadOnly leaves a store that is there exactly as it is: no file is written but the lock's, and Commit fails with ErrReadOnly.
	// Where there is none, one is made all the same.
	ReadOnly bool
	// Locked is told that the directory is this store's from now on, before it is read, which may take its time; nil: nobody is.
	Locked func()

	hash           func(key []byte) uint64
	partitionKeys  int   // a partition with more keys splits
	partitionBytes int64 // or with more bytes
	foldKeys       int64 // fold when so many changed keys are waiting
	foldBytes      int64 // or so many bytes
	manual         bool  // fold only when told to
}

func (o Options) complete() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.MemoryBudget <= 0 {
		o.MemoryBudget = 1 << 30
	}
	if o.hash == nil {
		o.hash = byhash.Of
	}
	if o.partitionKeys == 0 {
		o.partitionKeys = 64 << 10
	}
	if o.partitionBytes == 0 {
		o.partitionBytes = min(8<<20, max(4<<10, o.keyedBudget()/256))
	}
	if o.foldKeys == 0 {
		o.foldKeys = 2 << 20
	}
	if o.foldBytes == 0 {
		o.foldBytes = min(128<<20, max(64<<10, o.keyedBudget()/6))
	}
	return o
}

// keyedBudget is the part of the budget for keyed data; the rest is Pebble's.
func (o *Options) keyedBudget() int64 { return o.MemoryBudget / 8 * 5 }

// Store is one open data directory. Its methods may be called from any goroutine.
type Store struct {
	options Options
	id      string
	db      *pebble.DB
	lock    *pebble.Lock

	committing sync.Mutex // one commit, or the end of one fold, at a time
	mu         sync.Mutex
	commit     uint64 // number of the last commit
	pins       []*pin // by commit
	tablesMu   sync.RWMutex
	tables     map[uint64]*keyed

	folded    atomic.Uint64 // all commits up to this one are folded
	clock     atomic.Uint64 // orders uses of partitions
	committed atomic.Uint64 // the clock when the last commit ended
	used      atomic.Int64  // bytes of keyed data in memory
	shrunk    atomic.Int64  // used, when nothing more could be evicted
	failed    atomic.Pointer[error]
	waiting   waiting
	items     recycled[byhash.Item]
	records   recycled[byte]
	done      chan struct{}
	closed    sync.Once
	folder    sync.WaitGroup
}

// ID is a random identifier made when the store was created.
func (s *Store) ID() string { return s.id }

// failure is the error that stopped the store, if one did. After it what is on disk
// and what is in memory may differ, so only opening the store again helps.
func (s *Store) failure() error {
	if err := s.failed.Load(); err != nil {
		return fmt.Errorf("the store stopped after an earlier failure, open it again: %w", *err)
	}
	return nil
}

// fail stops the store for good.
func (s *Store) fail(err error) error {
	s.failed.CompareAndSwap(nil, &err)
	return err
}

// Close releases the directory. All views must have been closed. What is not folded
// yet is read back by Open. Closing twice is harmless.
func (s *Store) Close() (err error) {
	s.closed.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	close(s.done)
	s.waiting.close()
	s.folder.Wait()
	err := s.closePebble()
	if e := s.lock.Close(); e != nil {
		err = errors.Join(err, fmt.Errorf("unlocking data directory: %w", e))
	}
	return err
}

func (s *Store) closePebble() (err error) {
	if s.failed.Load() != nil {
		// After a failed write Pebble holds locks it never gives back; the directory
		// stays locked until the process ends.
		return nil
	}
	defer caught(&err)
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("closing data directory: %w", err)
	}
	return nil
}

// table returns the present table, nil when there is none.
func (s *Store) table(id uint64) *keyed {
	s.tablesMu.RLock()
	defer s.tablesMu.RUnlock()
	return s.tables[id]
}
