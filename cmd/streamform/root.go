package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// cli is one invocation: the streams and the environment that commands use.
type cli struct {
	in      io.Reader
	out     io.Writer
	errOut  io.Writer
	env     environment
	environ func() []string // the whole environment, NAME=value
	version string          // streamform's
	typed   []string        // the command line, without -chdir
	live    *live           // set when the command was typed elsewhere, and is carried out by the process that holds the runtime
}

// exit ends a command with a code when all there is to say was printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// misuse is a command line that cannot be understood.
type misuse struct {
	summary, detail string
	command         string // as in "streamform plan"; empty: no help is offered
}

func (m misuse) Error() string { return m.summary + ": " + m.detail }

// run carries out one command line and returns the exit code.
func (c *cli) run(typed []string) int {
	err := c.execute(typed)
	var code exit
	var wrong misuse
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &wrong):
		fmt.Fprintf(c.errOut, "\nError: %s\n\n%s\n", wrong.summary, wrong.detail)
		if wrong.command != "" {
			fmt.Fprintf(c.errOut, "\nFor more help on using this command, run:\n  %s -help\n", wrong.command)
		}
		return 1
	}
	fmt.Fprintf(c.errOut, "\nError: %s\n", err)
	return 1
}

func (c *cli) execute(typed []string) error {
	dir, typed, found, err := chdir(typed)
	if err != nil {
		return misuse{summary: "Invalid -chdir option", detail: sentence(err.Error())}
	}
	if found {
		if err := os.Chdir(dir); err != nil {
			return misuse{summary: "Error handling -chdir option", detail: sentence(err.Error())}
		}
	}
	if len(typed) > 0 && (typed[0] == "-version" || typed[0] == "--version") {
		typed = append([]string{"version"}, typed[1:]...)
	}
	c.typed = typed
	root := c.root()
	var groups []string
	for _, child := range root.Commands() {
		if child.HasSubCommands() {
			groups = append(groups, child.Name())
		}
	}
	args, err := arguments(typed, c.env, groups...)
	if err != nil {
		return misuse{summary: "Invalid environment", detail: sentence(err.Error())}
	}
	if err := known(root, args); err != nil {
		return err
	}
	root.SetArgs(args)
	return root.Execute()
}

// root is the tree of all commands.
func (c *cli) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "streamform",
		Short:         "Plans, applies and runs streaming data pipelines",
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          showHelp,
	}
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.errOut)
	root.AddGroup(
		&cobra.Group{ID: "main", Title: "Main commands:"},
		&cobra.Group{ID: "other", Title: "All other commands:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, command := range commands {
			command.GroupID = group
			root.AddCommand(command)
		}
	}
	add("main", c.initCommand(), c.validateCommand(), c.planCommand(), c.applyCommand(), c.runCommand(), c.queryCommand(), c.destroyCommand())
	add("other", c.explainCommand(), c.fmtCommand(), c.forceUnlockCommand(), c.graphCommand(),
		c.outputCommand(), c.rewindCommand(), c.rollbackCommand(), c.showCommand(), c.stateCommand(), c.versionCommand())
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(flagError)
	return root
}

// showHelp is what a command that only groups others does.
func showHelp(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	help(cmd, nil)
	return exit(1)
}

// known refuses a command that does not exist, with the one that was probably meant.
func known(root *cobra.Command, args []string) error {
	parent, path := root, ""
	for _, a := range args {
		if strings.HasPrefix(a, "-") {
			return nil
		}
		path = strings.TrimSpace(path + " " + a)
		var next *cobra.Command
		best, distance := "", 4
		for _, child := range parent.Commands() {
			if child.Name() == a {
				next = child
			}
			if d := levenshtein.Distance(a, child.Name(), nil); d < distance && !child.Hidden {
				best, distance = strings.TrimSpace(strings.TrimSuffix(path, a)+child.Name()), d
			}
		}
		switch {
		case next == nil && (a == "help" || a == "completion" || strings.HasPrefix(a, cobra.ShellCompRequestCmd)):
			return nil
		case next == nil:
			return unknownCommand(path, best)
		case !next.HasSubCommands():
			return nil
		}
		parent = next
	}
	return nil
}

func unknownCommand(name, meant string) error {
	detail := fmt.Sprintf("streamform has no command named %q.", name)
	if meant != "" {
		detail += fmt.Sprintf(" Did you mean %q?", meant)
	}
	return misuse{summary: "Unknown command", detail: detail + "\n\nTo see all of streamform's commands, run:\n  streamform -help"}
}

// flagError says what is wrong with a flag in the words people know from Go's flags.
func flagError(cmd *cobra.Command, err error) error {
	detail := err.Error()
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if shorts := unknown.GetSpecifiedShortnames(); shorts != "" {
			name = shorts
		}
		detail = "flag provided but not defined: -" + name
		if meant := nearestFlag(cmd, name); meant != "" {
			detail += fmt.Sprintf(". Did you mean -%s?", meant)
		}
	case errors.As(err, &missing):
		detail = "flag needs an argument: -" + missing.GetSpecifiedName()
	case errors.As(err, &invalid):
		detail = fmt.Sprintf("invalid value %q for flag -%s: %v", invalid.GetValue(), invalid.GetFlag().Name, errors.Unwrap(err))
	}
	return misuse{summary: "Failed to parse command-line flags", detail: detail, command: cmd.CommandPath()}
}

func nearestFlag(cmd *cobra.Command, name string) string {
	best, distance := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := levenshtein.Distance(name, f.Name, nil); d < distance && d < len(name) && !f.Hidden {
			best, distance = f.Name, d
		}
	})
	return best
}

// between accepts least to most positional arguments, described by what.
func between(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) > most:
			return misuse{summary: "Too many command line arguments", detail: fmt.Sprintf("%s takes %s. To work in another folder, use the global option -chdir.", cmd.CommandPath(), what), command: cmd.CommandPath()}
		case len(args) < least:
			return misuse{summary: "Not enough command line arguments", detail: fmt.Sprintf("%s takes %s.", cmd.CommandPath(), what), command: cmd.CommandPath()}
		}
		return nil
	}
}

// sentence makes an error's text a sentence.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	text = strings.ToUpper(text[:1]) + text[1:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}
