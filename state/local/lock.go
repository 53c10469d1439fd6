package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/streamform/streamform/state"
)

func (s *Store) lockPath() string {
	return filepath.Join(filepath.Dir(s.path), "."+filepath.Base(s.path)+".lock")
}

func (s *Store) infoPath() string { return s.lockPath() + ".info" }

// Lock takes the lock, which the system releases when the process ends, however
// it ends: a record that a killed process left behind is replaced.
func (s *Store) Lock(ctx context.Context, info state.LockInfo) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.lock != nil {
		return s.lockedBy()
	}
	lock, err := s.takeLock()
	if err != nil {
		return fmt.Errorf("locking the state: %w", err)
	}
	if lock == nil {
		return s.lockedBy()
	}
	record, err := json.Marshal(info)
	if err == nil {
		err = replaceFile(s.infoPath(), append(record, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing the lock's record: %w", errors.Join(err, lock.Unlock()))
	}
	s.lock, s.lockID, s.backedUp = lock, info.ID, false
	return nil
}

// takeLock returns nil when somebody else has the lock. Since releasing removes the file, a lock on
// a file that is gone from its place is worth nothing and is tried again.
func (s *Store) takeLock() (*flock.Flock, error) {
	for {
		lock := flock.New(s.lockPath(), flock.SetPermissions(0o600))
		ok, err := lock.TryLock()
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, lock.Close()
		}
		mine, err := lock.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Unlock())
		}
		there, err := os.Stat(s.lockPath())
		if err == nil && os.SameFile(mine, there) {
			return lock, nil
		}
		if err := errors.Join(ignoreMissing(err), lock.Unlock()); err != nil {
			return nil, err
		}
	}
}

// lockedBy reads the holder's record, which stands a moment after the lock does.
func (s *Store) lockedBy() error {
	var holder state.LockInfo
	for range 10 {
		var err error
		if holder, err = s.record(); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &state.LockedError{Holder: holder}
}

func (s *Store) record() (state.LockInfo, error) {
	var info state.LockInfo
	data, err := os.ReadFile(s.infoPath())
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return info, fmt.Errorf("reading the lock's record %s: %w", s.infoPath(), err)
	}
	return info, nil
}

// checkLock makes sure that a lock taken is still ours.
func (s *Store) checkLock() error {
	if s.lock == nil {
		return nil
	}
	if info, err := s.record(); err != nil || info.ID != s.lockID {
		return &state.LockLostError{ID: s.lockID}
	}
	return nil
}

// Unlock releases the lock. The ID of a lock that another process holds, or left behind, removes that one: the
// holder's next save is then refused.
func (s *Store) Unlock(ctx context.Context, id string) error {
	info, err := s.record()
	if errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&state.WrongLockError{Given: id}, s.release())
	}
	if err != nil {
		return err
	}
	if info.ID != id {
		wrong := &state.WrongLockError{Given: id, Held: info.ID}
		if s.lockID == id { // ours was removed and somebody else locks since
			return errors.Join(wrong, s.release())
		}
		return wrong
	}
	err = errors.Join(ignoreMissing(os.Remove(s.infoPath())), ignoreMissing(os.Remove(s.lockPath())), s.release())
	if err != nil {
		return fmt.Errorf("releasing the lock: %w", err)
	}
	return nil
}

// release gives up the system's lock, if it is held.
func (s *Store) release() error {
	if s.lock == nil {
		return nil
	}
	lock := s.lock
	s.lock, s.lockID = nil, ""
	return lock.Unlock()
}
