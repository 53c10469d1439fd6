package rules

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestSamples holds each rule against small trees. The comment of a sample is its title, the file
// "want" its breaches, one a line; "table.md", where there is one, turns the import check on.
func TestSamples(t *testing.T) {
	samples, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, sample := range samples {
		t.Run(strings.TrimSuffix(filepath.Base(sample), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(sample)
			require.NoError(t, err)
			root, err := txtar.FS(archive)
			require.NoError(t, err)
			want, err := fs.ReadFile(root, "want")
			require.NoError(t, err)
			require.Equal(t, strings.TrimSpace(string(want)), strings.Join(breaches(t, root), "\n"))
		})
	}
}

func breaches(t *testing.T, root fs.FS) []string {
	tree, err := Load(root, "example.org/thing")
	require.NoError(t, err)
	all := append(Budget{File: 30, Function: 6, Package: 40, Methods: 2, Parameters: 2}.Check(tree), Manners(tree)...)
	if doc, err := fs.ReadFile(root, "table.md"); err == nil {
		table, err := ParseTable(string(doc))
		require.NoError(t, err)
		all = append(all, table.Check(tree)...)
	}
	words, err := Words(root, texts(t, root), BannedText())
	require.NoError(t, err)
	var out []string
	for _, b := range append(all, words...) {
		out = append(out, b.String())
	}
	return out
}

func texts(t *testing.T, root fs.FS) []string {
	names, err := fs.Glob(root, "*.txt")
	require.NoError(t, err)
	return names
}

func TestTableRefusesWhatItCannotRead(t *testing.T) {
	_, err := ParseTable("no block")
	require.ErrorContains(t, err, "no ```imports block")
	_, err = ParseTable("```imports\na imports b\n```")
	require.ErrorContains(t, err, "a imports b")
}

func TestHouseIsTheProjectsBudget(t *testing.T) {
	require.Equal(t, "{500 80 3000 4 5}", fmt.Sprint(House()))
}

func TestBannedTextMatches(t *testing.T) {
	for _, text := range []string{
		"see " + "/ro" + "ot/x", "cd " + "/wo" + "rk/x", "open " + "/ho" + "me/ana/x",
		"GOPROXY=" + "https://proxy.golang." + "org", "Co-authored" + "-by: x",
	} {
		found := false
		for _, b := range BannedText() {
			found = found || b.Pattern.MatchString(text)
		}
		require.True(t, found, text)
	}
	for _, text := range []string{"frame" + "work/x", "./work" + "/x", "https://example.org/home/x", "the root/of it"} {
		for _, b := range BannedText() {
			require.False(t, b.Pattern.MatchString(text), text)
		}
	}
}
