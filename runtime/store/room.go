package store

import (
	"fmt"
	"syscall"
)

// spareBytes stay free on the disk beside a commit. Pebble cannot go on when its log or a table
// it is writing cannot grow, and then the process cannot either.
const spareBytes = 16 << 20

// roomFor refuses a batch that the disk may not be able to take, before anything of it is written: the same
// batch can be committed later. A commit is written to the log, to a table, and again when it is folded.
func (s *Store) roomFor(size int64) error {
	usage, err := s.options.FS.GetDiskUsage(s.options.Dir)
	if err != nil {
		return nil // a file system that does not tell, such as one in memory
	}
	if need := 3*size + spareBytes; int64(usage.AvailBytes) < need {
		return fmt.Errorf("the disk of %s has %d MB left, and %d MB are needed: %w", s.options.Dir, usage.AvailBytes>>20, need>>20, syscall.ENOSPC)
	}
	return nil
}
