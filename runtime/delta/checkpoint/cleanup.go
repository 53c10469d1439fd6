package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
	"github.com/streamform/streamform/runtime/delta/snapshot"
)

// Cleanup deletes log files that no retained version needs, oldest first, and returns how many. It keeps what lies
// within delta.logRetentionDuration before now, the checkpoint before that, and everything from version keep on
// (negative: no such bound). It does nothing for tables that forbid it.
func Cleanup(ctx context.Context, store Store, s *snapshot.Snapshot, now time.Time, keep int64) (int, error) {
	if strings.EqualFold(s.Metadata.Configuration["delta.enableExpiredLogCleanup"], "false") || s.Protocol.Has(action.CheckpointProtection) {
		return 0, nil
	}
	log, err := snapshot.List(ctx, store, 0)
	if err != nil {
		return 0, err
	}
	oldest := now.Add(-span(s.Metadata.Configuration, logRetention, logRetentionTime)).UTC().Truncate(day)
	last := expired(log, oldest)
	if keep >= 0 {
		last = min(last, keep)
	}
	i := slices.IndexFunc(log.Checkpoints, func(c snapshot.Checkpoint) bool { return c.Version <= last })
	if i < 0 {
		return 0, nil
	}
	base := log.Checkpoints[i].Version
	var doomed []string
	for _, e := range log.Entries {
		if e.Version < base && !reaches(e.File, base) {
			doomed = append(doomed, e.File.Name)
		}
	}
	if len(doomed) > 0 {
		// What is about to carry all older history must be readable, not only be there.
		c, err := snapshot.Load(ctx, store, base)
		if err == nil && c.CheckpointVersion != base {
			err = fmt.Errorf("replay began with version %d instead", c.CheckpointVersion)
		}
		if err != nil {
			return 0, fmt.Errorf("the checkpoint of version %d cannot be read, so nothing before it is deleted: %w", base, err)
		}
	}
	for n, name := range doomed {
		if err := store.Delete(ctx, logstore.LogDir+"/"+name); err != nil {
			return n, fmt.Errorf("deleting %s: %w", name, err)
		}
	}
	n, err := cleanSidecars(ctx, store, log.Checkpoints[:i+1], now)
	return len(doomed) + n, err
}

// expired is the newest version whose table commit is not younger than oldest; -1 when there is none. File times
// are made to rise with versions: a copy or a clock set back must not hide that a later one is younger.
func expired(log snapshot.Log, oldest time.Time) int64 {
	version, at := int64(-1), time.Time{}
	for _, e := range log.Entries {
		if e.Kind != logstore.Commit {
			continue
		}
		if e.Modified.After(at) {
			at = e.Modified
		}
		if at.After(oldest) {
			break
		}
		version = e.Version
	}
	return version
}

// reaches tells whether a compacted file covers versions from base on.
func reaches(f logstore.File, base int64) bool {
	if f.Kind != logstore.Compacted {
		return false
	}
	end, err := strconv.ParseInt(strings.Split(f.Name, ".")[1], 10, 64)
	return err != nil || end >= base
}

// cleanSidecars deletes sidecars that none of the checkpoints names and that no checkpoint still being written can.
func cleanSidecars(ctx context.Context, store Store, checkpoints []snapshot.Checkpoint, now time.Time) (int, error) {
	files, err := store.List(ctx, logstore.SidecarDir, "")
	if err != nil || len(files) == 0 {
		return 0, err
	}
	named := map[string]bool{}
	for _, c := range checkpoints {
		sidecars, err := snapshot.Sidecars(ctx, store, c)
		if err != nil {
			return 0, fmt.Errorf("looking for sidecars: %w", err)
		}
		for _, s := range sidecars {
			named[s] = true
		}
	}
	deleted := 0
	for _, f := range files {
		key := logstore.SidecarDir + "/" + f.Name
		if named[key] || now.Sub(f.Modified) < day {
			continue
		}
		if err := store.Delete(ctx, key); err != nil {
			return deleted, fmt.Errorf("deleting %s: %w", key, err)
		}
		deleted++
	}
	return deleted, nil
}
