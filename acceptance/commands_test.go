package acceptance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// commandsPage is the reference of the command line: the help of every command, as the binary prints it.
func commandsPage(t *testing.T) string {
	t.Helper()
	p := newProject(t)
	p.env = append(p.env, "CI=") // help does not depend on who reads it
	var b strings.Builder
	b.WriteString("# Commands\n\nThe pages that `streamform COMMAND -help` prints, made by `make docs`. Options are written with one dash, as Terraform's are; two work as well.\n")
	var visit func(path []string)
	visit = func(path []string) {
		text := p.must(append(path, "-help")...)
		fmt.Fprintf(&b, "\n## %s\n\n```text\n%s```\n", strings.Join(append([]string{"streamform"}, path...), " "), strings.TrimLeft(text, "\n"))
		for _, name := range subcommands(text) {
			visit(append(path[:len(path):len(path)], name))
		}
	}
	visit(nil)
	return b.String()
}

// subcommands are the names under the headings of commands in a help page, but for those that come with the library.
func subcommands(help string) []string {
	var out []string
	row := regexp.MustCompile(`^  ([a-z-]+) {2,}\S`)
	inside := false
	for _, line := range strings.Split(help, "\n") {
		switch m := row.FindStringSubmatch(line); {
		case strings.HasSuffix(line, "ommands:"):
			inside = true
		case line == "":
			inside = false
		case inside && m != nil && m[1] != "help" && m[1] != "completion":
			out = append(out, m[1])
		}
	}
	return out
}
