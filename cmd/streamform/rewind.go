package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/graph/plan"
)

func (c *cli) rewindCommand() *cobra.Command {
	var l looks
	var lock locking
	var to string
	var duplicates bool
	cmd := &cobra.Command{
		Use:   "rewind [options] ADDRESS",
		Short: "Delivers rows of a stream once more",
		Long: "Gives the rows that a stream or source has delivered from a position on to its sinks once more. What was delivered before stays, so the rows are there twice: " +
			"-allow-duplicates says that this is meant, and the recorded state notes it. Views are not rewound: they equal their query over everything that was read, each file once. " +
			"Rows come by the query the stream had when they were read. A rewind that was cut short goes on where it ended when it is run again.",
		Args: between(1, 1, "the address of a stream or source"),
		RunE: c.beside(func(_ *cobra.Command, args []string) error {
			return c.rewind(l, lock, rewinding{args[0], to, duplicates})
		}),
	}
	flags := cmd.Flags()
	flags.StringVar(&to, "to", "", "Where to begin: start, an epoch's number, a time such as 2026-05-01T10:00:00Z (what was read then and later), or a file of a source")
	flags.BoolVar(&duplicates, "allow-duplicates", false, "Rows that were delivered are delivered again, and are then there twice")
	l.register(flags)
	lock.register(flags)
	return cmd
}

// rewinding is what is asked of the rewind command.
type rewinding struct {
	address, to string
	duplicates  bool
}

func (c *cli) rewind(l looks, lock locking, q rewinding) error {
	asJSON := l.json
	l.json = false // findings are text
	s := c.open(l, project.Options{StatePath: lock.state})
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Stopping operation...")
	defer stop()
	if err := s.lock(ctx, lock, "OperationTypeRewind"); err != nil {
		return err
	}
	defer s.unlock()
	done, ds, err := s.Rewind(ctx, q.address, q.to, q.duplicates)
	if err := s.report(ds, err); err != nil {
		return err
	}
	if asJSON {
		sinks := []map[string]any{}
		for _, a := range done.Sinks {
			sinks = append(sinks, map[string]any{"address": a.String(), "rows": done.Given[a]})
		}
		return c.printJSON(map[string]any{"format_version": "1.0", "rewound": map[string]any{"address": done.Addr.String(), "to": done.To,
			"at": done.At, "epoch": done.Epoch, "resumed": done.Resumed, "files": done.Files, "rows": done.Rows, "sinks": sinks}})
	}
	if done.Resumed {
		fmt.Fprintf(s.out, "%s: went on with the rewind to %s that was cut short\n", done.Addr, done.To)
	}
	fmt.Fprintf(s.out, "%s: read %s, %s again\n", done.Addr, plan.Plural(done.Files, "file"), plan.Plural(done.Rows, "row"))
	for _, a := range done.Sinks {
		fmt.Fprintf(s.out, "%s: wrote %s again\n", a, plan.Plural(done.Given[a], "row"))
	}
	fmt.Fprintf(s.out, "\n%s\n", s.out.Paint(view.BoldGreen, "Rewind complete! Rows that these sinks had are there twice; the recorded state notes it."))
	return nil
}
