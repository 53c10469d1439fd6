package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
)

func (c *cli) rollbackCommand() *cobra.Command {
	var l looks
	var lock locking
	cmd := &cobra.Command{
		Use:   "rollback [options] ADDRESS",
		Short: "Goes back to what an edit has replaced",
		Long:  "Makes a stream or view, and what was replaced together with it, serve again as before the last edit. What was kept of it catches up on what was read since, and everything that reads it receives the difference. How long it is kept says the relation's rollback_window. The configuration stays as it is: take the edit back there, too, or the next apply makes it again.",
		Args:  between(1, 1, "the address of a stream or view"),
		RunE:  c.beside(func(_ *cobra.Command, args []string) error { return c.rollBack(l, lock, args[0]) }),
	}
	l.register(cmd.Flags())
	lock.register(cmd.Flags())
	return cmd
}

func (c *cli) rollBack(l looks, lock locking, address string) error {
	asJSON := l.json
	l.json = false // findings are text
	s := c.open(l, project.Options{StatePath: lock.state})
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Stopping operation...")
	defer stop()
	if err := s.lock(ctx, lock, "OperationTypeRollback"); err != nil {
		return err
	}
	defer s.unlock()
	back, ds, err := s.Rollback(ctx, address)
	if err := s.report(ds, err); err != nil {
		return err
	}
	if asJSON {
		var list []map[string]any
		for _, r := range back.Resources {
			list = append(list, map[string]any{"address": r.Addr.String(), "generation": r.Generation})
		}
		return c.printJSON(map[string]any{"format_version": "1.0", "rolled_back": list})
	}
	for _, r := range back.Resources {
		fmt.Fprintf(s.out, "%s: serves generation %d again\n", r.Addr, r.Generation)
	}
	for _, k := range back.Summary.Sinks {
		if k.Rows > 0 {
			fmt.Fprintf(s.out, "%s: wrote %d rows\n", k.Addr, k.Rows)
		}
	}
	fmt.Fprintln(s.out, "\nRollback complete! The configuration still has the edit: take it back there, too, or the next apply makes it again.")
	return nil
}
