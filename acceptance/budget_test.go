package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/rules"
)

// TestBudget holds files, functions, packages, interfaces and parameter lists to the house's sizes.
func TestBudget(t *testing.T) {
	report(t, rules.House().Check(loadTree(t)))
}

// TestManners holds packages to their comment, a name, and variables that do not change.
func TestManners(t *testing.T) {
	report(t, rules.Manners(loadTree(t)))
}

// TestWords looks for text that ties a tracked file to one machine.
func TestWords(t *testing.T) {
	list, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Skip("not a git checkout: the list of tracked files is unknown")
	}
	var files []string
	for _, name := range strings.Split(strings.TrimRight(string(list), "\x00"), "\x00") {
		if _, err := os.Stat(filepath.Join(root, name)); err == nil {
			files = append(files, name)
		}
	}
	breaches, err := rules.Words(os.DirFS(root), files, rules.BannedText())
	require.NoError(t, err)
	report(t, breaches)
}
