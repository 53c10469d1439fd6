package render

import (
	"fmt"
	"strings"

	"github.com/streamform/streamform/graph/plan"
)

// ruleWidth is that of a line across the page where the terminal's width is not known.
const ruleWidth = 77

// drift lists what was changed outside of streamform.
func (t *text) drift(p *plan.Plan) error {
	if len(p.Drift) == 0 {
		return nil
	}
	t.line("%s", t.paint(bold, "Note: Objects have changed outside of streamform"))
	t.line("")
	t.line("streamform found these changes that it did not make itself:")
	t.line("")
	for i := 0; i < len(p.Drift); {
		last := i + 1
		for last < len(p.Drift) && p.Drift[last].Addr == p.Drift[i].Addr {
			last++
		}
		if err := t.drifted(p.Drift[i:last]); err != nil {
			return err
		}
		i = last
	}
	switch {
	case p.Mode == plan.RefreshOnly:
		t.line("This is a refresh-only plan: it would record what is shown above, and change nothing else.")
	case p.Counts() != plan.Counts{}:
		t.line("The actions below take this into account.")
	default:
		t.line("To record it as it is, so that it is not shown again: streamform apply -refresh-only")
	}
	return nil
}

// drifted shows all that was found about one resource.
func (t *text) drifted(found []plan.Drift) error {
	d := found[0]
	verb := "has changed"
	if d.Deleted() {
		verb = "has been " + t.paint(bold+red, "deleted")
	}
	t.line("%s %s", t.paint(bold, "  # "+d.Addr.String()), verb)
	for _, d := range found {
		said := d.Detail
		if d.Advice != "" {
			said += " " + d.Advice
		}
		for _, l := range wrapped("("+said+")", 74) {
			t.line("  # %s", l)
		}
	}
	for _, d := range found {
		if d.Proposal != "" {
			t.line("    %s {", d.Addr.Header())
			for _, l := range strings.Split(d.Proposal, "\n") {
				t.line("      %s %s", t.symbol("+"), printable(l))
			}
			t.line("    }")
		}
		if d.Kind != plan.DriftValue {
			continue
		}
		before, err := object(d.Before)
		if err != nil {
			return fmt.Errorf("showing the drift of %s: %w", d.Addr, err)
		}
		after, err := object(d.After)
		if err != nil {
			return fmt.Errorf("showing the drift of %s: %w", d.Addr, err)
		}
		t.line("  %s %s {", t.symbol("~"), d.Addr.Header())
		t.body(d.Addr).write(before, after)
		t.line("    }")
	}
	t.line("")
	return nil
}

// rule is a line across the page.
func (t *text) rule() {
	t.line("%s", strings.Repeat("─", ruleWidth))
	t.line("")
}

// wrapped breaks text at spaces into lines of at most width characters, as far as its words allow.
func wrapped(s string, width int) []string {
	var out []string
	line := ""
	for _, word := range strings.Fields(printable(s)) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			out = append(out, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(out, line)
}
