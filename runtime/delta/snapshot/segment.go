package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/streamform/streamform/runtime/delta/logstore"
)

// LastCheckpoint is the content of _last_checkpoint: a hint where to start
// listing, never more.
type LastCheckpoint struct {
	Version       int64 `json:"version"`
	Size          int64 `json:"size"` // number of actions
	Parts         *int  `json:"parts,omitempty"`
	SizeInBytes   int64 `json:"sizeInBytes,omitempty"`
	NumOfAddFiles int64 `json:"numOfAddFiles,omitempty"`
}

// Hint reads _last_checkpoint. A missing, torn or senseless one is as good as none: ok is false.
func Hint(ctx context.Context, store logstore.Store) (hint LastCheckpoint, ok bool, err error) {
	text, err := store.Get(ctx, logstore.LastCheckpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return LastCheckpoint{}, false, nil
	}
	if err != nil {
		return LastCheckpoint{}, false, fmt.Errorf("reading _last_checkpoint: %w", err)
	}
	var probe struct {
		Version *int64 `json:"version"`
	}
	if json.Unmarshal(text, &probe) != nil || probe.Version == nil || *probe.Version < 0 {
		return LastCheckpoint{}, false, nil
	}
	if json.Unmarshal(text, &hint) != nil {
		hint = LastCheckpoint{Version: *probe.Version}
	}
	return hint, true, nil
}

// Checkpoint is the files of one complete checkpoint.
type Checkpoint struct {
	Version int64
	Files   []logstore.File // one, or all parts in order
}

// Log is a listing of a table's log from some version on.
type Log struct {
	// Checkpoints are complete as far as names tell, newest first.
	Checkpoints []Checkpoint
	// Commits are the versions that have a table commit, in order.
	Commits []int64
	// Entries are all listed files of known kinds, by name.
	Entries []Listed
}

// Listed is a parsed name with the file's facts.
type Listed struct {
	logstore.File
	logstore.Entry
}

// List lists the log from a version on.
func List(ctx context.Context, store logstore.Store, from int64) (Log, error) {
	entries, err := store.List(ctx, logstore.LogDir, logstore.Before(from))
	if err != nil {
		return Log{}, fmt.Errorf("listing the log: %w", err)
	}
	var log Log
	parts := map[[2]int64][]logstore.File{}
	for _, e := range entries {
		f := logstore.Parse(e.Name)
		if f.Kind == logstore.Other {
			continue
		}
		log.Entries = append(log.Entries, Listed{File: f, Entry: e})
		switch f.Kind {
		case logstore.Commit:
			log.Commits = append(log.Commits, f.Version)
		case logstore.Classic, logstore.V2:
			log.Checkpoints = append(log.Checkpoints, Checkpoint{Version: f.Version, Files: []logstore.File{f}})
		case logstore.MultiPart:
			id := [2]int64{f.Version, int64(f.Parts)}
			if parts[id] = append(parts[id], f); len(parts[id]) == f.Parts {
				log.Checkpoints = append(log.Checkpoints, Checkpoint{Version: f.Version, Files: parts[id]})
			}
		}
	}
	slices.SortStableFunc(log.Checkpoints, func(a, b Checkpoint) int { return int(b.Version - a.Version) })
	return log, nil
}

// Newest is the newest version the listing knows of; -1 when it is empty.
func (l Log) Newest() int64 {
	newest := int64(-1)
	if n := len(l.Commits); n > 0 {
		newest = l.Commits[n-1]
	}
	if len(l.Checkpoints) > 0 {
		newest = max(newest, l.Checkpoints[0].Version)
	}
	return newest
}

// Has tells whether all table commits from first to last are listed.
func (l Log) Has(first, last int64) bool {
	if first > last {
		return true
	}
	i, found := slices.BinarySearch(l.Commits, first)
	n := last - first
	return found && int64(i)+n < int64(len(l.Commits)) && l.Commits[int64(i)+n] == last
}

// Commit is the file of a version's table commit; it is zero when that is not listed. Two listings that differ in it are of
// different tables: a table commit never changes.
func (l Log) Commit(version int64) logstore.Entry {
	for _, e := range l.Entries {
		if e.Kind == logstore.Commit && e.Version == version {
			return e.Entry
		}
	}
	return logstore.Entry{}
}
