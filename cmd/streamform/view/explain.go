package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mitchellh/go-wordwrap"

	"github.com/streamform/streamform/cmd/streamform/project"
	"github.com/streamform/streamform/lang/addr"
	"github.com/streamform/streamform/runtime/query/compile"
)

// Explained prints how relations are computed: for each its columns, then its operators as a
// tree, the one that gives its rows at the top. A legend says what the signs mean.
func Explained(t Terminal, explained project.Explained) {
	x := &explainer{Terminal: t, appendOnly: map[string]bool{}, letters: map[string]bool{}}
	if x.Width = min(cmp.Or(t.Width, maxWidth), maxWidth); x.Width < 40 {
		x.Width = 40
	}
	for i, e := range explained.Relations {
		if i > 0 {
			fmt.Fprintln(t)
		}
		x.relation(e)
	}
	x.legend()
	x.analysis(explained.Analysis)
}

// analysis says what was run to measure.
func (x *explainer) analysis(a *project.Analysis) {
	switch {
	case a == nil:
	case a.Epochs == 0:
		fmt.Fprintln(x, "\nNothing was pending: no epoch ran, and nothing was measured.")
	default:
		fmt.Fprintf(x, "\nMeasured over %s, which read %s in %s. What was read is committed.\n", Things(int64(a.Epochs), "epoch"), Things(a.Rows, "row"), milliseconds(a.Milliseconds))
	}
}

// measured says what an operator did: rows in and out, what it remembered, how long it took.
func measured(m *project.Measurement) string {
	text := fmt.Sprintf("measured: %s in, %s out; ", Things(m.RowsIn, "row"), Count(m.RowsOut))
	if m.Keys > 0 {
		text += fmt.Sprintf("%s, %s remembered; ", Things(m.Keys, "key"), Bytes(m.Bytes))
	}
	return text + milliseconds(m.Milliseconds)
}

// milliseconds writes a time with three digits.
func milliseconds(ms float64) string {
	if ms >= 999.5 {
		return short(ms/1000) + "s"
	}
	return short(ms) + "ms"
}

// maxWidth is how wide text is set at most: longer lines are hard to read.
const maxWidth = 110

type explainer struct {
	Terminal
	of         project.Explanation
	appendOnly map[string]bool // by relation and operator name, of the relation at hand
	shown      map[string]bool // operators printed before
	letters    map[string]bool // used in formulas so far
}

// The signs of edges in the tree.
const (
	addsOnly = "+"
	corrects = "±"
)

func (x *explainer) relation(e project.Explanation) {
	x.of, x.shown, x.appendOnly = e, map[string]bool{}, map[string]bool{}
	for _, s := range e.Scans {
		x.appendOnly[s.Relation] = s.AppendOnly
	}
	for _, o := range e.Operators {
		x.appendOnly[o.ID] = o.AppendOnly
	}
	how := "incremental"
	switch {
	case e.Address.Block == addr.Source:
		how = "read from its source"
	case !e.Incremental:
		how = "full refresh"
	}
	fmt.Fprintf(x, "%s (%s)\n", x.Paint(Bold, e.Address.String()), how)
	if e.FullRefresh != "" {
		x.wrapped("  ", Yellow, "its SQL runs over all rows each epoch: "+e.FullRefresh)
		x.wrapped("  ", Yellow, "instead: "+e.Rewrite)
	}
	var columns []string
	for _, c := range e.Columns {
		columns = append(columns, c.Name+" "+c.Type)
	}
	x.wrapped("  ", "", "columns: "+strings.Join(columns, ", "))
	if len(e.Key) > 0 {
		x.wrapped("  ", "", "key: "+strings.Join(e.Key, ", "))
	}
	if e.Rows != nil {
		fmt.Fprintf(x, "  rows now: %s\n", Count(*e.Rows))
	}
	if e.Address.Block == addr.Source {
		x.wrapped("  ", "", "reads of its files: "+columnsRead(e.Scans[0]))
		if m := e.Measured; m != nil {
			x.wrapped("  ", Green, fmt.Sprintf("measured: %s, %s of files; %s", Things(m.RowsOut, "row"), Bytes(m.Bytes), milliseconds(m.Milliseconds)))
		}
		return
	}
	if n := len(e.Operators); n > 0 {
		x.operator(e.Operators[n-1], branch{first: "  ", rest: "  "})
	}
}

