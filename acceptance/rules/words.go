package rules

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Banned is something no file may contain, and why.
type Banned struct {
	Pattern *regexp.Regexp
	Why     string
}

// BannedText lists what would tie the project to one machine or one way of working. The patterns
// are written so that they do not match themselves.
func BannedText() []Banned {
	return []Banned{
		{regexp.MustCompile(`(^|[^\w./-])/(root|work|home|Users)/[\w.]`), "a path of one person's machine"},
		{regexp.MustCompile(`(proxy\.golang\.or[g]|sum\.golang\.or[g]|files\.pythonhosted\.or[g]|registry\.npmjs\.or[g]|pypi\.org/simpl[e])`), "a registry's host: leave it to the client's configuration"},
		{regexp.MustCompile(`(?i)co-authored-b[y]:|generated with \[`), "a note on how the text came about"},
	}
}

// Words reports every line of the named files that matches a pattern. Files that are not text are passed over.
func Words(root fs.FS, files []string, banned []Banned) ([]Breach, error) {
	var out []Breach
	for _, name := range files {
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return nil, fmt.Errorf("reading a tracked file: %w", err)
		}
		if !utf8.Valid(src) || strings.ContainsRune(string(src), 0) {
			continue
		}
		for i, line := range strings.Split(string(src), "\n") {
			for _, b := range banned {
				if found := b.Pattern.FindString(line); found != "" {
					out = append(out, Breach{fmt.Sprintf("%s:%d", name, i+1), fmt.Sprintf("%q: %s", strings.TrimSpace(found), b.Why)})
				}
			}
		}
	}
	return out, nil
}
