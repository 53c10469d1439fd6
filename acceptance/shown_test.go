package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestDocsShown keeps what the documentation shows equal to what the binary prints. A block of the
// documentation that stands below the comment `shown: NAME` is made by a line of testdata/shown/*.txtar:
//
//	example DIR              the project is this folder of examples/, beside the archive's files
//	put NAME FILE            the block is a file of the project
//	show NAME streamform …   the block gets the command and what it prints; several lines add up
//	fail NAME streamform …   the same for a command that must fail
//	part NAME streamform …   as show, but only the changes of the plan that is printed
//	after NAME WORD streamform …  as show, but only from the line that begins with the word
//	quiet streamform …       runs a command
//	overlay DIR              copies a folder of the project over the project
//	edit FILE OLD NEW        replaces text; \n in it is the end of a line
func TestDocsShown(t *testing.T) {
	scenarios, err := filepath.Glob(filepath.Join("testdata", "shown", "*.txtar"))
	require.NoError(t, err)
	blocks := map[string]string{}
	for _, s := range scenarios {
		archive, err := txtar.ParseFile(s)
		require.NoError(t, err)
		play(t, archive, blocks)
	}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "guides", "*.md"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(root, "examples", "*", "README.md"))
	require.NoError(t, err)
	used := map[string]bool{}
	for _, doc := range append(append(docs, more...), filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(doc)
		require.NoError(t, err)
		compareDoc(t, doc, withBlocks(t, doc, string(text), blocks, used))
	}
	for name := range blocks {
		require.True(t, used[name], "no document shows %s", name)
	}
}

// withBlocks puts the blocks into a document where their marks are.
func withBlocks(t *testing.T, doc, text string, blocks map[string]string, used map[string]bool) string {
	mark := regexp.MustCompile("(?s)<!-- shown: ([a-z-]+) -->\n```([a-z]+)\n(.*?)```")
	return mark.ReplaceAllStringFunc(text, func(found string) string {
		m := mark.FindStringSubmatch(found)
		block, ok := blocks[m[1]]
		require.True(t, ok, "%s shows %s, which no scenario makes", doc, m[1])
		used[m[1]] = true
		return fmt.Sprintf("<!-- shown: %s -->\n```%s\n%s```", m[1], m[2], block)
	})
}

// play runs one scenario and adds its blocks.
func play(t *testing.T, archive *txtar.Archive, blocks map[string]string) {
	p := newProject(t)
	for _, f := range archive.Files {
		p.write(f.Name, string(f.Data))
	}
	for _, line := range strings.Split(string(archive.Comment), "\n") {
		words, err := shellwords.Parse(line)
		require.NoError(t, err, line)
		if len(words) == 0 || strings.HasPrefix(line, "#") {
			continue
		}
		switch verb, args := words[0], words[1:]; verb {
		case "example":
			require.NoError(t, os.CopyFS(p.dir, os.DirFS(filepath.Join(root, "examples", args[0]))))
		case "put":
			text, err := os.ReadFile(p.path(args[1]))
			require.NoError(t, err)
			blocks[args[0]] += string(text)
		case "overlay":
			overlay(t, p.path(args[0]), p.dir)
		case "edit":
			text, err := os.ReadFile(p.path(args[0]))
			require.NoError(t, err)
			lines := strings.NewReplacer(`\n`, "\n")
			from, to := lines.Replace(args[1]), lines.Replace(args[2])
			require.Contains(t, string(text), from)
			p.write(args[0], strings.ReplaceAll(string(text), from, to))
		case "quiet":
			p.must(args[1:]...)
		case "show", "fail":
			got := p.try(args[2:]...)
			require.Equal(t, verb == "fail", got.code != 0, "%s\n%s%s", line, got.stdout, got.stderr)
			_, command, _ := strings.Cut(line, args[0]+" ")
			blocks[args[0]] += "$ " + command + "\n" + steady(p.dir, got.stdout+got.stderr)
		case "part", "after":
			blocks[args[0]] += excerpt(p, verb, args)
		default:
			t.Fatalf("unknown verb in a scenario: %s", line)
		}
	}
}

// excerpt runs a command and keeps a part of what it prints.
func excerpt(p *project, verb string, args []string) string {
	p.t.Helper()
	p.env = append(p.env, "STREAMFORM_IN_AUTOMATION=1") // no hints on what to type next
	from, command := "  # ", args[1:]
	if verb == "after" {
		from, command = args[1], args[2:]
	}
	lines := strings.Split(steady(p.dir, p.must(command[1:]...)), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, from) {
			lines = lines[i:]
			break
		}
	}
	for i, l := range lines {
		if verb == "part" && strings.HasPrefix(l, "Plan: ") {
			lines = lines[:i+1]
			break
		}
	}
	return "$ " + strings.Join(command, " ") + "\n" + strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// narrowRules takes the folder's width off a table's rule above a row that shows the folder.
func narrowRules(dir, text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines[:len(lines)-1] {
		if strings.Contains(lines[i+1], dir+"/") {
			lines[i] = strings.ReplaceAll(lines[i], strings.Repeat("─", len(dir)+2), "─")
		}
	}
	return strings.Join(lines, "\n")
}

// steady is an output without what differs from run to run: the project's folder, elapsed times,
// identifiers.
func steady(dir, text string) string {
	text = strings.ReplaceAll(narrowRules(dir, text), dir+"/", "")
	text = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`).ReplaceAllString(text, "0s")
	text = regexp.MustCompile(`\bepoch \d+`).ReplaceAllString(text, "epoch 2")
	text = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`).ReplaceAllString(text, "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	return strings.TrimLeft(strings.TrimRight(text, "\n"), "\n") + "\n"
}
