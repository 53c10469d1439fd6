package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// foldFolder is where files are written before Pebble takes them over.
const foldFolder = "fold"

// foldWriter writes sorted keys into files of a bounded size.
type foldWriter struct {
	s     *Store
	name  string // of the files; not used twice, for Pebble may have linked the file
	paths []string
	out   *sstable.Writer
	size  int64
	key   []byte
}

// foldFileBytes keeps a file's filter small enough to be fetched for one key.
const foldFileBytes = 4 << 20

// add appends one key; nil removes it from what was folded before.
func (w *foldWriter) add(table, hash uint64, key, value []byte) error {
	if w.out == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	w.key = foldedKey(w.key[:0], table, hash, key)
	w.size += int64(len(w.key) + len(value))
	var err error
	if value == nil {
		err = w.out.Delete(w.key)
	} else {
		err = w.out.Set(w.key, value)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("writing sorted table: %w", err), w.close())
	}
	if w.size >= foldFileBytes {
		return w.close()
	}
	return nil
}

// clear removes all keys of a table that were folded before; tables come in order.
func (w *foldWriter) clear(table uint64) error {
	if w.out == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	low, high := span(prefixFolded, table)
	if err := w.out.DeleteRange(low, high); err != nil {
		return errors.Join(fmt.Errorf("writing sorted table: %w", err), w.close())
	}
	return nil
}

func (w *foldWriter) open() error {
	fs := w.s.options.FS
	path := fs.PathJoin(w.s.foldDir(), fmt.Sprintf("%s-%d.sst", w.name, len(w.paths)))
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("making sorted table: %w", err)
	}
	o := pebbleOptions(&w.s.options, nil)
	o.Cache = nil
	// Level 0: options for level 6 would make Pebble ignore the deletions in the file.
	w.out = sstable.NewWriter(objstorageprovider.NewFileWritable(file), o.MakeWriterOptions(0, o.FormatMajorVersion.MaxTableFormat()))
	w.paths = append(w.paths, path)
	w.size = 0
	return nil
}

func (w *foldWriter) close() error {
	if w.out == nil {
		return nil
	}
	err := w.out.Close()
	w.out = nil
	if err != nil {
		return fmt.Errorf("writing sorted table: %w", err)
	}
	return nil
}

func (s *Store) foldDir() string { return s.options.FS.PathJoin(s.options.Dir, foldFolder) }

// clearFolds removes what an interrupted fold left behind.
func (s *Store) clearFolds() error {
	fs := s.options.FS
	if err := fs.RemoveAll(s.foldDir()); err != nil {
		return fmt.Errorf("clearing %s: %w", s.foldDir(), err)
	}
	if err := fs.MkdirAll(s.foldDir(), 0o700); err != nil {
		return fmt.Errorf("making %s: %w", s.foldDir(), err)
	}
	return nil
}
