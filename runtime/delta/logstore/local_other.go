//go:build !linux

package logstore

import (
	"errors"
	"os"
	"runtime"
)

// renameNoReplace has no portable form: without hard links the store refuses.
func renameNoReplace(_, _ string) error { return errors.ErrUnsupported }

func linksUnsupported(err error) bool { return errors.Is(err, errors.ErrUnsupported) }

// syncDir makes a folder's entries durable. Windows cannot open folders for that, and journals them itself.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
