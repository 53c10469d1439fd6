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
	var dot bool
	cmd := &cobra.Command{
		Use:   "explain [options] [ADDRESS]",
		Short: "Shows how relations are computed, and what is remembered",
		Long: "Shows for each relation of the configuration, or for one, the operators that its SQL became: what each does per epoch and what that costs, what it remembers (and how much, " +
			"where it was applied), whether rows are only added or also taken back, which columns are read, and, where the whole SQL must run again each epoch, why, and how to write it instead.",
		Args: between(0, 1, "at most one argument, the address of a source, stream or view"),
		RunE: func(cmd *cobra.Command, args []string) error {
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
			return s.explain(append(args, "")[0], format)
		},
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
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

func (s *session) explain(only string, format explainFormat) error {
	explained, ds, err := s.Explain(context.Background(), only)
	if format != explainText {
		ds = slices.DeleteFunc(ds, func(d diag.Diagnostic) bool { return d.Severity == diag.Warning }) // programs read standard output
	}
	if err := s.report(ds, err); err != nil {
		return err
	}
	switch format {
	case explainJSON:
		return s.c.printJSON(map[string]any{"format_version": "1.1", "relations": explained})
	case explainDOT:
		return view.ExplainedDOT(s.out, explained)
	}
	view.Explained(s.out, explained)
	return nil
}
