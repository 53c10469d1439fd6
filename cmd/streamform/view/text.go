package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamform/streamform/graph/apply"
	"github.com/streamform/streamform/graph/plan"
	"github.com/streamform/streamform/graph/plan/render"
	"github.com/streamform/streamform/runtime/job"
)

// Text shows an operation to people.
type Text struct {
	o   Options
	bar *bar
}

// NewText shows an operation on the terminal or in the pipe Options.Out.
func NewText(o Options) *Text {
	return &Text{o: o, bar: &bar{to: o.Out, now: o.clock()}}
}

// Clear takes the progress bar off the terminal, so that something else can be printed.
func (t *Text) Clear() { t.bar.clear() }

// Line prints a line.
func (t *Text) Line(line string) {
	t.bar.clear()
	fmt.Fprintln(t.o.Out, line)
}

// Plan shows what apply would do.
func (t *Text) Plan(p *plan.Plan) error {
	return render.Text(t.o.Out, p, render.Options{Color: t.o.Out.Color, Kind: t.o.Kind})
}

// verbs are the words of the lines that apply prints for an action.
type verbs struct{ begin, end string }

func verbsOf(a plan.Action) verbs {
	switch a {
	case plan.Create:
		return verbs{"Creating...", "Creation complete"}
	case plan.Delete:
		return verbs{"Destroying...", "Destruction complete"}
	case plan.Replace:
		return verbs{"Replacing...", "Replacement complete"}
	}
	return verbs{"Modifying...", "Modifications complete"}
}

// Hooks print a line when a step begins and when it ends, and the progress of the backfill.
func (t *Text) Hooks() apply.Hooks {
	say := func(c plan.Change, text string) {
		t.bar.clear()
		fmt.Fprintln(t.o.Out, t.o.Out.Paint(Bold, c.Addr.String()+": "+text))
	}
	return apply.Hooks{
		Started: func(c plan.Change) { say(c, verbsOf(c.Action).begin) },
		Completed: func(c plan.Change, elapsed time.Duration) {
			say(c, verbsOf(c.Action).end+" after "+Elapsed(elapsed))
		},
		Errored: func(c plan.Change, elapsed time.Duration, err error) {
			say(c, "Failed after "+Elapsed(elapsed))
		},
		Progress: t.bar.show,
	}
}

// Applied says what was read, written and changed, and the outputs.
func (t *Text) Applied(r *apply.Result, destroyed bool) {
	t.bar.clear()
	t.summary(r)
	what := "Apply complete! Resources: "
	counts := fmt.Sprintf("%d added, %d changed, %d destroyed.", r.Counts.Add, r.Counts.Change, r.Counts.Destroy)
	if destroyed {
		what, counts = "Destroy complete! Resources: ", fmt.Sprintf("%d destroyed.", r.Counts.Destroy)
	}
	fmt.Fprintf(t.o.Out, "\n%s\n", t.o.Out.Paint(BoldGreen, what+counts))
	if r.Document != nil && len(r.Document.Outputs) > 0 && !destroyed {
		fmt.Fprintf(t.o.Out, "\n%s\n\n%s", t.o.Out.Paint(Bold, "Outputs:"), Outputs(r.Document.Outputs))
	}
}

// summary lists what the backfill read and wrote, one line per source, relation and sink.
func (t *Text) summary(r *apply.Result) {
	var lines [][2]string
	for _, s := range r.Summary.Sources {
		text := fmt.Sprintf("read %s, %s, %s", Things(s.Files, "file"), Things(s.Rows, "row"), Bytes(s.Bytes))
		if s.Malformed > 0 {
			text += fmt.Sprintf("; %s malformed, see: SELECT * FROM %s.malformed", Things(s.Malformed, "record"), s.Addr.Relation())
		}
		lines = append(lines, [2]string{s.Addr.String(), text})
	}
	for _, rel := range r.Summary.Relations {
		lines = append(lines, [2]string{rel.Addr.String(), Things(rel.Rows, "row") + from(rel.Work)})
	}
	for _, s := range r.Summary.Sinks {
		lines = append(lines, [2]string{s.Addr.String(), "wrote " + Things(s.Rows, "row") + receipt(s.Receipt) + from(s.Work)})
	}
	width := 0
	for _, l := range lines {
		width = max(width, len(l[0]))
	}
	for i, l := range lines {
		if i == 0 {
			fmt.Fprintf(t.o.Out, "\n%s\n", t.o.Out.Paint(Bold, "Data:"))
		}
		fmt.Fprintf(t.o.Out, "  %-*s  %s\n", width, l[0], l[1])
	}
}

// from says what a new generation was really computed from.
func from(w apply.Work) string {
	var parts []string
	if w.HeldRows > 0 {
		parts = append(parts, Things(w.HeldRows, "row")+" held")
	}
	if w.ReadRows > 0 {
		parts = append(parts, Things(w.ReadRows, "row")+" read")
	}
	switch {
	case w.Class == "":
		return ""
	case len(parts) > 0:
		return "; made from " + strings.Join(parts, " and ")
	case w.Class == plan.Migrate:
		return "; what it remembered was handed over"
	}
	return ""
}

// receipt says what a sink's receipt holds beside the rows, in the order of its names.
func receipt(r map[string]any) string {
	names := make([]string, 0, len(r))
	for name := range r {
		if name != "rows" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, ", %s %v", strings.ReplaceAll(name, "_", " "), r[name])
	}
	return b.String()
}

// Epoch prints one line per epoch that read or delivered something.
func (t *Text) Epoch(p job.Progress) {
	x := p.Streamform
	var written []string
	for _, s := range x.Sinks {
		if s.NumOutputRows > 0 || len(s.Receipt) > 0 {
			written = append(written, fmt.Sprintf("%s: %s%s", s.Address, Things(s.NumOutputRows, "row"), receipt(s.Receipt)))
		}
	}
	if p.NumInputRows == 0 && x.Files == 0 && len(written) == 0 {
		return
	}
	var malformed int64
	for _, r := range x.Relations {
		malformed += r.Malformed
	}
	line := fmt.Sprintf("%s epoch %d: read %s (%s, %s)", p.Name, x.Epoch, Things(x.Files, "new file"), Things(p.NumInputRows, "row"), Bytes(x.Bytes))
	if malformed > 0 {
		line += fmt.Sprintf(", %s malformed", Things(malformed, "record"))
	}
	if len(written) > 0 {
		line += "; wrote " + strings.Join(written, "; ")
	}
	fmt.Fprintf(t.o.Out, "%s in %s\n", line, (time.Duration(p.BatchDuration) * time.Millisecond).String())
}
