package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/document"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

func (c *cli) showCommand() *cobra.Command {
	var l looks
	var asMarkdown bool
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
			if asMarkdown && (l.json || file == "") {
				return misuse{summary: "Nothing to show as Markdown", detail: "-markdown shows a saved plan: streamform show -markdown PLAN. It cannot be given with -json.", command: "streamform show"}
			}
			return c.showFile(l, file, asMarkdown)
		},
	}
	l.register(cmd.Flags())
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "Prints a saved plan as Markdown, for a comment on a pull request")
	return cmd
}

func (c *cli) showFile(l looks, file string, asMarkdown bool) error {
	asJSON := l.json
	l.json = false
	s := c.open(l, project.Options{})
	defer s.Close()
	var saved *plan.Plan
	var recorded *state.Document
	var ds diag.Diagnostics
	var err error
	if file == "" {
		recorded, ds, err = s.State(context.Background())
	} else {
		saved, recorded, ds, err = s.Inspect(file)
	}
	if err := s.report(ds, err); err != nil {
		return err
	}
	switch {
	case asMarkdown && saved == nil:
		return misuse{summary: "Not a saved plan", detail: fmt.Sprintf("%s is recorded state. -markdown shows plans, as plan -out=FILE saves them.", file)}
	case asMarkdown:
		return render.Markdown(c.out, saved, render.Options{Kind: s.Kind})
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
		return c.printJSON(view.StateJSON(recorded, terraformVersion, s.Kind))
	}
	_, err = fmt.Fprint(c.out, view.State(recorded))
	return err
}
