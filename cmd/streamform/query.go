package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
)

func (c *cli) queryCommand() *cobra.Command {
	var l looks
	var csv bool
	var file string
	cmd := &cobra.Command{
		Use:   `query [options] "SELECT …"`,
		Short: "Answers one SELECT over the applied relations",
		Long:  "Answers one SELECT, in DuckDB's dialect, over sources, streams, views and side relations such as purchases.malformed and purchases.files, all as of the last commit.",
		Args:  between(0, 1, "one SELECT, or -file=FILE"),
		RunE: c.beside(func(cmd *cobra.Command, args []string) error {
			sql, err := c.statement(cmd, args, file)
			if err != nil {
				return err
			}
			format := view.Table
			switch {
			case csv && l.json:
				return misuse{summary: "Two formats", detail: "-csv and -json cannot be given together.", command: cmd.CommandPath()}
			case csv:
				format = view.CSV
			case l.json:
				format = view.JSON
			}
			return c.query(l, sql, format)
		}),
	}
	cmd.Flags().BoolVar(&l.json, "json", false, "Prints one JSON object per row")
	cmd.Flags().BoolVar(&csv, "csv", false, "Prints CSV with a header; NULL is an empty field")
	cmd.Flags().BoolVar(&l.noColor, "no-color", false, "Prints without colors")
	cmd.Flags().StringVar(&file, "file", "", "Reads the SELECT from this `file`; - is standard input")
	return cmd
}

// statement is the SQL from the argument or from the file.
func (c *cli) statement(cmd *cobra.Command, args []string, file string) (string, error) {
	if (len(args) == 1) == (file != "") {
		return "", misuse{summary: "One SELECT is needed", detail: "Give the SELECT as the argument, in quotes, or name a file with -file=FILE.", command: cmd.CommandPath()}
	}
	if file == "" {
		return args[0], nil
	}
	if file == "-" {
		text, err := io.ReadAll(c.in)
		return string(text), err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", misuse{summary: "Cannot read the SELECT", detail: sentence(err.Error())}
	}
	return string(text), nil
}

func (c *cli) query(l looks, sql string, format view.RowFormat) error {
	l.json = false // findings are text; only rows have formats
	s := c.open(l, project.Options{})
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Stopping the query...")
	defer stop()
	rows, ds, err := s.Query(ctx, sql)
	if err := s.report(ds, err); err != nil || rows == nil {
		return s.failed(err)
	}
	err = view.Rows(s.out, rows, format)
	if err = errors.Join(err, rows.Close()); err != nil {
		return s.report(nil, fmt.Errorf("reading the result: %w", err))
	}
	return nil
}
