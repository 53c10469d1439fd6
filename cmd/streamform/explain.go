package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
)

func (c *cli) explainCommand() *cobra.Command {
	var l looks
	var v variables
	var state string
	cmd := &cobra.Command{
		Use:   "explain [options] [ADDRESS]",
		Short: "Shows how relations are computed, and what is remembered",
		Long:  "Shows for each relation of the configuration, or for one, the operators that its SQL became: what each does per epoch, what it remembers, and, where the whole SQL must run again each epoch, why.",
		Args:  between(0, 1, "at most one argument, the address of a source, stream or view"),
		RunE: func(_ *cobra.Command, args []string) error {
			asJSON := l.json
			l.json = false // findings are text
			s := c.open(l, project.Options{Vars: v.vars, StatePath: state})
			defer s.Close()
			only := ""
			if len(args) == 1 {
				only = args[0]
			}
			explained, ds, err := s.Explain(context.Background(), only)
			if err := s.report(ds, err); err != nil {
				return err
			}
			if asJSON {
				return c.printJSON(map[string]any{"format_version": "1.0", "relations": explained})
			}
			for i, e := range explained {
				if i > 0 {
					fmt.Fprintln(s.out)
				}
				explainText(s.out, e)
			}
			return nil
		},
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
	cmd.Flags().StringVar(&state, "state", "", "Keeps the recorded state in this `file` instead of where the backend says")
	return cmd
}

func explainText(t view.Terminal, e project.Explanation) {
	how := "incremental"
	switch {
	case len(e.Operators) == 0 && e.FullRefresh == "":
		how = "read from its source"
	case !e.Incremental:
		how = "full refresh"
	}
	fmt.Fprintf(t, "%s (%s)\n", t.Paint(view.Bold, e.Address.String()), how)
	if e.FullRefresh != "" {
		fmt.Fprintf(t, "  its SQL runs over all rows each epoch: %s\n", e.FullRefresh)
	}
	fmt.Fprint(t, "  columns:")
	for i, column := range e.Columns {
		fmt.Fprintf(t, "%s %s %s", []string{"", ","}[min(i, 1)], column.Name, column.Type)
	}
	fmt.Fprintln(t)
	if len(e.Key) > 0 {
		fmt.Fprintf(t, "  key: %s\n", strings.Join(e.Key, ", "))
	}
	if len(e.Reads) > 0 {
		fmt.Fprintf(t, "  reads: %s\n", strings.Join(e.Reads, ", "))
	}
	for _, o := range e.Operators {
		fmt.Fprintf(t, "  %s: %s", t.Paint(view.Bold, o.ID), o.Kind)
		if len(o.Inputs) > 0 {
			fmt.Fprintf(t, " of %s", strings.Join(o.Inputs, ", "))
		}
		fmt.Fprintln(t)
		if o.Detail != "" {
			fmt.Fprintf(t, "      %s\n", o.Detail)
		}
		fmt.Fprintf(t, "      remembers %s\n", o.Holds)
		if o.Reason != "" {
			fmt.Fprintf(t, "      %s\n", t.Paint(view.Yellow, "why: "+o.Reason))
		}
	}
}
