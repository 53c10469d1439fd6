package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/streamform/streamform/runtime/connector"
)

// found is one file of a listing.
type found struct {
	path     string // absolute
	size     int64
	modified time.Time
}

// version identifies what a path holds: its size and its modification time in nanoseconds. The inode is left out on
// purpose: a data set that is restored or moved with its times kept must not be read again.
func (f found) version() string {
	return strconv.FormatInt(f.size, 10) + ":" + strconv.FormatInt(f.modified.UnixNano(), 10)
}

// place of a listing: a root that exists, and what below it is meant.
type target struct {
	root    string   // folder or single file
	include *globSet // nil: everything below root
	exclude *globSet
	hidden  bool // also names that people and programs hide
}

// newTarget splits an absolute path into the folder to walk and the globs below it.
// A path that exists as it is written is meant literally, whatever characters it has.
func newTarget(path string) (target, error) {
	first := strings.IndexAny(path, meta)
	if _, err := os.Lstat(path); first < 0 || err == nil {
		return target{root: path}, nil
	}
	cut := strings.LastIndexByte(filepath.ToSlash(path[:first]), '/')
	include, err := parseGlobs([]string{filepath.ToSlash(path[cut+1:])})
	if err != nil {
		return target{}, err
	}
	return target{root: filepath.Clean(path[:cut+1]), include: include}, nil
}

// isHidden reports whether a name is skipped by default: hidden ones, and what
// Hadoop and others leave beside data (checksums, files being written).
func isHidden(name string) bool {
	return name[0] == '.' || name[0] == '_' || strings.HasSuffix(name, ".crc") || strings.HasSuffix(name, ".tmp")
}

// list returns every file of the target, in no particular order. Links are followed; a link
// to a folder that contains it is not entered again.
func (t target) list(ctx context.Context) ([]found, error) {
	info, err := os.Stat(t.root)
	if err != nil {
		return nil, listingError(t.root, err)
	}
	w := &walk{ctx: ctx, target: t}
	if !info.IsDir() {
		w.add(t.root, info)
		return w.files, nil
	}
	d := folder{path: t.root, all: t.include == nil}
	if t.include != nil {
		d.include = t.include.start()
	}
	if t.exclude != nil {
		d.exclude = t.exclude.start()
	}
	err = w.folder(d)
	return w.files, err
}

// walk is one listing under way.
type walk struct {
	ctx    context.Context
	target target
	files  []found
}

// folder is one folder to be read, and how far the globs have matched on the way to it.
type folder struct {
	path    string
	above   []string // folders on the way, to notice loops of links
	all     bool     // a glob has matched: everything below is meant
	include []place
	exclude []place
}

func (w *walk) folder(d folder) error {
	if err := w.ctx.Err(); err != nil {
		return fmt.Errorf("listing %s: %w", d.path, err)
	}
	entries, err := os.ReadDir(d.path)
	if errors.Is(err, fs.ErrNotExist) && len(d.above) > 0 {
		return nil // removed while we were listing
	}
	if err != nil {
		return listingError(d.path, err)
	}
	above := append(d.above[:len(d.above):len(d.above)], d.path)
	for _, entry := range entries {
		if err := w.entry(d, above, entry); err != nil {
			return err
		}
	}
	return nil
}

// entry handles one name of a folder.
func (w *walk) entry(d folder, above []string, entry fs.DirEntry) error {
	name := entry.Name()
	if !w.target.hidden && isHidden(name) {
		return nil
	}
	below := folder{path: filepath.Join(d.path, name), above: above, all: d.all}
	if w.target.exclude != nil {
		var out bool
		if below.exclude, out = w.target.exclude.step(d.exclude, name); out {
			return nil
		}
	}
	if !d.all {
		below.include, below.all = w.target.include.step(d.include, name)
		if !below.all && len(below.include) == 0 {
			return nil
		}
	}
	info, err := entry.Info()
	if entry.Type()&fs.ModeSymlink != 0 {
		info, err = os.Stat(below.path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // removed while we were listing, or a link to nothing
	case errors.Is(err, syscall.ELOOP):
		return nil // links that only lead to each other
	case err != nil:
		return listingError(below.path, err)
	case info.IsDir():
		if entry.Type()&fs.ModeSymlink != 0 && leadsBack(info, above) {
			return nil
		}
		return w.folder(below)
	case below.all:
		w.add(below.path, info)
	}
	return nil
}

// add takes a file; pipes, sockets and devices are not files to read.
func (w *walk) add(path string, info fs.FileInfo) {
	if info.Mode().IsRegular() {
		w.files = append(w.files, found{path: path, size: info.Size(), modified: info.ModTime().UTC()})
	}
}

// leadsBack reports whether a folder is one of those on the way to it.
func leadsBack(info fs.FileInfo, above []string) bool {
	for _, p := range above {
		if up, err := os.Stat(p); err == nil && os.SameFile(up, info) {
			return true
		}
	}
	return false
}

// listingError turns what the system said about a path into what the user can do about it. Anything
// else (a disk that fails, too many open files) stays a machine failure.
func listingError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &connector.UserError{Summary: "Nothing to read at " + path,
			Detail: fmt.Sprintf("There is no file or folder %s. Create it, or correct path. A relative path starts at the configuration's folder.", path), Attr: "path"}
	case errors.Is(err, fs.ErrPermission):
		return &connector.UserError{Summary: "Not allowed to read " + path,
			Detail: fmt.Sprintf("The system refuses to list or open %s. Give this user read access (folders also need the execute permission), or name it in exclude.", path), Attr: "path"}
	}
	return fmt.Errorf("listing %s: %w", path, err)
}
