package acceptance

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/streamform/streamform/acceptance/rules"
	"github.com/streamform/streamform/graph/plan/document"
	"github.com/streamform/streamform/lang/schema"
	"github.com/streamform/streamform/runtime/kinds"
)

var update = flag.Bool("update", false, "write the generated documentation and golden files instead of comparing them")

// TestDocsRooms keeps the table of rooms equal to the package comments.
func TestDocsRooms(t *testing.T) {
	path := filepath.Join(root, "docs", "architecture.md")
	doc, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(doc), "<!-- rooms -->\n")
	require.True(t, ok, "docs/architecture.md has no <!-- rooms --> mark")
	_, after, ok := strings.Cut(rest, "<!-- /rooms -->")
	require.True(t, ok, "docs/architecture.md has no <!-- /rooms --> mark")
	fresh := before + "<!-- rooms -->\n" + roomsTable(loadTree(t)) + "<!-- /rooms -->" + after
	compareDoc(t, path, fresh)
}

// roomsTable is one line for each package with code: its folder and the first sentence of its comment.
func roomsTable(tree *rules.Tree) string {
	var b strings.Builder
	b.WriteString("| room | what it holds |\n|---|---|\n")
	for _, p := range tree.Packages {
		for _, f := range p.Files {
			if f.Test || f.AST.Doc == nil {
				continue
			}
			text := strings.Join(strings.Fields(f.AST.Doc.Text()), " ")
			sentence, _, _ := strings.Cut(text, ". ")
			what := strings.TrimPrefix(strings.TrimSuffix(sentence, "."), "Package "+f.AST.Name.Name+" ")
			fmt.Fprintf(&b, "| `%s` | %s |\n", p.Dir, what)
			break
		}
	}
	return b.String()
}

// TestDocsReference keeps docs/reference equal to the field lists of the kinds.
func TestDocsReference(t *testing.T) {
	dir := filepath.Join(root, "docs", "reference")
	want := map[string]string{}
	index := "# Reference\n\nOne page for each kind, made from its field list by `make docs`.\n\n| kind | what it is |\n|---|---|\n"
	for _, k := range kinds.Schemas() {
		name := k.Name() + ".md"
		want[name] = schema.Markdown(k)
		index += fmt.Sprintf("| [%s](%s) | %s |\n", k.Name(), name, k.Doc)
	}
	want["commands.md"] = commandsPage(t)
	want["README.md"] = index + "\n[Commands](commands.md) are the help pages of the command line. [Plan JSON](plan-json.md) describes what `streamform show -json PLAN` prints.\n"
	want["plan-json.md"] = document.Reference()
	for name, text := range want {
		compareDoc(t, filepath.Join(dir, name), text)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		require.Contains(t, want, e.Name(), "docs/reference/%s describes no kind; remove it", e.Name())
	}
}

func compareDoc(t *testing.T, path, fresh string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(fresh), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err, "run `make docs`")
	require.Equal(t, fresh, string(have), "%s is out of date: run `make docs`", path)
}

// TestDocsLinks follows every relative link of the documentation.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md", "examples/*/*.md", "examples/*.md"} {
		more, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		files = append(files, more...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			_, err := os.Stat(filepath.Join(filepath.Dir(file), m[1]))
			require.NoError(t, err, "%s links to %s", file, m[1])
		}
	}
}
