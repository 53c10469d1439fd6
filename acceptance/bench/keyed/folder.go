package keyed

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// link puts the files of a folder into another one, under names with a prefix, without copying them.
func link(from, to, prefix string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(from, "*.parquet"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("%s has no files", from)
	}
	for _, f := range files {
		if err := os.Link(f, filepath.Join(to, prefix+filepath.Base(f))); err != nil {
			return err
		}
	}
	return nil
}

// size is how many bytes the runtime keeps below a project's folder.
func size(dir string) int64 {
	total := int64(0)
	_ = filepath.WalkDir(filepath.Join(dir, ".streamform"), func(_ string, d fs.DirEntry, err error) error { // a file may go while this looks
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}