// branch is what stands before the lines of a step of the tree.
type branch struct{ first, rest string }

// below is the branch of a step's input.
func (b branch) below(last bool, sign string) branch {
	if last {
		return branch{first: b.rest + "└─" + sign + " ", rest: b.rest + "   "}
	}
	return branch{first: b.rest + "├─" + sign + " ", rest: b.rest + "│  "}
}

func (x *explainer) operator(o project.ExplainedStep, at branch) {
	name := strings.ReplaceAll(o.Kind, "_", " ")
	if o.ID != compile.ResultID && o.Kind != "input" {
		name += " " + strings.TrimPrefix(o.ID, "sf$")
	}
	if x.shown[o.ID] {
		fmt.Fprintf(x, "%s%s, as above\n", at.first, x.Paint(Bold, name))
		return
	}
	x.shown[o.ID] = true
	fmt.Fprintf(x, "%s%s: %s\n", at.first, x.Paint(Bold, name), o.Detail)
	margin := at.rest + "   "
	if len(o.Inputs) > 0 {
		margin = at.rest + "│  "
	}
	x.wrapped(margin, "", "remembers "+o.Holds+sizes(o))
	if len(o.SharedWith) > 0 {
		x.wrapped(margin, "", "shared with "+joined(o.SharedWith)+": computed and remembered once")
	}
	x.wrapped(margin, "", fmt.Sprintf("each epoch: %s (%s)", o.Cost.Words, o.Cost.Formula))
	for _, letter := range strings.Split(o.Cost.Formula, " ") {
		x.letters[letter] = true
	}
	if o.Measured != nil {
		x.wrapped(margin, Green, measured(o.Measured))
	}
	if o.Reason != "" && o.Kind != "full_refresh" {
		x.wrapped(margin, Yellow, "why: "+o.Reason)
		x.wrapped(margin, Yellow, "instead: "+o.Rewrite)
	}
	for i, in := range o.Inputs {
		sign := corrects
		if x.appendOnly[in] {
			sign = addsOnly
		}
		x.input(in, at.below(i == len(o.Inputs)-1, sign))
	}
}

func (x *explainer) input(name string, at branch) {
	if i := slices.IndexFunc(x.of.Operators, func(o project.ExplainedStep) bool { return o.ID == name }); i >= 0 {
		x.operator(x.of.Operators[i], at)
		return
	}
	text := name
	if i := slices.IndexFunc(x.of.Scans, func(s project.ExplainedScan) bool { return s.Relation == name }); i >= 0 && !x.shown[name] {
		text += ": " + columnsRead(x.of.Scans[i])
	}
	x.shown[name] = true
	fmt.Fprintf(x, "%s%s\n", at.first, text)
}

// columnsRead says which columns are read, where it is not all of them.
func columnsRead(s project.ExplainedScan) string {
	if len(s.Columns) == s.Of {
		return "all columns"
	}
	if len(s.Columns) == 0 {
		return fmt.Sprintf("none of %s, only rows are counted", Things(int64(s.Of), "column"))
	}
	return fmt.Sprintf("%d of %s: %s", len(s.Columns), Things(int64(s.Of), "column"), strings.Join(s.Columns, ", "))
}

// sizes says how much is remembered now, where that is known.
func sizes(o project.ExplainedStep) string {
	if o.Keys == nil {
		return ""
	}
	return fmt.Sprintf(": now %s, %s", Things(*o.Keys, "key"), Bytes(*o.Bytes))
}

// joined names resources in a sentence.
func joined(all []addr.Resource) string {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.String()
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return names[0]
}

// wrapped prints text in lines that fit, each behind the margin.
func (x *explainer) wrapped(margin string, style Style, text string) {
	width := max(x.Width-columnsOf(margin), 30)
	for i, line := range strings.Split(wordwrap.WrapString(text, uint(width-2)), "\n") {
		if i > 0 {
			line = "  " + line
		}
		fmt.Fprintf(x, "%s%s\n", margin, x.Paint(style, line))
	}
}

// legend explains the signs and letters that were printed.
func (x *explainer) legend() {
	if len(x.letters) == 0 {
		return
	}
	fmt.Fprintf(x, "\n%s rows are only added; %s rows are also taken back\n", addsOnly, corrects)
	for _, l := range compile.CostLetters() {
		if x.letters[l[0]] {
			fmt.Fprintf(x, "%s %s\n", l[0], l[1])
		}
	}
}
