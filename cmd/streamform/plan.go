package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/cmd/streamform/view"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/lang/schema"
)

// exitChanges is what plan -detailed-exitcode returns when there is something to do.
const exitChanges = exit(2)

func (c *cli) planCommand() *cobra.Command {
	var p planOptions
	cmd := &cobra.Command{
		Use:   "plan [options]",
		Short: "Shows what apply would do, and what it costs the data",
		Long:  "Compares the configuration with what was applied and with the runtime, and shows what apply would do: to the resources, and to the data they hold. It changes nothing.",
		Args:  between(0, 0, "no arguments"),
		RunE: c.beside(func(*cobra.Command, []string) error {
			return c.plan(p)
		}),
	}
	p.register(cmd, c.env)
	cmd.Flags().BoolVar(&p.destroy, "destroy", false, "Plans to remove everything that was applied")
	cmd.Flags().BoolVar(&p.refreshOnly, "refresh-only", false, "Shows what was changed outside of streamform, and plans only to record it")
	cmd.Flags().StringArrayVar(&p.previews, "preview", nil, "Shows which rows of this `address`, a stream or view, would differ on a sample of its sources; may be given several times")
	cmd.Flags().StringVar(&p.previewBytes, "preview-bytes", "16MB", "Reads at most this `size` of each source for -preview, though one file at least")
	cmd.Flags().StringVar(&p.outFile, "out", "", "Saves the plan to this `file`, to be given to apply")
	cmd.Flags().BoolVar(&p.markdown, "markdown", false, "Prints the plan as Markdown, for a comment on a pull request, and everything else on standard error")
	cmd.Flags().BoolVar(&p.detailed, "detailed-exitcode", false, "Exits with 0 when there is nothing to do, 1 after an error, 2 when there are changes here or outside of streamform")
	return cmd
}

// options are the project's options that planning flags ask for.
func (p planning) options() project.Options {
	return project.Options{Vars: p.vars, StatePath: p.state}
}

// request is the plan that the flags ask for.
func (p planning) request() project.PlanRequest {
	return project.PlanRequest{Destroy: p.destroy, RefreshOnly: p.refreshOnly, Refresh: p.refresh,
		Targets: p.targets, Exclude: p.excludes, Replace: p.replaces, Allow: p.allowed}
}

// check refuses flags that contradict each other.
func (p planning) check() error {
	switch {
	case p.refreshOnly && p.destroy:
		return misuse{summary: "Incompatible plan mode options", detail: "-destroy and -refresh-only cannot be given together: one removes everything, the other changes nothing but the record."}
	case p.refreshOnly && !p.refresh:
		return misuse{summary: "Incompatible refresh options", detail: "-refresh-only does nothing but look at what really exists, so it cannot be given with -refresh=false."}
	case p.refreshOnly && len(p.replaces) > 0:
		return misuse{summary: "Incompatible plan mode options", detail: "-replace cannot be given with -refresh-only, which changes nothing but the record."}
	case len(p.targets) > 0 && len(p.excludes) > 0:
		return misuse{summary: "Invalid combination of arguments", detail: "-target and -exclude cannot be given together: one says what is planned, the other what is not."}
	}
	return nil
}

// planGC lets a plan's heap grow to five times what lives: it ends before most of it would have been collected.
const planGC = 400

// planOptions are the flags of plan.
type planOptions struct {
	planning
	outFile, previewBytes string
	previews              []string
	detailed, markdown    bool
}

func (c *cli) plan(p planOptions) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.markdown && p.json {
		return misuse{summary: "Incompatible output options", detail: "-markdown and -json cannot be given together."}
	}
	sample, err := schema.ParseSize(p.previewBytes)
	if err != nil {
		return misuse{summary: "Invalid value for -preview-bytes", detail: sentence(err.Error())}
	}
	if c.live == nil {
		debug.SetGCPercent(planGC)
	}
	o := p.options()
	o.Looks = true
	s := c.begin(p.looks, o)
	defer s.Close()
	if p.markdown {
		s.markdown = c.out
		s.out = s.errOut
	}
	ctx, stop := s.interruptible(context.Background(), "Stopping operation...")
	defer stop()
	if err := s.lock(ctx, p.locking, "OperationTypePlan"); err != nil {
		return err
	}
	defer s.unlock()
	made, err := s.plan(ctx, p.planning)
	if err != nil {
		return err
	}
	for _, address := range p.previews {
		if err := s.preview(ctx, made, project.PreviewRequest{Address: address, Bytes: int64(sample)}); err != nil {
			return err
		}
	}
	if p.outFile != "" {
		ds, err := s.Save(p.outFile, made)
		if err := s.report(ds, err); err != nil {
			return err
		}
	}
	if s.lines == nil && !automated(c.env) {
		s.next(made, p.outFile)
	}
	if p.detailed && (!made.Empty() || len(made.Drift) > 0) {
		return exitChanges
	}
	return nil
}

// preview shows what an edit does to the rows of one relation.
func (s *session) preview(ctx context.Context, made *plan.Plan, r project.PreviewRequest) error {
	found, ds, err := s.Preview(ctx, made, r)
	if found == nil || err != nil {
		return s.failed(s.report(ds, err))
	}
	if s.lines != nil {
		s.lines.Preview(found)
		return nil
	}
	if err := view.Preview(s.out, found); err != nil {
		return fmt.Errorf("printing the preview: %w", err)
	}
	return nil
}

// begin opens a command whose lines begin with the version.
func (c *cli) begin(l looks, o project.Options) *session {
	s := c.open(l, o)
	if s.lines != nil {
		s.lines.Version()
	}
	return s
}

// plan makes the plan and shows it, with the findings behind it.
func (s *session) plan(ctx context.Context, p planning) (*plan.Plan, error) {
	made, ds, err := s.Plan(ctx, p.request())
	if made == nil || err != nil {
		if s.lines == nil {
			fmt.Fprintln(s.errOut, "\nPlanning failed. streamform encountered an error while generating this plan.")
		}
		return nil, s.failed(s.report(ds, err))
	}
	if err := s.showPlan(made); err != nil {
		return nil, fmt.Errorf("showing the plan: %w", err)
	}
	if err := s.report(ds, nil); err != nil {
		return nil, err
	}
	if made.Errored {
		return nil, exit(1)
	}
	return made, nil
}

// showPlan prints a plan in the form that was asked for.
func (s *session) showPlan(made *plan.Plan) error {
	if s.markdown != nil {
		return render.Markdown(s.markdown, made, render.Options{Kind: s.Kind})
	}
	return s.show.Plan(made)
}

// failed makes sure that a command without a result fails.
func (s *session) failed(err error) error {
	if err == nil {
		return exit(1)
	}
	return err
}

// next says what to type next.
func (s *session) next(p *plan.Plan, outFile string) {
	rule := 77
	if s.out.Width > 0 {
		rule = s.out.Width
	}
	switch {
	case p.Empty() && outFile == "":
	case outFile != "":
		fmt.Fprintf(s.out, "\n%s\n\nSaved the plan to: %s\n\nTo perform exactly these actions, run the following command to apply:\n    streamform apply %q\n", strings.Repeat("─", rule), outFile, outFile)
	default:
		fmt.Fprintf(s.out, "\n%s\n\nNote: You didn't use the -out option to save this plan. What \"streamform apply\" does is decided when\nit runs, and may differ when files or the configuration change in between.\n", strings.Repeat("─", rule))
	}
}
