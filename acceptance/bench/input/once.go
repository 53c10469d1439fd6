// Package input writes what the workloads read, once: events of Nexmark as Parquet files or lines of JSON, and rows with keys as Parquet files.
package input

import (
	"fmt"
	"os"
	"path/filepath"
)

// once fills a folder unless that was done before; a folder that was left half filled is begun anew.
func once(dir string, fill func() error) error {
	done := dir + ".complete"
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("making input: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making input: %w", err)
	}
	fmt.Fprintln(os.Stderr, "making input in", dir)
	if err := fill(); err != nil {
		return fmt.Errorf("making input in %s: %w", dir, err)
	}
	return os.WriteFile(done, nil, 0o644)
}

// part is the path of a numbered file; names sort as numbers do.
func part(dir string, n int64) string { return filepath.Join(dir, fmt.Sprintf("part-%06d.parquet", n)) }
