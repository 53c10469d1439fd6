package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
)

// exitUnformatted is what fmt -check returns when a file would change.
const exitUnformatted = exit(3)

func (c *cli) fmtCommand() *cobra.Command {
	var l looks
	var list, write, diff, check, recursive bool
	cmd := &cobra.Command{
		Use:   "fmt [options] [TARGET…]",
		Short: "Writes configuration files in the canonical format",
		Long:  "Formats the configuration files (*.sf.hcl and *.sfvars) in the given folders, or the given files; without any, those in this folder. - reads standard input and prints the result.",
		Args:  between(0, 1000, "files and folders"),
		RunE: func(_ *cobra.Command, args []string) error {
			s := c.open(l, project.Options{})
			defer s.Close()
			if len(args) == 1 && args[0] == "-" {
				return s.formatInput(check, diff)
			}
			changed, ds, err := s.Format(project.FormatRequest{Targets: args, Recursive: recursive, Write: write && !check})
			for _, f := range changed {
				if list {
					fmt.Fprintln(c.out, f.Name)
				}
				if diff {
					fmt.Fprint(c.out, f.Diff())
				}
			}
			if err := s.report(ds, err); err != nil {
				return err
			}
			if check && len(changed) > 0 {
				return exitUnformatted
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&list, "list", true, "Does not print the names of files that change")
	flags.BoolVar(&write, "write", true, "Does not change files")
	flags.BoolVar(&diff, "diff", false, "Prints what changes")
	flags.BoolVar(&check, "check", false, "Changes nothing, and exits with 3 when a file would change")
	flags.BoolVar(&recursive, "recursive", false, "Also formats files in folders below")
	flags.BoolVar(&l.noColor, "no-color", false, "Prints without colors")
	return cmd
}

// formatInput formats standard input to standard output.
func (s *session) formatInput(check, diff bool) error {
	text, err := io.ReadAll(s.c.in)
	if err != nil {
		return s.report(nil, fmt.Errorf("reading standard input: %w", err))
	}
	f, ds := s.FormatText("<stdin>", text)
	if err := s.report(ds, nil); err != nil {
		return err
	}
	switch {
	case diff:
		fmt.Fprint(s.c.out, f.Diff())
	case !check:
		if _, err := s.c.out.Write(f.After); err != nil {
			return err
		}
	}
	if check && f.Changed() {
		return exitUnformatted
	}
	return nil
}
