package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/lang/diag"
)

// applying are the flags of apply and destroy.
type applying struct {
	planning
	autoApprove bool
	file        string // a saved plan
}

func (c *cli) applyCommand() *cobra.Command {
	var a applying
	cmd := &cobra.Command{
		Use:   "apply [options] [PLANFILE]",
		Short: "Makes the runtime what the configuration says",
		Long:  "Plans, asks for approval, then carries the plan out: registers what is new or changed, reads what there is to read, computes it, and delivers it to the sinks. With a saved plan it does exactly what that says, without asking.",
		Args:  between(0, 1, "at most one argument, a saved plan"),
		RunE: c.beside(func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.file = args[0]
			}
			return c.apply(a)
		}),
	}
	a.register(cmd, c.env)
	cmd.Flags().BoolVar(&a.destroy, "destroy", false, "Removes everything that was applied; the command destroy is the same")
	cmd.Flags().BoolVar(&a.refreshOnly, "refresh-only", false, "Only records what was changed outside of streamform")
	cmd.Flags().BoolVar(&a.autoApprove, "auto-approve", false, "Does not ask before applying")
	return cmd
}

func (c *cli) destroyCommand() *cobra.Command {
	var a applying
	a.destroy = true
	cmd := &cobra.Command{
		Use:   "destroy [options]",
		Short: "Removes everything that was applied",
		Long:  "Plans to remove every resource that was applied, asks for approval and does it. What sinks have delivered stays where it is.",
		Args:  between(0, 0, "no arguments"),
		RunE:  c.beside(func(*cobra.Command, []string) error { return c.apply(a) }),
	}
	a.register(cmd, c.env)
	cmd.Flags().BoolVar(&a.autoApprove, "auto-approve", false, "Does not ask before destroying")
	return cmd
}

func (c *cli) apply(a applying) error {
	if err := a.check(); err != nil {
		return err
	}
	if err := c.approvable(a); err != nil {
		return err
	}
	s := c.begin(a.looks, a.options())
	defer s.Close()
	ctx, stop := s.interruptible(context.Background(), "Stopping operation...")
	defer stop()
	if a.file != "" {
		for _, step := range []func() (diag.Diagnostics, error){
			func() (diag.Diagnostics, error) { return s.OpenSaved(a.file) }, s.CheckSaved, s.CheckVariables,
		} {
			if err := s.report(step()); err != nil {
				return err
			}
		}
	}
	if err := s.lock(ctx, a.locking, "OperationTypeApply"); err != nil {
		return err
	}
	defer s.unlock()
	made := s.Saved()
	if made != nil {
		if err := s.report(s.CheckRuntime(ctx)); err != nil {
			return err
		}
	} else {
		var err error
		if made, err = s.plan(ctx, a.planning); err != nil {
			return err
		}
		if err := s.approve(a, made); err != nil {
			return err
		}
	}
	result, ds, err := s.Apply(ctx, made, s.show.Hooks())
	if failed := s.report(ds, err); failed != nil || result == nil {
		return s.failed(failed)
	}
	s.show.Applied(result, made.Mode == plan.Destroy)
	return nil
}

// approvable fails at once where nobody could approve later.
func (c *cli) approvable(a applying) error {
	switch {
	case a.file != "" && (a.destroy || a.refreshOnly || len(a.targets)+len(a.replaces)+len(a.excludes)+len(a.allowed) > 0):
		return misuse{summary: "Mode of plan already decided", detail: "A saved plan already says what is to be done, so -destroy, -refresh-only, -target, -exclude, -replace and -allow cannot be given with it. Give them to plan instead."}
	case a.file != "" || a.autoApprove:
		return nil
	case a.json:
		return misuse{summary: "Plan file or auto-approve required", detail: "streamform cannot ask for approval when -json is set. Either apply a saved plan, or add the -auto-approve option."}
	case !a.input:
		return misuse{summary: "Approval is needed", detail: "-input=false needs -auto-approve or a saved plan: nobody can be asked otherwise."}
	case !view.IsTerminal(c.in):
		return misuse{summary: "Approval is needed", detail: "Standard input is not a terminal, so nobody can be asked. Add -auto-approve, or make a plan with plan -out=FILE and apply that file."}
	}
	return nil
}

// approve asks; any answer but yes is a no.
func (s *session) approve(a applying, p *plan.Plan) error {
	if a.autoApprove || p.Empty() {
		if s.lines == nil && !p.Empty() {
			fmt.Fprintln(s.out)
		}
		return nil
	}
	question := "Do you want to perform these actions?\n  streamform will perform the actions described above.\n  Only 'yes' will be accepted to approve."
	cancelled := "Apply cancelled."
	if p.Mode == plan.RefreshOnly {
		question = "Would you like to update the recorded state to reflect these detected changes?\n  streamform will write these changes to the state without changing anything else.\n  There is no undo. Only 'yes' will be accepted to confirm."
	}
	if p.Mode == plan.Destroy {
		question = "Do you really want to destroy all resources?\n  streamform will remove everything shown above from the runtime.\n  There is no undo. Only 'yes' will be accepted to confirm."
		cancelled = "Destroy cancelled."
	}
	return s.ask(question, cancelled)
}

// ask puts a question; any answer but yes ends the command.
func (s *session) ask(question, cancelled string) error {
	heading, rest, _ := strings.Cut(question, "\n")
	fmt.Fprintf(s.out, "\n%s\n%s\n\n  %s ", s.out.Paint(view.Bold, heading), rest, s.out.Paint(view.Bold, "Enter a value:"))
	answer, err := bufio.NewReader(s.c.in).ReadString('\n')
	fmt.Fprintln(s.out)
	if err != nil || strings.TrimSpace(answer) != "yes" {
		fmt.Fprintln(s.out, cancelled)
		return exit(1)
	}
	return nil
}
