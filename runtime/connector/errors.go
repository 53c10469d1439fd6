package connector

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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

// CleanPath is the shortest text for the place that a path names: ./lake/ is lake.
func CleanPath(path string) string {
	if path == "" {
		return path
	}
	return filepath.Clean(path)
}
