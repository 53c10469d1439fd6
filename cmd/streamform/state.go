package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

func (c *cli) stateCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "state COMMAND",
		Short: "Looks at the recorded state, or changes it",
		Long:  "Looks at what was recorded as applied, or changes the record without a plan.",
		RunE:  showHelp,
	}
	cmd.AddCommand(c.stateListCommand(), c.stateShowCommand(), c.stateMoveCommand(), c.stateRemoveCommand(), c.statePullCommand())
	return cmd
}

// read opens the recorded state for a command that only looks.
func (c *cli) read(l looks, path string, do func(s *session, d *state.Document) error) error {
	l.json = false // findings are text
	s := c.open(l, project.Options{StatePath: path})
	defer s.Close()
	document, ds, err := s.State(context.Background())
	if err := s.report(ds, err); err != nil {
		return err
	}
	if document == nil {
		document = &state.Document{}
	}
	return do(s, document)
}

func (c *cli) stateListCommand() *cobra.Command {
	var l looks
	var lock locking
	cmd := &cobra.Command{
		Use:   "list [options] [ADDRESS…]",
		Short: "Lists the resources that were applied",
		Long:  "Lists the addresses of the resources that were applied: all, or those that are, or begin with, one of the given addresses.",
		Args:  between(0, 1000, "addresses"),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON := l.json
			return c.read(l, lock.state, func(s *session, d *state.Document) error {
				found := []string{}
				for _, r := range d.Resources {
					if len(args) == 0 || slices.ContainsFunc(args, func(a string) bool { return below(r.Addr.String(), a) }) {
						found = append(found, r.Addr.String())
					}
				}
				if asJSON {
					return c.printJSON(map[string]any{"format_version": "1.0", "resources": found})
				}
				for _, a := range found {
					fmt.Fprintln(c.out, a)
				}
				return nil
			})
		},
	}
	l.register(cmd.Flags())
	lock.registerState(cmd.Flags())
	return cmd
}

// below reports whether an address is the given one or lies below it: source.files.x below source.files, view.x["eu"] below view.x.
func below(address, of string) bool {
	return address == of || strings.HasPrefix(address, of+".") || strings.HasPrefix(address, of+"[")
}

func (c *cli) stateShowCommand() *cobra.Command {
	var l looks
	var lock locking
	cmd := &cobra.Command{
		Use:   "show [options] ADDRESS",
		Short: "Shows one resource as it was applied",
		Args:  between(1, 1, "one address"),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON := l.json
			return c.read(l, lock.state, func(s *session, d *state.Document) error {
				a, err := addr.Parse(args[0])
				if err != nil {
					return s.report(diag.Diagnostics{diag.NewError(nil, "Invalid address", sentence(err.Error()))}, nil)
				}
				r := d.Resource(a)
				switch {
				case r == nil:
					return s.report(diag.Diagnostics{diag.NewError(nil, "No instance found for the given address!", fmt.Sprintf("%s is not in the recorded state. List what is there with: streamform state list", a))}, nil)
				case asJSON:
					return c.printJSON(r)
				}
				_, err = fmt.Fprint(c.out, view.Resource(*r))
				return err
			})
		},
	}
	l.register(cmd.Flags())
	lock.registerState(cmd.Flags())
	return cmd
}

func (c *cli) statePullCommand() *cobra.Command {
	var lock locking
	cmd := &cobra.Command{
		Use:   "pull [options]",
		Short: "Prints the recorded state as it is stored",
		Args:  between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return c.read(looks{}, lock.state, func(s *session, d *state.Document) error {
				if d.Lineage == "" {
					return nil
				}
				text, err := state.Encode(d)
				if err != nil {
					return s.report(nil, err)
				}
				_, err = c.out.Write(text)
				return err
			})
		},
	}
	lock.registerState(cmd.Flags())
	accept(cmd.Flags(), "no-color", "false")
	return cmd
}

// changing are the flags of commands that change the record.
type changing struct {
	looks
	locking
	dryRun bool
}

func (g *changing) register(cmd *cobra.Command, dryRun string) {
	cmd.Flags().BoolVar(&g.noColor, "no-color", false, "Prints without colors")
	cmd.Flags().BoolVar(&g.dryRun, "dry-run", false, dryRun)
	g.locking.register(cmd.Flags())
}

// change opens the project, takes the lock unless nothing will change, and runs do.
func (c *cli) change(g changing, do func(ctx context.Context, s *session) error) error {
	s := c.open(g.looks, project.Options{StatePath: g.state})
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Stopping operation...")
	defer stop()
	if !g.dryRun {
		if err := s.lock(ctx, g.locking, "OperationTypeStateEdit"); err != nil {
			return err
		}
		defer s.unlock()
	}
	return do(ctx, s)
}

func (c *cli) stateMoveCommand() *cobra.Command {
	var g changing
	cmd := &cobra.Command{
		Use:   "mv [options] SOURCE DESTINATION",
		Short: "Renames a resource in the record and in the runtime",
		Long:  "Gives a resource another name without computing anything again. Change the name in the configuration too, or the next plan undoes it.",
		Args:  between(2, 2, "two addresses"),
		RunE: c.beside(func(_ *cobra.Command, args []string) error {
			return c.change(g, func(ctx context.Context, s *session) error {
				ds, err := s.Move(ctx, project.MoveRequest{From: args[0], To: args[1], DryRun: g.dryRun})
				if err := s.report(ds, err); err != nil {
					return err
				}
				if g.dryRun {
					fmt.Fprintf(s.out, "Would move %q to %q\n", args[0], args[1])
					return nil
				}
				fmt.Fprintf(s.out, "Move %q to %q\nSuccessfully moved 1 object(s).\n", args[0], args[1])
				return nil
			})
		}),
	}
	g.register(cmd, "Only says what would be moved")
	return cmd
}

func (c *cli) stateRemoveCommand() *cobra.Command {
	var g changing
	cmd := &cobra.Command{
		Use:   "rm [options] ADDRESS…",
		Short: "Forgets resources without destroying them",
		Long:  "Takes resources out of the record. The runtime keeps them and goes on running them; to stop them, remove their blocks and apply, or use destroy.",
		Args:  between(1, 1000, "at least one address"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.change(g, func(ctx context.Context, s *session) error {
				removed, ds, err := s.Forget(ctx, args, g.dryRun)
				if err := s.report(ds, err); err != nil {
					return err
				}
				verb := "Removed"
				if g.dryRun {
					verb = "Would remove"
				}
				for _, a := range removed {
					fmt.Fprintf(s.out, "%s %s\n", verb, a)
				}
				if !g.dryRun {
					fmt.Fprintf(s.out, "Successfully removed %d resource instance(s).\n", len(removed))
				}
				return nil
			})
		},
	}
	g.register(cmd, "Only says what would be removed")
	return cmd
}
