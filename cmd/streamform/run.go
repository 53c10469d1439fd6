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
		Use:   "run [options]",
		Short: "Keeps what was applied running",
		Long:  "Runs the pipelines that were applied, each by its trigger, and prints a line for every epoch that read or wrote something. The first interrupt (Ctrl-C) lets every pipeline finish the epoch in hand; a second one ends the process at once, which loses nothing either.",
		Args:  between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return c.keepRunning(l, project.Options{Vars: v.vars}, once)
		},
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
	cmd.Flags().BoolVar(&once, "once", false, "Reads what there is to read now, then ends")
	return cmd
}

func (c *cli) keepRunning(l looks, o project.Options, once bool) error {
	s := c.open(l, o)
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Finishing the epochs in hand...")
	defer stop()
	running, ds, err := s.Prepare(ctx)
	if err := s.report(ds, err); err != nil {
		return err
	}
	if s.lines == nil && !once {
		fmt.Fprintf(s.out, "Running what was applied: %s. Stop with Ctrl-C.\n", running)
	}
	ds, err = s.Run(ctx, once, s.show.Epoch)
	if err := s.report(ds, err); err != nil {
		return err
	}
	if s.lines == nil {
		fmt.Fprintln(s.out, "Everything that was read is committed.")
	}
	return nil
}
