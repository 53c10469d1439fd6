package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
)

func (c *cli) initCommand() *cobra.Command {
	var l looks
	cmd := &cobra.Command{
		Use:   "init [options]",
		Short: "Prepares the folder for the other commands",
		Long:  "Checks the settings in this folder's configuration and makes the data directory. It may be run again at any time and never deletes anything; plan and apply do the same by themselves.",
		Args:  between(0, 0, "no arguments"),
		RunE:  func(*cobra.Command, []string) error { return c.init(l) },
	}
	l.register(cmd.Flags())
	for name, value := range map[string]string{
		"backend": "true", "get": "true", "upgrade": "false", "reconfigure": "false", "migrate-state": "false", "force-copy": "false",
		"input": "true", "lock": "true", "lock-timeout": "0s",
	} {
		accept(cmd.Flags(), name, value)
	}
	return cmd
}

func (c *cli) init(l looks) error {
	s := c.begin(l, project.Options{})
	defer s.Close()
	ready, ds, err := s.Init(context.Background())
	if err := s.report(ds, err); err != nil {
		return err
	}
	if s.lines != nil {
		s.lines.Message("streamform has been successfully initialized!")
		return nil
	}
	if ready.Empty {
		fmt.Fprintln(s.out, "streamform initialized in an empty directory!\n\nThe directory has no streamform configuration files (*.sf.hcl). Write one, then run: streamform plan")
		return nil
	}
	fmt.Fprintf(s.out, "Recorded state: %s\nData directory: %s\n\n%s\n", ready.State, ready.DataDir, s.out.Paint(view.BoldGreen, "streamform has been successfully initialized!"))
	if !automated(c.env) {
		fmt.Fprintln(s.out, "\nNow run \"streamform plan\" to see what would be done, and \"streamform apply\" to do it.")
	}
	return nil
}
