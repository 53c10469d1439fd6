package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/lang/diag"
	"github.com/streamform/streamform/state"
)

// outputValue is one output in output -json, in Terraform's shape.
type outputValue struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"`
}

func (c *cli) outputCommand() *cobra.Command {
	var l looks
	var lock locking
	var raw bool
	cmd := &cobra.Command{
		Use:   "output [options] [NAME]",
		Short: "Shows the outputs that were applied",
		Args:  between(0, 1, "at most one argument, the name of an output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if raw && (l.json || len(args) == 0) {
				return misuse{summary: "Unsupported option", detail: "-raw prints one output as it is: give its name, and not -json.", command: cmd.CommandPath()}
			}
			return c.outputs(l, lock.state, raw, args)
		},
	}
	l.register(cmd.Flags())
	lock.registerState(cmd.Flags())
	cmd.Flags().BoolVar(&raw, "raw", false, "Prints the text of one string, number or bool, without quotes and line feed")
	return cmd
}

func (c *cli) outputs(l looks, path string, raw bool, args []string) error {
	asJSON := l.json
	l.json = false
	s := c.open(l, project.Options{StatePath: path})
	defer s.Close()
	document, ds, err := s.State(context.Background())
	if err := s.report(ds, err); err != nil {
		return err
	}
	outputs := map[string]state.Output{}
	if document != nil {
		outputs = document.Outputs
	}
	if len(args) == 1 {
		return s.output(outputs, args[0], raw, asJSON)
	}
	if asJSON {
		all := map[string]outputValue{}
		for name, o := range outputs {
			all[name] = jsonOutput(o)
		}
		return c.printJSON(all)
	}
	if len(outputs) == 0 {
		return s.report(diag.Diagnostics{diag.NewWarning(nil, "No outputs found", "The recorded state has no outputs. Declare them with output blocks, then run streamform apply.")}, nil)
	}
	_, err = fmt.Fprint(c.out, view.Outputs(outputs))
	return err
}

// output prints one output. A sensitive one is not recorded in clear, so it cannot be shown.
func (s *session) output(outputs map[string]state.Output, name string, raw, asJSON bool) error {
	o, ok := outputs[name]
	switch {
	case !ok:
		return s.report(diag.Diagnostics{diag.NewError(nil, fmt.Sprintf("Output %q not found", name), "The recorded state has no output of this name. It may be that it was declared after the last apply, or that its name is spelled differently.")}, nil)
	case o.Sensitive && !asJSON:
		return s.report(diag.Diagnostics{diag.NewError(nil, fmt.Sprintf("Output %q is sensitive", name), "The value of a sensitive output is not kept in the recorded state, only a digest of it, so it cannot be shown.")}, nil)
	case asJSON:
		return s.c.printJSON(jsonOutput(o).Value)
	case !raw:
		_, err := fmt.Fprintln(s.c.out, view.Value(o.Value, 0))
		return err
	}
	var text any
	if err := json.Unmarshal(o.Value, &text); err != nil {
		return s.report(nil, fmt.Errorf("reading output %s: %w", name, err))
	}
	switch v := text.(type) {
	case string:
		_, err := fmt.Fprint(s.c.out, v)
		return err
	case float64, bool:
		_, err := fmt.Fprint(s.c.out, string(o.Value))
		return err
	}
	return s.report(diag.Diagnostics{diag.NewError(nil, "Unsupported value for raw output", fmt.Sprintf("The -raw option prints strings, numbers and bools; output %q is neither. Use -json.", name))}, nil)
}

func jsonOutput(o state.Output) outputValue {
	out := outputValue{Sensitive: o.Sensitive, Type: o.Type, Value: o.Value}
	if len(out.Value) == 0 {
		out.Value = json.RawMessage("null")
	}
	if len(out.Type) == 0 {
		out.Type = json.RawMessage(`"dynamic"`)
	}
	return out
}
