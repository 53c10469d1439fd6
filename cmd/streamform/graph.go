package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
)

func (c *cli) graphCommand() *cobra.Command {
	var l looks
	var v variables
	cmd := &cobra.Command{
		Use:   "graph [options]",
		Short: "Prints what depends on what, for Graphviz",
		Long:  "Prints the resources of the configuration and what they depend on in the DOT language. Edges are those written in HCL and those found in SQL.",
		Args:  between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			s := c.open(l, project.Options{Vars: v.vars})
			defer s.Close()
			dot, ds, err := s.DOT(context.Background())
			if err := s.report(ds, err); err != nil {
				return err
			}
			_, err = fmt.Fprint(c.out, dot)
			return err
		},
	}
	cmd.Flags().BoolVar(&l.noColor, "no-color", false, "Prints without colors")
	v.register(cmd.Flags())
	accept(cmd.Flags(), "type", "plan")
	accept(cmd.Flags(), "plan", "")
	accept(cmd.Flags(), "draw-cycles", "false")
	return cmd
}
