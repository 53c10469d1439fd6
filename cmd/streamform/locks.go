package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/diag"
)

// lock takes the state's lock unless -lock=false.
func (s *session) lock(ctx context.Context, l locking, operation string) error {
	if !l.lock {
		return nil
	}
	ds, err := s.Lock(ctx, project.LockRequest{Operation: operation, Timeout: l.timeout, Waiting: func() {
		if s.lines == nil {
			fmt.Fprintln(s.out, "Acquiring state lock. This may take a few moments...")
		}
	}})
	return s.report(ds, err)
}

// unlock gives the lock back; a failure is shown, and the command's result stays what it is.
func (s *session) unlock() {
	if err := s.Unlock(); err != nil {
		_ = s.report(diag.Diagnostics{diag.NewWarning(nil, "The state lock was not released", sentence(err.Error())+" Remove it with the command force-unlock.")}, nil)
	}
}

func (c *cli) forceUnlockCommand() *cobra.Command {
	var force, noColor bool
	var l locking
	cmd := &cobra.Command{
		Use:   "force-unlock [options] ID",
		Short: "Removes a lock that a process left behind",
		Long:  "Removes the lock on the recorded state that has this ID. Only do this when you are sure that the process which took it has ended.",
		Args:  between(1, 1, "the ID of a lock"),
		RunE: func(_ *cobra.Command, args []string) error {
			s := c.open(looks{noColor: noColor}, project.Options{StatePath: l.state})
			defer s.Close()
			if !force {
				if err := s.confirmUnlock(); err != nil {
					return err
				}
			}
			ds, err := s.ForceUnlock(context.Background(), args[0])
			if err := s.report(ds, err); err != nil {
				return err
			}
			fmt.Fprintln(s.out, "streamform state has been successfully unlocked!")
			return nil
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "Does not ask for confirmation")
	cmd.Flags().BoolVar(&noColor, "no-color", false, "Prints without colors")
	l.registerState(cmd.Flags())
	return cmd
}

func (s *session) confirmUnlock() error {
	if !view.IsTerminal(s.c.in) {
		return misuse{summary: "Approval is needed", detail: "Standard input is not a terminal, so nobody can be asked. Add -force when you are sure that the process which took the lock has ended."}
	}
	return s.ask("Do you really want to force-unlock?\n  streamform will remove the lock on the recorded state.\n  Only 'yes' will be accepted to confirm.", "force-unlock cancelled.")
}
