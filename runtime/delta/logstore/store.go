// Package logstore keeps the files of a Delta table's log: a small interface, its local implementation, and the names of log files.
package logstore

import (
	"context"
	"time"
)

// Outcome is what became of a PutIfAbsent.
type Outcome int

// Outcomes of PutIfAbsent.
const (
	// Failed: nothing was written, and nothing will be.
	Failed Outcome = iota
	// Written: the object is there, whole, and durable.
	Written
	// Exists: an object of that name was there before. After a retry it may be one's own.
	Exists
	// Unknown: the object may or may not be there. Read it, or put it again.
	Unknown
)

// Store holds a table's objects. Keys are relative to the table's root, with
// slashes. An object becomes visible whole or not at all, and a List after a write shows it.
type Store interface {
	// PutIfAbsent writes an object unless the name is taken. It is the only call that excludes other
	// writers, processes on other machines included. The error is nil exactly for Written and Exists.
	PutIfAbsent(ctx context.Context, key string, body []byte) (Outcome, error)
	// Get reads an object. A missing one is an error that wraps fs.ErrNotExist.
	Get(ctx context.Context, key string) ([]byte, error)
	// GetRange reads length bytes from offset; fewer only at the object's end.
	GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error)
	// List returns the objects directly below dir whose names come after the given name
	// (empty: all), sorted by name. A missing dir has none.
	List(ctx context.Context, dir, after string) ([]Entry, error)
}

// Looker is what a store offers that finds an object by its name for less than a listing costs.
type Looker interface {
	// Look returns the entry that List has of an object; a zero one when there is none.
	Look(ctx context.Context, key string) (Entry, error)
}

// Overwriter is what a store offers for files that need no exclusion: checkpoints and their cleanup.
type Overwriter interface {
	// Put writes an object, in place of an older one if there is one: readers see either.
	Put(ctx context.Context, key string, body []byte) error
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
}

// Entry is one listed object.
type Entry struct {
	Name     string // last part of the key
	Size     int64  // bytes
	Modified time.Time
}
