package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
)

func (c *cli) runCommand() *cobra.Command {
	var l looks
	var v variables
	var once bool
	cmd := &cobra.Command{
		Use:   "run [options] [ADDRESS…]",
		Short: "Keeps what was applied running, or brings it up to date",
		Long:  "Runs the pipelines that were applied, each by its trigger, and prints a line for every epoch that read or wrote something. The first interrupt (Ctrl-C) lets every pipeline finish the epoch in hand; a second one ends the process at once, which loses nothing either. With addresses, the pipelines of these resources are brought up to date, whatever their triggers say: what there is at the start is read, and the command ends. While it runs, it carries out what is typed on the runtime in other terminals, such as apply, plan and query, and goes on with what was applied.",
		Args:  between(0, 1000, "addresses, or nothing"),
		RunE: func(cmd *cobra.Command, args []string) error {
			now := func(*cobra.Command, []string) error {
				return c.keepRunning(l, project.Options{Vars: v.vars}, running{once: once || len(args) > 0, refresh: args})
			}
			if once || len(args) > 0 {
				now = c.beside(now)
			}
			return now(cmd, args)
		},
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
	cmd.Flags().BoolVar(&once, "once", false, "Reads what there is to read now, then ends")
	return cmd
}

// running says what runs, and for how long.
type running struct {
	once    bool
	refresh []string // addresses whose pipelines are brought up to date; empty: all pipelines run
}

func (c *cli) keepRunning(l looks, o project.Options, r running) error {
	var s *session
	var others *serving
	var ctx context.Context
	if !r.once {
		o.Holding = func() { others = s.serve(ctx) }
	}
	s = c.open(l, o)
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Finishing the epochs in hand...")
	defer stop()
	defer func() { others.stop() }()
	what, ds, err := s.Prepare(ctx)
	if err := s.report(ds, err); err != nil {
		return err
	}
	switch {
	case len(r.refresh) > 0:
		ds, err = s.Refresh(ctx, r.refresh, s.show.Epoch)
	case r.once:
		ds, err = s.Run(ctx, true, s.show.Epoch)
	default:
		if s.lines == nil {
			fmt.Fprintf(s.out, "Running what was applied: %s. Stop with Ctrl-C.\n", what)
		}
		others.begin()
		ds, err = s.Run(ctx, false, s.show.Epoch)
		others.finish()
	}
	if err := s.report(ds, err); err != nil {
		return err
	}
	if s.lines == nil {
		fmt.Fprintln(s.out, "Everything that was read is committed.")
	}
	return nil
}
