// Package local keeps the recorded state in a file, locked for one writer on this machine.
package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/streamform/streamform/state"
)

// DefaultName is the file's name in the configuration's folder.
const DefaultName = "streamform.sfstate"

// Store is a state file. Beside NAME it keeps NAME.backup, the document as it was before the last run, and
// while locked .NAME.lock and .NAME.lock.info. It is used by one goroutine at a time.
type Store struct {
	path     string
	lock     *flock.Flock // held; nil when not
	lockID   string
	backedUp bool // the document from before this run is in the backup already
	known    known
}

// known saves reading the whole file again before each save.
type known struct {
	info fs.FileInfo // of the file whose document head is
	head *state.Document
}

// Open is the store on the given file, which need not exist.
func Open(path string) *Store { return &Store{path: path} }

// Path is the file.
func (s *Store) Path() string { return s.path }

// Load reads the file. An empty one is taken for none, as a new file made by other tools is.
func (s *Store) Load(ctx context.Context) (*state.Document, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the state: %w", err)
	}
	d, err := state.Decode(data)
	var damaged *state.CorruptedError
	if errors.As(err, &damaged) {
		damaged.Path = s.path
		if _, statErr := os.Stat(s.backup()); statErr == nil {
			damaged.Backup = s.backup()
		}
	}
	return d, err
}

// Save replaces the file: a reader, or a crash at any time, finds the old or the new document.
func (s *Store) Save(ctx context.Context, d *state.Document) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.checkLock(); err != nil {
		return err
	}
	held, err := s.head(ctx)
	if err != nil {
		return err
	}
	if err := state.CheckSave(held, d); err != nil {
		return err
	}
	data, err := state.Encode(d)
	if err != nil {
		return err
	}
	if err := s.keepBackup(); err != nil {
		return fmt.Errorf("keeping the former state as %s: %w", s.backup(), err)
	}
	if err := replaceFile(s.path, data); err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	s.known = known{}
	if info, err := os.Stat(s.path); err == nil {
		s.known = known{info: info, head: &state.Document{Lineage: d.Lineage, Serial: d.Serial}}
	}
	return nil
}

// head gives the lineage and serial of the document in the file.
func (s *Store) head(ctx context.Context) (*state.Document, error) {
	if s.known.info != nil {
		now, err := os.Stat(s.path)
		if err == nil && os.SameFile(now, s.known.info) && now.ModTime().Equal(s.known.info.ModTime()) && now.Size() == s.known.info.Size() {
			return s.known.head, nil
		}
	}
	return s.Load(ctx)
}

func (s *Store) backup() string { return s.path + ".backup" }

// keepBackup copies the document as it was before this run; the saves of one run overwrite it once.
func (s *Store) keepBackup() error {
	if s.backedUp {
		return nil
	}
	former, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.backedUp = true
		return nil
	}
	if err != nil {
		return err
	}
	if err := replaceFile(s.backup(), former); err != nil {
		return err
	}
	s.backedUp = true
	return nil
}

// replaceFile writes a file of mode 0600 beside path, makes it durable, and moves it into place.
func replaceFile(path string, data []byte) (err error) {
	dir := filepath.Dir(path)
	tmp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".tmp-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreMissing(os.Remove(tmp.Name())))
		}
	}()
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err := errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes a rename durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
