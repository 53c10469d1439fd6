package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/document"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

func (c *cli) showCommand() *cobra.Command {
	var l looks
	cmd := &cobra.Command{
		Use:   "show [options] [FILE]",
		Short: "Shows the recorded state or a saved plan",
		Long:  "Shows what was applied, or what FILE holds: a plan saved by plan -out, or a file of recorded state.",
		Args:  between(0, 1, "at most one argument, a saved plan or a state file"),
		RunE: func(_ *cobra.Command, args []string) error {
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			return c.showFile(l, file)
		},
	}
	l.register(cmd.Flags())
	return cmd
}

func (c *cli) showFile(l looks, file string) error {
	asJSON := l.json
	l.json = false
	s := c.open(l, project.Options{})
	defer s.Close()
	var saved *plan.Plan
	var document *state.Document
	var ds diag.Diagnostics
	var err error
	if file == "" {
		document, ds, err = s.State(context.Background())
	} else {
		saved, document, ds, err = s.Inspect(file)
	}
	if err := s.report(ds, err); err != nil {
		return err
	}
	switch {
	case saved != nil && asJSON:
		text, err := document.JSON(saved)
		if err != nil {
			return s.report(nil, err)
		}
		_, err = fmt.Fprintf(c.out, "%s\n", text)
		return err
	case saved != nil:
		return s.show.Plan(saved)
	case asJSON:
		return c.printJSON(view.StateJSON(document, terraformVersion, s.Kind))
	}
	_, err = fmt.Fprint(c.out, view.State(document))
	return err
}
