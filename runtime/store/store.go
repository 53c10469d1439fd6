// Package store remembers what a runtime must not lose: keyed data, blocks, positions and the outbox, decided by Commit; the only room with Pebble.
package store

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"
)

// ErrInUse is returned by Open when another process, or this one, has the directory open.
var ErrInUse = errors.New("the data directory is in use by another streamform process")

// Options say where a store lives and what it may use.
type Options struct {
	Dir          string // made with mode 0700 when absent
	FS           vfs.FS // nil: the disk
	MemoryBudget int64  // bytes for keyed data and caches; 0: 1 GiB
}

// Store is one open data directory. Its methods may be called from any goroutine.
type Store struct {
	mu sync.Mutex
	db *pebble.DB
	id string
}

// Open opens the store in a directory, or makes one.
func Open(o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if err := o.FS.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making data directory: %w", err)
	}
	db, err := pebble.Open(o.Dir, &pebble.Options{FS: o.FS})
	if err != nil {
		return nil, fmt.Errorf("opening data directory: %w", err)
	}
	s := &Store{db: db}
	if s.id, err = s.identity(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *Store) identity() (string, error) {
	v, c, err := s.db.Get([]byte("sid"))
	if err == nil {
		defer c.Close()
		return string(v), nil
	}
	if !errors.Is(err, pebble.ErrNotFound) {
		return "", fmt.Errorf("reading identity of store: %w", err)
	}
	id := uuid.NewString()
	return id, s.db.Set([]byte("sid"), []byte(id), pebble.Sync)
}

// ID is a random identifier made when the store was created.
func (s *Store) ID() string { return s.id }

// Close releases the directory. All views must have been closed.
func (s *Store) Close() error { return s.db.Close() }
