package duck

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/streamform/streamform/runtime/query/bound"
)

// Settings are those of a database that reaches nothing but some folders, and cannot be set otherwise afterwards.
type Settings struct {
	Memory  int64    // bytes before it spills
	Threads int      // 0: all cores
	Spill   string   // the folder it spills to
	Dirs    []string // folders and files that statements may read, and folders they may write
	Without []string // optimizers that are switched off
}

// Statements are the settings as SQL.
func (s Settings) Statements() ([]string, error) {
	out := []string{fmt.Sprintf("SET memory_limit = '%dB'", s.Memory), "SET temp_directory = " + bound.Text(s.Spill)}
	if s.Threads > 0 {
		out = append(out, fmt.Sprintf("SET threads = %d", s.Threads))
	}
	if len(s.Without) > 0 {
		out = append(out, "SET disabled_optimizers = "+bound.Text(strings.Join(s.Without, ",")))
	}
	dirs := make([]string, len(s.Dirs))
	for i, d := range s.Dirs {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, err
		}
		dirs[i] = bound.Text(abs)
	}
	return append(out,
		"SET allowed_directories = ["+strings.Join(dirs, ", ")+"]",
		"SET allowed_paths = ["+strings.Join(dirs, ", ")+"]",
		"SET enable_external_access = false", "SET lock_configuration = true"), nil
}
