package connector

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/streamform/streamform/lang/addr"
)

// UserError is a failure the user can mend: a missing folder, a value that does
// not fit, a file that was overwritten. Retrying the same input cannot help, so a pipeline that meets one stops.
type UserError struct {
	Summary string // short sentence without a full stop
	Detail  string // what was found, and what to do about it
	Attr    string // the attribute of the resource that it is about; empty when it is none
}

func (e *UserError) Error() string { return e.Summary + ": " + e.Detail }

// CheckFolder says, as a sentence for the user, why a text does not name a folder of this machine that a sink can write to.
func CheckFolder(path string) error {
	switch {
	case strings.TrimSpace(path) == "":
		return errors.New("it must name a folder.")
	case strings.Contains(path, "://"):
		return fmt.Errorf("%q is not a path of this machine; object stores are not written in this version.", path)
	}
	return nil
}

// CheckSince refuses a sink since now on a view: what the target must equal is the whole view.
func CheckSince(from, since string) error {
	if since != "now" || !strings.HasPrefix(from, string(addr.View)+".") {
		return nil
	}
	return &UserError{Summary: "A view is written from its start", Attr: "since",
		Detail: fmt.Sprintf("The target is to equal %s, and changes from now on would not fit to rows that it was never given. Leave since out, or deliver a stream.", from)}
}

// CleanPath is the shortest text for the place that a path names: ./lake/ is lake.
func CleanPath(path string) string {
	if path == "" {
		return path
	}
	return filepath.Clean(path)
}

// WriteError tells a folder that a sink cannot write to, which the user can mend, apart from a disk that fails. The error
// may be the system's, or the text that DuckDB makes of it.
func WriteError(dir string, err error) error {
	said := func(known error, text string) bool {
		return errors.Is(err, known) || strings.Contains(err.Error(), text)
	}
	switch {
	case said(syscall.ENOTDIR, "Not a directory"):
		return &UserError{Summary: "Not a folder: " + dir, Detail: fmt.Sprintf("There is a file at %s or on the way to it, where a folder is needed. Move it away, or choose another path.", dir)}
	case said(fs.ErrPermission, "Permission denied"), said(syscall.EPERM, "Operation not permitted"), said(syscall.EROFS, "Read-only file system"):
		return &UserError{Summary: "Not allowed to write to " + dir, Detail: fmt.Sprintf("The system refuses it: %s. Give this user write access to the folder, or choose another path.", reason(err))}
	}
	return fmt.Errorf("writing to %s: %w", dir, err)
}

// reason is what the system said, without where it was said.
func reason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(text[strings.LastIndex(text, ": ")+1:])
}
