package logstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNoReplace moves a file to a name that must be free.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}

func linksUnsupported(err error) bool {
	for _, e := range []error{unix.EPERM, unix.EOPNOTSUPP, unix.ENOSYS, unix.EMLINK} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
