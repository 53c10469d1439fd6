package acceptance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/rules"
)

const module = "github.com/streamform/streamform"

// root is the project's root, relative to this package.
const root = ".."

// TestArchitecture compares what every room imports with the table in docs/architecture.md.
func TestArchitecture(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join(root, "docs", "architecture.md"))
	require.NoError(t, err)
	table, err := rules.ParseTable(string(doc))
	require.NoError(t, err)
	report(t, table.Check(loadTree(t)))
}

func loadTree(t *testing.T) *rules.Tree {
	t.Helper()
	tree, err := rules.Load(os.DirFS(root), module)
	require.NoError(t, err)
	return tree
}

func report(t *testing.T, breaches []rules.Breach) {
	t.Helper()
	for _, b := range breaches {
		t.Errorf("%s", b)
	}
}
