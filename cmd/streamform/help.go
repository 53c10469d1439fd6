package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// help prints a command's page: usage, what it does, its commands and its options
// as they are typed, with one dash.
func help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	use := cmd.CommandPath()
	if _, rest, ok := strings.Cut(cmd.Use, " "); ok {
		use += " " + rest
	}
	if !cmd.HasParent() {
		use = "streamform [global options] COMMAND [options]"
	}
	fmt.Fprintf(w, "Usage: %s\n\n", use)
	about := cmd.Long
	if about == "" {
		about = cmd.Short + "."
	}
	fmt.Fprintln(w, indented(about, 2, 76))
	for _, group := range groupsOf(cmd) {
		fmt.Fprintf(w, "\n%s\n", group.Title)
		for _, child := range cmd.Commands() {
			if child.GroupID == group.ID && (child.IsAvailableCommand() || child.Name() == "help") {
				fmt.Fprintf(w, "  %-14s %s\n", child.Name(), child.Short)
			}
		}
	}
	if !cmd.HasParent() {
		fmt.Fprint(w, "\nGlobal options (before the command):\n  -chdir=DIR     Works in another folder\n  -help          Shows this page, or the page of the command\n  -version       Same as the command version\n")
		return
	}
	options(w, cmd.Flags())
}

func groupsOf(cmd *cobra.Command) []*cobra.Group {
	if groups := cmd.Groups(); len(groups) > 0 {
		return groups
	}
	if cmd.HasAvailableSubCommands() {
		return []*cobra.Group{{Title: "Commands:"}}
	}
	return nil
}

func options(w io.Writer, flags *pflag.FlagSet) {
	first := true
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if first {
			fmt.Fprint(w, "\nOptions:\n")
			first = false
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "-" + f.Name
		if value != "" && f.Value.Type() != "bool" {
			name += "=" + value
		}
		if f.Value.Type() == "bool" && f.DefValue == "true" {
			name += "=false"
		}
		fmt.Fprintf(w, "  %-23s %s\n", name, strings.TrimLeft(indented(usage, 26, 54), " "))
	})
}

// indented wraps text and indents every line.
func indented(text string, by, width uint) string {
	margin := strings.Repeat(" ", int(by))
	lines := strings.Split(wordwrap.WrapString(text, width), "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}
