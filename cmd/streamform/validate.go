package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/diag"
)

// validation is what validate -json prints, in Terraform's shape.
type validation struct {
	FormatVersion string         `json:"format_version"`
	Valid         bool           `json:"valid"`
	ErrorCount    int            `json:"error_count"`
	WarningCount  int            `json:"warning_count"`
	Diagnostics   []diag.Encoded `json:"diagnostics"`
}

func (c *cli) validateCommand() *cobra.Command {
	var l looks
	var v variables
	cmd := &cobra.Command{
		Use:   "validate [options]",
		Short: "Checks whether the configuration is valid",
		Long:  "Checks the configuration in this folder, and its SQL against the columns of the relations it reads. It looks at neither the recorded state nor the runtime, and reads data only where a source's columns are to be inferred.",
		Args:  between(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			return c.validate(l, project.Options{Vars: v.vars})
		},
	}
	l.register(cmd.Flags())
	v.register(cmd.Flags())
	accept(cmd.Flags(), "no-tests", "false")
	accept(cmd.Flags(), "test-directory", "tests")
	return cmd
}

func (c *cli) validate(l looks, o project.Options) error {
	asJSON := l.json
	l.json = false
	s := c.open(l, o)
	defer s.Close()
	ds, err := s.Validate(context.Background())
	if err != nil {
		ds = append(ds, machine(err))
	}
	if asJSON {
		out := validation{FormatVersion: "1.0", Valid: !ds.Failed(), Diagnostics: diag.Encode(ds, s.Files())}
		for _, d := range ds {
			if d.Severity == diag.Warning {
				out.WarningCount++
			} else {
				out.ErrorCount++
			}
		}
		if err := c.printJSON(out); err != nil {
			return err
		}
		if ds.Failed() {
			return exit(1)
		}
		return nil
	}
	if err := s.report(ds, nil); err != nil {
		return err
	}
	with := "."
	if len(ds) > 0 {
		with = ", but there were some validation warnings as shown above."
	}
	_, err = fmt.Fprintf(s.out, "%s The configuration is valid%s\n\n", s.out.Paint(view.BoldGreen, "Success!"), with)
	return err
}
