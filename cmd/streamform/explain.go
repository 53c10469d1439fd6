package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/diag"
)

func (c *cli) explainCommand() *cobra.Command {
	var l looks
	var v variables
	var state string
	var dot, analyze bool
	cmd := &cobra.Command{
		Use:   "explain [options] [ADDRESS]",
		Short: "Shows how relations are computed, and what is remembered",
		Long: "Shows for each relation of the configuration, or for one, the operators that its SQL became: what each does per epoch and what that costs, what it remembers (and how much, " +
			"where it was applied), whether rows are only added or also taken back, which columns are read, and, where the whole SQL must run again each epoch, why, and how to write it instead.",
		Args: between(0, 1, "at most one argument, the address of a source, stream or view"),
		RunE: c.beside(func(cmd *cobra.Command, args []string) error {
			if dot && l.json {
				return misuse{summary: "Two formats", detail: "-dot and -json cannot be given together.", command: cmd.CommandPath()}
			}
			format := explainText
			switch {
			case dot:
				format = explainDOT
			case l.json:
				format = explainJSON
			}
			l.json = false // findings are text
			s := c.open(l, project.Options{Vars: v.vars, StatePath: state})
			defer s.Close()
			return s.explain(project.ExplainRequest{Only: append(args, "")[0], Analyze: analyze}, format)
		}),
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
	cmd.Flags().BoolVar(&analyze, "analyze", false, "Reads what is pending, as run -once does, and shows what each operator did: rows, bytes, time")
	cmd.Flags().BoolVar(&dot, "dot", false, "Prints a graph of operators for Graphviz")
	cmd.Flags().StringVar(&state, "state", "", "Keeps the recorded state in this `file` instead of where the backend says")
	return cmd
}

// explainFormat is a form in which operators are shown.
type explainFormat int

const (
	explainText explainFormat = iota
	explainJSON
	explainDOT
)

func (s *session) explain(r project.ExplainRequest, format explainFormat) error {
	ctx, stop := s.interruptible(context.Background(), "Finishing the epochs in hand...")
	defer stop()
	explained, ds, err := s.Explain(ctx, r)
	if format != explainText {
		ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Warning }) // programs read standard output
	}
	if err := s.report(ds, err); err != nil {
		return err
	}
	switch format {
	case explainJSON:
		return s.c.printJSON(struct {
			FormatVersion string `json:"format_version"`
			project.Explained
		}{"1.1", explained})
	case explainDOT:
		return view.ExplainedDOT(s.out, explained.Relations)
	}
	view.Explained(s.out, explained)
	return nil
}
