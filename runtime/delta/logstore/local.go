package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// Local keeps a table in a folder. It is safe for any number of processes on
// file systems with hard links or an exclusive rename; on others PutIfAbsent refuses.
type Local struct {
	root string
}

// NewLocal returns the store of the table in dir, which need not exist yet.
func NewLocal(dir string) *Local { return &Local{root: dir} }

// Root is the table's folder.
func (l *Local) Root() string { return l.root }

// PutIfAbsent implements Store: the body is written and synced under a hidden
// name, then linked to its own, which fails when that is taken.
func (l *Local) PutIfAbsent(ctx context.Context, key string, body []byte) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Failed, err
	}
	final := l.path(key)
	if _, err := os.Lstat(final); err == nil {
		// Losing a race is common, and a synced file is a high price for learning that it is lost.
		return Exists, nil
	}
	temp, err := l.stage(final, body)
	if err != nil {
		return Failed, err
	}
	err = os.Link(temp, final)
	if linksUnsupported(err) {
		err = renameNoReplace(temp, final)
	}
	if removal := os.Remove(temp); removal != nil && !errors.Is(removal, fs.ErrNotExist) && err == nil {
		err = removal
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return Exists, nil
	case errors.Is(err, errors.ErrUnsupported):
		return Failed, fmt.Errorf("%s: the file system has neither hard links nor an exclusive rename, so two writers could overwrite each other: %w", filepath.Dir(final), err)
	case err != nil:
		return Unknown, fmt.Errorf("linking %s: %w", key, err)
	}
	if err := syncDir(filepath.Dir(final)); err != nil {
		return Unknown, err
	}
	return Written, nil
}

// Get implements Store.
func (l *Local) Get(ctx context.Context, key string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.ReadFile(l.path(key))
}

// GetRange implements Store.
func (l *Local) GetRange(ctx context.Context, key string, offset, length int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if offset < 0 || length < 0 {
		return nil, fmt.Errorf("reading %s: negative offset or length", key)
	}
	f, err := os.Open(l.path(key))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, offset, length))
}

// List implements Store.
func (l *Local) List(ctx context.Context, dir, after string) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found, err := os.ReadDir(l.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, f := range found {
		if f.IsDir() || f.Name() <= after || strings.HasPrefix(f.Name(), ".") {
			continue
		}
		info, err := f.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, Entry{Name: f.Name(), Size: info.Size(), Modified: info.ModTime()})
	}
	return out, nil
}

// Look implements Looker.
func (l *Local) Look(ctx context.Context, key string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	info, err := os.Lstat(l.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	return Entry{Name: info.Name(), Size: info.Size(), Modified: info.ModTime()}, nil
}

// Put implements Overwriter.
func (l *Local) Put(ctx context.Context, key string, body []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	final := l.path(key)
	temp, err := l.stage(final, body)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(final))
}

// Delete implements Overwriter.
func (l *Local) Delete(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(l.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (l *Local) path(key string) string {
	if strings.HasPrefix(key, "/") {
		return filepath.FromSlash(key)
	}
	return filepath.Join(l.root, filepath.FromSlash(key))
}

// stage writes and syncs the body beside its final place, under a hidden name.
func (l *Local) stage(final string, body []byte) (string, error) {
	dir := filepath.Dir(final)
	if err := makeDir(dir); err != nil {
		return "", err
	}
	temp := filepath.Join(dir, "."+filepath.Base(final)+"."+uuid.NewString()+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("writing %s: %w", final, err), os.Remove(temp))
	}
	return temp, nil
}

// makeDir creates dir durably: each new folder's parent is synced.
func makeDir(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDir(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}
