package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/streamform/streamform/runtime/delta/action"
	"github.com/streamform/streamform/runtime/delta/logstore"
)

// Latest asks Load for the newest version.
const Latest = int64(-1)

// Load reads the table at a version. It returns nil and no error when there is no table. A feature that is not known
// is an UnsupportedFeature; a gap in the log, or a version that does not exist, an error.
func Load(ctx context.Context, store logstore.Store, version int64) (*Snapshot, error) {
	s, err := load(ctx, store, version)
	if local, ok := store.(interface{ Root() string }); ok && s != nil && err == nil {
		s.Root, err = filepath.Abs(local.Root())
	}
	return s, err
}

func load(ctx context.Context, store logstore.Store, version int64) (*Snapshot, error) {
	hint, ok, err := Hint(ctx, store)
	if err != nil {
		return nil, err
	}
	if ok && hint.Version > 0 && (version < 0 || hint.Version <= version) {
		l := loader{store: store, from: hint.Version, version: version}
		s, err := l.load(ctx)
		var retry fallback
		if !errors.As(err, &retry) {
			return s, err
		}
	}
	l := loader{store: store, version: version}
	return l.load(ctx)
}

// Advance reads a newer version of a snapshot's table, from what it knows already. A nil snapshot is loaded.
func Advance(ctx context.Context, store logstore.Store, s *Snapshot, version int64) (*Snapshot, error) {
	if s == nil || version >= 0 && version < s.Version {
		return Load(ctx, store, version)
	}
	target, commit, same, err := following(ctx, store, s, version)
	if err != nil {
		return nil, err
	}
	if !same {
		return Load(ctx, store, version)
	}
	if target == s.Version {
		return s, nil
	}
	st := s.state.clone()
	if err := replay(ctx, store, st, s.Version+1, target); err != nil {
		return nil, err
	}
	next, err := st.snapshot(target, s.CheckpointVersion)
	if err != nil {
		return nil, err
	}
	next.Root, next.commit = s.Root, commit
	return next, nil
}

// Newest tells whether a snapshot is of the newest version still.
func (s *Snapshot) Newest(ctx context.Context, store logstore.Store) (bool, error) {
	target, _, same, err := following(ctx, store, s, Latest)
	return same && target == s.Version, err
}

// following finds the version asked for, and its table commit, among those that follow a snapshot's. A table that was
// replaced, or cleaned up to a point above the snapshot, shows as a log that does not continue it: same is false.
func following(ctx context.Context, store logstore.Store, s *Snapshot, version int64) (target int64, commit logstore.Entry, same bool, err error) {
	if looker, ok := store.(logstore.Looker); ok {
		target, commit, same, err = ahead(ctx, looker, s, version)
		if err != nil || same {
			return target, commit, same, err
		}
	}
	log, err := List(ctx, store, s.Version)
	if err != nil {
		return 0, commit, false, err
	}
	if target = log.Newest(); version >= 0 {
		target = version
	}
	return target, log.Commit(target), log.Commit(s.Version) == s.commit && log.Has(s.Version, target), nil
}

// mostAhead is how many versions are looked for by name.
const mostAhead = 8

// ahead is following for a few versions, without a listing, whose cost grows with the log. It is not same where a listing is needed.
func ahead(ctx context.Context, store logstore.Looker, s *Snapshot, version int64) (target int64, commit logstore.Entry, same bool, err error) {
	look := func(v int64) (e logstore.Entry) {
		if err == nil {
			if e, err = store.Look(ctx, logstore.CommitKey(v)); err != nil {
				err = fmt.Errorf("looking for version %d: %w", v, err)
			}
		}
		return e
	}
	if commit = look(s.Version); err != nil || commit != s.commit {
		return 0, commit, false, err
	}
	for target = s.Version; target < s.Version+mostAhead; target++ {
		if target == version {
			return target, commit, true, err
		}
		next := look(target + 1)
		if next.Name == "" { // the one after it would be behind a gap
			return target, commit, version < 0 && look(target+2).Name == "", err
		}
		commit = next
	}
	return 0, commit, false, err
}

// fallback says that the listing from the hint was of no use, and one from 0 may be.
type fallback struct{ cause error }

func (f fallback) Error() string { return f.cause.Error() }

func (f fallback) Unwrap() error { return f.cause }

type loader struct {
	store   logstore.Store
	from    int64 // where listing starts
	version int64 // what is asked for; Latest
}

func (l *loader) load(ctx context.Context) (*Snapshot, error) {
	log, err := List(ctx, l.store, l.from)
	if err != nil {
		return nil, err
	}
	newest := log.Newest()
	if newest < 0 && l.from == 0 {
		return nil, nil
	}
	target := l.version
	if target < 0 {
		target = newest
	}
	if target > newest {
		return nil, l.failed(fmt.Errorf("version %d of the table does not exist; the newest is %d", target, newest))
	}
	st, start, err := l.start(ctx, log, target)
	if err != nil {
		return nil, err
	}
	if !log.Has(start+1, target) {
		return nil, l.failed(fmt.Errorf("the log is not contiguous: table commits between versions %d and %d are missing", start+1, target))
	}
	if err := replay(ctx, l.store, st, start+1, target); err != nil {
		return nil, err
	}
	s, err := st.snapshot(target, start)
	if err != nil {
		return nil, err
	}
	s.commit = log.Commit(target)
	return s, nil
}

// start reads the newest usable checkpoint up to the target; without one, replay starts at version 0 (start -1).
func (l *loader) start(ctx context.Context, log Log, target int64) (*state, int64, error) {
	var unusable error
	for _, c := range log.Checkpoints {
		if c.Version > target {
			continue
		}
		st := newState()
		err := readCheckpoint(ctx, l.store, c, func(a []action.Action) { st.apply(a) })
		if err == nil {
			return st, c.Version, nil
		}
		if ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		unusable = errors.Join(unusable, fmt.Errorf("reading the checkpoint of version %d: %w", c.Version, err))
	}
	if l.from > 0 {
		return nil, 0, fallback{errors.Join(errors.New("no usable checkpoint where _last_checkpoint points"), unusable)}
	}
	if unusable != nil && !log.Has(0, target) {
		return nil, 0, unusable
	}
	return newState(), -1, nil
}

func (l *loader) failed(err error) error {
	if l.from > 0 {
		return fallback{err}
	}
	return err
}

// replay takes the table commits from first to last.
func replay(ctx context.Context, store logstore.Store, st *state, first, last int64) error {
	for v := first; v <= last; v++ {
		actions, err := ReadCommit(ctx, store, v)
		if err != nil {
			return err
		}
		st.commit(actions)
	}
	return nil
}

// ReadCommit reads one table commit. One that is missing is an error that wraps fs.ErrNotExist.
func ReadCommit(ctx context.Context, store logstore.Store, version int64) ([]action.Action, error) {
	text, err := store.Get(ctx, logstore.CommitKey(version))
	if err != nil {
		return nil, fmt.Errorf("reading version %d: %w", version, err)
	}
	actions, err := action.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("reading version %d: %w", version, err)
	}
	return actions, nil
}

// Missing tells whether a read failed because there is no such object.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
